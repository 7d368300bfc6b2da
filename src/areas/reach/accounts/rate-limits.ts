// How much strangers may ask for on the pages of accounts (docs/operate/users.md). An IPv6 network of 64 bits counts as one address.
import { TooManyRequests } from '../../../errors.js'
import { networkOf } from '../../../lib/address.js'
import { countTry } from '../../people/credentials/request-limits.js'

const HOUR_S = 3600
const SIGN_UPS = { what: 'sign-ups from an address', most: 20, seconds: HOUR_S }
const ASKED = { what: 'mails asked for from an address', most: 20, seconds: HOUR_S }
const BY_USER = { what: 'confirmations that a user causes', most: 20, seconds: HOUR_S }
const TO_ADDRESS = { what: 'mails asked for to an address', most: 3, seconds: HOUR_S }
/** Apart from the others: who signs up with the address of somebody else must not keep that person from a new password. */
const PASSWORDS = { what: 'new passwords asked for to an address', most: 3, seconds: HOUR_S }

/** Throws TooManyRequests when there were 20 sign-ups from this address of a client within an hour. */
export const limitSignUps = (client: string): Promise<void> => limit(SIGN_UPS, client)

/** Throws TooManyRequests when 20 mails were asked for from this address of a client within an hour. */
export const limitAsking = (client: string): Promise<void> => limit(ASKED, client)

async function limit(of: typeof SIGN_UPS, client: string): Promise<void> {
  const seconds = await countTry(of, networkOf(client))
  if (seconds > 0) throw new TooManyRequests(seconds)
}

/**
 * Returns false when 3 mails to this address were asked for within an hour. It counts addresses of nobody as well, so that it
 * does not tell whose they are.
 */
export const mayMail = async (address: string, what: 'password' | 'confirmation' = 'confirmation'): Promise<boolean> =>
  (await countTry(what === 'password' ? PASSWORDS : TO_ADDRESS, address.normalize('NFKC').toLowerCase())) === 0

/**
 * Returns false when a user has entered 20 addresses within an hour that each got a mail, or this one was mailed 3 times: the
 * addresses may be those of strangers.
 */
export const mayConfirm = async (userId: number, address: string): Promise<boolean> =>
  (await countTry(BY_USER, String(userId))) === 0 && mayMail(address)
