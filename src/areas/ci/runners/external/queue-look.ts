// Hundreds of runners poll for a build every few seconds, mostly without a result. The state that decides this is read
// once for all of them: with one statement, at most ten times a second, and never while no runner polls. A runner that
// got no build gets none until this state has changed.
import { createHash } from 'node:crypto'
import { config } from '../../../../config.js'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { row } from '../../../../db/connect/sql.js'
import { changesOfRunners } from '../changes.js'

/** Milliseconds for which one reading serves all runners: changes by other processes are seen with this delay. */
const LEAST_MS = 100
const MOST_MS = 1000
/** Between the two, readings take at most this share of the time. */
const SHARE = 0.005

export interface QueueLook {
  /** Changes with the waiting builds, what their projects allow, and the runners. The same for all servers. */
  readonly value: string
  /** Changes only with the runners. */
  readonly runners: string
  /** False when no build of any project waits for a runner. */
  readonly work: boolean
}

interface TakenLook extends QueueLook {
  readonly changes: number
  readonly until: number
}

let last: TakenLook | undefined
let taking: Promise<TakenLook> | undefined

forgetWithPool(() => {
  last = undefined
})

/** Returns the state that decides about waiting builds, at most a second old, and with all changes by this process. */
export async function lookAtQueue(): Promise<QueueLook> {
  const changes = changesOfRunners()
  if (last && last.changes >= changes && performance.now() < last.until) return last
  const look = await take()
  // That reading may have begun before the last change.
  return look.changes >= changes ? look : take()
}

function take(): Promise<TakenLook> {
  taking ??= read().finally(() => {
    taking = undefined
  })
  return taking
}

async function read(): Promise<TakenLook> {
  const [changes, started] = [changesOfRunners(), performance.now()]
  const found = await row<Fingerprints>(SQL(config().runner.project_limit > 0))
  const ended = performance.now()
  const { waiting = 0, builds = '', busy = '', runners = '' } = found ?? {}
  const value = createHash('sha256').update(`${waiting} ${builds} ${busy} ${runners}`).digest('hex').slice(0, 32)
  const until = ended + Math.min(MOST_MS, Math.max(LEAST_MS, (ended - started) / SHARE))
  last = { value, runners, work: waiting > 0, changes, until }
  return last
}

interface Fingerprints {
  readonly waiting: number
  readonly builds: string
  readonly busy: string
  readonly runners: string
}

/**
 * Returns a number for a set of rows. A hash, because a CRC is linear: the same change of two rows would cancel out. MySQL 9.7
 * has no MD5. 15 digits fit into a signed number. It is cast to text, because MySQL returns bytes for results of `bit_xor`.
 */
const fingerprint = (...columns: string[]) =>
  `cast(bit_xor(cast(conv(left(sha2(concat_ws('|', ${columns.join(', ')}), 256), 15), 16, 10) as unsigned)) as char)`

/** The rows on which `findWaitingBuilds` depends, and the rows of the runners. */
const SQL = (hasLimit: boolean) => `
  select oldest.waiting, oldest.builds, ${hasLimit ? BUSY : "''"} as busy, concat(me.runners, ' ', a.assigned) as runners
  from (select count(*) as waiting,
      ${fingerprint('o.id', 'p.builds_enabled', 'p.archived', 'p.shared_runners_enabled')} as builds
    from (select status, project_id, tag_list_hash, min(id) as id from builds where status = 'pending'
      group by status, project_id, tag_list_hash) o join projects p on p.id = o.project_id) oldest
  join (select concat(count(*), ' ', ${fingerprint(
    ...[
      'id',
      'active',
      'is_shared',
      'run_untagged',
      'locked',
      'ref_protected',
      'coalesce(maximum_timeout, 0)',
      'tag_list'
    ],
    ...['description', "coalesce(hex(token_hash), '')"]
  )}) as runners from runners) me
  join (select concat(count(*), ' ', ${fingerprint('runner_id', 'project_id')}) as assigned from runner_projects) a`

/** With a limit of running builds for each project, the end of a build makes room for another. */
const BUSY = `(select ${fingerprint('r.project_id', 'r.builds')}
  from (select status, project_id, count(*) as builds from builds where status = 'running'
    group by status, project_id) r)`
