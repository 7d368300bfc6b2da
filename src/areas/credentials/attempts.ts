// Slows down clients that guess passwords and tokens, and so limits the cost of hashing their guesses. All doors count
// together: the API, the sign-in page and git, in all server processes. Only wrong guesses count.
//
// Each process counts in memory, tells the others of wrong passwords by the database, and learns from them before it compares
// a password. It does not see what the others are comparing at that moment, so that each of N processes may answer as many
// guesses as are left, once in a window. Wrong tokens count in each process alone.
import { forgetWithPool } from '../../db/connection.js'
import { TooManyRequests, Unauthorized } from '../../errors.js'
import { networkOf } from '../../lib/address.js'
import { lruOf } from '../../lib/lru.js'
import { log } from '../../log.js'
import { type Known, noteRight, noteWrong, readAttempts } from './attempts.queries.js'

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
  readonly what: string
  /** The seconds until a further guess is answered; 0 when it is answered now. */
  refusedFor(key: string): number
  /** False while so many guesses are being checked that the limit is reached if all of them are wrong. */
  hasPlace(key: string): boolean
  begin(key: string): void
  /** Takes over what all processes together have counted. */
  learn(key: string, known: Known): void
  end(key: string, wrong: boolean): void
}

type Place = readonly [counter: Counter, key: string]

const byAccountAndAddress = counter(PER_ACCOUNT_AND_ADDRESS, 'wrong passwords for an account from one address')
const byAccount = counter(PER_ACCOUNT, 'wrong passwords for an account')
const byAddress = counter(PER_ADDRESS, 'wrong passwords from an address')
const tokensByAddress = counter(TOKENS_PER_ADDRESS, 'wrong tokens from an address')

/** Seconds for which the appliance remembers that a password was right at an address. */
const PROVEN_S = 30 * 86_400

/** Pairs of an account and an address from which its password was right. */
const proven = lruOf<string, true>(KEPT)
const waiting = new Set<() => void>()

forgetWithPool(() => proven.clear())

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
  const apart: readonly Place[] = [
    [byAccount, account],
    [byAddress, network]
  ]
  // A flood of guesses ends here without a statement.
  if (both[0].refusedFor(pair) === 0) await learnFromOthers(pair, [both, ...apart])
  const places: readonly Place[] = proven.has(pair) ? [both] : [both, ...apart]
  await takePlaces(places)
  let wrong = false
  try {
    const found = await check()
    wrong = found === null
    if (wrong) await noteWrong(places.map(nameOf), secondsFromNow(WINDOW_S))
    else if (!proven.has(pair)) await prove(pair)
    return found
  } finally {
    for (const [counter, key] of places) counter.end(key, wrong)
    for (const wake of waiting) wake()
    waiting.clear()
  }
}

const nameOf = ([counter, key]: Place) => `${counter.what}: ${key}`
const provenName = (pair: string) => `proven: ${pair}`
const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1000)

async function learnFromOthers(pair: string, places: readonly Place[]): Promise<void> {
  const [right, ...wrong] = await readAttempts([provenName(pair), ...places.map(nameOf)])
  if (right) proven.set(pair, true)
  for (const [at, known] of wrong.entries()) if (known) places[at]?.[0].learn(places[at][1], known)
}

async function prove(pair: string): Promise<void> {
  await noteRight(provenName(pair), secondsFromNow(PROVEN_S))
  proven.set(pair, true)
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
  const wrong = lruOf<string, number>(KEPT, { ttl: WINDOW_S * 1000, noUpdateTTL: true })
  forgetWithPool(() => wrong.clear())
  const running = new Map<string, number>()
  const wrongOf = (key: string) => wrong.get(key) ?? 0
  const runningOf = (key: string) => running.get(key) ?? 0
  return {
    what,
    learn: (key, known) => {
      if (known.wrong <= wrongOf(key)) return
      wrong.set(key, known.wrong, { ttl: Math.max(1, known.until.getTime() - Date.now()), noUpdateTTL: false })
    },
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
