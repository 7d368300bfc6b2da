// Runners as people see them: in lists, and with everything that the runners report.
import { projectsOfMember } from '../../../access/membership.js'
import { row, rows, type Value } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { MASTER } from '../../../lib/levels.js'
import type { RunnerRow } from './runners.queries.js'
import type { RunnerScope } from './runners.schema.js'

export interface RunnerRecord extends Omit<RunnerRow, 'maximum_timeout' | 'ref_protected'> {
  readonly name: string | null
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly contacted_at: Date | null
  /** Null for the built-in runner. */
  readonly token_encrypted: Buffer | null
}

const SELECT = `select r.id, r.description, r.active, r.is_shared, r.run_untagged, r.locked, r.built_in, r.tag_list, r.name,
  r.version, r.revision, r.platform, r.architecture, r.contacted_at, r.token_encrypted from runners r`

/** The runners of projects in which the user is at least a master. */
const OWN = (userId: number) => {
  const { sql, values } = projectsOfMember(userId)
  return {
    sql: `select o.runner_id from runner_projects o join (${sql}) mine on mine.id = o.project_id
      where mine.level >= ${MASTER}`,
    values
  }
}

/** Returns whether the user may administer a runner that is not shared. */
export async function hasAccess(userId: number, runnerId: number): Promise<boolean> {
  const own = OWN(userId)
  return (await row(`${own.sql} and o.runner_id = ? limit 1`, [...own.values, runnerId])) !== undefined
}

/** Finds a runner. Throws NotFound. */
export async function requireRunnerById(id: number): Promise<RunnerRecord> {
  const found = await row<RunnerRecord>(`${SELECT} where r.id = ?`, [id])
  if (!found) throw new NotFound('Runner')
  return found
}

/** Returns the number of projects in `runner_projects` that a runner serves. */
export async function countProjects(id: number): Promise<number> {
  const found = await row<{ known: number }>('select count(*) as known from runner_projects where runner_id = ?', [id])
  return found?.known ?? 0
}

/** A runner is online when its last contact was within the last hour. */
const ONLINE_MS = 3_600_000

/** The runners of a user's projects, of a project, or all of them. */
export type RunnersOf =
  | { readonly userId: number }
  | { readonly project: { readonly id: number; readonly shared_runners_enabled: number } }
  | 'all'

/** Returns a page of runners, oldest first. Takes two statements. */
export async function listRunners(
  of: RunnersOf,
  query: PageRequest & { readonly scope?: RunnerScope }
): Promise<Page<RunnerRecord>> {
  const { page, perPage, sql } = window(query)
  const whose = whoseOf(of)
  const scope = scopeOf(query.scope)
  const where = `where ${whose.sql} and ${scope.sql}`
  const values = [...whose.values, ...scope.values]
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from runners r ${where}`, values),
    rows<RunnerRecord>(`${SELECT} ${where} order by r.id ${sql}`, values)
  ])
  return { items, total, page, perPage }
}

/** Returns runners after the id `last`, for a list of all of them. */
export const runnersAfter = (last: number, most: number): Promise<RunnerRecord[]> =>
  rows<RunnerRecord>(`${SELECT} where r.id > ? order by r.id limit ${Math.trunc(most)}`, [last])

function whoseOf(of: RunnersOf): { sql: string; values: readonly Value[] } {
  if (of === 'all') return { sql: '1 = 1', values: [] }
  if ('userId' in of) {
    const own = OWN(of.userId)
    return { sql: `r.id in (${own.sql})`, values: own.values }
  }
  const assigned = 'r.id in (select o.runner_id from runner_projects o where o.project_id = ?)'
  return { sql: of.project.shared_runners_enabled ? `(r.is_shared or ${assigned})` : assigned, values: [of.project.id] }
}

function scopeOf(scope: RunnerScope | undefined): { sql: string; values: readonly Value[] } {
  if (scope === 'active') return { sql: 'r.active', values: [] }
  if (scope === 'paused') return { sql: 'not r.active', values: [] }
  if (scope === 'online') return { sql: 'r.contacted_at > ?', values: [new Date(Date.now() - ONLINE_MS)] }
  if (scope === 'shared') return { sql: 'r.is_shared', values: [] }
  return { sql: scope === 'specific' ? 'not r.is_shared' : '1 = 1', values: [] }
}

export interface ProjectOfRunner {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly namespace_name: string
  readonly namespace_path: string
}

/** Not specified: the maximum number of projects in the record of a runner. */
const MOST_PROJECTS = 500

/** Returns the projects that are assigned to a runner: all of them, or with a user those whose member the user is. */
export function projectsOfRunner(id: number, userId: number | null): Promise<ProjectOfRunner[]> {
  const member = userId === null ? undefined : projectsOfMember(userId)
  return rows<ProjectOfRunner>(
    `select p.id, p.name, p.path, n.name as namespace_name, n.path as namespace_path
     from runner_projects o join projects p on p.id = o.project_id join namespaces n on n.id = p.namespace_id
     where o.runner_id = ? ${member ? `and p.id in (select mine.id from (${member.sql}) mine)` : ''}
     order by p.id limit ${MOST_PROJECTS}`,
    [id, ...(member?.values ?? [])]
  )
}
