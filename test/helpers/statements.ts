// Counts what is asked of the database: outside of a transaction every statement takes a connection of the pool.
import { database } from '../../src/db/connection.js'

/** How many statements `work` sends outside of transactions. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const { pool } = database()
  let count = 0
  const note = () => {
    count += 1
  }
  pool.on('acquire', note)
  try {
    await work()
  } finally {
    pool.off('acquire', note)
  }
  return count
}
