// Node.js has four threads for long calculations and for reading files, which start in the order of arrival. Without a limit, one
// client with a hundred compressed responses or password checks would make the files of others wait for more than a second.
import { Limiter } from './limiter.js'
import { currentClient } from './request-scope.js'

/** Two threads calculate; the others stay free for reading files. */
const threads = new Limiter({ capacity: 2 })

/** Runs a calculation that takes milliseconds of a thread, when its turn has come. Clients take turns. */
export const onThread = <T>(calculate: () => Promise<T>): Promise<T> =>
  threads.run({ client: currentClient() }, calculate)
