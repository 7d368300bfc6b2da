import { projectParam, Text } from '../../../../lib/schema.js'
import { type Static, Type } from '../../../../lib/type.js'

/** The maximum number of actions in one commit. */
export const MOST_ACTIONS = 1000

const ref = (description: string) => Text(description, { minLength: 1, maxLength: 255 })
const person = (description: string) => Type.Optional(Text(description, { maxLength: 255 }))
const path = (description: string) => Type.Optional(Text(description, { maxLength: 4096 }))

/** The last commit of a file that its editor knows. */
export const lastCommitId = Type.Optional(
  Text('the last commit that changed the file, as you know it; the commit is refused if there is a newer one', {
    maxLength: 40
  })
)

export const CommitAction = Type.Object(
  {
    // The rule checks these, with the texts of the requirement.
    action: Type.Optional(Text('`create`, `update`, `move` or `delete`', { maxLength: 255 })),
    file_path: path('the path of the file; required'),
    previous_path: path('the path of a moved file before the move'),
    content: Type.Optional(Text('the whole content; a moved file keeps its content by default')),
    last_commit_id: lastCommitId,
    encoding: Type.Optional(
      Type.Enum(['text', 'base64'], { title: 'ActionEncoding', description: 'the encoding of `content`; default text' })
    )
  },
  { title: 'CommitAction', description: 'The action of a commit on one file.' }
)

export const CommitBody = Type.Object(
  {
    branch_name: ref('the branch that gets the commit'),
    commit_message: Text('the message of the commit', { minLength: 1, maxLength: 1_000_000 }),
    actions: Type.Array(CommitAction, {
      minItems: 1,
      maxItems: MOST_ACTIONS,
      description: `the actions of the commit, in this order; at most ${MOST_ACTIONS}`
    }),
    author_email: person('the email address of the author; default your own'),
    author_name: person('the name of the author; default your own')
  },
  { title: 'CommitBody', description: 'A commit with several actions.' }
)

export const PickParams = Type.Object({ ...projectParam, sha: ref('the id of the commit, a branch or a tag') })

export const PickBody = Type.Object(
  { branch: ref('the branch that gets the change') },
  { title: 'CherryPick', description: 'The target of a cherry-pick.' }
)

export type CommitAction = Static<typeof CommitAction>
export type CommitBody = Static<typeof CommitBody>
