// The record "Commit comment".
import { described, Integer, Moment, Nullable, Text } from '../../../../lib/schema.js'
import { Type } from '../../../../lib/type.js'
import { viewUserBasic } from '../../../people/users/users.record.js'
import { UserBasic } from '../../../people/users/users.view.js'
import type { CommitCommentRow } from './commit-comments.queries.js'

export const CommitComment = Type.Object(
  {
    note: Text('the text'),
    path: Nullable(Text('the file that it refers to; null for the whole commit')),
    line: Nullable(Integer('the number of the line that it refers to')),
    line_type: Nullable(Text('`new` for a line that the commit added, `old` for one that it removed')),
    author: described(UserBasic, 'the author'),
    created_at: Moment('when it was written')
  },
  { title: 'CommitComment', description: 'A comment on a commit, or on a line that it changed.' }
)

export const viewCommitComment = (comment: CommitCommentRow) => ({
  note: comment.note,
  path: comment.path,
  line: comment.line,
  line_type: comment.line_type,
  author: viewUserBasic({
    id: comment.author_id,
    name: comment.author_name,
    username: comment.author_username,
    state: comment.author_state
  }),
  created_at: comment.created_at
})
