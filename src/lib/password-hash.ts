import { hash, verify } from '@node-rs/argon2'
import { onThread } from './threads.js'

// argon2id with 19 MiB and 2 passes takes 18 ms of one core, in the thread pool.
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

// A login with an unknown user name must take as long as one with a wrong password, so the password is checked against this hash.
let decoy: Promise<string> | undefined

/** What the database has in place of the hash, for a user without a password: nobody can sign in with one. */
export const NO_PASSWORD = '!'

/** Returns the hash of a password, as text with its parameters. */
export const hashPassword = (password: string): Promise<string> => onThread(() => hash(password, COST))

/** Returns true when the password is right. Takes the same time without a user (`stored` is undefined), and for a user without a password. */
export async function passwordFits(stored: string | undefined, password: string): Promise<boolean> {
  decoy ??= hashPassword('no password of anybody')
  const has = stored !== undefined && stored !== NO_PASSWORD
  const known = has ? stored : await decoy
  const fits = await onThread(() => verify(known, password)).catch(() => false)
  return has && fits
}
