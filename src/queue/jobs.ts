// The list of background jobs: each has a payload (ids, not records), a queue and a number of tries.

export const QUEUES = ['default', 'builds', 'hooks', 'mail', 'maintenance', 'imports', 'mirrors'] as const
export type Queue = (typeof QUEUES)[number]

/**
 * Queues whose jobs have lanes: one lane never takes all slots, however many jobs wait in it. The lane of a delivery is
 * the receiver, and that of a mirror its remote server; imports from URLs have another lane than forks. Jobs of all other queues are in lane 0.
 */
export const LANED_QUEUES: ReadonlySet<Queue> = new Set(['hooks', 'imports', 'mirrors'])

/** Maps the name of a job to its payload. */
export interface Jobs {
  /** Passes an event to every listener. Because of `id`, listeners can safely receive it twice; `at` is an ISO 8601 date-time. */
  readonly 'event.published': { readonly id: string; readonly at: string; readonly event: { readonly kind: string } }
  readonly 'hook.deliver': { readonly deliveryId: number }
  /**
   * Wakes the built-in runner, once for each build that becomes pending. The runner decides which build it takes. When
   * somebody discards the job, the build with this id is canceled.
   */
  readonly 'build.run': { readonly buildId?: number }
  /** Creates the pipeline for one time of a schedule, which is an ISO 8601 date-time. */
  readonly 'schedule.run': { readonly scheduleId: number; readonly dueAt: string }
  /**
   * Creates a pipeline whose CI file includes URLs: for a ref change, for a build that has a `trigger`, or for a time
   * of a schedule. The lane is the project.
   */
  readonly 'pipeline.plan':
    | { readonly refChangeId: number }
    | { readonly buildId: number }
    | { readonly scheduleId: number; readonly dueAt: string }
  /** Starts a build that waited for a time or a resource, unless it still has to wait. */
  readonly 'build.ready': { readonly buildId: number }
  /** Starts the pipeline of a build that has a `trigger` for a script, or ends the build with that pipeline. */
  readonly 'build.trigger': { readonly buildId: number }
  /** Cancels older pipelines of the same branch, where they may be interrupted. */
  readonly 'pipeline.supersede': { readonly pipelineId: number }
  /** Cancels the child pipelines of a pipeline, or of one of its builds. */
  readonly 'pipeline.cancel_children': { readonly pipelineId: number; readonly buildId?: number }
  /** Records what a successful build did to its environment. */
  readonly 'build.deploy': { readonly buildId: number }
  /** Continues everything that waits for the success of a pipeline. */
  readonly 'pipeline.succeeded': { readonly pipelineId: number }
  /** Checks whether the branches of merge requests merge without conflicts. */
  readonly 'merge_requests.check': { readonly ids: readonly number[] }
  /** Links the LFS objects of a fork to the target of its merge request. */
  readonly 'merge_request.link_objects': { readonly id: number }
  /** Finishes the effects of a merge, in case the process that merged has ended. */
  readonly 'merge_request.settle': {
    readonly id: number
    readonly userId: number | null
    readonly onlyBranch?: boolean
  }
  readonly 'repository.optimise': { readonly projectId: number }
  /** Deletes the branches that the default branch contains, in the name of a user. */
  readonly 'branches.delete_merged': { readonly projectId: number; readonly userId: number }
  /** Fills the repository of a fork, or of a project that is imported from a URL. */
  readonly 'project.fill': { readonly projectId: number }
  /** Runs a mirror that is due. The lane is the server of its remote. */
  readonly 'mirror.run': { readonly mirrorId: number }
  /** Works on a migration as the request with this number asks. Each migration has its own lane. */
  readonly 'migration.work': { readonly migrationId: number; readonly turn: number }
  /** Removes the remains of a removed project: builds and files. */
  readonly 'project.remove': { readonly projectId: number }
  /** Sets the id of a deleted user to null in rows that stay. */
  readonly 'user.forget': { readonly userId: number }
  /** Sends a mail to one of its recipients. */
  readonly 'mail.send': { readonly deliveryId: number }
  /** `done` has the storages of other machines for which the task has already run. */
  readonly 'maintenance.run': { readonly task: string; readonly done?: readonly string[] }
}

