// Locks a row, so that transactions that count or compare rows of its owner run one after another.
import { execute } from './sql.js'

/** The tables with the column `held`. */
type LockedTable = 'application_settings' | 'boards' | 'namespaces' | 'pipelines' | 'projects' | 'runners' | 'users'

/** Lists keep rows of these tables until their version changes, which a lock need not do. */
const VERSIONED: ReadonlySet<LockedTable> = new Set(['pipelines', 'projects', 'runners', 'users'])

/**
 * Locks a row until the transaction ends. Returns false when it does not exist. It writes the row: the servers of a cluster do
 * not see each other's locks, but of two transactions that wrote the same row, only one can commit, and the other runs again.
 */
export async function lockRow(table: LockedTable, id: number): Promise<boolean> {
  const same = VERSIONED.has(table) ? ', row_version = row_version' : ''
  const { affectedRows } = await execute(`update ${table} set held = 1 - held${same} where id = ?`, [id])
  return affectedRows > 0
}
