// Reads what `gitstead status` prints. It starts nothing and changes nothing.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { type MaintenanceMode, maintenanceMode } from '../areas/settings/maintenance-mode.js'
import { config } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { embeddedState } from '../db/embedded.js'
import { type MigrationState, migrationStates } from '../db/migrate.js'
import { type JobStats, jobStats, type ProcessMetrics, processMetrics } from '../queue/metrics.js'
import { version } from '../version.js'

export interface ApplianceStatus {
  readonly ok: boolean
  readonly version: string
  readonly home: string
  readonly server: { readonly url: string; readonly up: boolean }
  /** `schema` is null while the database does not answer. */
  readonly database: { readonly up: boolean; readonly schema: 'current' | 'old' | null }
  readonly workers: readonly ProcessMetrics[]
  readonly jobs: JobStats | null
  /** Null while writes are accepted, and while the database does not answer. */
  readonly maintenance: MaintenanceMode | null
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
    jobs: database.jobs,
    maintenance: database.maintenance
  }
}

/** The URL of the home's server. */
export function serverUrl(): string {
  const { host, port } = serverAddress()
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The address where the home's server listened last. A flag may have set another port than the configuration has. */
export function serverAddress(): { host: string; port: number } {
  try {
    return JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as { host: string; port: number }
  } catch {
    return config()
  }
}

/**
 * Whether the server answers at its URL. This does not use fetch: when another program listens at the port and hangs up
 * without an answer, fetch never settles.
 */
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
  const away = { up: false, schema: null, workers: [], jobs: null, maintenance: null }
  // While the appliance is down there is nothing to ask. We do not start a database here: reading must not make a home.
  if (config().database.url === null && !(await embeddedState()).up) return away
  try {
    const states = await migrationStates()
    const schema = schemaOf(states)
    if (schema === 'old') return { up: true, schema, workers: [], jobs: null, maintenance: null }
    const [workers, jobs, maintenance] = await Promise.all([processMetrics(), jobStats(), maintenanceMode()])
    return { up: true, schema, workers, jobs, maintenance }
  } catch {
    return away
  } finally {
    await closeDatabase()
  }
}

const schemaOf = (states: readonly MigrationState[]) =>
  states.every(({ applied_at }) => applied_at !== null) ? ('current' as const) : ('old' as const)
