// The actions of a sysadmin on queues and jobs.

import { execute, marks, row, rows } from '../db/connect/sql.js'
import { afterCommit, transact } from '../db/connect/transact.js'
import { countTotal, PART, type Page, type PageRequest, window } from '../db/lists/paginate.js'
import { Invalid, NotFound } from '../errors.js'
import { forgetFailures, forgetFailuresWithoutJob } from './failures.js'
import { type Jobs, QUEUES, type Queue } from './jobs.js'
import { wake } from './wake.js'

export interface JobRow {
  readonly id: number
  readonly queue: Queue
  readonly name: string
  readonly payload: string
  readonly state: 'ready' | 'delayed' | 'running' | 'dead'
  /** The number of finished tries. `crashes` counts how often the job ended its process. */
  readonly attempts: number
  readonly crashes: number
  /** The worker process that runs the job. */
  readonly process_id: number | null
  readonly run_at: Date
  readonly started_at: Date | null
  readonly error: string | null
  readonly created_at: Date
}

export interface JobFilter {
  readonly state?: JobRow['state']
  readonly queue?: string
  readonly name?: string
}

const COLUMNS = 'id, queue, name, payload, state, attempts, crashes, process_id, run_at, started_at, error, created_at'

/** Returns jobs, newest first, at most 1,000. Throws Invalid when the queue does not exist. */
export async function listJobs(filter: JobFilter & { limit?: number } = {}): Promise<JobRow[]> {
  const { where, values } = conditions(filter)
  return rows<JobRow>(
    `select ${COLUMNS} from jobs where ${where} order by id desc limit ${Math.min(filter.limit ?? 100, 1000)}`,
    values
  )
}

/** Returns the next part of a list of jobs: jobs with a lower id than `before`. Throws Invalid when the queue does not exist. */
export function jobsBefore(filter: JobFilter, before: number): Promise<JobRow[]> {
  const { where, values } = conditions(filter)
  return rows<JobRow>(`select ${COLUMNS} from jobs where ${where} and id < ? order by id desc limit ${PART}`, [
    ...values,
    before
  ])
}

/** Returns a page of jobs, newest first. Throws Invalid when the queue does not exist. */
export async function pageJobs(filter: JobFilter & PageRequest): Promise<Page<JobRow>> {
  const { page, perPage, sql } = window(filter)
  const { where, values } = conditions(filter)
  const [items, total] = await Promise.all([
    rows<JobRow>(`select ${COLUMNS} from jobs where ${where} order by id desc ${sql}`, values),
    countTotal(`select count(*) as total from jobs where ${where}`, values)
  ])
  return { items, total, page, perPage }
}

/** Returns how many jobs match the filter, without the limit of `listJobs`. Throws Invalid when the queue does not exist. */
export async function countJobs(filter: JobFilter = {}): Promise<number> {
  const { where, values } = conditions(filter)
  return Number((await row<{ total: number }>(`select count(*) as total from jobs where ${where}`, values))?.total ?? 0)
}

function conditions({ state, queue, name }: JobFilter): { where: string; values: string[] } {
  const pairs = Object.entries({ state, queue: queue && asQueue(queue), name })
  const given = pairs.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]))
  return {
    where: given.map(({ column }) => `${column} = ?`).join(' and ') || '1 = 1',
    values: given.map(({ value }) => value)
  }
}

/** Returns the jobs of `ids` that are in one of `states`, oldest first. `lock` locks their rows until the transaction ends. */
export function jobsIn(
  ids: readonly number[],
  states: readonly JobRow['state'][],
  { lock = false }: { lock?: boolean } = {}
): Promise<JobRow[]> {
  return rows<JobRow>(
    `select ${COLUMNS} from jobs where id in (${marks(ids)}) and state in (${marks(states)})
     order by id${lock ? ' for update' : ''}`,
    [...ids, ...states]
  )
}

