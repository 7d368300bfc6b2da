// Counts what the deletion of a project would remove, for people who are about to delete it.

import { row } from '../../../db/connect/sql.js'
import { linksTo } from '../../../db/ownership/owned-tables.js'
import type { TableName } from '../../../db/ownership/ownership.js'

/** Tables of internal notes, which nobody would miss, and of relations that only end. */
const UNCOUNTED: ReadonlySet<TableName> = new Set([
  'project_trigrams',
  'project_statistics',
  'repository_upkeeps',
  'repository_checks',
  'project_imports',
  'project_removals',
  'project_redirects',
  'forked_project_links'
])

/** Tables that have another name in the public record. */
const NAMES: { readonly [Table in TableName]?: string } = {
  project_group_links: 'shares',
  project_stars: 'stars',
  ref_changes: 'pushes',
  activity_events: 'activities',
  runner_projects: 'runners'
}

export interface ProjectDeletion {
  /** The last counts of jobs; null for values that were not counted yet. */
  readonly commit_count: number | null
  readonly repository_size: number | null
  readonly build_artifacts_size: number | null
  /** How many records of each kind are removed. */
  readonly goes: { readonly [name: string]: number }
  /** How many forks the project has. They stay. */
  readonly forks: number
}

/** Returns what the removal of a project would remove. It changes nothing. */
export async function deletionOfProject({ id }: { readonly id: number }): Promise<ProjectDeletion> {
  const counted = linksTo('projects').filter(
    ({ table, link }) => !UNCOUNTED.has(table) && (link.fate === 'deleted' || link.fate === 'erased')
  )
  const columns = counted.map(({ table, link: { column, when } }) => {
    const only = when ? ` and x.${when[0]} = '${when[1]}'` : ''
    return `(select count(*) from ${table} x where x.${column} = p.id${only}) as \`${NAMES[table] ?? table}\``
  })
  const found = await row<{ [name: string]: number | null }>(
    `select s.commit_count, s.repository_size, s.build_artifacts_size,
       (select count(*) from forked_project_links f where f.forked_from_project_id = p.id) as forks,
       ${columns.join(', ')}
     from projects p left join project_statistics s on s.project_id = p.id where p.id = ?`,
    [id]
  )
  const { commit_count = null, repository_size = null, build_artifacts_size = null, forks, ...goes } = found ?? {}
  return {
    commit_count,
    repository_size,
    build_artifacts_size,
    goes: Object.fromEntries(Object.entries(goes).map(([name, count]) => [name, Number(count ?? 0)])),
    forks: Number(forks ?? 0)
  }
}
