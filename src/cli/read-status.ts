// What `gitstead status` tells. It looks and starts nothing.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { config } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { embeddedState } from '../db/embedded.js'
import { type MigrationState, migrationStates } from '../db/migrate.js'
import { type JobStats, jobStats, type ProcessMetrics, processMetrics } from '../queue/metrics.js'
import { version } from '../version.js'

export interface ApplianceStatus {
  ok: boolean
  version: string
  home: string
  server: { url: string; up: boolean }
  /** `schema` is `current` or `old`; null while the database is away. */
  database: { up: boolean; schema: 'current' | 'old' | null }
  workers: ProcessMetrics[]
  jobs: JobStats | null
}

export async function readStatus(): Promise<ApplianceStatus> {
  const { home } = config()
  const url = serverUrl()
  const [serverUp, database] = await Promise.all([serverAnswers(), readDatabase()])
  return {
    ok: serverUp && database.up && database.workers.length > 0,
    version,
    home,
    server: { url, up: serverUp },
    database: { up: database.up, schema: database.schema },
    workers: database.workers,
    jobs: database.jobs
  }
}

/** The URL that the home's server answers at. */
export function serverUrl(): string {
  const { host, port } = serverAddress()
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Where the home's server last listened: its port may have come by a flag. */
export function serverAddress(): { host: string; port: number } {
  try {
    return JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as { host: string; port: number }
  } catch {
    return config()
  }
}

/** Whether it does. Not by fetch: that never settles when a stranger at the port hangs up without a word. */
export function serverAnswers(): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(`${serverUrl()}/-/health`, response => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.setTimeout(3000, () => request.destroy())
    request.once('error', () => resolve(false))
    request.once('close', () => resolve(false))
  })
}

async function readDatabase() {
  const away = { up: false, schema: null, workers: [], jobs: null }
  // Without an appliance there is nothing to ask: reading must not make a home.
  if (config().database.url === null && !(await embeddedState()).up) return away
  try {
    const states = await migrationStates()
    const schema = schemaOf(states)
    if (schema === 'old') return { up: true, schema, workers: [], jobs: null }
    const [workers, jobs] = await Promise.all([processMetrics(), jobStats()])
    return { up: true, schema, workers, jobs }
  } catch {
    return away
  } finally {
    await closeDatabase()
  }
}

const schemaOf = (states: readonly MigrationState[]) =>
  states.every(({ applied_at }) => applied_at !== null) ? ('current' as const) : ('old' as const)
