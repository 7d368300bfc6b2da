// What the records of a page of projects need in addition to their rows, with one statement for each kind and none for
// a kind that no project of the page has.
import type { Actor } from '../../../access/actor.js'
import { lasts, visibleProjects } from '../../../access/membership.js'
import { marks, padded, rows } from '../../../db/connect/sql.js'
import type { ProjectRow } from './projects.queries.js'

export interface ShareRow {
  readonly project_id: number
  readonly group_id: number
  readonly group_name: string
  readonly group_access: number
  /** The level of the group. */
  readonly visibility_level: number
}

export interface StatisticsRow {
  readonly project_id: number
  readonly commit_count: number
  readonly repository_size: number
  readonly build_artifacts_size: number
  readonly lfs_objects_size: number
}

interface SourceRow extends Pick<ProjectRow, 'id' | 'name' | 'path' | 'namespace_name' | 'namespace_path'> {
  /** The id of the fork. */
  readonly fork_id: number
}

export interface ProjectReading {
  readonly shares: ReadonlyMap<number, readonly ShareRow[]>
  /** The sources of forks that the caller may see, by the ids of the forks. */
  readonly sources: ReadonlyMap<number, SourceRow>
  /** Absent unless requested. */
  readonly statistics?: ReadonlyMap<number, StatisticsRow>
  /** Lists of projects in which the caller is not a member show no permissions. */
  readonly withoutPermissions?: true
}

export const NOTHING_READ: ProjectReading = { shares: new Map(), sources: new Map() }

export interface ReadingOptions {
  readonly simple?: boolean
  readonly statistics?: boolean
  readonly withoutPermissions?: true
}

/** Reads what the records of these projects show to the caller. */
export async function readProjects(
  projects: readonly ProjectRow[],
  actor: Actor,
  { simple, statistics, withoutPermissions }: ReadingOptions = {}
): Promise<ProjectReading> {
  if (simple || !actor.user) return NOTHING_READ
  const shared = projects.filter(({ has_shares: has }) => has === 1).map(({ id }) => id)
  const forked = projects.filter(({ is_fork: is }) => is === 1).map(({ id }) => id)
  const [shares, sources, counted] = await Promise.all([
    findShares(shared),
    findSources(forked, actor),
    statistics ? findStatistics(projects.map(({ id }) => id)) : undefined
  ])
  return {
    shares,
    sources,
    ...(counted && { statistics: counted }),
    ...(withoutPermissions && { withoutPermissions })
  }
}

async function findShares(ids: readonly number[]): Promise<ReadonlyMap<number, readonly ShareRow[]>> {
  const found = new Map<number, ShareRow[]>()
  if (ids.length === 0) return found
  const list = padded(ids)
  const all = await rows<ShareRow>(
    `select l.project_id, l.group_id, n.name as group_name, l.group_access, n.visibility_level
     from project_group_links l join namespaces n on n.id = l.group_id
     where l.project_id in (${marks(list)}) and ${lasts('l')} order by l.id`,
    list
  )
  for (const share of all) found.set(share.project_id, [...(found.get(share.project_id) ?? []), share])
  return found
}

/** Not specified: whether callers who cannot see the source see its name. They do not, because the name may be secret. */
async function findSources(ids: readonly number[], actor: Actor): Promise<ReadonlyMap<number, SourceRow>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const visible = visibleProjects(actor)
  const found = await rows<SourceRow>(
    `select f.forked_to_project_id as fork_id, p.id, p.name, p.path, n.name as namespace_name, n.path as namespace_path
     from forked_project_links f join projects p on p.id = f.forked_from_project_id
     join namespaces n on n.id = p.namespace_id
     where f.forked_to_project_id in (${marks(list)}) and ${visible.sql}`,
    [...list, ...visible.values]
  )
  return new Map(found.map(source => [source.fork_id, source]))
}

async function findStatistics(ids: readonly number[]): Promise<ReadonlyMap<number, StatisticsRow>> {
  if (ids.length === 0) return new Map()
  const list = padded(ids)
  const found = await rows<StatisticsRow>(
    `select project_id, commit_count, repository_size, build_artifacts_size,
       coalesce((select z.size from lfs_sizes z where z.project_id = s.project_id),
         (select sum(l.size) from lfs_links l where l.project_id = s.project_id and not l.held), 0) as lfs_objects_size
     from project_statistics s where project_id in (${marks(list)})`,
    list
  )
  return new Map(
    found.map(counted => [counted.project_id, { ...counted, lfs_objects_size: Number(counted.lfs_objects_size) }])
  )
}
