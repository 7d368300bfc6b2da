// One transaction per piece of work, found by whoever needs it through AsyncLocalStorage: nobody passes it along.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Transaction } from 'sequelize'
import { database } from './connection.js'
import { isDatabaseAway, isRetriable, translate } from './failure.js'
import { currentTransaction, type Scope, scopes } from './scope.js'

const TRIES = 6

/**
 * Runs `fn` in a transaction, or joins the caller's. Deadlocks and lock timeouts run it again, so it must be safe to run
 * twice and must await all it starts. Throws Unavailable where the database is away.
 */
export async function transact<T>(fn: () => Promise<T>): Promise<T> {
  if (currentTransaction()) return fn()
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(fn)
    } catch (error) {
      if (!isRetriable(error) || attempt === TRIES) throw translate(error)
      await sleep(2 ** attempt * 5 * Math.random())
    }
  }
}

/** Calls `fn` once the current transaction has committed; at once when there is none. */
export function afterCommit(fn: () => void): void {
  const scope = scopes.getStore()
  if (scope?.transaction) scope.afterCommit.push(fn)
  else fn()
}

async function once<T>(fn: () => Promise<T>): Promise<T> {
  const transaction = await database().sequelize.transaction()
  const scope: Scope = { transaction, afterCommit: [] }
  let result: T
  try {
    result = await scopes.run(scope, fn)
  } catch (error) {
    await undo(transaction, error).catch(() => undefined)
    throw error
  }
  await transaction.commit()
  for (const call of scope.afterCommit) call()
  return result
}

/** Where the connection is gone there is nothing to roll back, and Sequelize would complain on the console. */
function undo(transaction: Transaction, error: unknown): Promise<void> {
  if (!isDatabaseAway(error)) return transaction.rollback()
  return (transaction as Transaction & { forceCleanup(): Promise<void> }).forceCleanup()
}
