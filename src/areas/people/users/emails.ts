// Addresses of users. `users` holds the primary address and `emails` all others, and no unique key spans both tables.
// So every transaction that takes an address, for either table, first inserts it into `emails`. If two do so at once,
// the unique key makes the second wait until the first has committed, and only then the second reads `users`. On a
// cluster with several writers the two inserts collide as well; locks on rows that are only read would not.
import type { Origin } from '../../../access/actor.js'
import { duplicateKey } from '../../../db/connect/failure.js'
import { execute, lowerMarks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Invalid, NotFound, Taken } from '../../../errors.js'
import { lineProblem } from '../../../lib/text-line.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { countEmails, type EmailRow, requireEmail } from './emails.queries.js'
import type { EmailBody } from './emails.schema.js'
import { holdUserAlone } from './users.queries.js'

/** Not specified: which addresses are valid. We refuse what a mail header would read as several addresses. */
const ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u

/** Not specified: the maximum number of addresses of a user. There is a limit because their list has no pages. */
const MOST = 1000

interface Owner {
  readonly id: number
  readonly username: string
}

export const isAddress = (text: string): boolean => ADDRESS.test(text)

export const ADDRESS_TAKEN = 'Email has already been taken'

/**
 * Makes sure, until the current transaction ends, that nobody has or takes this address, except `exceptUserId` as the
 * primary one. Call it inside the `transact` that writes the address to `users`, before that write. Throws Conflict
 * when the address is taken.
 */
export function checkAddressFree(email: string, exceptUserId?: number): Promise<void> {
  return checkAddressesFree([email], exceptUserId)
}

/** Does the same as `checkAddressFree` for several addresses, with three statements in total. */
export async function checkAddressesFree(emails: readonly string[], exceptUserId?: number): Promise<void> {
  const now = new Date()
  try {
    const claims = emails.map(() => '(0, ?, ?)').join(', ')
    await execute(
      `insert into emails (user_id, email, created_at) values ${claims}`,
      emails.flatMap(email => [email, now])
    )
  } catch (error) {
    throw duplicateKey(error) ? new Conflict(ADDRESS_TAKEN) : error
  }
  // The rows are ours, otherwise the insert would have failed. Their keys stay locked until the transaction ends.
  await execute(`delete from emails where email_key in (${lowerMarks(emails)})`, emails)
  const holders = await rows<{ id: number }>(`select id from users where email_key in (${lowerMarks(emails)})`, emails)
  if (holders.some(({ id }) => id !== exceptUserId)) throw new Conflict(ADDRESS_TAKEN)
}

/**
 * Adds an address to a user. Not specified: it is unconfirmed, and a mail asks the user to confirm it. Until then it
 * receives no other mail, and nothing else depends on it. Throws Invalid when the address is not valid or exceeds the
 * limit; Taken when it is taken.
 */
export async function addEmail(owner: Owner, { email }: EmailBody, origin: Origin): Promise<EmailRow> {
  const problem = isAddress(email) ? lineProblem(email) : 'is invalid'
  if (problem) throw new Invalid('email', problem)
  return transact(async () => {
    await holdUserAlone(owner.id)
    if ((await countEmails(owner.id)) >= MOST) throw new Invalid('email', `is one too many (maximum is ${MOST})`)
    const id = await insertEmail(owner.id, email)
    if (id === undefined || (await primaryHolder(email)) !== undefined) throw new Taken('email')
    await publish({
      kind: 'email.added',
      userId: owner.id,
      email: { id, address: email },
      by: doerOf(origin, owner.id)
    })
    await audit(origin, {
      action: 'email.create',
      target: { type: 'email', id, name: email },
      changes: { user: { after: owner.username } }
    })
    return { id, user_id: owner.id, email }
  })
}

/** Removes an address of a user. Throws NotFound. */
export async function deleteEmail(owner: Owner, id: number, origin: Origin): Promise<EmailRow> {
  return transact(async () => {
    const found = await requireEmail(owner.id, id)
    const { affectedRows } = await execute('delete from emails where id = ?', [id])
    // A concurrent request was faster.
    if (affectedRows === 0) throw new NotFound('Email')
    await audit(origin, {
      action: 'email.delete',
      target: { type: 'email', id, name: found.email },
      changes: { user: { before: owner.username } }
    })
    return found
  })
}

/** Confirms the primary address of a user. The user may sign in from now on. */
export async function confirmPrimary(userId: number): Promise<void> {
  const now = new Date()
  await execute(
    `update users set confirmed_at = coalesce(confirmed_at, ?), email_confirmed_at = coalesce(email_confirmed_at, ?)
     where id = ?`,
    [now, now, userId]
  )
}

/** Confirms another address of a user. */
export async function confirmFurther(emailId: number): Promise<void> {
  await execute('update emails set confirmed_at = ? where id = ?', [new Date(), emailId])
}

/** Removes an address that its user has not confirmed. */
export async function dropUnconfirmed(email: string): Promise<void> {
  await execute('delete from emails where email_key = lower(?) and confirmed_at is null', [email])
}

/** Returns the id of the new row; undefined when the table has the address already. */
async function insertEmail(userId: number, email: string): Promise<number | undefined> {
  try {
    const sql = 'insert into emails (user_id, email, created_at) values (?, ?, ?)'
    return (await execute(sql, [userId, email, new Date()])).insertId
  } catch (error) {
    if (duplicateKey(error)) return undefined
    throw error
  }
}

async function primaryHolder(email: string): Promise<number | undefined> {
  return (await row<{ id: number }>('select id from users where email_key = lower(?)', [email]))?.id
}
