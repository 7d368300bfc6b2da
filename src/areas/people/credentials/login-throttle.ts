// Slows down clients that guess passwords and tokens, and so limits the cost of hashing their guesses. The API, the
// sign-in page and git count together, in all server processes. Only wrong guesses count.
//
// Each process counts in memory, shares wrong passwords with the others through the database, and reads their counts
// before it compares a password. It does not see which guesses the others are checking at that moment, so each of N
// processes may check as many guesses as are left, once in a window. Each process counts wrong tokens on its own.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { TooManyRequests, Unauthorized } from '../../../errors.js'
import { networkOf } from '../../../lib/address.js'
import { lruOf } from '../../../lib/lru.js'
import { log } from '../../../log.js'
import { type Known, noteRight, noteWrong, readAttempts } from './login-throttle.queries.js'

/** Wrong guesses within WINDOW_S seconds after which further guesses are refused (docs/operate/keys-and-tokens.md). */
export const WINDOW_S = 60
/** Wrong passwords for one account from one address. */
export const PER_ACCOUNT_AND_ADDRESS = 10
/** Wrong passwords for one account, from all addresses together. */
export const PER_ACCOUNT = 30
/** Wrong passwords from one address, for all accounts together. */
export const PER_ADDRESS = 60
/** Wrong codes of a second factor have a longer window: there are only a million codes, and three of them are right at any moment. */
const CODE_WINDOW_S = 3600
/** Wrong codes for one account from one address. */
export const CODES_PER_ACCOUNT_AND_ADDRESS = 10
/** Wrong codes for one account, from all addresses together. */
const CODES_PER_ACCOUNT = 20
/** Wrong tokens from one address. A token is too long to guess, so this only limits the work that a broken script causes. */
export const TOKENS_PER_ADDRESS = 600

/** The maximum number of keys of each kind. No machine can hash so many guesses within a window that a key is evicted early. */
const KEPT = 50_000

interface Counter {
  readonly what: string
  readonly windowS: number
  /** Seconds until the next guess is allowed; 0 when it is allowed now. */
  refusedFor(key: string): number
  /** False while the limit would be reached if all guesses in progress were wrong. */
  hasRoom(key: string): boolean
  begin(key: string): void
  /** Adopts the count of all processes together. */
  learn(key: string, known: Known): void
  end(key: string, wrong: boolean): void
}

type Slot = readonly [counter: Counter, key: string]

interface Limits {
  readonly together: Counter
  readonly account: Counter
  readonly address: Counter
}

const byAddress = counter(PER_ADDRESS, 'wrong passwords from an address')

const PASSWORDS: Limits = {
  together: counter(PER_ACCOUNT_AND_ADDRESS, 'wrong passwords for an account from one address'),
  account: counter(PER_ACCOUNT, 'wrong passwords for an account'),
  address: byAddress
}

/** For codes of a second factor. */
export const CODES: Limits = {
  together: counter(CODES_PER_ACCOUNT_AND_ADDRESS, 'wrong codes for an account from one address', CODE_WINDOW_S),
  account: counter(CODES_PER_ACCOUNT, 'wrong codes for an account', CODE_WINDOW_S),
  address: byAddress
}

const tokensByAddress = counter(TOKENS_PER_ADDRESS, 'wrong tokens from an address')

/** Seconds for which the appliance remembers that a password was right from an address. */
const PROVEN_S = 30 * 86_400

/** Pairs of an account and an address from which its password was right. */
const proven = lruOf<string, true>(KEPT)
const waiting = new Set<() => void>()

forgetWithPool(() => proven.clear())

/**
 * Runs `check`, which compares one password, and counts the guess as wrong when it returns null. Throws TooManyRequests
 * after too many wrong guesses. If guesses in progress could reach the limit, it waits for them: so many right
 * passwords at once are never refused, and no burst exceeds the limit.
 *
 * An address from which the account has signed in before is only subject to the limit for both together. So strangers
 * who guess cannot lock a user out there, and neither can a neighbour behind the same address.
 */
