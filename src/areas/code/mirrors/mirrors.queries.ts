import { row, rows } from '../../../db/connect/sql.js'
import { countTotal, type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { NotFound } from '../../../errors.js'
import { tokenHash } from '../../../secrets.js'
import type { ProblemCode } from './mirror-problem.js'

export type Direction = 'pull' | 'push'
export type RunResult = 'succeeded' | 'partial' | 'failed' | 'stopped'

export interface MirrorRow {
  readonly id: number
  readonly project_id: number
  /** NAMESPACE/PROJECT. */
  readonly project: string
  /** The user in whose name it runs; null when the account was deleted. */
  readonly user_id: number | null
  readonly username: string | null
  readonly direction: Direction
  /** Without a password. */
  readonly url: string
  readonly secret_encrypted: Buffer | null
  readonly public_key: string | null
  readonly host_key: string | null
  readonly seen_host_key: string | null
  /** One in each line; null for all branches and tags. */
  readonly branch_patterns: string | null
  readonly overwrite_diverged: number
  readonly delete_removed: number
  readonly enabled: number
  readonly interval_minutes: number | null
  readonly hook_token_hash: Buffer | null
  readonly due_at: Date | null
  readonly is_running: number
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly succeeded_at: Date | null
  readonly result: RunResult | null
  readonly problem: ProblemCode | null
  readonly error: string | null
  /** JSON: the refs that the last run has not moved. */
  readonly ref_results: string | null
  readonly moved_refs: number
  readonly failures: number
  readonly created_at: Date
  readonly updated_at: Date
}

const FROM = `from mirrors m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id
  left join users u on u.id = m.user_id`
const SELECT = `select m.id, m.project_id, concat(n.path, '/', p.path) as project, m.user_id, u.username, m.direction, m.url,
  m.secret_encrypted, m.public_key, m.host_key, m.seen_host_key, m.branch_patterns, m.overwrite_diverged, m.delete_removed,
  m.enabled, m.interval_minutes, m.hook_token_hash, m.due_at, coalesce(m.run is not null and m.due_at > now(3), 0) as is_running,
  m.started_at, m.finished_at, m.succeeded_at, m.result, m.problem, m.error, m.ref_results, m.moved_refs, m.failures,
  m.created_at, m.updated_at ${FROM}`

/** Finds a mirror of any project. Throws NotFound. */
export async function requireMirror(id: number): Promise<MirrorRow> {
  const found = await row<MirrorRow>(`${SELECT} where m.id = ?`, [id])
  if (!found) throw new NotFound('Mirror')
  return found
}

/** Finds a mirror of a project. Throws NotFound. */
export async function requireMirrorOf(projectId: number, id: number): Promise<MirrorRow> {
  const found = await row<MirrorRow>(`${SELECT} where m.id = ? and m.project_id = ?`, [id, projectId])
  if (!found) throw new NotFound('Mirror')
  return found
}

/** Finds a push mirror of a project. Throws NotFound. */
export async function requirePushMirror(projectId: number, id: number): Promise<MirrorRow> {
  const found = await requireMirrorOf(projectId, id)
  if (found.direction !== 'push') throw new NotFound('Mirror')
  return found
}

/** Returns the pull mirror of a project; a project has at most one. */
export const findPullMirror = (projectId: number): Promise<MirrorRow | undefined> =>
  row<MirrorRow>(`${SELECT} where m.project_id = ? and m.direction = 'pull' order by m.id limit 1`, [projectId])

/** Returns the pull mirror of a project. Throws NotFound. */
export async function requirePullMirror(projectId: number): Promise<MirrorRow> {
  const found = await findPullMirror(projectId)
  if (!found) throw new NotFound('Mirror')
  return found
}

/** Returns the pull mirror of a project whose hook has this token. */
export const findMirrorByToken = (projectId: number, token: string): Promise<MirrorRow | undefined> =>
  row<MirrorRow>(`${SELECT} where m.hook_token_hash = ? and m.project_id = ?`, [tokenHash(token), projectId])

/** Returns a page of the push mirrors of a project, oldest first. */
export async function listPushMirrors(projectId: number, query: PageRequest): Promise<Page<MirrorRow>> {
  const { page, perPage, sql } = window(query)
  const where = "where m.project_id = ? and m.direction = 'push'"
  const [total, items] = await Promise.all([
    countTotal(`select count(*) as total from mirrors m ${where}`, [projectId]),
    rows<MirrorRow>(`${SELECT} ${where} order by m.id ${sql}`, [projectId])
  ])
  return { items, total, page, perPage }
}

/** Returns the mirrors of a project, or of all of them, oldest first, and the total number. */
export async function listMirrors(projectId: number | undefined, limit: number) {
  const [where, values] = projectId === undefined ? ['', []] : ['where m.project_id = ?', [projectId]]
  const [items, total] = await Promise.all([
    rows<MirrorRow>(`${SELECT} ${where} order by m.id limit ${Math.trunc(limit)}`, values),
    countTotal(`select count(*) as total from mirrors m ${where}`, values)
  ])
  return { items, total }
}

/** A condition that holds when a project has push mirrors that run after pushes. */
export const hasPushMirrors = (projectId: number) => ({
  sql: "exists (select 1 from mirrors where project_id = ? and direction = 'push' and enabled = 1)",
  values: [projectId]
})

const OUTCOMES: readonly (RunResult | 'never')[] = ['never', 'succeeded', 'partial', 'failed', 'stopped']

/** Returns the numbers of mirrors that are switched on, by direction and by how their last run ended. */
export async function countMirrors(): Promise<{ direction: Direction; result: string; count: number }[]> {
  const found = await rows<{ direction: Direction; result: string; count: number }>(
    `select direction, coalesce(result, 'never') as result, count(*) as count from mirrors where enabled = 1
     group by direction, result`
  )
  const countOf = (direction: Direction, result: string) =>
    found.find(each => each.direction === direction && each.result === result)?.count ?? 0
  return (['pull', 'push'] as const).flatMap(direction =>
    OUTCOMES.map(result => ({ direction, result, count: countOf(direction, result) }))
  )
}
