// Node.js has four threads for long calculations and for reading files, which start in the order of arrival. A hundred answers that
// one client has compressed, or passwords that it has checked, would keep each file of others waiting for a second and more.
import { FairLine } from './fair-line.js'
import { currentClient } from './request-scope.js'

/** How many threads calculate at once; the others read files. */
const MOST = 2

let running = 0
const waiting = new FairLine<() => void>()

/** Runs a calculation that takes milliseconds of a thread, when it has its turn. Clients take turns. */
export async function onThread<T>(calculate: () => Promise<T>): Promise<T> {
  if (running < MOST) running++
  else await new Promise<void>(resolve => waiting.add(currentClient(), resolve))
  try {
    return await calculate()
  } finally {
    // Whoever is next takes the place.
    const next = waiting.take()
    if (next) next()
    else running--
  }
}
