// The record "Branch".
import type { Commit } from '../../../git/objects/objects.js'
import { described, Flag, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import type { Protection } from './protection.js'
import { RefCommit, viewRefCommit } from './ref-commit.view.js'

export interface BranchRow {
  readonly name: string
  readonly commit: Commit
  readonly merged: boolean
  readonly protection: Protection | null
}

export const Branch = Type.Object(
  {
    name: Text('the name, without `refs/heads/`'),
    commit: described(RefCommit, 'its newest commit'),
    merged: Flag('whether it is merged into the default branch'),
    protected: Flag('whether a rule protects it'),
    developers_can_push: Flag('whether developers may push to it, although it is protected'),
    developers_can_merge: Flag('whether developers may merge into it, although it is protected')
  },
  { title: 'Branch', description: 'A branch of the repository.' }
)

export const viewBranch = ({ name, commit, merged, protection }: BranchRow) => ({
  name,
  commit: viewRefCommit(commit),
  merged,
  protected: protection !== null,
  developers_can_push: protection?.developersCanPush ?? false,
  developers_can_merge: protection?.developersCanMerge ?? false
})
