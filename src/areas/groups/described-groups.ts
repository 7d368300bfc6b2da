// Groups as commands show them. It loads no TypeBox, which takes 0.1 s.
import { lasts } from '../../access/membership.js'
import { contains } from '../../db/conditions.js'
import { countTotal, PART, type Page, type PageRequest, window } from '../../db/paginate.js'
import { row, rows, type Value } from '../../db/sql.js'
import { NoSuch, NotFound } from '../../errors.js'
import { visibilityName } from '../../lib/levels.js'
import { namespaceOfOldPath } from '../paths/redirects.js'

export interface GroupInList {
  readonly id: number
  readonly path: string
  readonly name: string
  readonly description: string
  readonly visibility_level: number
  readonly request_access_enabled: number
  readonly share_with_group_lock: number
  readonly projects: number
  /** Those whose membership has not ended. */
  readonly members: number
  /** Bytes of its repositories and artifacts, as jobs counted them last. */
  readonly storage_size: number
  readonly created_at: Date
}

const SELECT = `select n.id, n.path, n.name, n.description, n.visibility_level, n.request_access_enabled,
  n.share_with_group_lock, (select count(*) from projects p where p.namespace_id = n.id) as projects,
  (select count(*) from members m where m.source_type = 'namespace' and m.source_id = n.id and ${lasts('m')}) as members,
  (select cast(coalesce(sum(s.repository_size + s.build_artifacts_size), 0) as unsigned) from projects p
     join project_statistics s on s.project_id = p.id where p.namespace_id = n.id) as storage_size, n.created_at
  from namespaces n`

export interface GroupFilter {
  readonly search?: string
}

function filter({ search }: GroupFilter): { where: string; values: Value[] } {
  if (!search) return { where: "n.kind = 'group'", values: [] }
  const found = contains(['n.name', 'n.path'], search)
  return { where: `n.kind = 'group' and ${found.sql}`, values: [...found.values] }
}

/** A page of all groups, the newest first. */
export async function listAllGroups(query: GroupFilter & PageRequest): Promise<Page<GroupInList>> {
  const { where, values } = filter(query)
  const { page, perPage, sql } = window(query)
  const [items, total] = await Promise.all([
    rows<GroupInList>(`${SELECT} where ${where} order by n.id desc ${sql}`, values),
    countTotal(`select count(*) as total from namespaces n where ${where}`, values)
  ])
  return { items, total, page, perPage }
}

/** The next groups of the same list, after the one with the id `before`. */
export function groupsBefore(query: GroupFilter, before: number): Promise<GroupInList[]> {
  const { where, values } = filter(query)
  return rows<GroupInList>(`${SELECT} where ${where} and n.id < ? order by n.id desc limit ${PART}`, [
    ...values,
    before
  ])
}

/** A group by its path, an old path, or its number. Throws NoSuch. */
export async function requireGroup(name: string): Promise<GroupInList> {
  const found = (await byPath(name)) ?? (await byNumber(name)) ?? (await byOldPath(name))
  if (!found) throw new NoSuch('group', name)
  return found
}

const byPath = (path: string) => row<GroupInList>(`${SELECT} where n.kind = 'group' and n.path_key = lower(?)`, [path])
const byId = (id: number) => row<GroupInList>(`${SELECT} where n.kind = 'group' and n.id = ?`, [id])

async function byNumber(name: string): Promise<GroupInList | undefined> {
  return /^\d{1,10}$/.test(name) ? byId(Number(name)) : undefined
}

async function byOldPath(path: string): Promise<GroupInList | undefined> {
  const id = await namespaceOfOldPath(path)
  return id === undefined ? undefined : byId(id)
}

/** A group that was just written. Throws NotFound when it is gone again. */
export async function writtenGroup(id: number): Promise<GroupInList> {
  const found = await byId(id)
  if (!found) throw new NotFound('Group')
  return found
}

/** The record of a group in --json. */
export function describeGroup({
  visibility_level: level,
  request_access_enabled: requests,
  share_with_group_lock: lock,
  ...group
}: GroupInList) {
  return {
    ...group,
    visibility: visibilityName(level),
    request_access_enabled: requests === 1,
    share_with_group_lock: lock === 1
  }
}
