// Hundreds of runners ask for a build every few seconds, mostly in vain. What decides whether they get one is read once for
// all of them: one statement, at most ten times a second, and none while nobody asks. A runner that got nothing gets
// nothing again until this has changed.
import { createHash } from 'node:crypto'
import { config } from '../../../config.js'
import { forgetWithPool } from '../../../db/connection.js'
import { row } from '../../../db/sql.js'
import { changesOfRunners } from '../changes.js'

/** For how long one look serves all: what another process changes is seen so much later. */
const LEAST_MS = 100
const MOST_MS = 1000
/** Between the two, looks take this share of the time at most. */
const SHARE = 0.005

export interface QueueLook {
  /** Changes with the builds that wait, what their projects allow, and the runners. The same for all servers. */
  readonly value: string
  /** Changes with the runners alone. */
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

/** Returns what decides about waiting builds, at most a second old, and with all that this process has changed. */
export async function lookAtQueue(): Promise<QueueLook> {
  const changes = changesOfRunners()
  if (last && last.changes >= changes && performance.now() < last.until) return last
  const look = await take()
  // That look may have begun before the last change.
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
 * A number for a set of rows. A hash because a CRC is linear: the same change of two rows would cancel out. MySQL 9.7 has no MD5.
 * 15 digits fit into a signed number. It comes as text, because MySQL gives bytes for what is made of a `bit_xor`.
 */
const fingerprint = (...columns: string[]) =>
  `cast(bit_xor(cast(conv(left(sha2(concat_ws('|', ${columns.join(', ')}), 256), 15), 16, 10) as unsigned)) as char)`

/** What `findWaitingBuilds` depends on, and the rows of the runners. */
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

/** With a limit of running builds for each project, a build that ends makes room. */
const BUSY = `(select ${fingerprint('r.project_id', 'r.builds')}
  from (select status, project_id, count(*) as builds from builds where status = 'running'
    group by status, project_id) r)`
