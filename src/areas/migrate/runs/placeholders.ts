// Placeholders get their person: by a command, or because somebody has confirmed the address that the source gave.
import type { Origin } from '../../../access/actor.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { giveRecords } from '../../../db/ownership/owned-rows.js'
import { BadRequest, Conflict, NoSuch, NotFound } from '../../../errors.js'
import { personalProjects } from '../../ground/activity/project-snapshots.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { giveMemberships } from '../../people/members/give-memberships.js'
import { requireUser } from '../../people/users/users.queries.js'
import { changeTexts } from '../../planning/discussion/changed-texts.js'
import { transferToUser } from '../../projects/project-groups/transfer.js'
import { underLock } from '../../upkeep/maintenance/maintenance-lock.js'
import { deleteUser } from '../../upkeep/removal/user-deletion.js'
import { renamed } from '../sources/rewrite.js'
import { keepResult, type Migration, placeOf, type Settings } from './migrations.js'
import { withoutChange } from './project-here.js'
import { lockOf } from './work-folder.js'

export interface Placeholder {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly source: string
  readonly source_username: string
  readonly email: string | null
  readonly created_at: Date
}

/** The next run finds the others. */
const MOST_AT_ONCE = 10_000

const COLUMNS = 'u.id, u.username, u.name, p.source, p.username as source_username, p.email, p.created_at'
const FROM = 'from migrated_people p join users u on u.id = p.user_id'
const WHERE = 'where p.is_placeholder = true'
const PLACEHOLDERS = `select ${COLUMNS} ${FROM} ${WHERE}`

/** Returns placeholders in the order of their ids: those of one source, or of all. */
export const listPlaceholders = (source?: Pick<Settings, 'url'>, limit = 1000): Promise<Placeholder[]> =>
  rows<Placeholder>(
    `${PLACEHOLDERS} ${source ? 'and p.source = ?' : ''} order by p.user_id limit ${Math.trunc(limit)}`,
    source ? [placeOf(source)] : []
  )

/** Returns a page of the placeholders of one source, in the order of their ids. */
export async function pagePlaceholders(source: Pick<Settings, 'url'>, query: PageRequest): Promise<Page<Placeholder>> {
  const { page, perPage, sql } = window(query)
  const values = [placeOf(source)]
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total ${FROM} ${WHERE} and p.source = ?`, values),
    rows<Placeholder>(`${PLACEHOLDERS} and p.source = ? order by p.user_id ${sql}`, values)
  ])
  return { items, total, page, perPage }
}

/** Finds a placeholder of one source by the id of its user. Throws NotFound. */
export async function requirePlaceholderOf(source: Pick<Settings, 'url'>, userId: number): Promise<Placeholder> {
  const found = await row<Placeholder>(`${PLACEHOLDERS} and p.source = ? and p.user_id = ?`, [placeOf(source), userId])
  if (!found) throw new NotFound('Placeholder')
  return found
}

/** Throws NoSuch unless the text is the username of a placeholder. */
export async function requirePlaceholder(username: string): Promise<Placeholder> {
  const found = await row<Placeholder>(`${PLACEHOLDERS} and u.username_key = lower(?)`, [username])
  if (!found) throw new NoSuch('placeholder', username)
  return found
}

/** Throws Conflict when the user has projects with the paths or names of the personal projects of a placeholder. */
async function refuseTaken(
  placeholderId: number,
  user: { readonly id: number; readonly username: string }
): Promise<void> {
  const taken = await rows<{ path: string }>(
    `select distinct q.path from projects p join namespaces n on n.id = p.namespace_id and n.kind = 'user' and n.owner_id = ?
       join namespaces o on o.kind = 'user' and o.owner_id = ?
       join projects q on q.namespace_id = o.id and (q.path_key = p.path_key or q.name_key = p.name_key) order by q.path limit 5`,
    [placeholderId, user.id]
  )
  if (taken.length === 0) return
  const names = taken.map(({ path }) => `${user.username}/${path}`).join(', ')
  throw new Conflict(
    `projects of ${user.username} have the paths or names of personal projects of the placeholder: rename, transfer or delete ${names}`
  )
}

/**
 * Gives everything of a placeholder to a user, with its personal projects, and deletes the placeholder. When it is killed, the next call
 * continues. Throws Conflict when the user has projects with the same paths or names, or cannot sign in.
 */
export async function assignPlaceholder(placeholder: Placeholder, username: string, origin: Origin): Promise<void> {
  const user = await requireUser(username)
  const { id, username: from, source } = placeholder
  if (user.id === id || user.state !== 'active') throw new Conflict(`${user.username} cannot sign in`)
  await refuseTaken(id, user)
  const given = await giveRecords(id, user.id)
  const projects = await rows<{ id: number }>('select project_id as id from migrated_projects where source = ?', [
    source
  ])
  const ids = projects.map(each => each.id)
  await changeTexts(ids, `@${from}`, text => renamed(text, from, user.username))
  await transact(async () => {
    for (const { id: projectId } of await personalProjects(id))
      await withoutChange(projectId, () => transferToUser(projectId, user.id, origin))
    await giveMemberships(id, user.id, origin)
    // Later runs give new records to the user.
    await execute('update migrated_people set user_id = ?, is_placeholder = false where user_id = ?', [user.id, id])
    await audit(origin, {
      action: 'user.give_contributions',
      target: { type: 'user', id, name: from },
      changes: { ...changesBetween(null, given), to: { after: user.username } }
    })
  })
  await deleteUser(id, origin)
}

export interface Assigned {
  readonly assigned: readonly { readonly placeholder: string; readonly user: string }[]
  /** Those about whom somebody has to decide. */
  readonly refused: readonly { readonly placeholder: string; readonly user: string; readonly error: string }[]
}

/** Gives placeholders to the users who have confirmed the address that the source has verified: those of one source, or of all. */
export async function assignConfirmed(
  origin: Origin,
  signal: AbortSignal,
  source?: Pick<Settings, 'url'>
): Promise<Assigned> {
  const assigned: Assigned['assigned'][number][] = []
  const refused: Assigned['refused'][number][] = []
  const [where, values] = source ? [`${WHERE} and p.source = ?`, [placeOf(source), placeOf(source)]] : [WHERE, []]
  const found = await rows<Placeholder & { owner: string }>(
    `select o.username as owner, ${COLUMNS} ${FROM}
       join users o on o.email_key = lower(p.email) and o.email_confirmed_at is not null and o.state = 'active' ${where}
     union select o.username as owner, ${COLUMNS} ${FROM} join emails e on e.email_key = lower(p.email) and e.confirmed_at is not null
       join users o on o.id = e.user_id and o.state = 'active' ${where} limit ${MOST_AT_ONCE}`,
    values
  )
  for (const { owner: user, ...placeholder } of found) {
    signal.throwIfAborted()
    try {
      await assignPlaceholder(placeholder, user, origin)
      assigned.push({ placeholder: placeholder.username, user })
    } catch (error) {
      if (!(error instanceof Conflict || error instanceof BadRequest)) throw error
      refused.push({ placeholder: placeholder.username, user, error: error.message })
    }
  }
  return { assigned, refused }
}

/** Does that for the source of a migration, while nobody else works on the migration, and keeps the result. Throws AlreadyRunning. */
export const assignConfirmedOf = (
  migration: Migration,
  { origin, signal }: { readonly origin: Origin; readonly signal: AbortSignal }
): Promise<Assigned> =>
  underLock(lockOf(migration), signal, async signal =>
    keepResult(migration, 'assign', await assignConfirmed(origin, signal, migration))
  )
