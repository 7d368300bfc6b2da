// Counts the contents of the appliance, for its sysadmin.
import { row, rows } from '../../../db/connect/sql.js'
import { QUEUES } from '../../../queue/jobs.js'
import { NO_GHOST } from '../../people/users/ghost/ghost.js'

const JOB_STATES = ['ready', 'delayed', 'running', 'dead'] as const

export interface ApplianceCounts {
  readonly users: {
    readonly total: number
    readonly active: number
    readonly blocked: number
    readonly administrators: number
  }
  readonly projects: number
  readonly hooks: number
  /** The numbers of jobs that are not done, by state. */
  readonly jobs: Record<(typeof JOB_STATES)[number], number>
}

export async function applianceCounts(): Promise<ApplianceCounts> {
  const [people, others, jobs] = await Promise.all([
    row<{ state: string; [count: string]: number | string }>(
      `select count(*) as total, coalesce(sum(state = 'active'), 0) as active,
         coalesce(sum(state <> 'active'), 0) as blocked, coalesce(sum(admin), 0) as administrators from users u where ${NO_GHOST}`
    ),
    row<{ projects: number; hooks: number }>(
      `select (select count(*) from projects) as projects,
         (select count(*) from hooks where project_id is null) as hooks`
    ),
    rows<{ state: string; count: number }>(
      `select state, count(*) as count from jobs where queue in (${QUEUES.map(() => '?').join(', ')}) group by state`,
      QUEUES
    )
  ])
  const ofState = (state: string) => Number(jobs.find(found => found.state === state)?.count ?? 0)
  return {
    users: {
      total: Number(people?.total ?? 0),
      active: Number(people?.active ?? 0),
      blocked: Number(people?.blocked ?? 0),
      administrators: Number(people?.administrators ?? 0)
    },
    projects: Number(others?.projects ?? 0),
    hooks: Number(others?.hooks ?? 0),
    jobs: { ready: ofState('ready'), delayed: ofState('delayed'), running: ofState('running'), dead: ofState('dead') }
  }
}

export interface DatabaseFacts {
  /** The version as the server reports it, such as `10.11.14-MariaDB`. */
  readonly version: string
  /** Size of tables and indexes in bytes, as the server estimates it. */
  readonly bytes: number
}

export async function databaseFacts(): Promise<DatabaseFacts> {
  const found = await row<{ version: string; bytes: number | string }>(
    `select version() as version, (select coalesce(sum(data_length + index_length), 0)
       from information_schema.tables where table_schema = database()) as bytes`
  )
  return { version: found?.version ?? '', bytes: Number(found?.bytes ?? 0) }
}
