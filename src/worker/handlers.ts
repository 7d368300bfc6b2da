// The handlers of all jobs. The code does not compile when a job has no handler.
import { scheduleOrigin } from '../access/actor.js'
import type { Told } from '../areas/activity/happenings.js'
import { cancelChildren } from '../areas/builds/pipeline-actions.js'
import { startReady } from '../areas/builds/ready-builds.js'
import { supersedeOlder } from '../areas/builds/superseded.js'
import { recordDeployment } from '../areas/environments/deployments.js'
import { deliver } from '../areas/hooks/deliver.js'
import { deliverEvent } from '../areas/hooks/deliveries.js'
import { fillRepository } from '../areas/imports/fill.js'
import '../areas/accounts/links.js'
import { sendDelivery } from '../areas/mail/send.js'
import { settleMerge } from '../areas/merge-requests/accept/finish.js'
import { mergeWaiting } from '../areas/merge-requests/accept/waiting.js'
import { checkMergeability } from '../areas/merge-requests/versions/mergeability.js'
import { createPipelineOfRefChange } from '../areas/pipelines/pipelines.js'
import { runDueSchedule } from '../areas/pipelines/schedules/run-schedule.js'
import { deleteMergedBranches } from '../areas/refs/merged-branches.js'
import { eraseProject } from '../areas/removal/erase-project.js'
import { forgetUser } from '../areas/removal/user-deletion.js'
import { optimiseRepository } from '../areas/repository/optimise.js'
import { runNextBuild } from '../areas/runners/built-in.js'
import { advanceTrigger } from '../areas/runners/downstream/advance-trigger.js'
import type { JobName, Jobs, RetiredJobs } from '../queue/jobs.js'
import type { SystemHookEvent } from '../webhooks/events.js'
import { tellListeners } from './listeners.js'
import { runScheduled } from './maintenance.js'

function planWithUrls(of: Jobs['pipeline.plan']): Promise<void> {
  if ('refChangeId' in of) return createPipelineOfRefChange(of.refChangeId)
  return 'buildId' in of ? advanceTrigger(of.buildId) : runDueSchedule(of, { urlsLater: false })
}

export interface JobContext {
  /** Aborts when the job must end. */
  readonly signal: AbortSignal
  /** The worker process that claimed the job. */
  readonly processId: number
}

type Handlers = { [Name in JobName]: (payload: (Jobs & RetiredJobs)[Name], context: JobContext) => Promise<unknown> }

export const handlers: Handlers = {
  'happening.told': told => tellListeners(told as Told),
  'hook.deliver': ({ deliveryId }) => deliver(deliveryId),
  // A job of an earlier version names a build: it wakes like any other.
  'build.run': (_, { processId, signal }) => runNextBuild(processId, signal),
  'schedule.run': due => runDueSchedule(due),
  'pipeline.plan': planWithUrls,
  'build.ready': ({ buildId }) => startReady(buildId),
  'build.trigger': ({ buildId }) => advanceTrigger(buildId, { urlsLater: true }),
  'pipeline.supersede': ({ pipelineId }) => supersedeOlder(pipelineId),
  'pipeline.cancel_children': parent => cancelChildren(parent, scheduleOrigin()),
  'build.deploy': ({ buildId }) => recordDeployment(buildId),
  'pipeline.succeeded': ({ pipelineId }) => mergeWaiting(pipelineId),
  'merge_requests.check': ({ ids }, { signal }) => checkMergeability(ids, signal),
  'merge_request.settle': merged => settleMerge(merged),
  'repository.optimise': ({ projectId }) => optimiseRepository(projectId),
  'branches.delete_merged': (payload, { signal }) => deleteMergedBranches(payload, signal),
  'project.fill': ({ projectId }, { signal }) => fillRepository(projectId, signal),
  'project.remove': ({ projectId }, { signal }) => eraseProject(projectId, signal),
  'user.forget': ({ userId }, { signal }) => forgetUser(userId, signal),
  'mail.send': ({ deliveryId }, { signal }) => sendDelivery(deliveryId, signal),
  'maintenance.run': ({ task }, { signal }) => runScheduled(task, signal),
  // With the keys of their time: what was delivered before the upgrade is not delivered again.
  'ref.changed': ({ refChangeId }) =>
    tellListeners({
      id: `ref_change:${refChangeId}`,
      at: new Date().toISOString(),
      happening: { kind: 'ref.changed', refChangeId }
    }),
  'event.emitted': ({ key, event, payload }) =>
    deliverEvent(key, { system: { event: event as SystemHookEvent, payload: () => payload } })
}

/** Runs the handler of a job. Throws when this version of the program has no job with this name. */
export async function perform(job: { name: JobName; payload: unknown }, context: JobContext): Promise<void> {
  const handler = handlers[job.name] as ((payload: unknown, context: JobContext) => Promise<unknown>) | undefined
  if (!handler) throw new Error(`unknown job ${job.name}`)
  await handler(job.payload, context)
}
