// The listeners to published events, which run in the jobs of the worker.

import { branchEnvironments } from './areas/ci/environments/stop.js'
import { hookEventOfBuild, hookEventOfPipeline } from './areas/ci/pipelines/events/hook-events.js'
import { pushPipelines } from './areas/ci/pipelines/pipelines.js'
import { mirrorPushes } from './areas/code/mirrors/mirror-listener.js'
import { feedEntryOfPush, hookEventOfPush } from './areas/code/refs/pushes.js'
import { refEffects } from './areas/code/refs/ref-effects.js'
import type { Listener } from './areas/ground/activity/listeners.js'
import { recordEntries } from './areas/ground/activity/record-entries.js'
import { hookDeliveries } from './areas/ground/hooks/deliveries.js'
import { recordEvents } from './areas/ground/hooks/record-events.js'
import { feedEntryOfComment, hookEventOfComment } from './areas/planning/discussion/comments/commit-comments.js'
import { feedEntryOfNote, hookEventOfNote } from './areas/planning/discussion/note-events.js'
import { systemNotes } from './areas/planning/discussion/system/listener.js'
import { feedEntryOfIssue, hookEventOfIssue } from './areas/planning/issues/issue-listeners.js'
import { branchMoves } from './areas/planning/merge-requests/branch-moves.js'
import { feedEntryOfMergeRequest, hookEventOfMergeRequest } from './areas/planning/merge-requests/listeners.js'
import { accountMail } from './areas/reach/accounts/account-mail.js'
import { activityFeed } from './areas/reach/events/activity-feed.js'
import { notifications } from './areas/reach/notifications/listener.js'
import { mailingServices } from './areas/reach/notifications/services/listener.js'
import { todoListener } from './areas/reach/todos/listener.js'

export const listeners: readonly Listener[] = [
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
  mirrorPushes,
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
