// "Repository entries".
import { type Static, Type } from 'typebox'
import type { Commit as GitCommit } from '../../git/objects.js'
import type { PathEntry } from '../../git/tree.js'
import { DateTime, Nullable } from '../../lib/schema.js'

export const TreeEntry = Type.Object({
  id: Type.String(),
  name: Type.String(),
  type: Type.String(),
  path: Type.String(),
  mode: Type.String()
})

export const File = Type.Object({
  file_name: Type.String(),
  file_path: Type.String(),
  size: Type.Integer(),
  encoding: Type.String(),
  content: Type.String(),
  ref: Type.String(),
  blob_id: Type.String(),
  commit_id: Type.String(),
  last_commit_id: Type.String()
})
export type File = Static<typeof File>

export const WrittenFile = Type.Object({
  file_name: Type.String(),
  // Clients of the reference service read this name, those of the requirement the other.
  file_path: Type.String(),
  branch_name: Type.String()
})

const commit = {
  id: Type.String(),
  short_id: Type.String(),
  title: Type.String(),
  author_name: Type.String(),
  author_email: Type.String(),
  created_at: DateTime,
  committer_name: Type.String(),
  committer_email: Type.String(),
  message: Type.String()
}

export const CommitItem = Type.Object(commit)

export const CommitDetail = Type.Object({
  ...commit,
  parent_ids: Type.Array(Type.String()),
  committed_date: DateTime,
  authored_date: DateTime,
  stats: Type.Object({ additions: Type.Integer(), deletions: Type.Integer(), total: Type.Integer() }),
  status: Nullable(Type.String())
})

export const viewTreeEntry = ({ id, name, type, path, mode }: PathEntry) => ({ id, name, type, path, mode })

/** The first line; of a long one the first 80 characters and an ellipsis. */
export function titleOf(message: string): string {
  const [line = ''] = message.split('\n', 1)
  return line.length > 100 ? `${line.slice(0, 80)}…` : line
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
  stats: { additions: number; deletions: number },
  status: string | null
) => ({
  ...viewCommitItem(found),
  parent_ids: [...found.parentIds],
  committed_date: found.committedDate,
  authored_date: found.authoredDate,
  stats: { ...stats, total: stats.additions + stats.deletions },
  status
})
