// Slows down clients that guess passwords, and so limits the cost of hashing their guesses. Each process counts
// failures by login and address: so nobody can lock a user out from another address, and tokens still work.
import { LRUCache } from 'lru-cache'
import { TooManyRequests } from '../../errors.js'

const FAILURES = 10
const WINDOW_S = 60

const failures = new LRUCache<string, number>({ max: 10_000, ttl: WINDOW_S * 1000, noUpdateTTL: true })

const keyOf = (login: string, address: string) => `${address} ${login.toLowerCase().slice(0, 255)}`

/** Throws TooManyRequests after ten wrong passwords for a login from an address within a minute. */
export function checkAttempts(login: string, address: string): void {
  if ((failures.get(keyOf(login, address)) ?? 0) >= FAILURES) throw new TooManyRequests(WINDOW_S)
}

export function noteFailure(login: string, address: string): void {
  const key = keyOf(login, address)
  failures.set(key, (failures.get(key) ?? 0) + 1)
}

export function forgetFailures(login: string, address: string): void {
  failures.delete(keyOf(login, address))
}
