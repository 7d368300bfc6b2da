// The sessions of a user: the browsers in which the user is signed in.
import type { Origin } from '../../../access/actor.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound } from '../../../errors.js'
import { tokenHash } from '../../../secrets.js'
import { auditAll } from '../../ground/audit/audit.js'
import { targetOfSession } from './credentials.js'

export interface SessionRow {
  /** The hash of the cookie. */
  readonly id: Buffer
  readonly address: string
  readonly user_agent: string
  readonly created_at: Date
  readonly expires_at: Date
}

interface Owner {
  readonly id: number
  readonly username: string
}

const SHOWN = 100

/** Returns the newest unexpired sessions of a user, at most 100, and their total number. */
export async function listSessions(userId: number): Promise<{ items: SessionRow[]; total: number }> {
  const values = [userId, new Date()]
  const [total, items] = await Promise.all([
    row<{ total: number }>('select count(*) as total from sessions where user_id = ? and expires_at > ?', values),
    rows<SessionRow>(
      `select id, address, user_agent, created_at, expires_at from sessions
       where user_id = ? and expires_at > ? order by created_at desc, id limit ${SHOWN}`,
      values
    )
  ])
  return { items, total: Number(total?.total ?? 0) }
}

/** Ends a session of the user. Throws NotFound when the user has no session with this id. */
export async function revokeSession(owner: Owner, id: string, origin: Origin): Promise<void> {
  const ended = /^[0-9a-f]{64}$/.test(id) ? await end(owner, 'id = ?', Buffer.from(id, 'hex'), origin) : 0
  if (ended === 0) throw new NotFound('Session')
}

/** Ends all sessions of the user except the session of a cookie. */
export async function revokeOtherSessions(owner: Owner, cookie: string, origin: Origin): Promise<void> {
  await end(owner, 'id <> ?', tokenHash(cookie), origin)
}

function end(owner: Owner, which: 'id = ?' | 'id <> ?', id: Buffer, origin: Origin): Promise<number> {
  return transact(async () => {
    const where = `user_id = ? and ${which}`
    const found = await rows<{ id: Buffer }>(`select id from sessions where ${where} for update`, [owner.id, id])
    await execute(`delete from sessions where ${where}`, [owner.id, id])
    await auditAll(
      origin,
      found.map(session => ({ action: 'session.delete', target: targetOfSession(session.id, owner.username) }))
    )
    return found.length
  })
}

/** The sessions that a provider has begun: one session of the provider, of one user, or both. */
export interface ProviderSessions {
  readonly provider: string
  readonly session: string | undefined
  readonly userId: number | undefined
  /** The cookie of a session that stays. */
  readonly kept?: string
}

/** Ends the sessions. Returns their number: 0 when neither a session nor a user is named. */
export function endProviderSessions(
  { provider, session, userId, kept }: ProviderSessions,
  origin: Origin
): Promise<number> {
  const named = { provider_session: session, user_id: userId }
  const conditions = Object.entries(named).filter(([, value]) => value !== undefined)
  if (conditions.length === 0) return Promise.resolve(0)
  const where = ['provider = ?', 's.id <> ?', ...conditions.map(([column]) => `${column} = ?`)].join(' and ')
  const values = [provider, tokenHash(kept ?? ''), ...Object.values(named).filter(value => value !== undefined)]
  return transact(async () => {
    const found = await rows<{ id: Buffer; username: string }>(
      `select s.id, u.username from sessions s join users u on u.id = s.user_id where ${where}`,
      values
    )
    await execute(
      `delete from sessions where id in (${marks(found)})`,
      found.map(({ id }) => id)
    )
    await auditAll(
      origin,
      found.map(({ id, username }) => ({ action: 'session.delete', target: targetOfSession(id, username) }))
    )
    return found.length
  })
}

/** Returns whether the session of a cookie began less than some seconds ago. */
export async function isFreshSession(cookie: string, seconds: number): Promise<boolean> {
  const since = new Date(Date.now() - seconds * 1000)
  const found = await row('select 1 from sessions where id = ? and created_at > ?', [tokenHash(cookie), since])
  return found !== undefined
}

/** Returns whether a session belongs to a cookie. */
export const isSessionOf = ({ id }: SessionRow, cookie: string): boolean => id.equals(tokenHash(cookie))
