// An appliance without an active administrator can be administered by nobody but the machine's owner.
import { marks, rows } from '../../db/sql.js'
import { Forbidden } from '../../errors.js'

/**
 * Throws Forbidden unless there is an active administrator beside this one. Call it in the transaction of the change: two
 * that go at once wait for each other. Not specified: the requirement lets the last one go.
 */
export async function requireOtherAdmin(userId: number, change: 'deleted' | 'blocked' | 'demoted'): Promise<void> {
  const ids = await activeAdmins()
  // By their numbers: a locking search would wait for every user who is being changed.
  const held = await rows<{ id: number }>(
    `select id from users where id in (${marks(ids)}) and admin = 1 and state = 'active' order by id for update`,
    ids
  )
  const mine = held.some(({ id }) => id === userId)
  if (mine && held.length === 1) throw new Forbidden(`the last active administrator cannot be ${change}`)
}

/** The same question without a lock: for who only looks. */
export async function isLastAdmin(userId: number): Promise<boolean> {
  const ids = await activeAdmins()
  return ids.length === 1 && ids[0] === userId
}

async function activeAdmins(): Promise<number[]> {
  const found = await rows<{ id: number }>("select id from users where admin = 1 and state = 'active'")
  return found.map(({ id }) => id)
}
