// Counts the statements that are sent to the database. Outside of a transaction every statement takes a connection from
// the pool.
import { AsyncLocalStorage } from 'node:async_hooks'
import { pool } from '../../src/db/connect/connection.js'
import { OwnTransaction } from '../../src/db/connect/sequelize.js'

/** Returns how many statements `work` sends outside of transactions. */
export async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const found = pool()
  let count = 0
  const note = () => {
    count += 1
  }
  found.on('acquire', note)
  try {
    await work()
  } finally {
    found.off('acquire', note)
  }
  return count
}

type Sending = { execute: (sql: string, ...rest: unknown[]) => unknown }

const working = new AsyncLocalStorage<string[]>()

/**
 * Returns the statements that `work` itself sends outside of transactions: without those that it shares with other callers, and
 * those of earlier tests whose work is still running.
 */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const found = pool()
  const sent: string[] = []
  const note = (acquired: unknown) => {
    if (working.getStore() !== sent) return
    const connection = acquired as Partial<Sending>
    connection.execute = (sql, ...rest) => {
      sent.push(sql)
      delete connection.execute
      return (connection as Sending).execute(sql, ...rest)
    }
  }
  found.on('acquire', note)
  try {
    await working.run(sent, work)
  } finally {
    found.off('acquire', note)
  }
  return sent
}

/** Returns how many transactions `work` begins, including those that begin again after a deadlock. */
export async function countTransactions(work: () => Promise<unknown>): Promise<number> {
  const { begin } = OwnTransaction
  let count = 0
  OwnTransaction.begin = () => {
    count += 1
    return begin.call(OwnTransaction)
  }
  try {
    await work()
  } finally {
    OwnTransaction.begin = begin
  }
  return count
}

type Executing = { connection: Sending }

/** Returns the statements that `work` sends inside of transactions. */
export async function statementsInside(work: () => Promise<unknown>): Promise<string[]> {
  const { begin } = OwnTransaction
  const sent: string[] = []
  OwnTransaction.begin = async () => {
    const own = await begin.call(OwnTransaction)
    const { connection } = own.transaction as unknown as Executing
    const execute = connection.execute
    connection.execute = function (this: unknown, sql, ...rest) {
      sent.push(sql)
      return execute.call(this, sql, ...rest)
    }
    restoring.push(() => {
      connection.execute = execute
    })
    return own
  }
  const restoring: (() => void)[] = []
  try {
    await work()
  } finally {
    OwnTransaction.begin = begin
    for (const restore of restoring.reverse()) restore()
  }
  return sent
}
