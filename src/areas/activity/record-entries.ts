// Maps happenings that contain their record to entries of the feed.
import type { FeedEntry } from './feed.js'
import type { ByKind } from './listeners.js'

export const recordEntries = {
  'user.created': null,
  'user.deleted': null,
  'key.added': null,
  'key.removed': null,
  'project.created': ({ happening: { project, by } }) => ({ projectId: project.id, authorId: by, action: 'created' }),
  // The restore brings back the rows of the feed.
  'project.restored': null,
  'project.renamed': null,
  'project.transferred': null,
  'project.deleted': null
} as const satisfies Partial<ByKind<FeedEntry>>
