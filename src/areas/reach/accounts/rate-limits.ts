// Limits what strangers may request on the account pages (docs/operate/users.md). An IPv6 network of 64 bits counts as one
// address.
import { TooManyRequests } from '../../../errors.js'
import { networkOf } from '../../../lib/address.js'
import { countTry } from '../../people/credentials/request-limits.js'

const HOUR_S = 3600
const SIGN_UPS = { what: 'sign-ups from an address', most: 20, seconds: HOUR_S }
const ASKED = { what: 'mails asked for from an address', most: 20, seconds: HOUR_S }
const BY_USER = { what: 'confirmations that a user causes', most: 20, seconds: HOUR_S }
const TO_ADDRESS = { what: 'mails asked for to an address', most: 3, seconds: HOUR_S }
/** Counted separately: somebody who signs up with another person's address must not keep that person from a new password. */
const PASSWORDS = { what: 'new passwords asked for to an address', most: 3, seconds: HOUR_S }

/** Throws TooManyRequests after 20 sign-ups from a client address within an hour. */
export const limitSignUps = (client: string): Promise<void> => limit(SIGN_UPS, client)

/** Throws TooManyRequests after 20 mail requests from a client address within an hour. */
export const limitAsking = (client: string): Promise<void> => limit(ASKED, client)

async function limit(of: typeof SIGN_UPS, client: string): Promise<void> {
  const seconds = await countTry(of, networkOf(client))
  if (seconds > 0) throw new TooManyRequests(seconds)
}

/**
 * Returns false after 3 mail requests to this address within an hour. Addresses without a user count as well, so that the limit
 * does not reveal which addresses have one.
 */
export const mayMail = async (address: string, what: 'password' | 'confirmation' = 'confirmation'): Promise<boolean> =>
  (await countTry(what === 'password' ? PASSWORDS : TO_ADDRESS, address.normalize('NFKC').toLowerCase())) === 0

/**
 * Returns false when a user has caused 20 confirmation mails within an hour, or this address got 3: the addresses may belong to
 * strangers.
 */
export const mayConfirm = async (userId: number, address: string): Promise<boolean> =>
  (await countTry(BY_USER, String(userId))) === 0 && mayMail(address)
