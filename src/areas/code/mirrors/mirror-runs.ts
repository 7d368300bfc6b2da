// When mirrors run. `due_at` of the row is the only plan: it is when the mirror runs next, and while it runs, when another machine may
// take it over. The process that runs it keeps moving that time forward. So one process at a time runs a mirror. When it dies, its job
// goes back to the queue, and the next worker begins again. All times are those of the database.
import { randomBytes } from 'node:crypto'
import { databaseNow } from '../../../db/connect/server.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { log } from '../../../log.js'
import { enqueue } from '../../../queue/enqueue.js'
import { enqueuedPayloads } from '../../../queue/metrics.js'
import { publish } from '../../ground/activity/events.js'
import { laneOf } from '../../ground/hooks/targets.js'
import type { MirrorProblem } from './mirror-problem.js'
import { readAddress } from './mirror-url.js'
import { type Direction, hasPushMirrors, type MirrorRow, type RunResult } from './mirrors.queries.js'

/** Seconds for which a run holds its mirror, and after which it renews this. */
const LEASE_S = 60
const RENEW_MS = 15_000
/** Seconds between the starts of two runs that pushes or hooks ask for: they share one run. */
const SPACING_S = 10
/** Attempts after a failure, without the schedule: after 1, 2, 4, 8, 16, 32 and then each 60 minutes. */
const MOST_RETRIES = 10
const MINUTE_MS = 60_000
/** The owner gets a mail after this many failures in a row. */
const NOTIFY_AFTER = 3
/** One look at the clock starts at most this many. */
const MOST_AT_ONCE = 500

interface Planned {
  readonly id: number
  readonly url: string
  readonly storage: string
  readonly due_at: Date | null
  readonly started_at: Date | null
  readonly failures: number
  readonly is_running: number
}

const PLANNED = `select m.id, m.url, p.storage, m.due_at, m.started_at, m.failures,
  coalesce(m.run is not null and m.due_at > now(3), 0) as is_running from mirrors m join projects p on p.id = m.project_id`

/** `at-once`: a person waits, so neither the back-off nor the spacing counts. */
type Urgency = 'at-once' | 'soon'

/** Asks for a run of one mirror. A running one runs again afterwards. Call it inside `transact`. */
export async function requestRun(mirrorId: number, urgency: Urgency): Promise<void> {
  await request(await rows<Planned>(`${PLANNED} where m.id = ? and m.enabled = 1 for update`, [mirrorId]), urgency)
}

/** Asks for runs of the push mirrors of a project after a push. */
export async function requestPushes(projectId: number): Promise<void> {
  const { sql, values } = hasPushMirrors(projectId)
  if (!(await row(`select 1 from projects where id = ? and ${sql}`, [projectId, ...values]))) return
  await transact(async () => {
    const where = "m.project_id = ? and m.direction = 'push' and m.enabled = 1"
    await request(await rows<Planned>(`${PLANNED} where ${where} order by m.id for update`, [projectId]), 'soon')
  })
}

async function request(found: readonly Planned[], urgency: Urgency): Promise<void> {
  if (found.length === 0) return
  const now = await databaseNow()
  for (const mirror of found) {
    const due = mirror.is_running === 1 ? mirror.due_at : dueAfter(mirror, urgency, now)
    const isSame = due?.getTime() === mirror.due_at?.getTime()
    await execute('update mirrors set requested_at = ?, due_at = ? where id = ?', [now, due, mirror.id])
    // A running mirror looks at the end of its run. With the same time, its job is waiting already.
    if (mirror.is_running === 0 && (!isSame || urgency === 'at-once')) await enqueueRun(mirror, due ?? now)
  }
}

function dueAfter({ due_at: due, started_at: started, failures }: Planned, urgency: Urgency, now: Date): Date {
  if (urgency === 'at-once') return now
  if (failures > 0 && due !== null) return due
  const soonest = new Date(Math.max(now.getTime(), (started?.getTime() ?? 0) + SPACING_S * 1000))
  return due !== null && due < soonest ? due : soonest
}

/** The jobs of one server share a lane, so that a slow server does not hold up mirrors of others. */
const enqueueRun = ({ id, url, storage }: Planned, runAt: Date): Promise<unknown> =>
  enqueue('mirror.run', { mirrorId: id }, { runAt, storage, lane: laneOfUrl(url) })

export function laneOfUrl(url: string): number {
  try {
    const { host, port } = readAddress(url)
    return laneOf(`${host} ${port}`)
  } catch {
    // The address has become forbidden: the run says so.
    return laneOf(url)
  }
}

/** Enqueues the mirrors that are due: by schedule, after a failure, or because the process that ran them has died. */
export async function startDueMirrors(): Promise<number> {
  const due = await rows<Planned>(
    `${PLANNED} where m.due_at <= now(3) and m.enabled = 1 order by m.due_at limit ${MOST_AT_ONCE}`
  )
  const waiting = due.length > 0 ? await enqueuedPayloads('mirror.run') : new Set()
  const missing = due.filter(({ id }) => !waiting.has(JSON.stringify({ mirrorId: id })))
  for (const mirror of missing) await enqueueRun(mirror, mirror.due_at ?? new Date())
  return missing.length
}