/** Returns the payloads of the jobs with this name, among the given ids or among the dead jobs. */
export async function payloadsOf<Name extends keyof Jobs>(
  name: Name,
  which: readonly number[] | 'dead'
): Promise<Jobs[Name][]> {
  const condition = which === 'dead' ? "state = 'dead'" : `id in (${marks(which)})`
  const found = await rows<{ payload: string }>(`select payload from jobs where name = ? and ${condition}`, [
    name,
    ...(which === 'dead' ? [] : which)
  ])
  return found.map(({ payload }) => JSON.parse(payload) as Jobs[Name])
}

/** Returns the ids of dead jobs whose last try was before a moment, at most `limit`. */
export async function deadJobsBefore(before: Date, limit: number): Promise<number[]> {
  const found = await rows<{ id: number }>(
    `select id from jobs where state = 'dead' and run_at < ? limit ${Math.trunc(limit)}`,
    [before]
  )
  return found.map(({ id }) => id)
}

/** Returns one job. Throws NotFound when no job has this id. */
export async function findJob(id: number): Promise<JobRow> {
  const found = await row<JobRow>(`select ${COLUMNS} from jobs where id = ?`, [id])
  if (!found) throw new NotFound('Job')
  return found
}

/**
 * Makes dead or delayed jobs ready again and resets their tries. Returns the number of these jobs. Throws NotFound when
 * no dead or delayed job has one of the `ids`.
 */
export async function retryJobs(ids: readonly number[] | 'dead'): Promise<number> {
  const which = ids === 'dead' ? "state = 'dead'" : `id in (${marks(ids)}) and state in ('dead', 'delayed')`
  const { affectedRows } = await execute(
    `update jobs set state = 'ready', attempts = 0, crashes = 0, run_at = ? where ${which}`,
    [new Date(), ...(ids === 'dead' ? [] : ids)]
  )
  if (affectedRows === 0 && ids !== 'dead') throw new NotFound('Job')
  afterCommit(() => {
    for (const queue of QUEUES) wake(queue)
  })
  return affectedRows
}

/** Runs the delayed jobs of a lane now, instead of at their scheduled times. */
export async function hastenJobs(queue: Queue, lane: number): Promise<void> {
  await execute("update jobs set run_at = ? where queue = ? and state = 'delayed' and lane = ?", [
    new Date(),
    queue,
    lane
  ])
  afterCommit(() => wake('delayed'))
}

/** Removes jobs that are not running. Returns the number of removed jobs. Throws NotFound when `ids` matches no such job. */
export async function discardJobs(ids: readonly number[] | 'dead'): Promise<number> {
  const which = ids === 'dead' ? "state = 'dead'" : `id in (${marks(ids)}) and state <> 'running'`
  return transact(async () => {
    const { affectedRows } = await execute(`delete from jobs where ${which}`, ids === 'dead' ? [] : ids)
    if (affectedRows === 0 && ids !== 'dead') throw new NotFound('Job')
    if (ids === 'dead') await forgetFailuresWithoutJob()
    else await forgetFailures(ids)
    return affectedRows
  })
}

/**
 * Stops workers from taking jobs of a queue; jobs that are already running continue. Returns false when the queue was
 * already paused. Throws Invalid when the queue does not exist.
 */
export async function pauseQueue(queue: string): Promise<boolean> {
  const { affectedRows } = await execute('insert ignore into paused_queues (queue, paused_at) values (?, ?)', [
    asQueue(queue),
    new Date()
  ])
  return affectedRows === 1
}

/** Lets workers take jobs of a queue again. Returns false when the queue was not paused. Throws Invalid when the queue does not exist. */
export async function resumeQueue(queue: string): Promise<boolean> {
  const { affectedRows } = await execute('delete from paused_queues where queue = ?', [asQueue(queue)])
  afterCommit(() => wake(asQueue(queue)))
  return affectedRows === 1
}

/** Returns the names of the paused queues. */
export async function pausedQueues(): Promise<string[]> {
  return (await rows<{ queue: string }>('select queue from paused_queues order by queue')).map(({ queue }) => queue)
}

/** Returns the queue with this name. Throws Invalid when it does not exist. */
export function asQueue(name: string): Queue {
  const queue = QUEUES.find(known => known === name)
  if (!queue) throw new Invalid('queue', `is not one of ${QUEUES.join(', ')}`)
  return queue
}
