// Every background job: its payload (ids, not records), its queue and how often it is tried.

export const QUEUES = ['default', 'builds', 'hooks', 'mail', 'maintenance'] as const
export type Queue = (typeof QUEUES)[number]

/** name -> payload */
export interface Jobs {
  /** Something happened: every listener hears of it. `id` makes hearing it twice harmless, `at` is an ISO 8601 moment. */
  'happening.told': { id: string; at: string; happening: { readonly kind: string } }
  'hook.deliver': { deliveryId: number }
  'build.run': { buildId: number }
  'repository.optimise': { projectId: number }
  /** What a removed project leaves behind: builds, files. */
  'project.remove': { projectId: number }
  /** The number of a deleted user in rows that stay. */
  'user.forget': { userId: number }
  'maintenance.run': { task: string }
}

/**
 * Jobs that nothing enqueues any more. An appliance that was upgraded to 0.1 may still hold some: they are done like any
 * other. To be removed in 0.2.
 */
export interface RetiredJobs {
  'ref.changed': { refChangeId: number }
  'event.emitted': { key: string; event: string; payload: Record<string, unknown> }
}

export type JobName = keyof Jobs | keyof RetiredJobs

export interface JobKind {
  readonly queue: Queue
  /** Tries before the job is dead. */
  readonly attempts: number
  /** Seconds after which a try is given up. */
  readonly timeout: number
  /** Less is sooner. */
  readonly priority: number
}

const kind = (queue: Queue, rest: Partial<JobKind> = {}): JobKind => ({
  queue,
  attempts: 12,
  timeout: 300,
  priority: 100,
  ...rest
})

export const jobs: { readonly [Name in JobName]: JobKind } = {
  'happening.told': kind('default'),
  // The delivery counts its own tries over a day: a receiver that is down is no failure of the job.
  'hook.deliver': kind('hooks', { timeout: 60 }),
  // Ends by the build's own time limit; a build is tried again by claiming it again, never by failing the job.
  'build.run': kind('builds', { timeout: 7 * 86400 }),
  'repository.optimise': kind('maintenance', { attempts: 3, timeout: 3600 }),
  'project.remove': kind('maintenance', { timeout: 3600 }),
  'user.forget': kind('maintenance', { timeout: 3600 }),
  'maintenance.run': kind('maintenance', { attempts: 3, timeout: 3600 }),
  'ref.changed': kind('default', { priority: 50 }),
  'event.emitted': kind('default')
}

/** A job that took its process down this often is dead. */
export const CRASHES = 3

/** Seconds before try `attempt + 1`: 2, 4, 8 ... up to an hour, spread by up to a quarter. */
export function backOff(attempt: number, random = Math.random): number {
  return Math.min(2 ** attempt, 3600) * (1 + random() / 4)
}
