import { IdOf, Paging, projectParam, Text } from '../../../lib/schema.js'
import { type Static, Type } from '../../../lib/type.js'

export const notesParams = (param: string, what: string) => Type.Object({ ...projectParam, [param]: IdOf(what) })
export const noteParams = (param: string, what: string) =>
  Type.Object({ ...projectParam, [param]: IdOf(what), note_id: IdOf('the note') })
export const NoteListQuery = Type.Object(Paging)
const body = Text('the text, in Markdown, of at most 262,144 characters')
export const NoteBody = Type.Object(
  {
    body,
    created_at: Type.Optional(
      Text('when it was written; only administrators and the owner of a personal project may set it')
    )
  },
  { title: 'NoteBody', description: 'A new note.' }
)
export type NoteBody = Static<typeof NoteBody>
export const NoteChange = Type.Object({ body }, { title: 'NoteChange', description: 'The new text of a note.' })
export type NoteChange = Static<typeof NoteChange>
