// The networks from which each user has signed in with a password, so that a mail can warn the user about a new one.
import { forgetWithPool } from '../../../db/connect/connection.js'
import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { networkOf } from '../../../lib/address.js'
import { lruOf } from '../../../lib/lru.js'
import { daysAgo, removeRows, type Task } from '../../../queue/task.js'
import { publish } from '../../ground/activity/events.js'

/** A network counts as new again when the user has not signed in from it for this long. */
const KNOWN_DAYS = 90
/** The maximum number of networks of one user; older ones are forgotten. */
const MOST = 100
/** The time of a network is written again after this time, because git may send its password with every request. */
const AGE_MS = 3_600_000

const fresh = lruOf<string, true>(50_000, { ttl: AGE_MS })
forgetWithPool(() => fresh.clear())

/**
 * Records a right password, and publishes an event when the user was not there before. Not specified: a network is an
 * IPv4 address, or 64 bits of IPv6; the first sign-in of an account publishes nothing.
 */
export async function noteSignIn(userId: number, address: string): Promise<void> {
  const network = networkOf(address).slice(0, 64)
  const pair = `${userId} ${network}`
  if (fresh.has(pair)) return
  const now = new Date()
  await transact(async () => {
    const { affectedRows: inserted } = await execute(
      'insert ignore into sign_in_addresses (user_id, network, seen_at) values (?, ?, ?)',
      [userId, network, now]
    )
    if (inserted === 0) {
      const { affectedRows: returned } = await execute(
        'update sign_in_addresses set seen_at = ? where user_id = ? and network = ? and seen_at < ?',
        [now, userId, network, daysAgo(KNOWN_DAYS)]
      )
      if (returned === 0) {
        const again = 'update sign_in_addresses set seen_at = ? where user_id = ? and network = ? and seen_at < ?'
        await execute(again, [now, userId, network, new Date(now.getTime() - AGE_MS)])
        return
      }
    }
    if (await hasBeenHere(userId, network)) await publish({ kind: 'sign_in.from_new_address', userId, address })
    if (inserted > 0) await forgetOldest(userId)
  })
  fresh.set(pair, true)
}

async function hasBeenHere(userId: number, network: string): Promise<boolean> {
  const found = await row(
    `select 1 from users u where u.id = ? and (u.current_sign_in_at is not null
       or exists (select 1 from user_uses l where l.user_id = u.id)
       or exists (select 1 from sign_in_addresses a where a.user_id = u.id and a.network <> ?))`,
    [userId, network]
  )
  return found !== undefined
}

async function forgetOldest(userId: number): Promise<void> {
  const found = await row<{ total: number }>('select count(*) as total from sign_in_addresses where user_id = ?', [
    userId
  ])
  const extra = Number(found?.total ?? 0) - MOST
  if (extra <= 0) return
  await execute(`delete from sign_in_addresses where user_id = ? order by seen_at limit ${extra}`, [userId])
}

export const oldSignInAddresses: Task = {
  name: 'old_sign_in_addresses',
  schedule: '27 4 * * *',
  about: `removes the addresses from which nobody has signed in for ${KNOWN_DAYS} days`,
  run: context => removeRows(context, 'sign_in_addresses', 'seen_at < ?', [daysAgo(KNOWN_DAYS)])
}