/**
 * Jobs that nothing enqueues any more. The queue of an appliance that was upgraded to 0.1 may still contain some: they
 * run like any other. To be removed in 0.2.
 */
export interface RetiredJobs {
  readonly 'happening.told': { readonly id: string; readonly at: string; readonly happening: { readonly kind: string } }
  readonly 'ref.changed': { readonly refChangeId: number }
  readonly 'event.emitted': { readonly key: string; readonly event: string; readonly payload: Record<string, unknown> }
}

export type JobName = keyof Jobs | keyof RetiredJobs

export interface JobKind {
  readonly queue: Queue
  /** Number of tries before the job is dead. */
  readonly attempts: number
  /** Seconds after which a try is aborted. */
  readonly timeout: number
  /** Jobs with a lower number start first. */
  readonly priority: number
  /** A record shows what the job does, and must show its death (failures.ts). */
  readonly showsDeath?: true
}

const kind = (queue: Queue, rest: Partial<JobKind> = {}): JobKind => ({
  queue,
  attempts: 12,
  timeout: 300,
  priority: 100,
  ...rest
})

/** The queue, tries, time limit and priority of every job. */
export const jobs: { readonly [Name in JobName]: JobKind } = {
  'event.published': kind('default'),
  // The delivery counts its own tries, over a day. An unavailable receiver is not a failure of the job.
  'hook.deliver': kind('hooks', { timeout: 60 }),
  // The build's own time limit ends the job. A build is retried with a new claim, after any wake-up, never by failing the job.
  'build.run': kind('builds', { timeout: 7 * 86400 }),
  'schedule.run': kind('default', { attempts: 3 }),
  'pipeline.plan': kind('hooks', { timeout: 120 }),
  'build.ready': kind('default', { priority: 50 }),
  'build.trigger': kind('default'),
  'pipeline.supersede': kind('default'),
  // Before the builds of the children start.
  'pipeline.cancel_children': kind('default', { priority: 50 }),
  'build.deploy': kind('default'),
  'pipeline.succeeded': kind('default'),
  'merge_requests.check': kind('default', { attempts: 3 }),
  'merge_request.link_objects': kind('default'),
  'merge_request.settle': kind('default'),
  'repository.optimise': kind('maintenance', { attempts: 3, timeout: 3600 }),
  'branches.delete_merged': kind('default', { attempts: 3, timeout: 3600 }),
  // The limits of the configuration (imports.timeout, git.timeout) end the job before.
  'project.fill': kind('imports', { attempts: 3, timeout: 7200 }),
  // The mirror plans its own attempts. Its limit (imports.timeout) ends the job before.
  'mirror.run': kind('mirrors', { attempts: 3, timeout: 7200 }),
  // Sources limit the requests in an hour. It gives up its slot, as mirrors of slow servers do.
  'migration.work': kind('mirrors', { timeout: 7 * 86400, showsDeath: true }),
  'project.remove': kind('maintenance', { timeout: 3600 }),
  'user.forget': kind('maintenance', { timeout: 3600 }),
  // The delivery counts its own tries, over two days. The limit is the time for two mails, because one waits for the other.
  'mail.send': kind('mail', { timeout: 600 }),
  'maintenance.run': kind('maintenance', { attempts: 3, timeout: 3600 }),
  'happening.told': kind('default'),
  'ref.changed': kind('default', { priority: 50 }),
  'event.emitted': kind('default')
}

/** A job is dead when it has ended its process this many times. */
export const CRASHES = 3

/** Returns the seconds to wait after try `attempt`: 2, 4, 8 ... up to an hour, plus a random part of up to a quarter. */
export function backOff(attempt: number, random = Math.random): number {
  return Math.min(2 ** attempt, 3600) * (1 + random() / 4)
}
