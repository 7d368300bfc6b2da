import { type Fragment, row } from '../../../db/connect/sql.js'

/** The columns of a project that payloads of hooks show. */
export interface ShownProject {
  readonly project_id: number
  readonly project_name: string
  readonly project_path: string
  readonly description: string | null
  readonly visibility_level: number
  readonly default_branch: string | null
  readonly namespace_name: string
  readonly namespace_path: string
}

/** A settled ref change with all data that its effects need. */
export interface ChangeRow extends ShownProject {
  readonly id: number
  readonly ref: string
  readonly old_id: string
  readonly new_id: string
  readonly user_id: number | null
  /** Whether the push asked for no pipeline. */
  readonly skip_ci: number
  readonly storage: string
  readonly builds_enabled: number
  /** The scheduled time of the repository's upkeep; null for none. */
  readonly optimise_at: Date | null
  readonly user_name: string | null
  readonly user_username: string | null
  readonly user_email: string | null
}

const COLUMNS = `c.id, c.project_id, c.ref, c.old_id, c.new_id, c.skip_ci, c.user_id, p.storage, p.name as project_name,
  p.path as project_path, p.description, p.visibility_level, p.default_branch, p.builds_enabled, p.optimise_at,
  n.name as namespace_name, n.path as namespace_path, u.name as user_name, u.username as user_username,
  u.email as user_email`

const FROM = `from ref_changes c join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id
  left join users u on u.id = c.user_id where c.id = ?`

const underway = new Map<number, Promise<ChangeRow | undefined>>()

/**
 * Returns a settled change; undefined when it or its project does not exist. All listeners of a change call this at the
 * same time and share one statement. Call it outside of transactions.
 */
export function findSettledChange(id: number): Promise<ChangeRow | undefined> {
  const pending = underway.get(id)
  if (pending) return pending
  const found = row<ChangeRow>(`select ${COLUMNS} ${FROM} and c.state = 'done'`, [id]).finally(() =>
    underway.delete(id)
  )
  underway.set(id, found)
  return found
}

/** Returns a change that git has made, but that is not settled yet, and whether a condition holds. */
export const findOpenChange = (
  id: number,
  { sql, values }: Fragment
): Promise<(ChangeRow & { holds: number }) | undefined> =>
  row(`select ${COLUMNS}, (${sql}) as holds ${FROM} and c.state = 'open'`, [...values, id])

/**
 * Returns true when the last change of a ref created or moved it, so that the repository must have it. An unsettled
 * change leaves this open. Changes are stored for three months.
 */
export async function isRecorded(projectId: number, ref: string): Promise<boolean> {
  const last = await row<{ new_id: string; state: string }>(
    'select new_id, state from ref_changes where project_id = ? and ref = ? order by id desc limit 1',
    [projectId, ref]
  )
  return last?.state === 'done' && !/^0+$/.test(last.new_id)
}
