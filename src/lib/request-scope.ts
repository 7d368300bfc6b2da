import { AsyncLocalStorage } from 'node:async_hooks'

interface RequestScope {
  /** The id of the request, which is in every log line. */
  readonly request: string
  /** The address of the client: scarce resources are shared among clients. */
  readonly client: string
}

/** The request that the running code works for. */
export const requestScope = new AsyncLocalStorage<RequestScope>()

/** Returns the client address of the current request, or an empty text outside of requests. */
export const currentClient = (): string => requestScope.getStore()?.client ?? ''
