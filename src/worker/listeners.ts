// The list of all listeners. Only this file knows both the areas that tell happenings and the listeners.
import { accountMail } from '../areas/accounts/account-mail.js'
import { activityFeed } from '../areas/activity/feed.js'
import type { Told } from '../areas/activity/happenings.js'
import type { Listener } from '../areas/activity/listeners.js'
import { recordEntries } from '../areas/activity/record-entries.js'
import '../areas/discussion/registries.js'
import { feedEntryOfNote, hookEventOfNote } from '../areas/discussion/note-events.js'
import { systemNotes } from '../areas/discussion/system/listener.js'
import { branchEnvironments } from '../areas/environments/stop.js'
import { hookDeliveries } from '../areas/hooks/deliveries.js'
import { recordEvents } from '../areas/hooks/record-events.js'
import { feedEntryOfIssue, hookEventOfIssue } from '../areas/issues/issue-events.js'
import { branchMoves } from '../areas/merge-requests/branch-moves.js'
import { feedEntryOfMergeRequest, hookEventOfMergeRequest } from '../areas/merge-requests/events.js'
import { notifications } from '../areas/notifications/listener.js'
import { mailingServices } from '../areas/notifications/services/listener.js'
import { hookEventOfBuild, hookEventOfPipeline } from '../areas/pipelines/events/hook-events.js'
import { pushPipelines } from '../areas/pipelines/pipelines.js'
import { feedEntryOfPush, hookEventOfPush } from '../areas/refs/pushes.js'
import { refEffects } from '../areas/refs/ref-effects.js'
import { feedEntryOfComment, hookEventOfComment } from '../areas/repository/comments/commit-comments.js'
import '../areas/todos/at-once.js'
import { todoListener } from '../areas/todos/listener.js'

const listeners: readonly Listener[] = [
  pushPipelines,
  branchEnvironments,
  hookDeliveries({
    ...recordEvents,
    'ref.changed': hookEventOfPush,
    'commit.commented': hookEventOfComment,
    'note.created': hookEventOfNote,
    'note.edited': null,
    'build.changed': hookEventOfBuild,
    'pipeline.changed': hookEventOfPipeline,
    'issue.changed': hookEventOfIssue,
    'merge_request.changed': hookEventOfMergeRequest
  }),
  refEffects,
  systemNotes,
  notifications,
  mailingServices,
  branchMoves,
  todoListener,
  accountMail,
  activityFeed({
    ...recordEntries,
    'ref.changed': feedEntryOfPush,
    'commit.commented': feedEntryOfComment,
    'note.created': feedEntryOfNote,
    'note.edited': null,
    'issue.changed': feedEntryOfIssue,
    'merge_request.changed': feedEntryOfMergeRequest
  })
]

/**
 * Passes a happening to all its listeners at the same time: one that fails does not stop the others. Throws when any
 * failed, so that the job runs again; the listeners that succeeded do nothing then. Throws for a happening without
 * listeners: a newer version told it, and its job waits for that version.
 */
export async function tellListeners(told: Told, all: readonly Listener[] = listeners): Promise<void> {
  const { kind } = told.happening
  const hearing = all.filter(({ on }) => Object.hasOwn(on, kind))
  if (hearing.length === 0) throw new Error(`nobody listens to ${kind}`)
  const results = await Promise.allSettled(hearing.map(listener => hear(listener, told)))
  const failures = results.flatMap((result, at) =>
    result.status === 'rejected' ? [`${hearing[at]?.name}: ${describe(result.reason)}`] : []
  )
  if (failures.length > 0) throw new Error(failures.join('\n'))
}

async function hear({ on }: Listener, told: Told): Promise<void> {
  await (on[told.happening.kind] as ((told: Told) => Promise<unknown>) | undefined)?.(told)
}

const describe = (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error))
