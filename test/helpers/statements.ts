// Counts the statements that are sent to the database. Outside of a transaction every statement takes a connection from
// the pool.
import { database } from '../../src/db/connection.js'

/** Returns how many statements `work` sends outside of transactions. */
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

/** How many transactions `work` begins: more than it asks for where deadlocks made some begin again. */
export async function countTransactions(work: () => Promise<unknown>): Promise<number> {
  const { sequelize } = database()
  const begin = sequelize.transaction
  let count = 0
  sequelize.transaction = ((...given: []) => {
    count += 1
    return begin.apply(sequelize, given)
  }) as typeof begin
  try {
    await work()
  } finally {
    sequelize.transaction = begin
  }
  return count
}
