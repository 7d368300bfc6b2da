// A job is a row in the same database as the change that caused it, so either both commit or neither.
import { databaseTime } from '../cluster/clock.js'
import { laneWith } from '../cluster/storages.js'
import { execute } from '../db/connect/sql.js'
import { afterCommit } from '../db/connect/transact.js'
import { type Jobs, jobs, LANED_QUEUES } from './jobs.js'
import { wake } from './wake.js'

export interface EnqueueOptions {
  /** The job does not start before this time. */
  readonly runAt?: Date
  /** Overrides the priority of the job; lower numbers start first. */
  readonly priority?: number
  /** The lane, in a queue with lanes. */
  readonly lane?: number
  /** The storage of repositories that the job needs: a worker of its owner takes the job. */
  readonly storage?: string
}

/** Adds a job. Workers are woken as soon as the current transaction has committed. Returns the job's id. */
export async function enqueue<Name extends keyof Jobs>(
  name: Name,
  payload: Jobs[Name],
  options: EnqueueOptions = {}
): Promise<number> {
  return enqueueAll(name, [payload], options)
}

/** Adds many jobs with the same name, with one statement for every 500. Returns the id of the first one. */
export async function enqueueAll<Name extends keyof Jobs>(
  name: Name,
  payloads: readonly Jobs[Name][],
  options: EnqueueOptions = {}
): Promise<number> {
  const { queue, priority: usual } = jobs[name]
  const priority = options.priority ?? usual
  const lane = options.lane ?? 0
  if (lane !== 0 && !LANED_QUEUES.has(queue)) throw new Error(`the queue ${queue} has no lanes`)
  const place = options.storage === undefined ? lane : laneWith(options.storage, lane)
  const now = new Date()
  const state = options.runAt && options.runAt > now ? 'delayed' : 'ready'
  const runAt = databaseTime(options.runAt ?? now)
  let first = 0
  for (let at = 0; at < payloads.length; at += 500) {
    const part = payloads.slice(at, at + 500)
    const { insertId } = await execute(
      `insert into jobs (queue, lane, name, payload, state, priority, run_at, created_at)
       values ${part.map(() => '(?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      part.flatMap(payload => [queue, place, name, JSON.stringify(payload), state, priority, runAt, now])
    )
    first ||= insertId
  }
  if (payloads.length > 0) afterCommit(() => wake(state === 'ready' ? queue : 'delayed'))
  return first
}
