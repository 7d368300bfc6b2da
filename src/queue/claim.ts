// Takes jobs and gives them back. Every write after the claim is bound to the process that claimed the job. Thus a
// process that lost its lease can no longer change anything.
import { databaseTime } from '../cluster/clock.js'
import { LANES_OF_A_STORAGE, laneWith, mayTakeLane, ownLanes } from '../cluster/storages.js'
import { execute, marks, padded, row, rows } from '../db/connect/sql.js'
import { afterCommit, transact } from '../db/connect/transact.js'
import { sourceStack } from '../lib/source-stack.js'
import { forgetFailures, noteDead, noteFailures } from './failures.js'
import { backOff, type JobName, jobs, LANED_QUEUES, type Queue } from './jobs.js'
import { PlannedRetry } from './planned-retry.js'
import { renewProcess } from './processes.js'
import { wake } from './wake.js'

export interface ClaimedJob {
  readonly id: number
  readonly name: JobName
  readonly payload: unknown
  /** The number of this try, from 1. */
  readonly attempt: number
  /** A process that held this job died, and the job may be the cause. It is claimed on its own, and should also run on its own. */
  readonly suspect: boolean
  readonly lane: number
  /** This claim has left jobs behind that are ready now. */
  readonly more: boolean
}

/** The number of jobs of each lane that a process may take now. */
export interface Lanes {
  roomOf(lane: number): number
  /** The claim begins with the lane after this one, so that no lane is always the first. */
  readonly after: number
}

interface Row {
  readonly id: number
  readonly name: string
  readonly payload: string
  readonly attempts: number
  readonly crashes: number
  readonly lane: number
}

/** Milliseconds for which this process locks jobs before it takes them, after another process has taken some of them first. */
const CROWDED_MS = 1000
let crowdedUntil = 0

/**
 * Claims up to `limit` ready jobs of a queue for a process. Claims nothing when the queue is paused, or when the
 * process has been declared gone.
 */
export async function claimJobs(
  queue: Queue,
  processId: number,
  limit: number,
  lanes: Lanes = { roomOf: () => limit, after: 0 }
): Promise<ClaimedJob[]> {
  const from = LANED_QUEUES.has(queue)
    ? await lanesToClaim(queue, lanes, limit)
    : ownLanes().map(lane => ({ lane, room: limit }))
  if (from.length === 0) return []
  const wanted = { queue, processId, limit, from }
  if (performance.now() >= crowdedUntil) {
    const read = await readReady(wanted)
    const chosen = withoutCompany(read)
    const ours = await takeRead(chosen, wanted)
    if (ours.length === chosen.length) return claimed(ours, read)
    crowdedUntil = performance.now() + CROWDED_MS
    if (ours.length > 0) return claimed(ours, read)
  }
  return takeLocked(wanted)
}

const claimed = (taken: readonly Row[], found: readonly Row[]): ClaimedJob[] =>
  taken.map(({ id, lane, name, payload, attempts, crashes }) => ({
    id,
    lane,
    name: name as JobName,
    payload: JSON.parse(payload) as unknown,
    attempt: attempts + 1,
    suspect: crashes > 0,
    more: taken.length < found.length
  }))

interface Wanted {
  readonly queue: Queue
  readonly processId: number
  readonly limit: number
  readonly from: readonly { readonly lane: number; readonly room: number }[]
}

/**
 * Takes jobs that were read without locks: two statements instead of the four of a transaction. Returns those that no
 * other process has taken first.
 */
async function takeRead(found: readonly Row[], { queue, processId }: Wanted): Promise<readonly Row[]> {
  if (found.length === 0) return []
  const ids = padded(found.map(({ id }) => id))
  const { affectedRows } = await execute(
    `${TAKE} where id in (${marks(ids)}) and state = 'ready' and not exists (select 1 from paused_queues where queue = ?)
       and exists (select 1 from job_processes where id = ?)`,
    [processId, new Date(), ...ids, queue, processId]
  )
  if (affectedRows === 0 || affectedRows === found.length) return affectedRows === 0 ? [] : found
  const held = await rows<{ id: number }>(
    `select id from jobs where id in (${marks(ids)}) and process_id = ? and state = 'running'`,
    [...ids, processId]
  )
  const ours = new Set(held.map(({ id }) => id))
  return found.filter(({ id }) => ours.has(id))
}

const TAKE = "update jobs set state = 'running', process_id = ?, attempts = attempts + 1, started_at = ?"

