import type { Actor } from '../../../access/actor.js'
import {
  groupMembership,
  groupsOfMember,
  lasts,
  ownedGroups,
  visibleGroups,
  visibleProjects
} from '../../../access/membership.js'
import { type Fragment, marks, padded, row, rows, type Value } from '../../../db/connect/sql.js'
import { and, below, contains } from '../../../db/lists/conditions.js'
import { countTotal, PART, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NoSuch, NotFound } from '../../../errors.js'
import { namespaceOfOldPath } from '../../ground/paths/redirects.js'
import type { GroupListQuery } from './groups.schema.js'

/** A group, as the record shows it. */
export interface GroupRecord {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string
  readonly avatar: string | null
  readonly visibility_level: number
  readonly share_with_group_lock: number
  readonly request_access_enabled: number
  readonly lfs_enabled: number
  readonly created_at: Date
  readonly updated_at: Date
}

/** A group, with what the access rules need to know about the caller. */
export interface GroupRow extends GroupRecord {
  /** The caller's level as a member; null when the caller is not a member. */
  readonly access_level: number | null
  /** Whether the caller may see at least one of the group's projects, and so the group. */
  readonly sees_project: number
}

const COLUMNS = `n.id, n.name, n.path, n.description, n.avatar, n.visibility_level, n.share_with_group_lock,
  n.request_access_enabled, n.lfs_enabled, n.created_at, n.updated_at`

/** Returns a group by its id or path, also an old path, with the caller's level; undefined when the group does not exist. */
export async function findGroup(id: string | number, actor: Actor): Promise<GroupRow | undefined> {
  const found = await readGroup(id, actor)
  if (found || /^\d{1,10}$/.test(String(id))) return found
  const moved = await namespaceOfOldPath(String(id))
  return moved === undefined ? undefined : readGroup(moved, actor)
}

function readGroup(id: string | number, actor: Actor): Promise<GroupRow | undefined> {
  const visible = visibleProjects(actor)
  const member = groupMembership(actor.user?.id ?? 0)
  const byNumber = /^\d{1,10}$/.test(String(id))
  return row<GroupRow>(
    `select ${COLUMNS}, m.access_level,
       exists (select 1 from projects p where p.namespace_id = n.id and ${visible.sql}) as sees_project
     from namespaces n ${member.sql} where n.kind = 'group' and ${byNumber ? 'n.id = ?' : 'n.path_key = lower(?)'}`,
    [...visible.values, ...member.values, byNumber ? Number(id) : id]
  )
}

/**
 * Prevents changes of a group until the current transaction ends, so that they cannot conflict with what the
 * transaction writes. Returns the group; undefined when it no longer exists.
 */
export const lockGroup = (id: number): Promise<GroupRecord | undefined> =>
  row<GroupRecord>(`select ${COLUMNS} from namespaces n where n.id = ? and n.kind = 'group' for update`, [id])

/** Which groups to list: those of which the caller is a member, all that the caller may see, or those that the caller owns. */
export type GroupScope = 'member' | 'visible' | 'owned'

/** Returns a page of groups, with two statements for any length. */
export async function listGroups(scope: GroupScope, query: GroupListQuery, actor: Actor): Promise<Page<GroupRecord>> {
  const among = { member: groupsOfMember, visible: visibleGroups, owned: ownedGroups }[scope](actor)
  const { skip_groups: skipped = [] } = query
  const { sql: where, values } = and(
    GROUPS,
    among,
    searched(query.search),
    skipped.length > 0 ? { sql: `n.id not in (${marks(skipped)})`, values: skipped } : undefined
  )
  const { page, perPage, sql } = window(query)
  const order = query.order_by === 'path' ? 'path_key' : 'name'
  const direction = query.sort ?? 'asc'
  const [items, total] = await Promise.all([
    rows<GroupRecord>(
      `select ${COLUMNS} from namespaces n where ${where} order by n.${order} ${direction}, n.id ${direction} ${sql}`,
      values
    ),
    countTotal(`select count(*) as total from namespaces n where ${where}`, values)
  ])
  return { items, total, page, perPage }
}

const GROUPS: Fragment = { sql: "n.kind = 'group'", values: [] }
const searched = (text: string | undefined) => (text ? contains(['n.name', 'n.path'], text) : undefined)

/** A group with the numbers that commands show. */
export interface CountedGroup extends GroupRecord {
  readonly projects: number
  /** Members whose membership has not ended. */
  readonly members: number
  /** Bytes of its repositories and artifacts, as last counted by a job. */
  readonly storage_size: number
}

const countedGroups = ({ sql, values }: Fragment, order = '') =>
  rows<CountedGroup>(
    `select ${COLUMNS}, (select count(*) from projects p where p.namespace_id = n.id) as projects,
       (select count(*) from members m where m.source_type = 'namespace' and m.source_id = n.id and ${lasts('m')}) as members,
       (select cast(coalesce(sum(s.repository_size + s.build_artifacts_size), 0) as unsigned) from projects p
         join project_statistics s on s.project_id = p.id where p.namespace_id = n.id) as storage_size
     from namespaces n where ${sql} ${order}`,
    values
  )

/** Returns a page of all groups, newest first. */
export async function listAllGroups(query: PageRequest & { search?: string }): Promise<Page<CountedGroup>> {
  const { page, perPage, sql } = window(query)
  const where = and(GROUPS, searched(query.search))
  const [items, total] = await Promise.all([
    countedGroups(where, `order by n.id desc ${sql}`),
    countTotal(`select count(*) as total from namespaces n where ${where.sql}`, where.values)
  ])
  return { items, total, page, perPage }
}

/** Returns the next groups of the same list, after the one with the id `last`. */
export const groupsBefore = ({ search }: { search?: string }, last?: number): Promise<CountedGroup[]> =>
  countedGroups(and(GROUPS, searched(search), below('n.id', last)), `order by n.id desc limit ${PART}`)

async function countedGroup(condition: string, value: Value): Promise<CountedGroup | undefined> {
  return (await countedGroups(and(GROUPS, { sql: condition, values: [value] })))[0]
}

/** Returns the group that a sysadmin names by its path, its id, or an old path. Throws NoSuch. */
export async function requireGroup(name: string): Promise<CountedGroup> {
  const byPath = await countedGroup('n.path_key = lower(?)', name)
  if (byPath) return byPath
  const id = /^\d{1,10}$/.test(name) ? Number(name) : await namespaceOfOldPath(name)
  const found = id === undefined ? undefined : await countedGroup('n.id = ?', id)
  if (!found) throw new NoSuch('group', name)
  return found
}

/** Returns a group that was just written. Throws NotFound when it was deleted in the meantime. */
export async function writtenGroup(id: number): Promise<CountedGroup> {
  const found = await countedGroup('n.id = ?', id)
  if (!found) throw new NotFound('Group')
  return found
}

export interface GroupStatistics {
  readonly group_id: number
  readonly repository_size: number
  readonly build_artifacts_size: number
}

/** Returns what the projects of these groups store, as last counted by jobs, with one statement; a group that stores nothing is absent. */
export async function statisticsOf(ids: readonly number[]): Promise<ReadonlyMap<number, GroupStatistics>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const found = await rows<GroupStatistics>(
    `select p.namespace_id as group_id, cast(sum(s.repository_size) as unsigned) as repository_size,
       cast(sum(s.build_artifacts_size) as unsigned) as build_artifacts_size
     from projects p join project_statistics s on s.project_id = p.id
     where p.namespace_id in (${marks(list)}) group by p.namespace_id`,
    list
  )
  return new Map(found.map(counted => [counted.group_id, counted]))
}
