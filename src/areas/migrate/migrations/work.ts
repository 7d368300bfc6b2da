// The job of a request: plans, runs or verifies a migration with the functions of the commands. When its worker is killed, the next one
// continues with what was read. The lock of the migration keeps it apart from commands.
import { scheduleOrigin } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { AlreadyRunning, Failure, NotFound, NotHere, Unavailable } from '../../../errors.js'
import { log } from '../../../log.js'
import { type Migration, requireMigration, type State, type Work } from '../runs/migrations.js'
import { assignConfirmedOf } from '../runs/placeholders.js'
import { planMigration } from '../runs/plan.js'
import { isPartial, runMigration } from '../runs/run.js'
import type { Session } from '../runs/session.js'
import { verifyMigration } from '../runs/verify/verify.js'
import { ReadElsewhere } from '../runs/work-folder.js'
import type { WorkOptions } from './migrations.schema.js'
import { enqueueTurn } from './requests.js'

/** Milliseconds between two looks whether the request was canceled. */
const LOOK_MS = 2000
/** Milliseconds until the next try, while a command or another machine has the migration. */
const AGAIN_MS = 5000

interface Turn {
  readonly migrationId: number
  readonly turn: number
}

type Given = Pick<Session, 'origin' | 'signal' | 'progress'>

const WORK: {
  readonly [Name in Work]: (migration: Migration, options: WorkOptions, given: Given) => Promise<State>
} = {
  plan: async (migration, { projects = [], quick = false }, given) => {
    await planMigration(migration, { projects, quick }, given)
    return 'succeeded'
  },
  run: async (migration, { projects = [], overwrite = false }, given) => {
    const report = await runMigration(migration, { projects, overwrite }, given)
    return isPartial(report) ? 'partial' : 'succeeded'
  },
  verify: async (migration, { projects = [] }, given) => {
    await verifyMigration(migration, projects, given)
    return 'succeeded'
  },
  assign: async (migration, _, given) => {
    const { refused } = await assignConfirmedOf(migration, given)
    return refused.length > 0 ? 'partial' : 'succeeded'
  }
}

/** Does the work of a request, unless it was canceled or is done. */
export async function workOnMigration(turn: Turn, stopping: AbortSignal): Promise<void> {
  const begun = await execute(
    `update migrations set state = 'running', error = null, ended_at = null, started_at = coalesce(started_at, ?)
     where ${MAY_BEGIN}`,
    [new Date(), turn.migrationId, turn.turn]
  )
  if (begun.affectedRows === 0 && !(await isCurrent(turn))) return
  const migration = await requireMigration(turn.migrationId).catch(unlessGone)
  if (!migration?.row.work) return
  const watch = startWatch(turn)
  const signal = AbortSignal.any([stopping, watch.canceled])
  try {
    const options = JSON.parse(migration.row.options ?? '{}') as WorkOptions
    const given = { origin: scheduleOrigin(), signal, progress: watch.progress }
    await finish(turn, await WORK[migration.row.work](migration, options, given))
  } catch (error) {
    // The next worker continues.
    if (stopping.aborted) throw error
    if (!watch.canceled.aborted) await settle(turn, error)
  } finally {
    await watch.end()
  }
}

const IS_CURRENT = "id = ? and turn = ? and state in ('waiting', 'running')"
/** A dead job that somebody retries has failed. So has one whose process died between this state and the end of the job: it runs again. */
const MAY_BEGIN = "id = ? and turn = ? and state in ('waiting', 'running', 'failed')"

/** The job of a request is dead: nothing works on it any more. */
export const endDead = (turn: Turn): Promise<void> =>
  finish(turn, 'failed', 'its job is dead: `gitstead jobs retry` continues, and so does a new request')

const isCurrent = async ({ migrationId, turn }: Turn): Promise<boolean> =>
  (await row(`select 1 from migrations where ${IS_CURRENT}`, [migrationId, turn])) !== undefined

function unlessGone(error: unknown): undefined {
  if (!(error instanceof NotFound)) throw error
}

async function finish({ migrationId, turn }: Turn, state: State, error: string | null = null): Promise<void> {
  await execute(`update migrations set state = ?, error = ?, progress = null, ended_at = ? where ${IS_CURRENT}`, [
    state,
    error?.slice(0, 1000) ?? null,
    new Date(),
    migrationId,
    turn
  ])
}

async function settle(turn: Turn, error: unknown): Promise<void> {
  if (error instanceof AlreadyRunning) return again(turn, 'another process works on it')
  if (error instanceof ReadElsewhere) return passOn(turn, error)
  // The database is away, for example: the queue tries again.
  if (error instanceof Unavailable && !(error instanceof NotHere)) throw error
  if (error instanceof Failure) return finish(turn, 'failed', error.message)
  log().error({ error, migration: turn.migrationId }, 'a migration failed')
  await finish(turn, 'failed', 'this appliance has a fault: its log has the reason')
}

async function again(turn: Turn, reason: string): Promise<void> {
  await showWaiting(turn, reason)
  // The random part makes sure that it is not always the same machine that looks first.
  await enqueueTurn(turn.migrationId, turn.turn, new Date(Date.now() + AGAIN_MS * (1 + Math.random())))
}

const showWaiting = ({ migrationId, turn }: Turn, reason: string): Promise<unknown> =>
  execute(`update migrations set state = 'waiting', progress = null, error = ? where ${IS_CURRENT}`, [
    reason.slice(0, 1000),
    migrationId,
    turn
  ])

/** Leaves the work to the machine that has what was read. Its workers take the jobs of the storages that it owns. */
async function passOn(turn: Turn, { machine, message }: ReadElsewhere): Promise<void> {
  const storage = await row<{ name: string }>(
    'select name from storages where owner = ? and lease_until >= now(3) order by id limit 1',
    [machine]
  )
  if (!storage) return again(turn, message)
  await showWaiting(turn, message)
  throw new NotHere(storage.name)
}

/** Shows the progress, and aborts `canceled` when the request is no longer current. */
function startWatch(turn: Turn) {
  const canceled = new AbortController()
  let [now, shown] = ['', '']
  let looking: Promise<void> | undefined
  const look = async () => {
    if (!(await isCurrent(turn))) return canceled.abort(new Error('the request was canceled'))
    if (now === shown) return
    shown = now
    await execute(`update migrations set progress = ? where ${IS_CURRENT}`, [shown, turn.migrationId, turn.turn])
  }
  const timer = setInterval(() => {
    looking ??= look()
      .catch(error => log().warn({ error: String(error) }, 'the progress of a migration could not be stored'))
      .finally(() => {
        looking = undefined
      })
  }, LOOK_MS)
  return {
    canceled: canceled.signal,
    progress: (what: string, done: number, total: number) => {
      now = `${what}${total > 0 ? `: ${done} of ${total}` : ''}`.replace(/\p{Cc}+/gu, ' ').slice(0, 1000)
    },
    end: async () => {
      clearInterval(timer)
      await looking
    }
  }
}
