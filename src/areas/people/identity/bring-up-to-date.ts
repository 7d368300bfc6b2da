// Gives an account what its provider or directory says about the person: name, address, rights and memberships.
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid } from '../../../errors.js'
import { confirmPrimary, dropUnconfirmed } from '../users/emails.js'
import { updateUser } from '../users/user-update.js'
import { type Person, updatePerson } from './provision.js'

interface Account {
  readonly id: number
  readonly username: string
  readonly email: string
}

/** Returns whether the account has another address than its person in the directory, which only a confirmed address replaces. */
export const hasOtherAddress = ({ email }: Account, person: Person): boolean =>
  person.emailVerified && person.email !== '' && person.email.toLowerCase() !== email.toLowerCase()

/** Returns whether anything changed, and what could not be changed. */
export async function bringUpToDate(
  account: Account,
  person: Person,
  origin: Origin
): Promise<{ readonly changed: boolean; readonly problem?: string }> {
  const changed = await updatePerson(account.id, person, origin)
  if (!hasOtherAddress(account, person)) return { changed }
  try {
    await changeAddress(account.id, person.email, origin)
    return { changed: true }
  } catch (error) {
    if (!(error instanceof Conflict || error instanceof Invalid)) throw error
    return { changed, problem: `${account.username} keeps ${account.email}: ${error.message}` }
  }
}

const changeAddress = (id: number, email: string, origin: Origin): Promise<void> =>
  transact(async () => {
    // A user who has entered this address for another account without confirming it does not own it.
    await dropUnconfirmed(email)
    await updateUser(id, { email }, origin)
    await confirmPrimary(id)
  })
