// The record "Repository entries" of the requirement.
import type { Commit as GitCommit } from '../../../git/objects/objects.js'
import type { PathEntry } from '../../../git/objects/tree.js'
import { Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { MOST_PARENTS } from '../refs/ref-commit.view.js'

export const TreeEntry = Type.Object(
  {
    id: Text('the id of the blob, tree or commit'),
    name: Text('the last part of the path'),
    type: OneOf(['tree', 'blob', 'commit'], 'TreeEntryType', 'a folder, a file, or a submodule'),
    path: Text('the path from the root folder'),
    mode: Text('the git mode, such as `100644`')
  },
  { title: 'TreeEntry', description: 'A file or folder in a folder of the repository.' }
)

export const File = Type.Object(
  {
    file_name: Text('the last part of the path'),
    file_path: Text('the path from the root folder'),
    size: Integer('bytes of the content'),
    encoding: Text('the encoding of `content`: `base64`'),
    content: Text('the content in Base64'),
    ref: Text('the requested branch, tag or commit'),
    blob_id: Text('the id of the blob'),
    commit_id: Text('the id of the commit'),
    last_commit_id: Text('the id of the last commit that changed the file')
  },
  { title: 'RepositoryFile', description: 'A file of the repository with its content.' }
)
export type File = Static<typeof File>

export const WrittenFile = Type.Object(
  {
    file_name: Text('the path of the file'),
    // Clients of the reference service read `file_path`; clients of the requirement read `file_name`.
    file_path: Text('the same as `file_name`'),
    branch_name: Text('the branch that got the commit')
  },
  { title: 'WrittenFile', description: 'A file that was created, changed or deleted by a commit.' }
)

const commit = {
  id: Text('the id of the commit'),
  short_id: Text('the first 8 characters of the id'),
  title: Text('the first line of the message; the beginning of a long line'),
  author_name: Text('the name of the author'),
  author_email: Text('the email address of the author'),
  created_at: Moment('when it was committed'),
  committer_name: Text('the name of the committer'),
  committer_email: Text('the email address of the committer'),
  message: Text('the message, cut after 32 KiB')
}

export const CommitItem = Type.Object(commit, { title: 'Commit', description: 'A commit, as lists show it.' })

const CommitStats = Type.Object(
  {
    additions: Integer('the number of added lines'),
    deletions: Integer('the number of deleted lines'),
    total: Integer('the sum of both')
  },
  { description: 'the size of the change; null when it is too large to be counted' }
)

export const CommitDetail = Type.Object(
  {
    ...commit,
    parent_ids: Type.Array(Type.String(), {
      description: `the ids of its parents, at most ${MOST_PARENTS}; a merge has several`
    }),
    committed_date: Moment('when it was committed'),
    authored_date: Moment('when it was authored'),
    stats: Nullable(CommitStats),
    status: Nullable(
      Text('the combined status of its latest pipelines, one for each branch or tag; null without pipelines')
    )
  },
  { title: 'CommitDetail', description: 'A commit with its parents and the size of its change.' }
)

export const viewTreeEntry = ({ id, name, type, path, mode }: PathEntry) => ({ id, name, type, path, mode })

/** Returns the first line of a message. It cuts a line of more than 100 characters to 80 and an ellipsis. */
export function titleOf(message: string): string {
  const [line = ''] = message.split('\n', 1)
  if (line.length <= 100) return line
  // A character may take two UTF-16 units, so 202 units have at least 101 characters.
  const characters = [...line.slice(0, 202)]
  return characters.length > 100 ? `${characters.slice(0, 80).join('')}…` : line
}

export const viewCommitItem = (found: GitCommit) => ({
  id: found.id,
  short_id: found.id.slice(0, 8),
  title: titleOf(found.message),
  author_name: found.authorName,
  author_email: found.authorEmail,
  created_at: found.committedDate,
  committer_name: found.committerName,
  committer_email: found.committerEmail,
  message: found.message
})

export const viewCommitDetail = (
  found: GitCommit,
  stats: { readonly additions: number; readonly deletions: number } | null,
  status: string | null
) => ({
  ...viewCommitItem(found),
  parent_ids: found.parentIds.slice(0, MOST_PARENTS),
  committed_date: found.committedDate,
  authored_date: found.authoredDate,
  stats: stats && { ...stats, total: stats.additions + stats.deletions },
  status
})
