// What the feed shows of happenings that carry their record.
import type { FeedEntry } from './feed.js'
import type { ByKind } from './happenings.js'

export const recordEntries = {
  'user.created': null,
  'user.deleted': null,
  'key.added': null,
  'key.removed': null,
  'project.created': ({ happening: { project, by } }) => ({ projectId: project.id, authorId: by, action: 'created' }),
  // What it had in the feed comes back with it.
  'project.restored': null,
  'project.renamed': null,
  'project.deleted': null
} as const satisfies Partial<ByKind<FeedEntry>>
