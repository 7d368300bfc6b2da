// Snippets: pieces of text in a project, or of a user.
import { type ActorUser, type Origin, requireAsker } from '../../../access/actor.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { deleteRows } from '../../../db/ownership/owned-rows.js'
import { BadParameters, Forbidden, Invalid, NotFound, Stale } from '../../../errors.js'
import { INTERNAL } from '../../../lib/levels.js'
import { isLonger } from '../../../lib/text-line.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { checkVisibility } from '../../ground/settings/visibility.js'
import { holdUser } from '../../people/users/users.queries.js'
import { holdProject, type ProjectRow } from '../projects/projects.queries.js'
import { findSnippet, type SnippetRow } from './snippets.queries.js'
import { type PersonalSnippetBody, PersonalSnippetChange, type SnippetBody, SnippetChange } from './snippets.schema.js'

const LONGEST_NAME = 255
const LONGEST_CONTENT = 1_000_000
const FILE_NAME = /^[\p{L}\p{N}_\-@+.]*$/u

/** The parts of a snippet that people write. */
interface Values {
  readonly title?: string
  readonly file_name?: string
  readonly content?: string
  readonly visibility_level?: number
}

/** Creates a snippet of a project. Throws Invalid. */
export function createProjectSnippet(
  project: ProjectRow,
  { code, ...body }: SnippetBody,
  origin: Origin
): Promise<SnippetRow> {
  return insert({ ...body, content: code }, project.id, requireAsker(origin))
}

/** Creates a snippet of the calling user. Throws Invalid, and Forbidden for an external user. */
export async function createPersonalSnippet(body: PersonalSnippetBody, origin: Origin): Promise<SnippetRow> {
  const author = requireAsker(origin)
  if (author.external && !author.admin) throw new Forbidden()
  return insert({ ...body, visibility_level: body.visibility_level ?? INTERNAL }, null, author)
}

async function insert(values: Required<Values>, projectId: number | null, author: ActorUser): Promise<SnippetRow> {
  await check(values, author)
  const id = await transact(async () => {
    if (projectId !== null && !(await holdProject(projectId))) throw new NotFound('Project')
    await holdUser(author.id)
    const now = new Date()
    const { insertId } = await execute(
      `insert into snippets (project_id, author_id, title, file_name, content, visibility_level, created_at, updated_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [projectId, author.id, values.title, values.file_name, values.content, values.visibility_level, now, now]
    )
    return insertId
  })
  return found(id)
}

interface Options {
  /** Throws Stale when somebody has changed the snippet since `old` was read. */
  readonly unchanged?: boolean
}

/** Changes the given parts of a snippet of a project. Throws Invalid, BadParameters or NotFound. */
export function updateProjectSnippet(
  old: SnippetRow,
  change: SnippetChange,
  origin: Origin,
  options: Options = {}
): Promise<SnippetRow> {
  requireSome(change, Object.keys(SnippetChange.properties))
  const { code, ...values } = change
  return update(old, { ...values, ...(code !== undefined && { content: code }) }, requireAsker(origin), options)
}

/** Changes the given parts of a snippet of the calling user. Throws Invalid, BadParameters or NotFound. */
export function updatePersonalSnippet(
  old: SnippetRow,
  change: PersonalSnippetChange,
  origin: Origin,
  options: Options = {}
): Promise<SnippetRow> {
  requireSome(change, Object.keys(PersonalSnippetChange.properties))
  return update(old, change, requireAsker(origin), options)
}

function requireSome(change: object, names: readonly string[]): void {
  if (Object.values(change).some(value => value !== undefined)) return
  throw new BadParameters(`${names.join(', ')} are missing, at least one parameter must be provided`)
}

const COLUMNS = ['title', 'file_name', 'content', 'visibility_level'] as const

async function update(
  old: SnippetRow,
  values: Values,
  by: ActorUser,
  { unchanged = false }: Options
): Promise<SnippetRow> {
  const { visibility_level: level, ...texts } = values
  await check(level === old.visibility_level ? texts : values, by)
  const changed = COLUMNS.filter(name => values[name] !== undefined)
  const { affectedRows } = await execute(
    `update snippets set ${changed.map(name => `${name} = ?`).join(', ')}, updated_at = ?
     where id = ?${unchanged ? ' and updated_at = ?' : ''}`,
    [...changed.map(name => values[name] ?? null), new Date(), old.id, ...(unchanged ? [old.updated_at] : [])]
  )
  const snippet = await found(old.id)
  if (unchanged && affectedRows === 0) throw new Stale()
  return snippet
}

/** Removes a snippet with its notes and awards. Throws NotFound when a concurrent request was faster. */
export async function deleteSnippet({ id }: SnippetRow): Promise<void> {
  await transact(async () => {
    if (!(await row('select id from snippets where id = ? for update', [id]))) throw new NotFound('Snippet')
    await deleteRows('snippets', [id])
  })
}

async function found(id: number): Promise<SnippetRow> {
  const snippet = await findSnippet(id)
  if (!snippet) throw new NotFound('Snippet')
  return snippet
}

async function check({ title, file_name: name, content, visibility_level: level }: Values, by: ActorUser) {
  const errors: Record<string, string[]> = {}
  const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]
  if (title?.trim() === '') errors.title = ["can't be blank"]
  if (title !== undefined && isLonger(title, LONGEST_NAME)) errors.title = tooLong(LONGEST_NAME)
  if (name !== undefined && !FILE_NAME.test(name)) {
    errors.file_name = ["can contain only letters, digits, '_', '-', '@', '+' and '.'."]
  }
  if (name !== undefined && isLonger(name, LONGEST_NAME)) errors.file_name = tooLong(LONGEST_NAME)
  if (content?.trim() === '') errors.content = ["can't be blank"]
  if (content !== undefined && content.length > LONGEST_CONTENT) errors.content = tooLong(LONGEST_CONTENT)
  if (Object.keys(errors).length > 0) throw new Invalid(errors)
  if (level !== undefined) checkVisibility(level, by, await applicationSettings())
}
