import { AsyncLocalStorage } from 'node:async_hooks'

export interface RequestScope {
  /** The id of the request, which is in every log line. */
  readonly request: string
  /** The address of the client: scarce resources are shared among clients. */
  readonly client: string
  /** Calls a function when the answer has been sent, or the client has left. */
  readonly atEnd?: (call: () => void) => void
}

/** The request that the running code works for. */
export const requestScope = new AsyncLocalStorage<RequestScope>()

/** Returns the client address of the current request, or an empty text outside of requests. */
export const currentClient = (): string => requestScope.getStore()?.client ?? ''
