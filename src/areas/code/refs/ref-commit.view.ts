// The commit within the records "Branch" and "Tag and release".
import type { Commit } from '../../../git/objects/objects.js'
import { Moment, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'

/** Git accepts any number of parents: a page of commits with 20,000 parents each would be a response of 90 MB. */
export const MOST_PARENTS = 500

export const RefCommit = Type.Object(
  {
    id: Text('the id of the commit'),
    message: Text('the message, cut after 32 KiB'),
    parent_ids: Type.Array(Type.String(), {
      description: `the ids of its parents, at most ${MOST_PARENTS}; a merge has several`
    }),
    authored_date: Moment('when it was authored'),
    author_name: Text('the name of the author'),
    author_email: Text('the email address of the author'),
    committed_date: Moment('when it was committed'),
    committer_name: Text('the name of the committer'),
    committer_email: Text('the email address of the committer')
  },
  { title: 'RefCommit', description: 'A commit, as branches and tags show it.' }
)

export const viewRefCommit = (commit: Commit) => ({
  id: commit.id,
  message: commit.message,
  parent_ids: commit.parentIds.slice(0, MOST_PARENTS),
  authored_date: commit.authoredDate,
  author_name: commit.authorName,
  author_email: commit.authorEmail,
  committed_date: commit.committedDate,
  committer_name: commit.committerName,
  committer_email: commit.committerEmail
})