/** Takes jobs that no other process is taking now. */
function takeLocked(wanted: Wanted): Promise<ClaimedJob[]> {
  return transact(async () => {
    const found = await readReady(wanted, 'for update skip locked')
    const taken = withoutCompany(found)
    if (taken.length === 0) return []
    const ids = padded(taken.map(({ id }) => id))
    await execute(`${TAKE} where id in (${marks(ids)})`, [wanted.processId, new Date(), ...ids])
    return claimed(taken, found)
  })
}

// The index is forced so that the server looks up (queue, state). For a small table the optimiser would choose a range
// scan, which also locks the first row after the range. That row belongs to the next queue, whose own worker then
// skipped it and slept until its next poll.
async function readReady({ queue, processId, limit, from }: Wanted, lock: '' | 'for update skip locked' = '') {
  const found: Row[] = []
  for (const [at, { lane, room }] of from.entries()) {
    // A lane that needs less than its share leaves the rest to the lanes after it.
    const share = Math.min(room, Math.ceil((limit - found.length) / (from.length - at)))
    if (share <= 0) continue
    // The driver sends the lane as a decimal number, which the server can compare but does not treat as a constant: with
    // `lane` in the order, a claim sorted all ready jobs.
    const ready = await rows<Row>(
      `select id, lane, name, payload, attempts, crashes from jobs force index (jobs_lane)
       where queue = ? and state = 'ready' and lane = ? and not exists (select 1 from paused_queues where queue = ?)
         and exists (select 1 from job_processes where id = ?)
       order by priority, run_at, id limit ${Math.trunc(share)} ${lock}`,
      [queue, lane, queue, processId]
    )
    found.push(...ready)
  }
  return found
}

/** Returns at most `most` lanes that have ready jobs and room, beginning after the lane of the last job. */
async function lanesToClaim(queue: Queue, { roomOf, after }: Lanes, most: number) {
  const found: { readonly lane: number; readonly room: number }[] = []
  const look = async (from: number, to: number) => {
    for (let next = await nextLane(queue, from); next !== undefined && next <= to && found.length < most; ) {
      if (!mayTakeLane(next)) {
        // Other machines own the storage of these lanes.
        next = await nextLane(queue, (Math.floor(next / LANES_OF_A_STORAGE) + 1) * LANES_OF_A_STORAGE)
        continue
      }
      const room = roomOf(next)
      if (room > 0) found.push({ lane: next, room })
      next = await nextLane(queue, next + 1)
    }
  }
  await look(after + 1, Number.POSITIVE_INFINITY)
  await look(0, after)
  return found
}

/** Finds the next lane with one index step, however many jobs wait. The database would read all of them for `group by lane`. */
async function nextLane(queue: Queue, from: number): Promise<number | undefined> {
  const found = await row<{ lane: number }>(
    `select lane from jobs force index (jobs_lane) where queue = ? and state = 'ready' and lane >= ?
     order by queue, state, lane limit 1`,
    [queue, from]
  )
  return found?.lane
}

/** Returns the jobs to take: a suspect is taken on its own. If it ends the process again, no other job is blamed with it. */
function withoutCompany(found: readonly Row[]): readonly Row[] {
  const first = found.findIndex(({ crashes }) => crashes > 0)
  return first === -1 ? found : found.slice(0, Math.max(first, 1))
}

/** Removes finished jobs with their stored failures. Returns how many of them this process still held. */
export async function finishJobs(ids: readonly number[], processId: number): Promise<number> {
  if (ids.length === 0) return 0
  const these = padded(ids)
  const { affectedRows } = await execute(
    `delete jobs, job_failures from jobs left join job_failures on job_failures.job_id = jobs.id
     where jobs.id in (${marks(these)}) and jobs.process_id = ? and jobs.state = 'running'`,
    [...these, processId]
  )
  // The server counts the rows of both tables. Only failures of a batch that was lost in the meantime could add to its count.
  return Math.min(affectedRows, ids.length)
}

/**
 * Sets a failed job to `delayed` for a later try, or to `dead` after its last try. A PlannedRetry contains the time
 * of the next try; without a next try the job is removed. Returns false when this process no longer held the job.
 */
