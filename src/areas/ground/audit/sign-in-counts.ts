// How many people have signed in, and how many have failed, through each door of this server since its start. Prometheus reads it.
import { Failure, Unavailable } from '../../../errors.js'

/**
 * Where people sign in: with a password on the sign-in page, to the API, to git over HTTP, and by OAuth; with a provider of OpenID
 * Connect; with a passkey. `second_step` counts codes and passkeys that were asked for after a password. `ldap` counts the passwords that a directory was asked about, which came through one of the first four.
 */
export const DOORS = ['page', 'api', 'git', 'oauth', 'oidc', 'ldap', 'passkey', 'second_step'] as const
export type SignInDoor = (typeof DOORS)[number]

/** `refused`: for another reason than a wrong password, such as too many guesses. `away`: a directory or provider did not answer. */
export const OUTCOMES = ['ok', 'failed', 'refused', 'away'] as const
type Outcome = (typeof OUTCOMES)[number]

const counts = new Map<string, number>()

/** Counts one attempt. */
export function countSignIn(door: SignInDoor, outcome: Outcome): void {
  const key = `${door} ${outcome}`
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

/** Returns one count. */
export const signIns = (door: SignInDoor, outcome: Outcome): number => counts.get(`${door} ${outcome}`) ?? 0

/** Counts an attempt to sign in: one that returns null has failed. Other errors than named failures are no attempts. */
export async function counted<T>(door: SignInDoor, attempt: () => Promise<T | null>): Promise<T | null> {
  try {
    const found = await attempt()
    countSignIn(door, found === null ? 'failed' : 'ok')
    return found
  } catch (error) {
    if (error instanceof Failure) countSignIn(door, error instanceof Unavailable ? 'away' : 'refused')
    throw error
  }
}
