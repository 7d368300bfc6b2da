// Every job's handler: a name without one does not compile.
import { deliver } from '../areas/hooks/deliver.js'
import { tellSystemHooks } from '../areas/hooks/deliveries.js'
import { createPipelineOfRefChange } from '../areas/pipelines/pipelines.js'
import { applyRefChange } from '../areas/refs/ref-effects.js'
import { forgetUser } from '../areas/removal/deleted-user-references.js'
import { eraseProject } from '../areas/removal/erase-project.js'
import { optimiseRepository } from '../areas/repository/optimise.js'
import { runNextBuild } from '../areas/runners/built-in.js'
import type { JobName, Jobs } from '../queue/jobs.js'
import type { SystemHookEvent } from '../webhooks/events.js'
import { runScheduled } from './maintenance.js'

export interface JobContext {
  /** Ends when the job is to be given up. */
  readonly signal: AbortSignal
  /** Of the worker process that claimed the job. */
  readonly processId: number
}

type Handlers = { [Name in JobName]: (payload: Jobs[Name], context: JobContext) => Promise<unknown> }

export const handlers: Handlers = {
  'ref.changed': ({ refChangeId }) =>
    Promise.all([applyRefChange(refChangeId), createPipelineOfRefChange(refChangeId)]),
  'event.emitted': ({ key, event, payload }) => tellSystemHooks(key, event as SystemHookEvent, payload),
  'hook.deliver': ({ deliveryId }) => deliver(deliveryId),
  // A job of an earlier version names a build: it wakes like any other.
  'build.run': (_, { processId, signal }) => runNextBuild(processId, signal),
  'repository.optimise': ({ projectId }) => optimiseRepository(projectId),
  'project.remove': ({ projectId }, { signal }) => eraseProject(projectId, signal),
  'user.forget': ({ userId }, { signal }) => forgetUser(userId, signal),
  'maintenance.run': ({ task }, { signal }) => runScheduled(task, signal)
}

/** Runs a job's handler. Throws for a name that no version of this program has. */
export async function perform(job: { name: JobName; payload: unknown }, context: JobContext): Promise<void> {
  const handler = handlers[job.name] as ((payload: unknown, context: JobContext) => Promise<unknown>) | undefined
  if (!handler) throw new Error(`there is no job ${job.name}`)
  await handler(job.payload, context)
}
