// Users confirm an address with a link that is mailed to it. Until then the address gets no other mail, and a user whose primary
// address it is cannot sign in.
import type { Origin } from '../../../access/actor.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Forbidden } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { confirmFurther, confirmPrimary } from '../../people/users/emails.js'
import { readLink } from '../mail/links.js'
import { proofOf, SPENT } from './link-proofs.js'

export const CONFIRMATION_DAYS = 7

export interface Unconfirmed {
  readonly user_id: number
  readonly username: string
  readonly name: string
  readonly address: string
  /** 0 for the primary address. */
  readonly email_id: number
  /** Whether the user cannot sign in until the address is confirmed. */
  readonly first: number
}

const PRIMARY = `select u.id as user_id, u.username, u.name, u.email as address, cast(0 as unsigned) as email_id,
  u.confirmed_at is null as first from users u where u.email_confirmed_at is null and u.state = 'active'`
const FURTHER = `select u.id as user_id, u.username, u.name, e.email as address, e.id as email_id, 0 as first
  from emails e join users u on u.id = e.user_id where e.confirmed_at is null and u.state = 'active'`

/** An unconfirmed address of a user; undefined when it is confirmed or no longer exists. */
export const unconfirmed = (userId: number, emailId: number, lock = ''): Promise<Unconfirmed | undefined> =>
  emailId === 0
    ? row<Unconfirmed>(`${PRIMARY} and u.id = ? ${lock}`, [userId])
    : row<Unconfirmed>(`${FURTHER} and u.id = ? and e.id = ? ${lock}`, [userId, emailId])

/** The unconfirmed addresses with this text: at most one, because no two users have the same. */
export const unconfirmedByAddress = (address: string): Promise<Unconfirmed[]> =>
  rows<Unconfirmed>(`${PRIMARY} and u.email_key = lower(?) union all ${FURTHER} and e.email_key = lower(?)`, [
    address,
    address
  ])

export const confirmationProof = ({ address }: Unconfirmed): string => proofOf(address.toLowerCase())

/** Returns the address of a link. Throws Forbidden when the link does not work any more, also because the address is confirmed. */
export async function confirmationOfLink(token: string, lock = ''): Promise<Unconfirmed> {
  const values = readLink('address', token)
  const found = values && (await unconfirmed(values.userId, values.emailId, lock))
  if (!found || confirmationProof(found) !== values.proof) throw new Forbidden(SPENT)
  return found
}

/** Confirms the address of a link and returns it. Throws Forbidden when the link does not work any more. */
export function confirmAddress(token: string, client: string): Promise<Unconfirmed> {
  return transact(async () => {
    const found = await confirmationOfLink(token, 'for update')
    const { username: name } = found
    await confirm(found, { user: null, asker: null, name, actingAs: null, via: 'link', address: client })
    return found
  })
}

/**
 * Confirms all addresses of a user, or only the given one, without a link: an administrator vouches for them. Returns the
 * addresses that were not confirmed before.
 */
export function confirmAddressesOf(userId: number, origin: Origin, only?: string): Promise<readonly Unconfirmed[]> {
  return transact(async () => {
    const found = await rows<Unconfirmed>(`${PRIMARY} and u.id = ? union all ${FURTHER} and u.id = ?`, [userId, userId])
    const wanted = found.filter(({ address }) => only === undefined || address.toLowerCase() === only.toLowerCase())
    for (const each of wanted) await confirm(each, origin)
    return wanted
  })
}

async function confirm({ user_id: id, username, email_id: emailId, address }: Unconfirmed, origin: Origin) {
  if (emailId === 0) await confirmPrimary(id)
  else await confirmFurther(emailId)
  await audit(origin, {
    action: 'email.confirm',
    target: { type: 'user', id, name: username },
    changes: { email: { after: address } }
  })
}
