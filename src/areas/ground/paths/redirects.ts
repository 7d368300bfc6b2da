// Redirects from old paths of namespaces and projects to their new paths, until something new takes the old path. A
// project's old path is stored with the id of its namespace, so a rename of the namespace does not affect it. Every
// rule that assigns a path calls the functions here, in its transaction.
//
// Decided: the old path of a group or user is reserved for a time. Otherwise a stranger could take it, and clones with the
// old address would read the stranger's repositories. The old path of a project is within its namespace, where only members
// create projects, so it needs no reservation.
//
// Not specified: a path is reserved only if clones may have it: the namespace had it for a day, or has a project. Each namespace has
// a limit. Otherwise anybody could reserve any number of names by renaming one group again and again.
import { config } from '../../../config.js'
import { execute, lowerMarks, row, rows } from '../../../db/connect/sql.js'
import { Invalid } from '../../../errors.js'
import { batches } from '../../../lib/batches.js'
import { OWNER } from '../../../lib/levels.js'

const DAY_MS = 86_400_000

/** Of the old paths of one namespace, so many are reserved: the newest ones. */
const MOST_RESERVED = 10

/** Redirects the old path of a renamed namespace to it. Call it after the rename, in the same transaction. */
export async function redirectNamespace(oldPath: string, namespaceId: number): Promise<void> {
  const now = new Date()
  const reserved = await deservesReservation(namespaceId, now)
  await execute(
    `insert into namespace_redirects (namespace_id, path, created_at, reserved) values (?, ?, ?, ?)
     on duplicate key update namespace_id = ?, path = ?, created_at = ?, reserved = ?`,
    [namespaceId, oldPath, now, reserved, namespaceId, oldPath, now, reserved]
  )
  if (!reserved) return
  await execute(
    `update namespace_redirects set reserved = false where namespace_id = ? and reserved and id not in (select id from (
       select id from namespace_redirects where namespace_id = ? and reserved order by created_at desc, id desc
       limit ${MOST_RESERVED}) newest)`,
    [namespaceId, namespaceId]
  )
}

/** The namespace had its last path since its newest redirect, or since its creation. */
async function deservesReservation(namespaceId: number, now: Date): Promise<boolean> {
  const found = await row(
    `select 1 from namespaces n where n.id = ? and (
       coalesce((select max(r.created_at) from namespace_redirects r where r.namespace_id = n.id), n.created_at) <= ?
       or exists (select 1 from projects p where p.namespace_id = n.id))`,
    [namespaceId, new Date(now.getTime() - DAY_MS)]
  )
  return found !== undefined
}

/** Who takes a path. */
export interface Taker {
  /** The attribute that has the path in the request. */
  readonly attribute: 'path' | 'username'
  /** The namespace that is renamed. */
  readonly namespaceId?: number
  /** The user who makes the change. */
  readonly userId?: number | undefined
}

interface OldPath {
  readonly path: string
  readonly created_at: Date
  readonly reserved: number
  /** Whether the path belonged to the namespace of the taker, or to one that the user owns. */
  readonly is_own: number
}

const IS_OWN = `r.namespace_id = ? or coalesce(n.owner_id = ?, false) or exists (
  select 1 from members m where m.source_type = 'namespace' and m.source_id = n.id and m.user_id = ?
    and m.access_level = ${OWNER} and (m.expires_at is null or m.expires_at > utc_date()))`

/**
 * Ends the redirects from paths that new or renamed namespaces take. Call it after the write, in the same transaction: the write
 * waits for a concurrent rename, whose redirect is visible only then. Throws Invalid when one of the paths is reserved for its
 * previous owner: the namespace itself, its user, or the owners of the group.
 */
export async function takeNamespacePaths(
  paths: readonly string[],
  { attribute, namespaceId = 0, userId = 0 }: Taker
): Promise<void> {
  for (const some of batches(paths, 500)) {
    const found = await rows<OldPath>(
      `select r.path, r.created_at, r.reserved, (${IS_OWN}) as is_own from namespace_redirects r join namespaces n on n.id = r.namespace_id
       where r.path_key in (${lowerMarks(some)})`,
      [namespaceId, userId, userId, ...some]
    )
    for (const old of found) if (old.is_own === 0) requireFree(old, attribute)
    if (found.length === 0) continue
    await execute(`delete from namespace_redirects where path_key in (${lowerMarks(some)})`, some)
  }
}

/** Throws Invalid when a stranger could not take the path. */
export async function requireUnreserved(path: string, attribute: Taker['attribute']): Promise<void> {
  const sql = 'select created_at, reserved from namespace_redirects where path_key = lower(?)'
  const found = await row<Pick<OldPath, 'created_at' | 'reserved'>>(sql, [path])
  if (found) requireFree(found, attribute)
}

function requireFree(old: Pick<OldPath, 'created_at' | 'reserved'>, attribute: Taker['attribute']): void {
  if (old.reserved === 0) return
  const until = reservedUntil(old)
  if (until <= new Date()) return
  const date = until.toISOString().slice(0, 10)
  throw new Invalid(attribute, `is reserved until ${date} for the group or user that had it before`)
}

/** Returns when the reservation of an old path ends. */
export const reservedUntil = ({ created_at: since }: Pick<OldPath, 'created_at'>): Date =>
  new Date(since.getTime() + config().paths.reserved_days * DAY_MS)

/** The path of a project: the last part, and the id of its namespace. */
export interface ProjectPlace {
  readonly namespaceId: number
  readonly path: string
}

/** Redirects the old path of a renamed or transferred project to it. */
export async function redirectProject({ namespaceId, path }: ProjectPlace, projectId: number): Promise<void> {
  await execute(
    `insert into project_redirects (namespace_id, path, project_id, created_at) values (?, ?, ?, ?)
     on duplicate key update project_id = ?, path = ?, created_at = ?`,
    [namespaceId, path, projectId, new Date(), projectId, path, new Date()]
  )
}

/** Ends the redirect from a path that a new, renamed or transferred project has now. */
export async function endProjectRedirect({ namespaceId, path }: ProjectPlace): Promise<void> {
  await execute('delete from project_redirects where namespace_id = ? and path_key = lower(?)', [namespaceId, path])
}

/** Returns the id of the namespace that once had this path; undefined without a redirect, and for paths in use. */
export async function namespaceOfOldPath(path: string): Promise<number | undefined> {
  const found = await row<{ id: number }>(
    'select namespace_id as id from namespace_redirects where path_key = lower(?)',
    [path]
  )
  return found?.id
}

/** Returns the id of the project that once had the path NAMESPACE/PROJECT. Call it for a path that no project has. */
export async function projectOfOldPath(namespace: string, path: string): Promise<number | undefined> {
  // A namespace that has the path comes before one that had it: rules end the redirects of paths that are taken.
  const found = await row<{ id: number | null }>(
    `select coalesce(p.id, r.project_id) as id from (
       select id from namespaces where path_key = lower(?)
       union select namespace_id as id from namespace_redirects where path_key = lower(?)
     ) n left join projects p on p.namespace_id = n.id and p.path_key = lower(?)
     left join project_redirects r on r.namespace_id = n.id and r.path_key = lower(?)
     order by p.id is null limit 1`,
    [namespace, namespace, path, path]
  )
  return found?.id ?? undefined
}
