// One transaction for each piece of work. The code inside finds it through AsyncLocalStorage, so nobody passes it along.
import { noteWrite } from '../../lib/request-scope.js'
import { versionsStatement } from './content.js'
import { isDatabaseAway } from './failure.js'
import { FairPool } from './fair-pool.js'
import { retried } from './retried.js'
import { currentTransaction, type Scope, scopes, written } from './scope.js'
import type { OwnTransaction } from './sequelize.js'

let opener: typeof OwnTransaction | undefined
const fairPool = new FairPool()

/**
 * Runs `fn` in a transaction, or joins the transaction of the caller. After a deadlock or a lock timeout it runs `fn`
 * again, so `fn` must be safe to run twice, and it must await everything that it starts. Throws Unavailable when the
 * database cannot be reached.
 */
export async function transact<T>(fn: () => Promise<T>): Promise<T> {
  return currentTransaction() ? fn() : retried(() => onShare(fn))
}

/** Calls `fn` after the current transaction has committed, or immediately when there is no transaction. */
export function afterCommit(fn: () => void): void {
  const scope = scopes.getStore()
  if (scope?.transaction) scope.afterCommit.push(fn)
  else fn()
}

async function onShare<T>(fn: () => Promise<T>): Promise<T> {
  const release = await fairPool.acquire()
  try {
    return await once(fn)
  } finally {
    release()
  }
}

async function once<T>(fn: () => Promise<T>): Promise<T> {
  // The first transaction loads it: commands that only read do not need it.
  opener ??= (await import('./sequelize.js')).OwnTransaction
  const own = await opener.begin()
  const scope: Scope = { transaction: own.transaction, afterCommit: [] }
  let result: T
  try {
    result = await scopes.run(scope, fn)
    const versions = versionsStatement(scope)
    if (versions) await own.send(versions)
  } catch (error) {
    // When the connection is gone, there is nothing to roll back.
    await (isDatabaseAway(error) ? own.destroy(error) : own.rollback()).catch(() => undefined)
    throw error
  }
  await own.commit()
  written.times += 1
  if (scope.hasWritten) noteWrite()
  for (const call of scope.afterCommit) call()
  return result
}
