import { type Actor, nobody } from '../../access/actor.js'
import {
  groupMembership,
  groupsOfMember,
  ownedGroups,
  visibleGroups,
  visibleProjects
} from '../../access/membership.js'
import { contains } from '../../db/conditions.js'
import { countTotal, type Page, window } from '../../db/paginate.js'
import { marks, padded, row, rows, type Value } from '../../db/sql.js'
import { NoSuch } from '../../errors.js'
import { namespaceOfOldPath } from '../paths/redirects.js'
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

/** A group, with what the access rules need to know about the asker. */
export interface GroupRow extends GroupRecord {
  /** The asker's level as a member; null when the asker is not a member. */
  readonly access_level: number | null
  /** Whether the asker may see at least one of the group's projects, and so the group. */
  readonly sees_project: number
}

const COLUMNS = `n.id, n.name, n.path, n.description, n.avatar, n.visibility_level, n.share_with_group_lock,
  n.request_access_enabled, n.lfs_enabled, n.created_at, n.updated_at`

/** A group by its id or path, also an old path, with the asker's level; undefined when the group does not exist. */
export async function findGroup(id: string | number, actor: Actor): Promise<GroupRow | undefined> {
  const found = await readGroup(id, actor)
  if (found || /^\d{1,10}$/.test(String(id))) return found
  const moved = await namespaceOfOldPath(String(id))
  return moved === undefined ? undefined : readGroup(moved, actor)
}

/** The group that a sysadmin names by its id or path, also an old one. Throws NoSuch. */
export async function requireGroup(name: string): Promise<GroupRow> {
  const found = await findGroup(name, nobody)
  if (!found) throw new NoSuch('group', name)
  return found
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
 * Prevents changes of a group until the current transaction ends, so that nothing that the transaction writes
 * contradicts them or stays behind. Gives the group, or undefined when it is gone.
 */
export const lockGroup = (id: number): Promise<GroupRecord | undefined> =>
  row<GroupRecord>(`select ${COLUMNS} from namespaces n where n.id = ? and n.kind = 'group' for update`, [id])

/** Which groups to list: those of which the asker is a member, all that the asker may see, or those the asker owns. */
export type GroupScope = 'member' | 'visible' | 'owned'

/** A page of groups, with two statements for any length. */
export async function listGroups(scope: GroupScope, query: GroupListQuery, actor: Actor): Promise<Page<GroupRecord>> {
  const among = { member: groupsOfMember, visible: visibleGroups, owned: ownedGroups }[scope](actor)
  const conditions = ["n.kind = 'group'", among.sql]
  const values: Value[] = [...among.values]
  if (query.search) {
    const found = contains(['n.name', 'n.path'], query.search)
    conditions.push(found.sql)
    values.push(...found.values)
  }
  const { skip_groups: skipped = [] } = query
  if (skipped.length > 0) {
    conditions.push(`n.id not in (${marks(skipped)})`)
    values.push(...skipped)
  }
  const where = conditions.join(' and ')
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

export interface GroupStatistics {
  readonly group_id: number
  readonly repository_size: number
  readonly build_artifacts_size: number
}

/** What the projects of these groups store, as jobs counted it last, by one statement; a group that stores nothing is absent. */
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
