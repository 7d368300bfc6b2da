// Reads the facts that `gitstead status` prints. It starts nothing and changes nothing.
import { type MaintenanceMode, maintenanceMode } from '../../areas/ground/settings/maintenance-mode.js'
import { disksOfHome } from '../../areas/upkeep/maintenance/disks.js'
import { config, publicSshAddress } from '../../config.js'
import { closeDatabase } from '../../db/connect/connection.js'
import { embeddedState } from '../../db/embedded/embedded.js'
import { FULL_BELOW } from '../../db/embedded/temporary-tables.js'
import { isMigrating, type MigrationState, migrationStates } from '../../db/schema/migrate.js'
import { type JobStats, jobStats, type ProcessMetrics, processMetrics } from '../../queue/metrics.js'
import { version } from '../../version.js'
import { servedAddress, urlOf } from '../framework/served-address.js'

export interface ApplianceStatus {
  readonly ok: boolean
  readonly version: string
  readonly home: string
  readonly server: FoundServer
  /** Why the appliance does less than usual; null when it does not. */
  readonly degraded: string | null
  /** The URL at which users reach git over SSH; null when it is switched off. */
  readonly ssh: string | null
  /** `schema` is null while the database does not answer. */
  readonly database: { readonly up: boolean; readonly schema: 'current' | 'migrating' | 'old' | null }
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
    degraded: fullDisk(),
    ssh: sshUrl(),
    database: { up: database.up, schema: database.schema },
    workers: database.workers,
    jobs: database.jobs,
    maintenance: database.maintenance
  }
}

function fullDisk(): string | null {
  const full = disksOfHome().filter(({ free }) => free < FULL_BELOW)
  return full.length === 0
    ? null
    : `the disk of ${full.map(({ folder }) => folder).join(', ')} is full: reads work, writes fail`
}

/** Returns the URL at which users reach git over SSH; null when it is switched off and no other server is configured. */
export function sshUrl(): string | null {
  const { enabled, public_port, public_host } = config().ssh
  if (!enabled && public_port === null && public_host === null) return null
  const { host, port } = publicSshAddress()
  return `ssh://git@${host.includes(':') ? `[${host}]` : host}:${port}`
}

export interface FoundServer {
  /** The URL at which the home's server answers. While it does not answer: the configured URL. */
  readonly url: string
  readonly up: boolean
}

/** Finds the home's server. Another program at its port does not count, even if it is another Gitstead. */
export async function findServer(): Promise<FoundServer> {
  const served = await servedAddress()
  return { url: urlOf(served ?? config()), up: served !== null }
}

async function readDatabase() {
  const away = { up: false, schema: null, workers: [], jobs: null, maintenance: null }
  // While the appliance is down there is no database to ask. We do not start one: reading must not create a home.
  if (config().database.url === null && !(await embeddedState()).up) return away
  try {
    const states = await migrationStates()
    const schema = schemaOf(states)
    if (schema === 'old') {
      // Nobody but the first start runs a private database without a schema.
      const isFirst = config().database.url === null && states.every(({ applied_at }) => applied_at === null)
      const now = isFirst || (await isMigrating()) ? ('migrating' as const) : schema
      return { up: true, schema: now, workers: [], jobs: null, maintenance: null }
    }
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
