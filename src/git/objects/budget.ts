// Limits how many bytes of large objects this process holds at the same time. Other callers wait, and the clients take turns.
import { Unavailable } from '../../errors.js'
import { Limiter, type Release } from '../../lib/limiter.js'
import { currentClient } from '../../lib/request-scope.js'

/** In bytes. A single object may be larger. */
const budget = new Limiter({
  capacity: 96 * 1024 * 1024,
  queue: { capacity: 256, full: () => new Unavailable('Too many large objects are being read') }
})

/**
 * Waits until this process may hold `bytes` more. Returns a function that releases them; calling it a second time does
 * nothing. Throws Unavailable when too many callers wait.
 */
export const holdBytes = (bytes: number): Promise<Release> => budget.acquire({ client: currentClient(), cost: bytes })
