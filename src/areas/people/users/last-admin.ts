// Without an active administrator, only the owner of the machine could administer the appliance.
import { lockRow } from '../../../db/connect/lock-row.js'
import { marks, rows } from '../../../db/connect/sql.js'
import { Forbidden } from '../../../errors.js'

/**
 * Throws Forbidden when this user is the last active administrator. Call it in the transaction of the change, so that
 * two concurrent changes wait for each other. Not specified: the requirement does not protect the last administrator.
 */
export async function requireOtherAdmin(userId: number, change: 'deleted' | 'blocked' | 'demoted'): Promise<void> {
  const ids = await activeAdmins()
  // Locks the rows by their ids: a search that locks would wait for every user whom somebody changes.
  for (const id of ids.sort((a, b) => a - b)) await lockRow('users', id)
  const held = await rows<{ id: number }>(
    `select id from users where id in (${marks(ids)}) and admin = 1 and state = 'active'`,
    ids
  )
  const mine = held.some(({ id }) => id === userId)
  if (mine && held.length === 1) throw new Forbidden(`the last active administrator cannot be ${change}`)
}

/** Returns whether this user is the last active administrator. It takes no lock, so use it only to show the result. */
export async function isLastAdmin(userId: number): Promise<boolean> {
  const ids = await activeAdmins()
  return ids.length === 1 && ids[0] === userId
}

async function activeAdmins(): Promise<number[]> {
  const found = await rows<{ id: number }>("select id from users where admin = 1 and state = 'active'")
  return found.map(({ id }) => id)
}
