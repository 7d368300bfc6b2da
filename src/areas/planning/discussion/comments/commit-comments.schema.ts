import { Integer, Paging, projectParam, Text } from '../../../../lib/schema.js'
import { type Static, Type } from '../../../../lib/type.js'

export const CommentsParams = Type.Object({
  ...projectParam,
  sha: Text('the id of the commit, a branch or a tag', { minLength: 1, maxLength: 255 })
})

/** Unlike a list, a comment names its commit by its id: a branch may point to a different commit later. */
export const NewCommentParams = Type.Object({
  ...projectParam,
  sha: Text('the id of the commit, or at least its first 6 digits', { pattern: '^[0-9a-fA-F]{6,40}$' })
})

export const CommentsQuery = Type.Object(Paging)

export const CommentBody = Type.Object(
  {
    note: Text('the text', { minLength: 1, maxLength: 1_000_000 }),
    path: Type.Optional(Text('a file that the commit changed', { maxLength: 4096 })),
    line: Type.Optional(
      Integer('the number of a changed line; required with `path`', { minimum: 0, maximum: 2 ** 31 })
    ),
    line_type: Type.Optional(
      Type.Enum(['new', 'old'], {
        title: 'LineType',
        description: '`new` for a line that the commit added, `old` for one that it removed; default `new`'
      })
    )
  },
  { title: 'CommitCommentBody', description: 'A comment on a commit.' }
)

export type CommentBody = Static<typeof CommentBody>