export async function attempt<T>(
  account: string,
  address: string,
  check: () => Promise<T | null>,
  limits: Limits = PASSWORDS
): Promise<T | null> {
  const network = networkOf(address)
  const pair = `${network} ${account}`
  const both: Slot = [limits.together, pair]
  const apart: readonly Slot[] = [
    [limits.account, account],
    [limits.address, network]
  ]
  // A flood of guesses is refused here without a statement.
  if (both[0].refusedFor(pair) === 0) await learnFromOthers(pair, [both, ...apart])
  const slots: readonly Slot[] = proven.has(pair) ? [both] : [both, ...apart]
  await takeSlots(slots)
  let wrong = false
  try {
    const found = await check()
    wrong = found === null
    if (wrong) await noteWrong(slots.map(slot => ({ key: nameOf(slot), until: secondsFromNow(slot[0].windowS) })))
    else if (!proven.has(pair)) await prove(pair)
    return found
  } finally {
    for (const [counter, key] of slots) counter.end(key, wrong)
    for (const wake of waiting) wake()
    waiting.clear()
  }
}

/** Returns whether the next guess at an account from an address is refused. */
export const isRefused = (account: string, address: string, limits: Limits): boolean =>
  limits.together.refusedFor(`${networkOf(address)} ${account}`) > 0 || limits.account.refusedFor(account) > 0

const nameOf = ([counter, key]: Slot) => `${counter.what}: ${key}`
const provenName = (pair: string) => `proven: ${pair}`
const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1000)

async function learnFromOthers(pair: string, slots: readonly Slot[]): Promise<void> {
  const [right, ...wrong] = await readAttempts([provenName(pair), ...slots.map(nameOf)])
  if (right) proven.set(pair, true)
  for (const [at, known] of wrong.entries()) if (known) slots[at]?.[0].learn(slots[at][1], known)
}

async function prove(pair: string): Promise<void> {
  await noteRight(provenName(pair), secondsFromNow(PROVEN_S))
  proven.set(pair, true)
}

async function takeSlots(slots: readonly Slot[]): Promise<void> {
  for (;;) {
    const seconds = Math.max(...slots.map(([counter, key]) => counter.refusedFor(key)))
    if (seconds > 0) throw new TooManyRequests(seconds)
    if (slots.every(([counter, key]) => counter.hasRoom(key))) break
    await new Promise<void>(resolve => waiting.add(resolve))
  }
  for (const [counter, key] of slots) counter.begin(key)
}

/**
 * Counts a wrong token. Throws TooManyRequests when there were too many. The caller looks the token up first, which is
 * cheap, so valid tokens always work.
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

/** Returns the account of a login without a user: the same for all spellings that people may confuse. */
export const accountOfNobody = (login: string): string => `name ${login.normalize('NFKC').trim().toLowerCase()}`

function counter(limit: number, what: string, windowS = WINDOW_S): Counter {
  // A window begins with its first wrong guess; later ones do not extend it.
  const wrong = lruOf<string, number>(KEPT, { ttl: windowS * 1000, noUpdateTTL: true })
  forgetWithPool(() => wrong.clear())
  const running = new Map<string, number>()
  const wrongOf = (key: string) => wrong.get(key) ?? 0
  const runningOf = (key: string) => running.get(key) ?? 0
  return {
    what,
    windowS,
    learn: (key, known) => {
      if (known.wrong <= wrongOf(key)) return
      wrong.set(key, known.wrong, { ttl: Math.max(1, known.until.getTime() - Date.now()), noUpdateTTL: false })
    },
    refusedFor: key => (wrongOf(key) < limit ? 0 : Math.max(1, Math.ceil(wrong.getRemainingTTL(key) / 1000))),
    hasRoom: key => wrongOf(key) + runningOf(key) < limit,
    begin: key => running.set(key, runningOf(key) + 1),
    end: (key, isWrong) => {
      if (runningOf(key) > 1) running.set(key, runningOf(key) - 1)
      else running.delete(key)
      if (!isWrong) return
      wrong.set(key, wrongOf(key) + 1)
      // A user may type the password into the field for the login, so the log contains only ids of users.
      if (wrongOf(key) === limit) log().warn({ of: key.replace(/name .*/s, 'an unknown name') }, `${limit} ${what}`)
    }
  }
}
