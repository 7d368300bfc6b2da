import { marks, row, rows } from '../../../db/connect/sql.js'
import type { Columns } from './filter.js'
import { type Listed, type ListQuery, readList } from './lists.js'

/** A group of the directory. */
export interface ScimGroupRow {
  readonly id: number
  readonly display_name: string
  readonly external_id: string | null
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
}

export interface ScimMember {
  readonly group_id: number
  readonly user_id: number
  readonly user_name: string
}

const SELECT = 'g.id, g.display_name, g.external_id, g.version, g.created_at, g.updated_at'

const hasMember = (value: string) => ({
  sql: 'exists (select 1 from scim_group_members m where m.group_id = g.id and m.user_id = ?)',
  values: [/^\d{1,10}$/.test(value) ? Number(value) : 0]
})

const GROUP_COLUMNS: Columns = {
  columns: {
    id: { sql: 'g.id', kind: 'number' },
    displayname: { sql: 'g.display_name_key', kind: 'text' },
    externalid: { sql: 'g.external_id', kind: 'exact' },
    'meta.created': { sql: 'g.created_at', kind: 'moment' },
    'meta.lastmodified': { sql: 'g.updated_at', kind: 'moment' }
  },
  rows: { members: hasMember, 'members.value': hasMember }
}

/** Returns a part of the groups of the directory. */
export const listScimGroups = (query: ListQuery): Promise<Listed<ScimGroupRow>> =>
  readList({ select: SELECT, from: 'scim_groups g', where: 'true', order: 'g.id', columns: GROUP_COLUMNS }, query)

export const findScimGroup = (id: number): Promise<ScimGroupRow | undefined> =>
  row<ScimGroupRow>(`select ${SELECT} from scim_groups g where g.id = ?`, [id])

/** Returns how many members each of these groups has, in their order. */
export async function memberCounts(ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const found = await rows<{ group_id: number; size: number }>(
    `select group_id, count(*) as size from scim_group_members where group_id in (${marks(ids)}) group by group_id`,
    ids
  )
  const sizes = new Map(found.map(({ group_id, size }) => [group_id, size]))
  return ids.map(id => sizes.get(id) ?? 0)
}

/** Returns the members of these groups, with one statement. */
export async function membersOfGroups(ids: readonly number[]): Promise<ReadonlyMap<number, ScimMember[]>> {
  if (ids.length === 0) return new Map()
  const found = await rows<ScimMember>(
    `select m.group_id, m.user_id, s.user_name from scim_group_members m join scim_users s on s.user_id = m.user_id
     where m.group_id in (${marks(ids)}) order by m.group_id, m.user_id`,
    ids
  )
  return Map.groupBy(found, ({ group_id }) => group_id)
}

/** Returns which of these users the directory manages. */
export async function managedAmong(ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set()
  const found = await rows<{ user_id: number }>(
    `select user_id from scim_users where deleted_at is null and user_id in (${marks(ids)})`,
    ids
  )
  return new Set(found.map(({ user_id }) => user_id))
}
