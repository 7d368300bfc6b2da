// Holds the transaction of the running code. It is apart from transact.ts, because the connection needs it as well.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'sequelize'

export interface Scope {
  readonly transaction?: Transaction
  /** Filled until the transaction ends. */
  readonly afterCommit: (() => void)[]
}

/** The scope of the running code; every transaction has one. */
export const scopes = new AsyncLocalStorage<Scope>()

/** Sequelize asks this object for the current transaction. It has the interface of a continuation-local namespace. */
export const transactionNamespace = {
  get: (key: string) => (key === 'transaction' ? scopes.getStore()?.transaction : undefined),
  set: () => undefined,
  run: (fn: () => unknown) => fn(),
  bind: <T>(fn: T) => fn
}

/** Returns the transaction of the caller, or undefined. */
export const currentTransaction = () => scopes.getStore()?.transaction

/** How often this process has written. A count that runs since the last time has seen all of it. */
export const written = { times: 0 }