export async function failJob(job: ClaimedJob, processId: number, error: unknown): Promise<boolean> {
  const { attempts } = jobs[job.name] ?? { attempts: 1 }
  const plan = error instanceof PlannedRetry ? error : null
  const dead = plan === null && job.attempt >= attempts
  const runAt = databaseTime(plan?.runAt ?? new Date(Date.now() + backOff(job.attempt) * 1000))
  return transact(async () => {
    if (plan?.runAt === null) return removeFailed(job, processId)
    const { affectedRows } = await execute(
      `update jobs set state = ?, run_at = ?, error = ?, process_id = null, started_at = null
       where id = ? and process_id = ? and state = 'running'`,
      [dead ? 'dead' : 'delayed', runAt, errorText(error), job.id, processId]
    )
    if (affectedRows === 0) return false
    await noteFailures([job.id])
    if (dead) await noteDead(job)
    return true
  })
}

async function removeFailed({ id }: ClaimedJob, processId: number): Promise<boolean> {
  const { affectedRows } = await execute("delete from jobs where id = ? and process_id = ? and state = 'running'", [
    id,
    processId
  ])
  if (affectedRows === 0) return false
  await forgetFailures([id])
  return true
}

/** Puts claimed jobs back unchanged. A process that stops does this with the jobs that it has not started. */
export async function releaseJobs(ids: readonly number[], processId: number): Promise<void> {
  if (ids.length === 0) return
  await execute(
    `update jobs set state = 'ready', process_id = null, started_at = null, attempts = attempts - 1
     where id in (${marks(ids)}) and process_id = ? and state = 'running'`,
    [...ids, processId]
  )
  // Another idle worker of this machine would look for them some seconds later.
  afterCommit(() => wake('delayed'))
}

/**
 * Gives a job to the workers of the machine that owns a storage. The try does not count, unless it has been given away before: a job
 * that needs the repositories of two machines ends as one that fails.
 */
export async function handOverJob({ id, lane }: ClaimedJob, processId: number, storage: string): Promise<void> {
  await execute(
    `update jobs set state = 'ready', lane = ?, process_id = null, started_at = null, attempts = attempts - ?
     where id = ? and process_id = ? and state = 'running'`,
    [laneWith(storage, lane), lane < LANES_OF_A_STORAGE ? 1 : 0, id, processId]
  )
}

/**
 * Puts back jobs that a process holds without knowing it: their claim was committed, but the answer was lost with the
 * database connection. Returns the number of these jobs.
 *
 * When a node of a cluster leaves, its last commits may reach the others seconds later. They come before every commit that the others make
 * without it, so this process first commits something, and then looks.
 */
export async function releaseUnknown(
  queue: Queue,
  processId: number,
  isKnown: (id: number) => boolean
): Promise<number> {
  await renewProcess(processId)
  const held = await rows<{ id: number }>(
    "select id from jobs where process_id = ? and queue = ? and state = 'running'",
    [processId, queue]
  )
  const unknown = held.map(({ id }) => id).filter(id => !isKnown(id))
  await releaseJobs(unknown, processId)
  return unknown.length
}

/**
 * Looks once for all queues, instead of a claim for each: in how many milliseconds the next delayed job is due, which may be over, and
 * which of the queues have jobs that are ready.
 */
export async function lookForWork(queues: readonly Queue[]): Promise<{ due: number | null; ready: Queue[] }> {
  const isReady = queues.map(
    () => "if(exists (select 1 from jobs force index (jobs_lane) where queue = ? and state = 'ready'), ?, null)"
  )
  const found = await row<{ due: number | null; ready: string }>(
    `select (select timestampdiff(microsecond, now(3), run_at) from jobs where state = 'delayed' order by run_at limit 1) as due,
       concat_ws(',', ${['null', ...isReady].join(', ')}) as ready`,
    queues.flatMap(queue => [queue, queue])
  )
  const due = found?.due ?? null
  return { due: due === null ? null : due / 1000, ready: (found?.ready || '').split(',').filter(Boolean) as Queue[] }
}

/** Makes delayed jobs ready when they are due: at the time of the database, or at another time. Returns the number of these jobs. Delayed jobs have a separate state to keep claims fast. */
export async function promoteJobs(now: Date | null = null): Promise<number> {
  const due = await row<{ due: number }>(
    "select exists (select 1 from jobs where state = 'delayed' and run_at <= coalesce(?, now(3))) as due",
    [now]
  )
  if (!due?.due) return 0
  const { affectedRows } = await execute(
    "update jobs set state = 'ready' where state = 'delayed' and run_at <= coalesce(?, now(3)) order by run_at limit 1000",
    [now]
  )
  return affectedRows
}

function errorText(error: unknown): string {
  if (error instanceof PlannedRetry) return error.message.slice(0, 8000)
  const text = error instanceof Error ? sourceStack(error.stack ?? error.message) : String(error)
  return text.slice(0, 8000)
}
