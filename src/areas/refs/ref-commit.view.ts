// The commit within the records "Branch" and "Tag and release".
import type { Commit } from '../../git/objects.js'
import { Moment, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'

/** Git takes commits of any number of parents: a page of those that have 20,000 would be an answer of 90 MB. */
export const MOST_PARENTS = 500

export const RefCommit = Type.Object(
  {
    id: Text('the id of the commit'),
    message: Text('the whole message; of more than 32 KiB the beginning'),
    parent_ids: Type.Array(Type.String(), {
      description: `the ids of its parents, at most ${MOST_PARENTS}; a merge has several`
    }),
    authored_date: Moment('when the author wrote it'),
    author_name: Text('who wrote the change'),
    author_email: Text('the email address of the author'),
    committed_date: Moment('when it was committed'),
    committer_name: Text('who committed the change'),
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
