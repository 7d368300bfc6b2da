// Notes and award emoji of GitLab.
import { ahead } from '../../sources/ahead.js'
import { type Award, awardsOf, checked, firstMoment, fitting, momentOf } from '../../sources/shapes.js'
import type { Draft } from '../../sources/source.js'
import { placeOf } from '../note-position.js'
import { personOf } from './people.js'
import type { Reading } from './reading.js'
import { type Author, Award as AwardShape, Note, type Planned } from './shapes.js'

/** Notes whose emoji are fetched at once. */
const AT_ONCE = 4

const checkNote = checked(Note)
const checkAward = checked(AwardShape)

/** Returns the emoji that were awarded to the record at a path of the API. */
export async function readAwards({ client, skipped }: Reading, path: string): Promise<Award[]> {
  const given: { name: string; user: string | null; at: string }[] = []
  for await (const page of client.list(`${path}/award_emoji?per_page=100`, { optional: true }))
    for (const { name, user, created_at } of fitting(page, checkAward, { what: 'award emoji', skipped }))
      given.push({ name, user: personOf(user), at: firstMoment(created_at) })
  return awardsOf(given, skipped)
}

interface Notes {
  /** The list in the API. */
  readonly path: string
  readonly on: { readonly type: string; readonly number: number; readonly commit: null }
  /** The record, if it can be closed or merged: newer versions have no note about that. */
  readonly about?: Planned & {
    readonly merged_at?: string | null
    readonly merge_user?: Author
    readonly merged_by?: Author
  }
}

/** Yields the notes of one record, in their order. */
export async function* noteRecords(reading: Reading, { path, on, about }: Notes): AsyncGenerator<Draft> {
  const open = ahead(notesIn(reading, path), AT_ONCE, note => noteRecord(reading, { path, on }, note))
  // Versions before 13 have written "closed" or "merged" in a note.
  let isKnown = false
  for await (const draft of open) {
    isKnown ||= draft.is_system === true && /^(?:closed|merged)/i.test(String(draft.note))
    yield draft
  }
  if (!about || isKnown || (about.state !== 'closed' && about.state !== 'merged')) return
  const [time, user] =
    about.state === 'closed'
      ? [about.closed_at, about.closed_by]
      : [about.merged_at, about.merge_user ?? about.merged_by]
  const at = momentOf(time)
  if (at === null) return
  yield {
    ...written(on, personOf(user), at),
    note: `Status changed to ${about.state}`,
    is_system: true,
    award_emoji: []
  }
}

async function* notesIn({ client, skipped }: Reading, path: string): AsyncGenerator<Note> {
  const query = `${path}?order_by=created_at&sort=asc&per_page=100`
  for await (const page of client.list(query, { optional: true })) {
    for (const note of fitting(page, checkNote, { what: 'note', skipped })) {
      // Only members may read it at the source. Here, everybody who may read the record could.
      if (note.confidential || note.internal)
        skipped('internal note', 'there are none here, and it must not become visible')
      else {
        if (note.resolved) skipped('resolved discussion', 'its notes come along, but nothing marks them as resolved')
        yield note
      }
    }
  }
}

const written = (on: Notes['on'], author: string | null, at: string) => ({
  kind: 'note' as const,
  on,
  author,
  path: null,
  line: null,
  line_type: null,
  updated_by: null,
  refers: null,
  created_at: at,
  updated_at: at
})

async function noteRecord(reading: Reading, { path, on }: Notes, note: Note): Promise<Draft> {
  const created_at = firstMoment(note.created_at, note.updated_at)
  return {
    ...written(on, personOf(note.author), created_at),
    note: note.body ?? '',
    is_system: note.system === true,
    ...placeOf(note.position),
    updated_at: firstMoment(note.updated_at, created_at),
    award_emoji: note.system === true ? [] : await readAwards(reading, `${path}/${note.id}`)
  }
}