export interface Run {
  readonly id: number
  /** The name of this run: a run that lost its mirror to another one can no longer change the row. */
  readonly name: string
  /** Aborts when the mirror was lost, removed or switched off. */
  readonly signal: AbortSignal
  readonly end: () => void
}

/**
 * Takes a mirror that is due, or that a worker has left behind when it died. Returns null when it is not due, or when somebody else
 * runs it.
 */
export async function beginRun(id: number, processId: number): Promise<Run | null> {
  const name = `${processId}:${randomBytes(8).toString('hex')}`
  // A job may start some milliseconds before its time.
  const { affectedRows } = await execute(
    `update mirrors set run = ?, started_at = now(3), due_at = now(3) + interval ${LEASE_S} second
     where id = ? and enabled = 1 and (due_at <= now(3) + interval 1 second
       or run is not null and not exists (select 1 from job_processes p where p.id = substring_index(mirrors.run, ':', 1)))`,
    [name, id]
  )
  if (affectedRows === 0) return null
  const lost = new AbortController()
  const renew = setInterval(() => {
    execute(
      `update mirrors set due_at = now(3) + interval ${LEASE_S} second where id = ? and run = ? and enabled = 1`,
      [id, name]
    ).then(
      ({ affectedRows }) => affectedRows === 0 && lost.abort(new Error('another run has taken the mirror')),
      error => log().warn({ error: String(error), mirror: id }, 'the lease of a mirror could not be renewed')
    )
  }, RENEW_MS)
  return { id, name, signal: lost.signal, end: () => clearInterval(renew) }
}

/** Gives a mirror back, because the worker stops: the next one begins again. */
export async function giveBack(run: Run): Promise<void> {
  await execute('update mirrors set run = null, due_at = now(3) where id = ? and run = ?', [run.id, run.name])
}

/** What a run did with a ref that it has not moved as wished. */
export interface RefResult {
  readonly ref: string
  /** `diverged`: one side has commits that the other lacks. `refused`: a rule, or the server, does not allow it. */
  readonly status: 'diverged' | 'refused'
  readonly reason: string
}

export interface RunOutcome {
  readonly moved: number
  readonly left: readonly RefResult[]
  readonly seenHostKey?: string
  readonly problem?: MirrorProblem
}

const MOST_RESULTS = 100

/** Records the result of a run and plans the next one. Publishes an event when the mirror has failed several times. */
export async function finishRun(run: Run, mirror: MirrorRow, outcome: RunOutcome): Promise<void> {
  const { problem, moved, left, seenHostKey } = outcome
  const result = resultOf(outcome)
  await transact(async () => {
    const [held] = await rows<{ again: number; failures: number; storage: string }>(
      `select coalesce(m.requested_at > m.started_at, 0) as again, m.failures, p.storage
       from mirrors m join projects p on p.id = m.project_id where m.id = ? and m.run = ? for update`,
      [run.id, run.name]
    )
    if (!held) return
    const now = await databaseNow()
    const failures = result === 'failed' ? held.failures + 1 : 0
    const due = nextRun({ ...mirror, failures, result, again: held.again === 1 }, now)
    await execute(
      `update mirrors set run = null, due_at = ?, finished_at = ?, result = ?, problem = ?, error = ?, ref_results = ?,
         moved_refs = ?, failures = ?, seen_host_key = coalesce(?, seen_host_key),
         succeeded_at = case when ? = 'succeeded' then ? else succeeded_at end where id = ?`,
      [
        ...[due, now, result, problem?.code ?? null, problem?.message.slice(0, 1000) ?? null],
        ...[left.length === 0 ? null : JSON.stringify(left.slice(0, MOST_RESULTS)), moved, failures],
        ...[seenHostKey ?? null, result, now, run.id]
      ]
    )
    // startDueMirrors starts the later ones.
    const isSoon = due !== null && due.getTime() - now.getTime() < MINUTE_MS
    if (isSoon) await enqueueRun({ ...mirror, ...held, due_at: due, is_running: 0 }, due)
    if (failures === NOTIFY_AFTER) await publish({ kind: 'mirror.failed', mirrorId: run.id })
  })
}

function resultOf({ problem, left }: RunOutcome): RunResult {
  if (problem) return problem.stops ? 'stopped' : 'failed'
  return left.length > 0 ? 'partial' : 'succeeded'
}

interface Plan {
  readonly direction: Direction
  readonly interval_minutes: number | null
  readonly result: RunResult
  readonly failures: number
  /** Whether somebody asked for a run since this one began. */
  readonly again: boolean
}

/** Returns when a mirror runs next; null for never, until somebody asks. */
export function nextRun(
  { interval_minutes, result, failures, again }: Plan,
  now: Date,
  random = Math.random
): Date | null {
  const inMinutes = (minutes: number) => new Date(now.getTime() + minutes * MINUTE_MS)
  const scheduled = interval_minutes === null ? null : inMinutes(interval_minutes)
  if (result === 'stopped') return scheduled
  if (result === 'failed') {
    if (failures > MOST_RETRIES) return scheduled
    // A random part of up to a quarter: mirrors of the same server do not return all at once.
    return inMinutes(Math.min(2 ** (failures - 1), 60) * (1 + random() / 4))
  }
  if (again) return new Date(now.getTime() + SPACING_S * 1000)
  return scheduled
}
