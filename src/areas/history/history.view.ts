// The records "Diff entry", "Compare result" and "Contributor" of the requirement.
import type { Contributor as GitContributor } from '../../git/contributors.js'
import type { Patch } from '../../git/patches.js'
import { described, Flag, Integer, Nullable, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import { CommitItem, viewCommitItem } from '../repository/repository.view.js'
import type { Comparison } from './compare.js'

export const DiffEntry = Type.Object(
  {
    old_path: Text('the path before; of a new file its path'),
    new_path: Text('the path after; of a deleted file its path'),
    a_mode: Text('the mode before, in octal; `0` of a new file'),
    b_mode: Text('the mode after, in octal; `0` of a deleted file'),
    diff: Text('the changed lines as unified text, after the lines with the two names'),
    new_file: Flag('whether the file is new'),
    renamed_file: Flag('whether the file has another path'),
    deleted_file: Flag('whether the file is gone'),
    too_large: Type.Optional(Flag('true when `diff` is empty because it is larger than the limits; else absent'))
  },
  { title: 'DiffEntry', description: 'How one file changed.' }
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
  // Not specified: how an answer says that it lacks a text. Some versions of the reference service have this field.
  ...(patch.isTooLarge && { too_large: true })
})

export const Compare = Type.Object(
  {
    commit: Nullable(described(CommitItem, 'the newest of them; null without any')),
    commits: Type.Array(CommitItem, { description: 'the commits that `to` has and `from` has not, oldest first' }),
    diffs: Type.Array(DiffEntry, { description: 'what they changed since the two had the same history' }),
    compare_timeout: Flag('whether something is left out, because it is more than the limits'),
    compare_same_ref: Flag('whether both are the same commit')
  },
  { title: 'Compare', description: 'How two commits differ.' }
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
    additions: Integer('lines that they added'),
    deletions: Integer('lines that they deleted')
  },
  { title: 'Contributor', description: 'Somebody who wrote commits of the default branch.' }
)

export const viewContributor = ({ name, email, commits, additions, deletions }: GitContributor) => ({
  name,
  email,
  commits,
  additions,
  deletions
})
