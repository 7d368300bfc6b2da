import { AsyncLocalStorage } from 'node:async_hooks'

export interface RequestScope {
  /** The id of the request, which is in every log line. */
  readonly request: string
  /** The address of the client: scarce resources are shared among clients. */
  readonly client: string
  /** Whether another machine has passed the request on to this one. */
  readonly isPassedOn?: boolean
  /** Calls a function when the answer has been sent, or the client has left. */
  readonly atEnd?: (call: () => void) => void
  /** Whether it has committed a transaction that changed rows. */
  hasWritten?: boolean
  /** What an answer that may be kept depends on. */
  reading?: Reading
  /** Whether its reads may be a few seconds old: see db/connect/replica.ts. Not set for requests that write. */
  mayReadOld?: () => Promise<boolean>
}

/** What a request has read since it began to make its answer. */
export interface Reading {
  readonly statements: Set<string>
  /** The time, by `Date.now()`, until which the answer is as new as the lists promise: totals of long lists are some seconds old. */
  until: number
}

/** The request that the running code works for. */
export const requestScope = new AsyncLocalStorage<RequestScope>()

/** Returns the client address of the current request, or an empty text outside of requests. */
export const currentClient = (): string => requestScope.getStore()?.client ?? ''

/** Notes that the current request has committed a transaction that changed rows. */
export function noteWrite(): void {
  const scope = requestScope.getStore()
  if (scope) scope.hasWritten = true
}

/** Notes a statement that the current request reads with. */
export function noteRead(sql: string): void {
  requestScope.getStore()?.reading?.statements.add(sql)
}

/** Notes that something in the answer of the current request may be old after this time, by `Date.now()`. */
export function noteFreshness(until: number): void {
  const reading = requestScope.getStore()?.reading
  if (reading && until < reading.until) reading.until = until
}
