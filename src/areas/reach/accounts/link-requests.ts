// Requests a mail to an address for people who cannot sign in.
import { publish } from '../../ground/activity/events.js'
import { isAddress } from '../../people/users/emails.js'
import { limitAsking, mayMail } from './rate-limits.js'

/**
 * Requests a link by mail. A job finds out later whether anyone gets it, so this does the same work in the same time for every
 * address. Returns false for a text that is not an address. Throws TooManyRequests.
 */
export async function askForMail(what: 'password' | 'confirmation', address: string, client: string): Promise<boolean> {
  if (!isAddress(address) || address.length > 255) return false
  await limitAsking(client)
  // Beyond the limit of the address, the response stays the same: a stranger may have made the requests.
  if (await mayMail(address, what)) await publish({ kind: 'mail.asked', what, address })
  return true
}
