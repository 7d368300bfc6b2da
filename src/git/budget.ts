// Limits how many bytes of large objects this process holds at the same time. The others wait, and the clients take turns.
import { Unavailable } from '../errors.js'
import { FairLine } from '../lib/fair-line.js'
import { currentClient } from '../lib/request-scope.js'

/** Bytes of large objects that are held at once. One object alone may be larger. */
const BUDGET = 96 * 1024 * 1024
const MOST_WAITING = 256

let held = 0
const waiting = new FairLine<{ readonly bytes: number; readonly start: () => void }>()

const fits = (bytes: number) => held === 0 || held + bytes <= BUDGET

/**
 * Waits until this process may hold `bytes` more. Returns the function that gives them back; a second call of that function
 * does nothing. Throws Unavailable when too many callers wait.
 */
export async function holdBytes(bytes: number): Promise<() => void> {
  if (waiting.length > 0 || !fits(bytes)) {
    if (waiting.length >= MOST_WAITING) throw new Unavailable('Too many large objects are being read')
    await new Promise<void>(resolve => waiting.add(currentClient(), { bytes, start: resolve }))
  } else held += bytes
  let released = false
  return () => {
    if (released) return
    released = true
    held -= bytes
    for (let { next } = waiting; next && fits(next.bytes); next = waiting.next) {
      waiting.take()
      held += next.bytes
      next.start()
    }
  }
}
