// Asks for a mail to an address, for somebody who cannot sign in.
import { publish } from '../../ground/activity/events.js'
import { isAddress } from '../../people/users/emails.js'
import { limitAsking, mayMail } from './rate-limits.js'

/**
 * Asks for a link by mail. Whether anybody gets one is found out later, by a job: so this does the same for every address, in the
 * same time. Returns false for a text that is no address. Throws TooManyRequests.
 */
export async function askForMail(what: 'password' | 'confirmation', address: string, client: string): Promise<boolean> {
  if (!isAddress(address) || address.length > 255) return false
  await limitAsking(client)
  // Beyond the limit of the address nobody is told: a stranger may have asked.
  if (await mayMail(address, what)) await publish({ kind: 'mail.asked', what, address })
  return true
}
