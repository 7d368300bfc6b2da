import { projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

/** The most actions of one commit. */
export const MOST_ACTIONS = 1000

const ref = (description: string) => Text(description, { minLength: 1, maxLength: 255 })
const person = (description: string) => Type.Optional(Text(description, { maxLength: 255 }))
const path = (description: string) => Type.Optional(Text(description, { maxLength: 4096 }))

export const CommitAction = Type.Object(
  {
    // The rule checks these, with the texts of the requirement.
    action: Type.Optional(Text('`create`, `update`, `move` or `delete`', { maxLength: 255 })),
    file_path: path('the path of the file; needed'),
    previous_path: path('where a file that moves was before'),
    content: Type.Optional(Text('the whole content; a file that moves keeps its own by default')),
    encoding: Type.Optional(
      Type.Enum(['text', 'base64'], { title: 'ActionEncoding', description: 'how `content` is written; default text' })
    )
  },
  { title: 'CommitAction', description: 'What a commit does to one file.' }
)

export const CommitBody = Type.Object(
  {
    branch_name: ref('the branch that gets the commit'),
    commit_message: Text('the message of the commit', { minLength: 1, maxLength: 1_000_000 }),
    actions: Type.Array(CommitAction, {
      minItems: 1,
      maxItems: MOST_ACTIONS,
      description: `what the commit does, in this order; at most ${MOST_ACTIONS}`
    }),
    author_email: person('the email address of the author; default that of the user who asks'),
    author_name: person('the name of the author; default that of the user who asks')
  },
  { title: 'CommitBody', description: 'A commit of several actions.' }
)

export const PickParams = Type.Object({ ...projectParam, sha: ref('the id of the commit, a branch or a tag') })

export const PickBody = Type.Object(
  { branch: ref('the branch that gets the change') },
  { title: 'CherryPick', description: 'Where the change of a commit goes.' }
)

export type CommitAction = Static<typeof CommitAction>
export type CommitBody = Static<typeof CommitBody>
