import { AsyncLocalStorage } from 'node:async_hooks'

interface RequestScope {
  /** The id of the request, which is in every line. */
  readonly request: string
  /** Who asks, as an address: what is scarce is shared by clients. */
  readonly client: string
}

/** The request that the running code works for. */
export const requestScope = new AsyncLocalStorage<RequestScope>()

/** Returns the address that the running code works for; an empty text outside of requests. */
export const currentClient = (): string => requestScope.getStore()?.client ?? ''
