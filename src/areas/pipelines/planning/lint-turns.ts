// Everybody may have a CI file checked, and the parser holds up all other requests for up to half a second. So the checks run one after
// another, with rests in which others are answered, and clients take turns.
import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyRequests, Unavailable } from '../../../errors.js'
import { FairLine } from '../../../lib/fair-line.js'
import { currentClient } from '../../../lib/request-scope.js'

/** A rest is so many times as long as the check before it. */
const REST = 3
/** Checks that wait, of one client and of all. */
const MOST_OF_CLIENT = 5
const MOST = 100
/** Seconds after which it is worth asking again. */
const AGAIN = 5

const waiting = new FairLine<() => void>()
let running = false

/** Runs a check when it has its turn. Throws TooManyRequests or Unavailable when too many wait. */
export async function inTurn<T>(check: () => T): Promise<T> {
  if (running) await turn(currentClient())
  running = true
  const began = performance.now()
  try {
    return check()
  } finally {
    void rest(REST * (performance.now() - began))
  }
}

function turn(client: string): Promise<void> {
  if (waiting.lengthOf(client) >= MOST_OF_CLIENT)
    throw new TooManyRequests(AGAIN, 'more checks of CI files from one address wait')
  if (waiting.length >= MOST) throw new Unavailable('Too many checks of CI files are waiting', AGAIN)
  return new Promise(resolve => waiting.add(client, resolve))
}

async function rest(milliseconds: number): Promise<void> {
  await sleep(milliseconds)
  const next = waiting.take()
  if (next) next()
  else running = false
}
