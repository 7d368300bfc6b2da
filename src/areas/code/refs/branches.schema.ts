import { Flag, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

const name = (description: string) => Text(description, { minLength: 1, maxLength: 1024 })

export const BranchParams = Type.Object({ ...projectParam, branch: name('the name of the branch') })

export const NewBranch = Type.Object(
  {
    branch_name: Text('the name of the new branch', { maxLength: 1024 }),
    ref: Text('the start of the branch: a branch, a tag or the id of a commit', { maxLength: 1024 })
  },
  { title: 'NewBranch', description: 'A new branch and its start.' }
)

export const ProtectionBody = Type.Object(
  {
    developers_can_push: Type.Optional(
      Flag('true: developers may push to it. Default false; unchanged for a protected branch')
    ),
    developers_can_merge: Type.Optional(Flag('the same for merging'))
  },
  { title: 'ProtectionOfBranch', description: 'What developers may do on a protected branch.' }
)

export const RemovedBranch = Type.Object(
  { branch_name: Text('the name of the branch') },
  { title: 'RemovedBranch', description: 'The name of a branch that was deleted.' }
)

export const MergedBranches = Type.Object(
  { message: Text('what happens next') },
  { title: 'MergedBranchesAnswer', description: 'The branches are deleted in the background.' }
)

export type NewBranch = Static<typeof NewBranch>
export type ProtectionBody = Static<typeof ProtectionBody>
