import type { Actor } from '../../../access/actor.js'
import { isOpenTo, levelIn } from '../../../access/authorize.js'
import { row, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { GUEST, INTERNAL, PRIVATE, PUBLIC } from '../../../lib/levels.js'
import type { ProjectRow } from '../projects/projects.queries.js'

export interface SnippetRow {
  readonly id: number
  /** Null for a snippet of a user. */
  readonly project_id: number | null
  readonly title: string
  readonly file_name: string
  readonly visibility_level: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly author_id: number
  readonly author_name: string
  readonly author_username: string
  readonly author_state: 'active' | 'blocked' | 'ldap_blocked'
}

// A snippet whose author was deleted disappears at once, and its row a little later. The order of the join keeps the
// database from beginning with the users, which would sort all snippets for one page.
const FROM = 'snippets s straight_join users u on u.id = s.author_id'
const SELECT = `select s.id, s.project_id, s.title, s.file_name, s.visibility_level, s.created_at, s.updated_at, s.author_id,
  u.name as author_name, u.username as author_username, u.state as author_state
  from ${FROM}`

const ALL = [PRIVATE, INTERNAL, PUBLIC]

/** Returns the visibility levels of the snippets that a caller sees in a project that they see. */
export function seenLevels(project: ProjectRow, actor: Actor): readonly number[] {
  if (levelIn(project, actor) >= GUEST) return ALL
  return [INTERNAL, PUBLIC].filter(level => isOpenTo({ visibility_level: level }, actor))
}

/** Returns a page of the snippets of a project that the caller sees, newest first. */
export function listProjectSnippets(project: ProjectRow, query: PageRequest, actor: Actor): Promise<Page<SnippetRow>> {
  const levels = seenLevels(project, actor)
  const seen = levels.length === ALL.length ? '' : ` and s.visibility_level in (${levels.join(', ')})`
  return list(`s.project_id = ?${seen}`, [project.id], query)
}

/** Returns a page of the personal snippets of a user, newest first. */
export const listOwnSnippets = (userId: number, query: PageRequest): Promise<Page<SnippetRow>> =>
  list('s.author_id = ? and s.project_id is null', [userId], query)

/** Returns a page of the public snippets of all users, newest first. Not specified: it excludes the snippets of projects. */
export const listPublicSnippets = (query: PageRequest): Promise<Page<SnippetRow>> =>
  list(`s.project_id is null and s.visibility_level = ${PUBLIC}`, [], query)

async function list(condition: string, values: readonly Value[], query: PageRequest): Promise<Page<SnippetRow>> {
  const { page, perPage, sql } = window(query)
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from ${FROM} where ${condition}`, values),
    rows<SnippetRow>(`${SELECT} where ${condition} order by s.id desc ${sql}`, values)
  ])
  return { items, total, page, perPage }
}

/** Returns a snippet of a project that the caller sees. Throws NotFound, of `what`. */
export async function requireProjectSnippet(
  project: ProjectRow,
  id: number,
  actor: Actor,
  what?: string
): Promise<SnippetRow> {
  const found = await row<SnippetRow>(`${SELECT} where s.id = ? and s.project_id = ?`, [id, project.id])
  if (!found || !seenLevels(project, actor).includes(found.visibility_level)) throw new NotFound(what)
  return found
}

/** Returns a snippet of the calling user. Throws NotFound for snippets of other users, also for administrators. */
export async function requireOwnSnippet(id: number, userId: number): Promise<SnippetRow> {
  const found = await row<SnippetRow>(`${SELECT} where s.id = ? and s.project_id is null and s.author_id = ?`, [
    id,
    userId
  ])
  if (!found) throw new NotFound('Snippet')
  return found
}

/**
 * Returns a personal snippet for its page: one of the caller, or a public one, which the API lists for everybody who is signed in.
 * Not specified: the page of the snippet of another user. The API returns only the caller's own by their ids, but the permissions
 * say that public ones are for all. Throws NotFound.
 */
export async function requireReadableSnippet(id: number, userId: number): Promise<SnippetRow> {
  const found = await row<SnippetRow>(
    `${SELECT} where s.id = ? and s.project_id is null and (s.author_id = ? or s.visibility_level = ${PUBLIC})`,
    [id, userId]
  )
  if (!found) throw new NotFound('Snippet')
  return found
}

export const findSnippet = (id: number) => row<SnippetRow>(`${SELECT} where s.id = ?`, [id])

/** Returns the text of a snippet. Throws NotFound when it was removed in the meantime. */
export async function snippetContent(id: number): Promise<string> {
  const found = await row<{ content: string }>('select content from snippets where id = ?', [id])
  if (!found) throw new NotFound('Snippet')
  return found.content
}
