// Slows down clients that guess passwords and tokens, and so limits the cost of hashing their guesses. All doors count
// together: the API, the sign-in page and git. Only wrong guesses count. Each process counts for itself, in memory.
import { LRUCache } from 'lru-cache'
import { TooManyRequests, Unauthorized } from '../../errors.js'
import { networkOf } from '../../lib/address.js'
import { log } from '../../log.js'

/** Wrong guesses within WINDOW_S seconds, after which further ones are refused (docs/keys-and-tokens.md). */
export const WINDOW_S = 60
/** Wrong passwords for one account from one address. */
export const PER_ACCOUNT_AND_ADDRESS = 10
/** Wrong passwords for one account, from all addresses together. */
export const PER_ACCOUNT = 30
/** Wrong passwords from one address, for all accounts together. */
export const PER_ADDRESS = 60
/** Wrong tokens from one address. A token is too long to be guessed, so this only ends the work of a broken script. */
export const TOKENS_PER_ADDRESS = 600

/** The most keys of each kind. No machine hashes so many guesses within a window that a key is lost before its time. */
const KEPT = 50_000

interface Counter {
  /** The seconds until a further guess is answered; 0 when it is answered now. */
  refusedFor(key: string): number
  /** False while so many guesses are being checked that the limit is reached if all of them are wrong. */
  hasPlace(key: string): boolean
  begin(key: string): void
  end(key: string, wrong: boolean): void
}

type Place = readonly [counter: Counter, key: string]

const byAccountAndAddress = counter(PER_ACCOUNT_AND_ADDRESS, 'wrong passwords for an account from one address')
const byAccount = counter(PER_ACCOUNT, 'wrong passwords for an account')
const byAddress = counter(PER_ADDRESS, 'wrong passwords from an address')
const tokensByAddress = counter(TOKENS_PER_ADDRESS, 'wrong tokens from an address')

/** Pairs of an account and an address from which its password was right. */
const proven = new LRUCache<string, true>({ max: KEPT })
const waiting = new Set<() => void>()

/**
 * Runs `check`, which compares one password, and counts it as wrong when it gives null. Throws TooManyRequests when there
 * were too many wrong ones. Where the limit could be reached by guesses that are still being checked, this waits for
 * them: so right passwords are never refused for being many, and no burst gets past the limit.
 *
 * An address from which the account has signed in before is only subject to the limit of both together. So strangers who
 * guess cannot lock a user out there, and neither can a neighbour behind the same address.
 */
export async function attempt<T>(account: string, address: string, check: () => Promise<T | null>): Promise<T | null> {
  const network = networkOf(address)
  const pair = `${network} ${account}`
  const both: Place = [byAccountAndAddress, pair]
  const places: readonly Place[] = proven.has(pair) ? [both] : [both, [byAccount, account], [byAddress, network]]
  await takePlaces(places)
  let wrong = false
  try {
    const found = await check()
    wrong = found === null
    if (!wrong) proven.set(pair, true)
    return found
  } finally {
    for (const [counter, key] of places) counter.end(key, wrong)
    for (const wake of waiting) wake()
    waiting.clear()
  }
}

async function takePlaces(places: readonly Place[]): Promise<void> {
  for (;;) {
    const seconds = Math.max(...places.map(([counter, key]) => counter.refusedFor(key)))
    if (seconds > 0) throw new TooManyRequests(seconds)
    if (places.every(([counter, key]) => counter.hasPlace(key))) break
    await new Promise<void>(resolve => waiting.add(resolve))
  }
  for (const [counter, key] of places) counter.begin(key)
}

/**
 * Counts a wrong token, and throws TooManyRequests when there were too many. The caller has looked the token up before,
 * which is cheap: so right tokens work in any case.
 */
export function countWrongToken(address: string): void {
  const network = networkOf(address)
  const seconds = tokensByAddress.refusedFor(network)
  if (seconds > 0) throw new TooManyRequests(seconds)
  tokensByAddress.begin(network)
  tokensByAddress.end(network, true)
}

/** Does the same as `countWrongToken`, and throws Unauthorized when there were not too many. */
export function refuseToken(address: string): never {
  countWrongToken(address)
  throw new Unauthorized()
}

/** The account that a login without a user means: the same for all spellings that people may take for the same. */
export const accountOfNobody = (login: string): string => `name ${login.normalize('NFKC').trim().toLowerCase()}`

function counter(limit: number, what: string): Counter {
  // A window begins with its first wrong guess, and further ones do not prolong it.
  const wrong = new LRUCache<string, number>({ max: KEPT, ttl: WINDOW_S * 1000, noUpdateTTL: true })
  const running = new Map<string, number>()
  const wrongOf = (key: string) => wrong.get(key) ?? 0
  const runningOf = (key: string) => running.get(key) ?? 0
  return {
    refusedFor: key => (wrongOf(key) < limit ? 0 : Math.max(1, Math.ceil(wrong.getRemainingTTL(key) / 1000))),
    hasPlace: key => wrongOf(key) + runningOf(key) < limit,
    begin: key => running.set(key, runningOf(key) + 1),
    end: (key, isWrong) => {
      if (runningOf(key) > 1) running.set(key, runningOf(key) - 1)
      else running.delete(key)
      if (!isWrong) return
      wrong.set(key, wrongOf(key) + 1)
      // What somebody typed as a login may be a password, so the log has only the numbers of users.
      if (wrongOf(key) === limit) log().warn({ of: key.replace(/name .*/s, 'an unknown name') }, `${limit} ${what}`)
    }
  }
}
