// "Note".
import { described, Flag, IdOf, Integer, Moment, Nullable, OneOf, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { NoteRow } from './notes.queries.js'

// Not specified: the field, which has the same form as in later versions of the API.
const Position = Type.Object(
  {
    new_path: Text('the path of the file'),
    new_line: Nullable(Integer('the number of the line after the changes; null for a line that they remove')),
    old_line: Nullable(Integer('the number of the line that they remove; null for others'))
  },
  { title: 'NotePosition', description: 'A line of the changes of a merge request or of a commit.' }
)

export const Note = Type.Object(
  {
    id: IdOf('the note'),
    body: Text('the text, in Markdown'),
    attachment: Nullable(Text('always null')),
    author: described(UserBasic, 'the user who wrote it; for an automatic note, the user who made the change'),
    created_at: Moment('when it was written'),
    updated_at: Moment('when it was last changed'),
    system: Flag('whether the appliance wrote it, about a change or a mention'),
    upvote: Flag('always false'),
    downvote: Flag('always false'),
    noteable_id: Nullable(IdOf('the target of the note; null for a commit')),
    noteable_type: OneOf(['Issue', 'MergeRequest', 'Snippet', 'Commit'], 'NoteableType', 'the kind of the target'),
    position: Type.Optional(described(Position, 'the line that it is about; only notes about lines have it'))
  },
  {
    title: 'Note',
    description: 'Something that a person wrote about an issue, a merge request, a snippet or a commit.'
  }
)

export const viewNote = (note: NoteRow): Static<typeof Note> => ({
  id: note.id,
  body: note.note,
  attachment: null,
  author: viewUserBasic({
    id: note.author_id,
    name: note.author_name,
    username: note.author_username,
    state: note.author_state
  }),
  created_at: note.created_at,
  updated_at: note.updated_at,
  system: note.is_system === 1,
  upvote: false,
  downvote: false,
  noteable_id: note.noteable_id,
  noteable_type: note.noteable_type,
  ...(note.path !== null && note.line !== null && { position: positionOf(note.path, note.line, note.line_type) })
})

const positionOf = (path: string, line: number, type: NoteRow['line_type']): Static<typeof Position> => ({
  new_path: path,
  new_line: type === 'old' ? null : line,
  old_line: type === 'old' ? line : null
})
