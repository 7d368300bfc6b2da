// What `gitstead status` tells. It looks and starts nothing.
import { readFileSync } from 'node:fs'
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
  const { host, port } = serverAddress()
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const [serverUp, database] = await Promise.all([answers(`${url}/-/health`), readDatabase()])
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

/** Where the home's server last listened: its port may have come by a flag. */
export function serverAddress(): { host: string; port: number } {
  try {
    return JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as { host: string; port: number }
  } catch {
    return config()
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(3000) })).ok
  } catch {
    return false
  }
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
