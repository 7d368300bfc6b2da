// The handlers of all jobs. The code does not compile when a job has no handler.
import { scheduleOrigin } from '../access/actor.js'
import { cancelChildren } from '../areas/ci/builds/pipeline-actions.js'
import { startReady } from '../areas/ci/builds/ready-builds.js'
import { supersedeOlder } from '../areas/ci/builds/superseded.js'
import { recordDeployment } from '../areas/ci/environments/deployments.js'
import { createPipelineOfRefChange } from '../areas/ci/pipelines/pipelines.js'
import { runDueSchedule } from '../areas/ci/pipelines/schedules/run-schedule.js'
import { runNextBuild } from '../areas/ci/runners/built-in.js'
import { advanceTrigger } from '../areas/ci/runners/downstream/advance-trigger.js'
import { runMirror } from '../areas/code/mirrors/run-mirror.js'
import { deleteMergedBranches } from '../areas/code/refs/merged-branches.js'
import { optimiseRepository } from '../areas/code/repository/optimise.js'
import type { PublishedEvent } from '../areas/ground/activity/events.js'
import { deliver } from '../areas/ground/hooks/deliver.js'
import { deliverEvent } from '../areas/ground/hooks/deliveries.js'
import { workOnMigration } from '../areas/migrate/migrations/work.js'
import { settleMergeLater } from '../areas/planning/merge-requests/accept/finish.js'
import { linkObjectsOfFork } from '../areas/planning/merge-requests/accept/lfs-of-fork.js'
import { mergeWaiting } from '../areas/planning/merge-requests/accept/waiting.js'
import { checkMergeability } from '../areas/planning/merge-requests/versions/mergeability.js'
import { fillRepository } from '../areas/projects/imports/fill-repository.js'
import { sendDelivery } from '../areas/reach/mail/send.js'
import { eraseProject } from '../areas/upkeep/removal/erase-project.js'
import { forgetUser } from '../areas/upkeep/removal/user-deletion.js'
import { handleEvent } from '../product.js'
import type { JobName, Jobs, RetiredJobs } from '../queue/jobs.js'
import type { SystemHookEvent } from '../webhooks/events.js'
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

const handlers: Handlers = {
  'event.published': published => handleEvent(published as PublishedEvent),
  'happening.told': ({ happening, ...rest }) => handleEvent({ ...rest, event: happening } as PublishedEvent),
  'hook.deliver': ({ deliveryId }) => deliver(deliveryId),
  // A job of an earlier version contains the id of a build: it wakes a worker like any other.
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
  'merge_request.settle': (merged, { signal }) => settleMergeLater(merged, signal),
  'merge_request.link_objects': ({ id }, { signal }) => linkObjectsOfFork(id, signal),
  'repository.optimise': ({ projectId }) => optimiseRepository(projectId),
  'branches.delete_merged': (payload, { signal }) => deleteMergedBranches(payload, signal),
  'project.fill': ({ projectId }, { signal }) => fillRepository(projectId, signal),
  'mirror.run': ({ mirrorId }, context) => runMirror(mirrorId, context),
  'migration.work': (turn, { signal }) => workOnMigration(turn, signal),
  'project.remove': ({ projectId }, { signal }) => eraseProject(projectId, signal),
  'user.forget': ({ userId }, { signal }) => forgetUser(userId, signal),
  'mail.send': ({ deliveryId }, { signal }) => sendDelivery(deliveryId, signal),
  'maintenance.run': ({ task, done }, { signal }) => runScheduled(task, signal, done),
  // Uses the keys of that version: what was delivered before the upgrade is not delivered again.
  'ref.changed': ({ refChangeId }) =>
    handleEvent({
      id: `ref_change:${refChangeId}`,
      at: new Date().toISOString(),
      event: { kind: 'ref.changed', refChangeId }
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
