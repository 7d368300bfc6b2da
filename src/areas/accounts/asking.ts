// Asks for a mail to an address, for somebody who cannot sign in.
import { tell } from '../activity/happenings.js'
import { isAddress } from '../users/emails.js'
import { limitAsking, mayMail } from './limits.js'

/**
 * Asks for a link by mail. Whether anybody gets one is found out later, by a job: so this does the same for every address, in the
 * same time. Returns false for a text that is no address. Throws TooManyRequests.
 */
export async function askForMail(what: 'password' | 'confirmation', address: string, client: string): Promise<boolean> {
  if (!isAddress(address) || address.length > 255) return false
  await limitAsking(client)
  // Beyond the limit of the address nobody is told: a stranger may have asked.
  if (await mayMail(address, what)) await tell({ kind: 'mail.asked', what, address })
  return true
}
