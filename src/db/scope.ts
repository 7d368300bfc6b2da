// The transaction that the code at hand is in, apart from what opens one: the connection asks for it as well.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Transaction } from 'sequelize'

export interface Scope {
  transaction?: Transaction
  readonly afterCommit: (() => void)[]
}

export const scopes = new AsyncLocalStorage<Scope>()

/** What Sequelize asks for the current transaction: the interface of a continuation-local namespace. */
export const transactionNamespace = {
  get: (key: string) => (key === 'transaction' ? scopes.getStore()?.transaction : undefined),
  set: () => undefined,
  run: (fn: () => unknown) => fn(),
  bind: <T>(fn: T) => fn
}

/** The transaction that the caller is in, if any. */
export const currentTransaction = () => scopes.getStore()?.transaction
