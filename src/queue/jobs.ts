// Every background job: its payload (ids, not records), its queue and how often it is tried.

export const QUEUES = ['default', 'builds', 'hooks', 'mail', 'maintenance'] as const
export type Queue = (typeof QUEUES)[number]

/** name -> payload */
export interface Jobs {
  /** A settled ref change: hooks, pipeline, commit graph. */
  'ref.changed': { refChangeId: number }
  /** A system event that is not a push; `key` makes telling it twice harmless. */
  'event.emitted': { key: string; event: string; payload: Record<string, unknown> }
  'hook.deliver': { deliveryId: number }
  /** Wakes the built-in runner, once for each build that becomes pending; which one it takes is found out then. */
  'build.run': Record<string, never>
  'repository.optimise': { projectId: number }
  /** What a removed project leaves behind: builds, files. */
  'project.remove': { projectId: number }
  /** The number of a deleted user in rows that stay. */
  'user.forget': { userId: number }
  'maintenance.run': { task: string }
}

export type JobName = keyof Jobs

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
  'ref.changed': kind('default', { priority: 50 }),
  'event.emitted': kind('default'),
  // The delivery counts its own tries over a day: a receiver that is down is no failure of the job.
  'hook.deliver': kind('hooks', { timeout: 60 }),
  // Ends by the build's own time limit; a build is tried again by claiming it again, by whatever wake-up comes.
  'build.run': kind('builds', { timeout: 7 * 86400 }),
  'repository.optimise': kind('maintenance', { attempts: 3, timeout: 3600 }),
  'project.remove': kind('maintenance', { timeout: 3600 }),
  'user.forget': kind('maintenance', { timeout: 3600 }),
  'maintenance.run': kind('maintenance', { attempts: 3, timeout: 3600 })
}

/** A job that took its process down this often is dead. */
export const CRASHES = 3

/** Seconds before try `attempt + 1`: 2, 4, 8 ... up to an hour, spread by up to a quarter. */
export function backOff(attempt: number, random = Math.random): number {
  return Math.min(2 ** attempt, 3600) * (1 + random() / 4)
}
