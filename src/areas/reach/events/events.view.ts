// The record "Event".
import { described, IdOf, Integer, Moment, Nullable, Text } from '../../../lib/schema.js'
import { parseStored } from '../../../lib/stored-json.js'
import { Type } from '../../../lib/type.js'
import { viewUserBasic } from '../../people/users/users.record.js'
import { UserBasic } from '../../people/users/users.view.js'
import type { NoteRow } from '../../planning/discussion/notes.queries.js'
import { Note, viewNote } from '../../planning/discussion/notes.view.js'
import type { EventRow } from './events.queries.js'

export const Event = Type.Object(
  {
    title: Nullable(Text('always null')),
    project_id: IdOf('the project'),
    action_name: Text('the action, such as `pushed to`, `created` or `joined`'),
    target_id: Nullable(Integer('the id of the target; null for pushes, members and new projects')),
    target_type: Nullable(Text('the type of the target, such as `Issue`')),
    author_id: IdOf('the user who did it'),
    data: Nullable(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: 'the payload of a push, as hooks get it; null for other events'
      })
    ),
    target_title: Nullable(Text('the title of the target at that time')),
    created_at: Moment('when it happened'),
    note: Type.Optional(described(Note, 'the note, if the event is about a note')),
    author: described(UserBasic, 'the user who did it'),
    author_username: Text('the username')
  },
  { title: 'Event', description: 'An action of a user in a project.' }
)

export const viewEvent = (event: EventRow, note?: NoteRow) => ({
  title: null,
  project_id: event.project_id,
  action_name: event.action,
  target_id: event.target_id,
  target_type: event.target_type,
  author_id: event.author_id,
  data: event.data === null ? null : parseStored<Record<string, unknown> | null>(event.data, null),
  target_title: event.target_title,
  created_at: event.created_at,
  ...(note && event.target_type === 'Note' && { note: viewNote(note) }),
  author: viewUserBasic({
    id: event.author_id,
    name: event.author_name,
    username: event.author_username,
    state: event.author_state
  }),
  author_username: event.author_username
})
