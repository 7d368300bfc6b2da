// The records "Diff entry", "Compare result" and "Contributor" of the requirement.
import type { Contributor as GitContributor } from '../../../git/history/contributors.js'
import type { Patch } from '../../../git/history/patches.js'
import { described, Flag, Integer, Nullable, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { CommitItem, viewCommitItem } from '../repository/repository.view.js'
import type { Comparison } from './compare.js'

export const DiffEntry = Type.Object(
  {
    old_path: Text('the path before the change; the new path for a new file'),
    new_path: Text('the path after the change; the old path for a deleted file'),
    a_mode: Text('the mode before, in octal; `0` for a new file'),
    b_mode: Text('the mode after, in octal; `0` for a deleted file'),
    diff: Text('the diff in unified format, including the two lines with the paths'),
    new_file: Flag('whether the file is new'),
    renamed_file: Flag('whether the path changed'),
    deleted_file: Flag('whether the file was deleted'),
    too_large: Type.Optional(Flag('true when `diff` is empty because it exceeds the limits; otherwise absent'))
  },
  { title: 'DiffEntry', description: 'The change of one file.' }
)

export const viewDiffEntry = (patch: Patch) => ({
  old_path: patch.oldPath,
  new_path: patch.newPath,
  a_mode: patch.oldMode,
  b_mode: patch.newMode,
  diff: patch.text,
  new_file: patch.status === 'A',
  renamed_file: patch.status === 'R',
  deleted_file: patch.status === 'D',
  // Not specified: how a response marks an omitted text. Some versions of the reference service have this field.
  ...(patch.isTooLarge && { too_large: true })
})

export const Compare = Type.Object(
  {
    commit: Nullable(described(CommitItem, 'the newest of the commits; null without commits')),
    commits: Type.Array(CommitItem, { description: 'the commits that `to` has and `from` does not, oldest first' }),
    diffs: Type.Array(DiffEntry, { description: 'the changes since the common history' }),
    compare_timeout: Flag('whether something is omitted because it exceeds the limits'),
    compare_same_ref: Flag('whether both are the same commit')
  },
  { title: 'Compare', description: 'The differences between two commits.' }
)

export const viewCompare = ({ commits, patches, isCut, isSame }: Comparison) => {
  const last = commits.at(-1)
  return {
    commit: last ? viewCommitItem(last) : null,
    commits: commits.map(viewCommitItem),
    diffs: patches.map(viewDiffEntry),
    compare_timeout: isCut,
    compare_same_ref: isSame
  }
}

export const Contributor = Type.Object(
  {
    name: Text('the name in the newest commit'),
    email: Text('the email address'),
    commits: Integer('the number of commits, without merges'),
    additions: Integer('the number of added lines'),
    deletions: Integer('the number of deleted lines')
  },
  { title: 'Contributor', description: 'An author of commits in the default branch.' }
)

export const viewContributor = ({ name, email, commits, additions, deletions }: GitContributor) => ({
  name,
  email,
  commits,
  additions,
  deletions
})
