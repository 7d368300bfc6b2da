import type { Actor } from '../../../access/actor.js'
import { findTogether } from '../../../db/connect/batching.js'
import { marks, padded, row, rows } from '../../../db/connect/sql.js'
import { shortTexts, withLongTexts } from '../../../db/lists/long-texts.js'
import { countTotal, type Page, type PageRequest, type Window, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import type { ShownProject } from '../../code/refs/ref-changes.queries.js'
import type { Noteable, NoteableType } from './noteables.js'
import { seenNotes } from './referrers.queries.js'

export interface NoteRow {
  readonly id: number
  readonly project_id: number
  readonly noteable_type: NoteableType | 'Commit'
  readonly noteable_id: number | null
  readonly note: string
  readonly is_system: number
  /** The record that an automatic note about a mention refers to: users who may not see that record do not see the note. */
  readonly refers_type: 'Issue' | 'MergeRequest' | 'Commit' | 'Snippet' | null
  readonly refers_id: number | null
  readonly refers_project_id: number | null
  /** The file and the line of a note about a line of the changes of a merge request, and its side; otherwise null. */
  readonly path: string | null
  readonly line: number | null
  readonly line_type: 'new' | 'old' | null
  readonly created_at: Date
  readonly updated_at: Date
  readonly author_id: number
  readonly author_name: string
  readonly author_username: string
  readonly author_state: 'active' | 'blocked' | 'ldap_blocked'
}

const FROM = 'notes n straight_join users u on u.id = n.author_id'
const columnsWith = (
  note: string
) => `n.id, n.project_id, n.noteable_type, n.noteable_id, ${note} as note, n.is_system, n.refers_type, n.refers_id,
  n.refers_project_id, n.path, n.line, n.line_type, n.created_at, n.updated_at, n.author_id, u.name as author_name, u.username as author_username,
  u.state as author_state`
const SELECT = `select ${columnsWith('n.note')} from ${FROM}`
const SHORT = shortTexts('n.note')
const LISTED = `${columnsWith(SHORT.text)}, ${SHORT.bytes}`
const SELECT_LIST = `select ${LISTED} from ${FROM}`
const NOTE = { table: 'notes', column: 'note' } as const
const OF = 'n.noteable_type = ? and n.noteable_id = ?'

/** Returns a page of the notes about something, oldest first, without those about mentions in records that the caller may not see. */
export async function listNotes({ type, id }: Noteable, query: PageRequest, actor: Actor): Promise<Page<NoteRow>> {
  const part = window(query)
  const { page, perPage, sql } = part
  const plain = await listPlainNotes(type, id, part)
  if (plain) return { ...plain, page, perPage }
  const seen = seenNotes(actor)
  const [where, values] = [`where ${OF} and ${seen.sql}`, [type, id, ...seen.values]]
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from ${FROM} ${where}`, values),
    rows<NoteRow>(`${SELECT_LIST} ${where} order by n.id ${sql}`, values)
  ])
  return { items: await withLongTexts(items, NOTE), total, page, perPage }
}

/** The maximum number of ids of earlier notes that a page contains. */
const MOST_IDS = 1000

/** Up to this number, looking for mentions costs less than planning the condition on the records that contain them. */
const FEW = 1000
const TOTAL = `(select count(*) from (select 1 from notes o straight_join users v on v.id = o.author_id
  where o.noteable_type = ? and o.noteable_id = ? limit ${FEW + 1}) few) as total`
const MENTIONS = `exists (select 1 from (select o.refers_type from notes o force index (notes_noteable)
  where o.noteable_type = ? and o.noteable_id = ? and o.is_system limit ${FEW}) few where few.refers_type is not null) as mentions`

/**
 * Returns a page of the notes about something that has no automatic notes about mentions: then the caller may see all. Planning the
 * condition on mentions, with some thirty tables, took most of the time of a list. Undefined when there may be mentions.
 */
async function listPlainNotes(type: NoteableType, id: number, { page, sql }: Window) {
  const found = await rows<NoteRow & { readonly total: number; readonly mentions: number }>(
    `select ${LISTED}, ${TOTAL}, ${MENTIONS} from ${FROM} where ${OF} order by n.id ${sql}`,
    [type, id, type, id, type, id]
  )
  const [first] = found
  if (!first) return page === 1 ? { items: [], total: 0 } : undefined
  if (first.total > FEW || first.mentions === 1) return undefined
  return { items: await withLongTexts(found, NOTE), total: first.total }
}

/** Returns the ids of the newest notes before another one that the caller may see, newest first. */
export async function noteIdsBefore({ type, id }: Noteable, before: number, actor: Actor): Promise<number[]> {
  const seen = seenNotes(actor)
  const found = await rows<{ id: number }>(
    `select n.id from ${FROM} where ${OF} and n.id < ? and ${seen.sql} order by n.id desc limit ${MOST_IDS}`,
    [type, id, before, ...seen.values]
  )
  return found.map(({ id }) => id)
}

/** The place of a note among the notes about its target that the caller may see, counted from 1, and how many there are. */
export interface NotePlace {
  readonly place: number
  readonly total: number
}

/** Returns the place of a note about something; 0 when the caller may not see the note. */
export async function placeOfNote({ type, id }: Noteable, noteId: number, actor: Actor): Promise<NotePlace> {
  const seen = seenNotes(actor)
  const found = await row<NotePlace>(
    `select cast(coalesce(max(n.id = ?) * sum(n.id <= ?), 0) as signed) as place, count(*) as total
     from ${FROM} where ${OF} and ${seen.sql}`,
    [noteId, noteId, type, id, ...seen.values]
  )
  return found ?? { place: 0, total: 0 }
}

/** Returns a note about something that the caller can read. Throws NotFound. */
export async function requireNote({ type, id }: Noteable, noteId: number, actor: Actor): Promise<NoteRow> {
  const seen = seenNotes(actor)
  const found = await row<NoteRow>(`${SELECT} where n.id = ? and ${OF} and ${seen.sql}`, [
    noteId,
    type,
    id,
    ...seen.values
  ])
  if (!found) throw new NotFound('Note')
  return found
}

/** Returns a note about any target; undefined when the note or its author no longer exists. */
export const findNote = (id: number) => row<NoteRow>(`${SELECT} where n.id = ?`, [id])

/** How many notes about lines of one merge request a page of changes shows. */
const MOST_OF_LINES = 500

/** Returns the newest notes about lines of the changes of a merge request, in the order in which they were written. */
export async function listLineNotes(mergeRequestId: number): Promise<NoteRow[]> {
  const found = await rows<NoteRow>(
    `${SELECT_LIST} where ${OF} and not n.is_system and n.path is not null order by n.id desc limit ${MOST_OF_LINES}`,
    ['MergeRequest', mergeRequestId]
  )
  return (await withLongTexts(found, NOTE)).reverse()
}

/** Returns notes by their ids, without a check of access. */
export async function readNotes(ids: readonly number[]): Promise<ReadonlyMap<number, NoteRow>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const found = await rows<NoteRow>(`${SELECT_LIST} where n.id in (${marks(list)})`, list)
  return new Map((await withLongTexts(found, NOTE)).map(note => [note.id, note]))
}

/** A note with the values of its project and its author that hooks show. */
export interface ToldNoteRow extends NoteRow, ShownProject {
  readonly commit_id: string | null
  readonly updated_by_id: number | null
  readonly author_email: string
}

/**
 * Returns undefined when the note, its author or its project no longer exists. For jobs: the listeners of several notes
 * that read at the same time share one statement.
 */
export const findToldNote = findTogether<ToldNoteRow>(ids => {
  const list = padded(ids)
  return rows(
    `select n.*, u.name as author_name, u.username as author_username, u.state as author_state, u.email as author_email,
       p.name as project_name, p.path as project_path, p.description, p.visibility_level, p.default_branch,
       s.name as namespace_name, s.path as namespace_path
     from notes n join users u on u.id = n.author_id join projects p on p.id = n.project_id
     join namespaces s on s.id = p.namespace_id where n.id in (${marks(list)})`,
    list
  )
})
