// Maps events that contain their record to entries of the feed.
import { MAIL_ONLY } from './account-events.js'
import type { Stored } from './events.js'
import type { FeedAction, FeedEntry } from './feed-entry.js'
import type { ByKind } from './listeners.js'
import type { MemberSnapshot } from './snapshots.js'

/** The feed shows members of projects only. Decided: the author of these entries is the member. */
const memberEntry = ({ source, user }: Stored<MemberSnapshot>, action: FeedAction) =>
  source.type === 'project' ? { projectId: source.id, authorId: user.id, action } : null

export const recordEntries = {
  'user.created': null,
  'user.deleted': null,
  'key.added': null,
  'key.removed': null,
  'deploy_key.created': null,
  'deploy_key.deleted': null,
  'group.created': null,
  'group.deleted': null,
  'member.added': ({ event: { member } }) => memberEntry(member, 'joined'),
  'member.removed': ({ event: { member, expired } }) =>
    memberEntry(member, expired ? 'removed due to membership expiration from' : 'left'),
  'project.created': ({ event: { project, by } }) => ({ projectId: project.id, authorId: by, action: 'created' }),
  ...MAIL_ONLY,
  // The restore brings back the rows of the feed.
  'project.restored': null,
  'project.renamed': null,
  'project.transferred': null,
  'project.deleted': null,
  // The feed shows no CI.
  'build.changed': null,
  'pipeline.changed': null,
  'milestone.changed': ({ event: { action, milestone, by } }) => ({
    projectId: milestone.project_id,
    authorId: by,
    action,
    target: { type: 'Milestone', id: milestone.id, title: milestone.title }
  })
} as const satisfies Partial<ByKind<FeedEntry>>
