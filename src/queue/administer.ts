// What a sysadmin does with queues and jobs.
import { execute, marks, row, rows } from '../db/sql.js'
import { Invalid, NotFound } from '../errors.js'
import { QUEUES, type Queue } from './jobs.js'
import { wake } from './wake.js'

export interface JobRow {
  id: number
  queue: Queue
  name: string
  payload: string
  state: 'ready' | 'delayed' | 'running' | 'dead'
  attempts: number
  run_at: Date
  started_at: Date | null
  error: string | null
  created_at: Date
}

export interface JobFilter {
  state?: JobRow['state']
  queue?: string
  limit?: number
}

/** Jobs, newest first, at most 1,000. */
export async function listJobs(filter: JobFilter = {}): Promise<JobRow[]> {
  const where = ['1 = 1']
  const values: string[] = []
  if (filter.state) {
    where.push('state = ?')
    values.push(filter.state)
  }
  if (filter.queue) {
    where.push('queue = ?')
    values.push(asQueue(filter.queue))
  }
  return rows<JobRow>(
    `select id, queue, name, payload, state, attempts, run_at, started_at, error, created_at from jobs
     where ${where.join(' and ')} order by id desc limit ${Math.min(filter.limit ?? 100, 1000)}`,
    values
  )
}

/** One job. Throws NotFound. */
export async function findJob(id: number): Promise<JobRow> {
  const found = await row<JobRow>(
    'select id, queue, name, payload, state, attempts, run_at, started_at, error, created_at from jobs where id = ?',
    [id]
  )
  if (!found) throw new NotFound('Job')
  return found
}

/** Makes dead or delayed jobs ready, with all their tries; gives how many. Throws NotFound when `ids` names none. */
export async function retryJobs(ids: readonly number[] | 'dead'): Promise<number> {
  const which = ids === 'dead' ? "state = 'dead'" : `id in (${marks(ids)}) and state in ('dead', 'delayed')`
  const { affectedRows } = await execute(
    `update jobs set state = 'ready', attempts = 0, crashes = 0, run_at = ? where ${which}`,
    [new Date(), ...(ids === 'dead' ? [] : ids)]
  )
  if (affectedRows === 0 && ids !== 'dead') throw new NotFound('Job')
  for (const queue of QUEUES) wake(queue)
  return affectedRows
}

/** Removes jobs that are not running; gives how many. Throws NotFound when `ids` names none. */
export async function discardJobs(ids: readonly number[] | 'dead'): Promise<number> {
  const which = ids === 'dead' ? "state = 'dead'" : `id in (${marks(ids)}) and state <> 'running'`
  const { affectedRows } = await execute(`delete from jobs where ${which}`, ids === 'dead' ? [] : ids)
  if (affectedRows === 0 && ids !== 'dead') throw new NotFound('Job')
  return affectedRows
}

/** Stops workers from taking jobs of a queue; those that run end. */
export async function pauseQueue(queue: string): Promise<void> {
  await execute('insert ignore into paused_queues (queue, paused_at) values (?, ?)', [asQueue(queue), new Date()])
}

export async function resumeQueue(queue: string): Promise<void> {
  await execute('delete from paused_queues where queue = ?', [asQueue(queue)])
  wake(asQueue(queue))
}

export async function pausedQueues(): Promise<string[]> {
  return (await rows<{ queue: string }>('select queue from paused_queues order by queue')).map(({ queue }) => queue)
}

function asQueue(name: string): Queue {
  const queue = QUEUES.find(known => known === name)
  if (!queue) throw new Invalid('queue', `is not one of ${QUEUES.join(', ')}`)
  return queue
}
