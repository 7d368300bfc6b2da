// What a sysadmin can do with background jobs and their queues. Each change writes to the audit log in the same transaction.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, NotFound } from '../../../errors.js'
import * as queue from '../../../queue/administer.js'
import { cancelAbandoned, cancelWaiting } from '../../ci/builds/administer.js'
import { type AuditEntry, audit, auditAll } from '../../ground/audit/audit.js'
import { cancelDeliveries } from '../../ground/hooks/deliveries.js'
import { cancelMails } from '../../reach/mail/old-mails.js'

/** Jobs by their ids, or all dead jobs. */
export type JobSelection = readonly number[] | 'dead'

/** How many jobs one call may name. The limit exists because each job gets its own row in the audit log. */
export const MOST_JOBS = 1000

const DISCARDABLE = ['ready', 'delayed', 'dead'] as const

/** Makes dead or delayed jobs ready, with all their tries again. Returns their number. Throws NotFound when no id matches. */
export function retryJobs(which: JobSelection, origin: Origin): Promise<number> {
  return change(which, { action: 'job.retry', states: ['dead', 'delayed'], apply: queue.retryJobs }, origin)
}

/**
 * Removes jobs that are not running, and cancels the builds that they would run: a build must not wait for a removed job. When
 * all dead jobs are removed, a build stays if another job also wakes the runner for it, because nobody has chosen it. Returns the
 * number of jobs. Throws NotFound when no id matches.
 */
export async function discardJobs(which: JobSelection, origin: Origin): Promise<number> {
  // Each build has its own transaction, because there may be thousands. After a kill in between, the dead jobs still exist.
  if (which === 'dead') await cancelAbandoned(await buildsOf('dead'), origin)
  const apply = async (chosen: JobSelection) => {
    // Otherwise the build would soon wake the runner again.
    if (chosen !== 'dead') await cancelWaiting(await buildsOf(chosen), origin)
    return discard(chosen)
  }
  return change(which, { action: 'job.discard', states: DISCARDABLE, apply }, origin)
}

async function buildsOf(jobs: JobSelection): Promise<number[]> {
  if (jobs.length === 0) return []
  const payloads = await queue.payloadsOf('build.run', jobs)
  return payloads.flatMap(({ buildId }) => buildId ?? [])
}

/** Removes jobs, and cancels the hook deliveries and mails of these jobs, which would otherwise wait forever. */
async function discard(which: JobSelection): Promise<number> {
  await cancelDeliveries(await queue.payloadsOf('hook.deliver', which))
  await cancelMails(await queue.payloadsOf('mail.send', which))
  return queue.discardJobs(which)
}

/**
 * Removes those of the given jobs that are dead, and cancels the builds that nothing else would end. The task `old_jobs` uses it.
 * Returns the number of jobs.
 */
export async function discardDead(ids: readonly number[], origin: Origin): Promise<number> {
  const chosen = (await queue.jobsIn(ids, ['dead'])).map(({ id }) => id)
  await cancelAbandoned(await buildsOf(chosen), origin)
  return transact(async () => {
    // A job that was retried in the meantime stays.
    const dead = await queue.jobsIn(ids, ['dead'], { lock: true })
    return dead.length === 0 ? 0 : discard(dead.map(({ id }) => id))
  })
}

/** The jobs that a discard would remove, and their total number. Of all dead jobs, it returns only the newest 1,000. */
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

/** Stops workers from taking jobs of this queue; running jobs end normally. Throws Invalid for a queue that does not exist. */
export function pauseQueue(name: string, origin: Origin): Promise<void> {
  return transact(async () => {
    if (await queue.pauseQueue(name)) await audit(origin, { action: 'queue.pause', target: targetOfQueue(name) })
  })
}

/** Lets workers take jobs of this queue again. Throws Invalid for a queue that does not exist. */
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
    // There may be a hundred thousand dead jobs, so they share one row.
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
