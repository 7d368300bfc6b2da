// Addresses of users. `users` holds the primary address, `emails` holds all others, and no key of the database spans
// both tables. So every transaction that takes an address, for either table, first inserts it into `emails`. If two do
// so at once, the unique key makes the second wait until the first has committed, and only then the second looks at
// `users`. On a cluster of several writers the two inserts collide as well; locks on rows that are only read would not.
import type { Origin } from '../../access/actor.js'
import { duplicateKey } from '../../db/failure.js'
import { execute, lowerMarks, row, rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { Conflict, Invalid, NotFound, Taken } from '../../errors.js'
import { lineProblem } from '../../lib/line.js'
import { doerOf } from '../activity/doers.js'
import { tell } from '../activity/happenings.js'
import { audit } from '../audit/audit.js'
import { countEmails, type EmailRow, requireEmail } from './emails.queries.js'
import type { EmailBody } from './emails.schema.js'
import { holdUser } from './users.queries.js'

/** Not specified: which addresses are valid. We refuse what a mail header would read as more than one address. */
const ADDRESS = /^[^\s\p{Cc}@<>()[\]\\,;:"]+@[^\s\p{Cc}@<>()[\]\\,;:"]+$/u

/** Not specified: how many addresses a user may have. There is a limit because their list has no pages. */
const MOST = 1000

interface Owner {
  readonly id: number
  readonly username: string
}

export const isAddress = (text: string): boolean => ADDRESS.test(text)

export const ADDRESS_TAKEN = 'Email has already been taken'

/**
 * Makes sure, until the current transaction ends, that nobody has or gets this address, except `exceptUserId` as the
 * primary one. Call it inside the `transact` that writes the address to `users`, before that write. Throws Conflict
 * when the address is taken.
 */
export function checkAddressFree(email: string, exceptUserId?: number): Promise<void> {
  return checkAddressesFree([email], exceptUserId)
}

/** Does the same as `checkAddressFree` for several addresses, with three statements in all. */
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
 * Adds an address to a user. Not specified: it is not confirmed, and a mail asks there for it; until then it gets no other
 * mail, and nothing else depends on it. Throws Invalid when it is not a valid address, or one too many; Taken when it is taken.
 */
export async function addEmail(owner: Owner, { email }: EmailBody, origin: Origin): Promise<EmailRow> {
  const problem = isAddress(email) ? lineProblem(email) : 'is invalid'
  if (problem) throw new Invalid('email', problem)
  return transact(async () => {
    await holdUser(owner.id)
    if ((await countEmails(owner.id)) >= MOST) throw new Invalid('email', `is one too many (maximum is ${MOST})`)
    const id = await insertEmail(owner.id, email)
    if (id === undefined || (await primaryHolder(email)) !== undefined) throw new Taken('email')
    await tell({ kind: 'email.added', userId: owner.id, email: { id, address: email }, by: doerOf(origin, owner.id) })
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
    // Another request was faster.
    if (affectedRows === 0) throw new NotFound('Email')
    await audit(origin, {
      action: 'email.delete',
      target: { type: 'email', id, name: found.email },
      changes: { user: { before: owner.username } }
    })
    return found
  })
}

/** Gives the id of the new row; undefined when the table has the address already. */
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
