// What a sysadmin does to background jobs and their queues, each written down in the audit with the change itself.
import type { Origin } from '../../access/actor.js'
import { transact } from '../../db/transact.js'
import { BadParameters, NotFound } from '../../errors.js'
import * as queue from '../../queue/administer.js'
import { type AuditEntry, audit, auditAll } from '../audit/audit.js'
import { cancelDeliveries } from '../hooks/deliveries.js'

/** Jobs by their numbers, or all dead ones. */
export type JobSelection = readonly number[] | 'dead'

/** Jobs that one call may name: each has a row of its own in the audit. */
export const MOST_JOBS = 1000

const DISCARDABLE = ['ready', 'delayed', 'dead'] as const

/** Makes dead or delayed jobs ready, with all their tries; gives how many. Throws NotFound when numbers name none. */
export function retryJobs(which: JobSelection, origin: Origin): Promise<number> {
  return change(which, { action: 'job.retry', states: ['dead', 'delayed'], apply: queue.retryJobs }, origin)
}

/** Removes jobs that are not running; gives how many. Throws NotFound when numbers name none. */
export function discardJobs(which: JobSelection, origin: Origin): Promise<number> {
  return change(which, { action: 'job.discard', states: DISCARDABLE, apply: discard }, origin)
}

/** A delivery whose job is gone would wait for ever. */
async function discard(which: JobSelection): Promise<number> {
  await cancelDeliveries(await queue.payloadsOf('hook.deliver', which))
  return queue.discardJobs(which)
}

/** Removes those of the jobs that are dead, as upkeep does with old ones; gives how many. */
export function discardDead(ids: readonly number[]): Promise<number> {
  return transact(async () => {
    // One that was retried meanwhile is left alone.
    const dead = await queue.jobsIn(ids, ['dead'], { lock: true })
    return dead.length === 0 ? 0 : discard(dead.map(({ id }) => id))
  })
}

/** The jobs that a discard would remove, and how many there are; of all dead ones the newest 1,000 are given. */
export async function discardableJobs(which: JobSelection): Promise<{ jobs: queue.JobRow[]; total: number }> {
  if (which === 'dead') {
    const [jobs, total] = await Promise.all([
      queue.listJobs({ state: 'dead', limit: MOST_JOBS }),
      queue.countJobs({ state: 'dead' })
    ])
    return { jobs, total }
  }
  checkNumber(which)
  const jobs = await queue.jobsIn(which, DISCARDABLE)
  if (jobs.length === 0) throw new NotFound('Job')
  return { jobs, total: jobs.length }
}

/** Stops workers from taking jobs of a queue; those that run end. Throws Invalid for a queue that does not exist. */
export function pauseQueue(name: string, origin: Origin): Promise<void> {
  return transact(async () => {
    if (await queue.pauseQueue(name)) await audit(origin, { action: 'queue.pause', target: targetOfQueue(name) })
  })
}

/** Lets workers take jobs of a queue again. Throws Invalid for a queue that does not exist. */
export function resumeQueue(name: string, origin: Origin): Promise<void> {
  return transact(async () => {
    if (await queue.resumeQueue(name)) await audit(origin, { action: 'queue.resume', target: targetOfQueue(name) })
  })
}

interface JobChange {
  readonly action: string
  readonly states: readonly queue.JobRow['state'][]
  readonly apply: (which: JobSelection) => Promise<number>
}

async function change(which: JobSelection, { action, states, apply }: JobChange, origin: Origin): Promise<number> {
  if (which !== 'dead') checkNumber(which)
  return transact(async () => {
    const named = which === 'dead' ? [] : await queue.jobsIn(which, states, { lock: true })
    const count = await apply(which === 'dead' ? which : named.map(({ id }) => id))
    await auditAll(
      origin,
      named.map(job => entryOf(action, job))
    )
    // There may be a hundred thousand dead ones: together they are one row.
    if (which === 'dead' && count > 0) {
      const target = { type: 'job', id: 'dead', name: 'all dead jobs' }
      await audit(origin, { action, target, changes: { count: { after: count } } })
    }
    return count
  })
}

const entryOf = (action: string, { id, name, state, attempts }: queue.JobRow): AuditEntry => ({
  action,
  target: { type: 'job', id, name },
  changes: { state: { before: state }, attempts: { before: attempts } }
})

const targetOfQueue = (name: string) => ({ type: 'queue', id: name, name })

function checkNumber(ids: readonly number[]): void {
  if (ids.length <= MOST_JOBS) return
  const text = `at most ${MOST_JOBS} jobs can be named at once`
  throw new BadParameters(text, text)
}
