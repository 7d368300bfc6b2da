// Everybody may have a CI file checked, and the parser holds up all other requests for up to half a second. So the checks run one after
// another, with rests in which others are answered, and clients take turns.
import { setTimeout as sleep } from 'node:timers/promises'
import { TooManyRequests, Unavailable } from '../../../errors.js'
import { networkOf } from '../../../lib/address.js'

/** A rest is so many times as long as the check before it. */
const REST = 3
/** Checks that wait, of one client and of all. */
const MOST_OF_CLIENT = 5
const MOST = 100
/** Seconds after which it is worth asking again. */
const AGAIN = 5

/** The checks that wait, by client. The client whose turn is next is first. */
const waiting = new Map<string, (() => void)[]>()
let running = false

/** Runs a check when it has its turn. Throws TooManyRequests or Unavailable when too many wait. */
export async function inTurn<T>(address: string, check: () => T): Promise<T> {
  if (running) await turn(networkOf(address))
  running = true
  const began = performance.now()
  try {
    return check()
  } finally {
    void rest(REST * (performance.now() - began))
  }
}

function turn(client: string): Promise<void> {
  const own = waiting.get(client) ?? []
  if (own.length >= MOST_OF_CLIENT) throw new TooManyRequests(AGAIN, 'more checks of CI files from one address wait')
  const all = [...waiting.values()].reduce((sum, { length }) => sum + length, 0)
  if (all >= MOST) throw new Unavailable('Too many checks of CI files are waiting', AGAIN)
  waiting.set(client, own)
  return new Promise(resolve => own.push(resolve))
}

async function rest(milliseconds: number): Promise<void> {
  await sleep(milliseconds)
  const [next] = waiting
  if (!next) {
    running = false
    return
  }
  const [client, [first, ...others]] = next
  waiting.delete(client)
  if (others.length > 0) waiting.set(client, others)
  first?.()
}
