// Holds the transaction of the running code. It is separate from transact.ts, because the connection needs it as well.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'sequelize'

export interface Scope {
  readonly transaction?: Transaction
  /** Filled until the transaction ends. */
  readonly afterCommit: (() => void)[]
  /** Whether it has changed rows. */
  hasWritten?: boolean
  /** The projects whose records of planning it has changed: see content.ts. */
  changed?: Set<number>
}

/** The scope of the running code; every transaction has one. */
export const scopes = new AsyncLocalStorage<Scope>()

/** Sequelize gets the current transaction from this object. It has the interface of a continuation-local namespace. */
export const transactionNamespace = {
  get: (key: string) => (key === 'transaction' ? scopes.getStore()?.transaction : undefined),
  set: () => undefined,
  run: (fn: () => unknown) => fn(),
  bind: <T>(fn: T) => fn
}

/** Returns the transaction of the caller, or undefined. */
export const currentTransaction = () => scopes.getStore()?.transaction

/** The number of writes of this process. A running count that began at the same number includes all of them. */
export const written = { times: 0 }
