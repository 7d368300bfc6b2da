// Node.js has four threads for long calculations and for reading files, which start in the order of arrival. A hundred answers that
// one client has compressed, or passwords that it has checked, would keep each file of others waiting for a second and more.
import { Limiter } from './limiter.js'
import { currentClient } from './request-scope.js'

/** Two threads calculate; the others read files. */
const threads = new Limiter({ capacity: 2 })

/** Runs a calculation that takes milliseconds of a thread, when it has its turn. Clients take turns. */
export const onThread = <T>(calculate: () => Promise<T>): Promise<T> =>
  threads.run({ client: currentClient() }, calculate)
