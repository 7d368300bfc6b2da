// Notes about issues, merge requests and snippets. Notes that users write in one project at the same moment are written
// together (db/connect/batching.ts).
import { type Actor, type ActorUser, askerOf, type Origin } from '../../../access/actor.js'
import { together } from '../../../db/connect/batching.js'
import { execute, insertedIds, marks, padded, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { BadParameters, Invalid, NotFound } from '../../../errors.js'
import { parseMoment } from '../../../lib/moment.js'
import { addedMentions, isPlain, readAhead } from '../../../text/mentions.js'
import { requireVersion } from '../../../text/versions.js'
import { type PublishedText, publishWritten } from '../../ground/activity/events.js'
import { holdUser } from '../../people/users/users.queries.js'
import { holdProject, type ProjectRow } from '../../projects/projects/projects.queries.js'
import { runCommands } from './commands/run.js'
import { touchNoteables } from './noteable-rows.js'
import type { Noteable } from './noteables.js'
import { findNote, type NoteRow } from './notes.queries.js'
import type { NoteBody, NoteChange } from './notes.schema.js'

/** The maximum number of characters of a note. Not specified: a limit. A page of 100 notes shows all of them. */
const LONGEST_NOTE = 262_144

/** The commands of a note have been run, and no text is left for a note. The API answers this with 404. */
export class OnlyCommands extends NotFound {
  constructor() {
    super('Note {:commands_only=>["Your commands have been executed!"]}')
  }
}

/** The place of a note in the changes of a merge request. */
export interface NotedLine {
  readonly path: string
  readonly line: number
  readonly side: 'new' | 'old'
}

/** The text of a note, and where it belongs if it is about a line. */
interface NewNote extends NoteBody {
  readonly place?: NotedLine
  /** Runs in the transaction that writes the note. */
  readonly also?: (() => Promise<void>) | undefined
}

/** A note that a user writes. */
interface Written {
  readonly noteable: Noteable
  readonly author: ActorUser
  readonly body: string
  readonly place: NotedLine | undefined
  readonly createdAt: Date
}

/** Writes a note. Throws Invalid, BadParameters, or NotFound when the target was just deleted. */
export async function createNote(
  project: ProjectRow,
  noteable: Noteable,
  { body, created_at: time, place, also }: NewNote,
  actor: Actor
): Promise<NoteRow> {
  checkText(body)
  const author = askerOf(actor)
  const written = { noteable, author, body, place, createdAt: timeOf(time, project, actor) ?? new Date() }
  await readAhead(body)
  // Only notes that write nothing but their own rows are written together: others would hold the locks of all.
  const id =
    isPlain(body) && !also
      ? await writeTogether(project.id, written)
      : (await writeNotes([written], project.id, also))[0]
  if (id === undefined) throw new Error('no note was written')
  // With sudo, the author may be blocked.
  return actor.sudoer === null ? rowOfNew(project, written, id) : found(id)
}

const writeTogether = together<number, Written, number>((notes, projectId) => writeNotes(notes, projectId))

/** Writes notes in one project, and returns their ids. */
function writeNotes(notes: readonly Written[], projectId: number, also?: NewNote['also']): Promise<number[]> {
  return transact(async () => {
    await holdAll(
      projectId,
      notes.map(({ author }) => author.id)
    )
    const { insertId } = await execute(
      `insert into notes (project_id, noteable_type, noteable_id, author_id, note, path, line, line_type, created_at, updated_at)
       values ${notes.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      notes.flatMap(({ noteable: { type, id }, author, body, place, createdAt }) => [
        projectId,
        type,
        id,
        author.id,
        body,
        place?.path ?? null,
        place?.line ?? null,
        place?.side ?? null,
        createdAt,
        createdAt
      ]),
      projectId
    )
    const ids = await insertedIds(insertId, notes.length)
    await publishWritten(notes.map((note, at) => toldOf(note, ids[at] ?? 0, projectId)))
    await touchNoteables(
      notes.map(({ noteable, author }) => ({ ...noteable, userId: author.id })),
      projectId
    )
    await also?.()
    return ids
  })
}

const toldOf = ({ noteable, author, body }: Written, noteId: number, projectId: number): PublishedText => ({
  event: {
    kind: 'note.created',
    noteId,
    confidential: noteable.confidential,
    ...(isPlain(body) && { plain: true })
  },
  text: { projectId, authorId: author.id, target: noteable, noteId, text: body }
})

const rowOfNew = (project: ProjectRow, { noteable, author, body, place, createdAt }: Written, id: number): NoteRow => ({
  id,
  project_id: project.id,
  noteable_type: noteable.type,
  noteable_id: noteable.id,
  note: body,
  is_system: 0,
  refers_type: null,
  refers_id: null,
  refers_project_id: null,
  path: place?.path ?? null,
  line: place?.line ?? null,
  line_type: place?.side ?? null,
  created_at: createdAt,
  updated_at: createdAt,
  author_id: author.id,
  author_name: author.name,
  author_username: author.username,
  author_state: 'active'
})

/** Prevents the deletion of the project and the users until the transaction ends. Throws NotFound. */
async function holdAll(projectId: number, userIds: readonly number[]): Promise<void> {
  const users = [...new Set(userIds)]
  const list = padded(users)
  const held = await rows<{ id: number }>(
    `select u.id from projects p straight_join users u on u.id in (${marks(list)}) where p.id = ? lock in share mode`,
    [...list, projectId]
  )
  if (held.length === users.length) return
  if (!(await holdProject(projectId))) throw new NotFound('Project')
  for (const id of users) await holdUser(id)
}

/**
 * Runs the commands of a text, and writes the rest as a note. Throws the same errors, and those of the rules that the
 * commands use; when nothing is left, OnlyCommands.
 */
export async function createNoteWithCommands(
  project: ProjectRow,
  noteable: Noteable,
  body: NewNote,
  by: { readonly actor: Actor; readonly origin: Origin }
): Promise<NoteRow> {
  checkText(body.body)
  // The origin of a request is a getter, which a spread leaves out.
  const { actor, origin } = by
  const { rest, finish } = await runCommands(body.body, { project, noteable, actor, origin })
  const note = rest.trim() === '' ? undefined : await createNote(project, noteable, { ...body, body: rest }, actor)
  await finish()
  if (!note) throw new OnlyCommands()
  return note
}

/**
 * Changes the text of a note. Automatic notes stay the same. `version` is the version of the text that the user has changed.
 * Throws Invalid, NotFound, and Stale when the text has another version.
 */
export async function updateNote(old: NoteRow, { body }: NoteChange, actor: Actor, version?: string): Promise<NoteRow> {
  checkText(body)
  if (old.is_system === 1) return old
  const by = askerOf(actor).id
  await readAhead(body, old.note)
  await transact(async () => {
    const before = await row<{ note: string }>('select note from notes where id = ? for update', [old.id])
    if (!before) throw new NotFound('Note')
    requireVersion(version, before.note)
    const named = await addedMentions(before.note, body)
    await execute(
      'update notes set note = ?, updated_by_id = ?, updated_at = ? where id = ?',
      [body, by, new Date(), old.id],
      old.project_id
    )
    const { id, project_id: projectId, author_id: authorId, noteable_type: type, noteable_id: on } = old
    const target = { type, id: on }
    await publishWritten([
      {
        event: { kind: 'note.edited', noteId: id, by, ...(named.length > 0 && { named }) },
        text: { projectId, authorId, target, noteId: id, text: body }
      }
    ])
  })
  return found(old.id)
}

/** Deletes a note with its awards. Throws NotFound when another request already deleted it. */
export async function deleteNote({ id, project_id: projectId }: NoteRow): Promise<void> {
  await transact(async () => {
    if (!(await row('select id from notes where id = ? for update', [id]))) throw new NotFound('Note')
    await deleteRows('notes', [id], projectId)
  })
}

async function found(id: number): Promise<NoteRow> {
  const note = await findNote(id)
  if (!note) throw new NotFound('Note')
  return note
}

function checkText(body: string): void {
  if (body.trim() === '') throw new Invalid('note', "can't be blank")
  if (body.length > LONGEST_NOTE) throw new Invalid('note', `is too long (maximum is ${LONGEST_NOTE} characters)`)
}

/** Only administrators and the owner of a personal project may set the time; it is ignored for others. */
function timeOf(
  text: string | undefined,
  { namespace_owner_id: owner }: ProjectRow,
  { user }: Actor
): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (!moment) throw new BadParameters('created_at is invalid')
  return user?.admin || (user && owner === user.id) ? moment : undefined
}
