// Reads what `gitstead status` prints. It starts nothing and changes nothing.
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { type MaintenanceMode, maintenanceMode } from '../areas/settings/maintenance-mode.js'
import { config, publicSshAddress } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { embeddedState } from '../db/embedded.js'
import { type MigrationState, migrationStates } from '../db/migrate.js'
import { type JobStats, jobStats, type ProcessMetrics, processMetrics } from '../queue/metrics.js'
import { version } from '../version.js'

export interface ApplianceStatus {
  readonly ok: boolean
  readonly version: string
  readonly home: string
  readonly server: FoundServer
  /** Where users reach git over SSH; null when it is switched off. */
  readonly ssh: string | null
  /** `schema` is null while the database does not answer. */
  readonly database: { readonly up: boolean; readonly schema: 'current' | 'old' | null }
  readonly workers: readonly ProcessMetrics[]
  readonly jobs: JobStats | null
  /** Null while writes are accepted, and while the database does not answer. */
  readonly maintenance: MaintenanceMode | null
}

export async function readStatus(): Promise<ApplianceStatus> {
  const { home } = config()
  const [server, database] = await Promise.all([findServer(), readDatabase()])
  return {
    ok: server.up && database.up && database.workers.length > 0,
    version,
    home,
    server,
    ssh: sshUrl(),
    database: { up: database.up, schema: database.schema },
    workers: database.workers,
    jobs: database.jobs,
    maintenance: database.maintenance
  }
}

/** Where users reach git over SSH; null when it is switched off here, and no other server is named. */
export function sshUrl(): string | null {
  const { enabled, public_port, public_host } = config().ssh
  if (!enabled && public_port === null && public_host === null) return null
  const { host, port } = publicSshAddress()
  return `ssh://git@${host.includes(':') ? `[${host}]` : host}:${port}`
}

export interface FoundServer {
  /** Where the home's server answers. While it does not: where it would listen by the configuration. */
  readonly url: string
  readonly up: boolean
}

/** Finds the home's server. Another program at its port, also another Gitstead, is not it. */
export async function findServer(): Promise<FoundServer> {
  const served = await servedAddress()
  return { url: urlOf(served ?? config()), up: served !== null }
}

/** Where the home's server answers now; null while it does not. A flag may have set another port than the configuration. */
export async function servedAddress(): Promise<Address | null> {
  const noted = notedServer()
  return noted !== null && (await answers(noted)) ? { host: noted.host, port: noted.port } : null
}

interface Address {
  readonly host: string
  readonly port: number
}

const urlOf = ({ host, port }: Address) => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** What the last server of this home has noted. */
function notedServer(): (Address & { readonly instance: string }) | null {
  try {
    const noted = JSON.parse(readFileSync(join(config().home, 'run/server.json'), 'utf8')) as Address & {
      instance?: string
    }
    return noted.instance === undefined ? null : { ...noted, instance: noted.instance }
  } catch {
    return null
  }
}

/**
 * Whether the server that noted this address answers there. This does not use fetch: when another program listens at
 * the port and hangs up without an answer, fetch never settles.
 */
function answers(noted: Address & { readonly instance: string }): Promise<boolean> {
  return new Promise(resolve => {
    const request = get(`${urlOf(noted)}/-/health`, response => {
      response.resume()
      resolve(response.statusCode === 200 && response.headers['x-gitstead-instance'] === noted.instance)
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
