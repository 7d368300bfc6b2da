// Blocks and unblocks users. A block ends the user's access at once, and keeps everything that the user created.
import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { User } from '../../../db/models/index.js'
import { NotFound } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'
import { requireOtherAdmin } from './last-admin.js'

/**
 * Blocks a user and ends the user's sessions. Returns false when the user was already blocked. Throws NotFound, and
 * Forbidden for the last active administrator.
 */
export function blockUser(id: number, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    if (user.state === 'blocked') return false
    if (user.admin) await requireOtherAdmin(id, 'blocked')
    await setState(user, 'blocked', origin)
    await execute('delete from sessions where user_id = ?', [id])
    return true
  })
}

/** Unblocks a user. Returns false when the user was not blocked. Throws NotFound. */
export function unblockUser(id: number, origin: Origin): Promise<boolean> {
  return transact(async () => {
    const user = await lockUser(id)
    if (user.state === 'active') return false
    await setState(user, 'active', origin)
    return true
  })
}

async function lockUser(id: number): Promise<User> {
  const user = await User.findByPk(id, { lock: true })
  if (!user) throw new NotFound('User')
  return user
}

async function setState(user: User, state: User['state'], origin: Origin): Promise<void> {
  const before = user.state
  await user.update({ state })
  await audit(origin, {
    action: state === 'blocked' ? 'user.block' : 'user.unblock',
    target: { type: 'user', id: user.id, name: user.username },
    changes: { state: { before, after: state } }
  })
}
