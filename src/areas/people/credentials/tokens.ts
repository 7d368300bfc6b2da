// Personal access tokens, of which a user may have any number, and the private token, of which every user has one.
import type { Origin } from '../../../access/actor.js'
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { BadParameters, Forbidden, Invalid } from '../../../errors.js'
import { lineProblem } from '../../../lib/text-line.js'
import { encrypt, newToken, tokenHash } from '../../../secrets.js'
import { doerOf } from '../../ground/activity/authors.js'
import { publish } from '../../ground/activity/events.js'
import { audit } from '../../ground/audit/audit.js'
import { holdUser, holdUserAlone } from '../users/users.queries.js'
import { requireToken, type TokenRow } from './tokens.queries.js'
import type { TokenBody } from './tokens.schema.js'

interface Owner {
  readonly id: number
  readonly username: string
}

// Not specified: which credentials may create a token. Personal access and OAuth tokens cannot create others: otherwise
// a leaked token could outlive its own end.
const CREATORS: ReadonlySet<Origin['via']> = new Set(['private', 'session', 'password', 'command'])

/**
 * Creates a personal access token. The caller can show the token only now. Throws Forbidden when the request uses a personal
 * access or OAuth token, Invalid for a bad name or an expiry date in the past, BadParameters for one that is not a date.
 */
export async function createToken(
  owner: Owner,
  { name, scopes = ['api'], expires_at }: TokenBody,
  origin: Origin
): Promise<{ row: TokenRow; token: string }> {
  if (!CREATORS.has(origin.via)) {
    throw new Forbidden(`${origin.via === 'oauth' ? 'OAuth' : 'Personal access'} tokens cannot create tokens`)
  }
  const problem = lineProblem(name)
  if (problem) throw new Invalid('name', problem)
  const [expiresAt, wanted, token] = [readEnd(expires_at), [...new Set(scopes)].join(' '), newToken()]
  const row = await transact(async () => {
    await holdUser(owner.id)
    const now = new Date()
    const { insertId } = await execute(
      `insert into access_tokens (token_hash, user_id, kind, name, scopes, created_at, expires_at)
       values (?, ?, 'personal', ?, ?, ?, ?)`,
      [tokenHash(token), owner.id, name, wanted, now, expiresAt]
    )
    await publishToken(owner, { kind: 'personal', name }, origin)
    await audit(origin, {
      action: 'token.create',
      target: { type: 'token', id: insertId, name },
      changes: {
        user: { after: owner.username },
        scopes: { after: wanted },
        ...(expires_at === undefined ? {} : { expires_at: { after: expires_at } })
      }
    })
    const never = { last_used_at: null, revoked_at: null }
    const { id: user_id, username } = owner
    return { id: insertId, user_id, username, name, scopes: wanted, created_at: now, expires_at: expiresAt, ...never }
  })
  return { row, token }
}

/** Revokes a personal access token: it stops working at once. A second call changes nothing. Throws NotFound. */
export async function revokeToken(id: number, origin: Origin): Promise<TokenRow> {
  return transact(async () => {
    const { affectedRows } = await execute(
      "update access_tokens set revoked_at = ? where id = ? and kind = 'personal' and revoked_at is null",
      [new Date(), id]
    )
    const token = await requireToken(id)
    if (affectedRows > 0) {
      await audit(origin, {
        action: 'token.revoke',
        target: { type: 'token', id, name: token.name },
        changes: { user: { before: token.username } }
      })
    }
    return token
  })
}

/** Returns a user a new private token and revokes the old one at the same time. Throws NotFound. */
export async function resetPrivateToken(owner: Owner, origin: Origin): Promise<string> {
  const token = newToken()
  await transact(async () => {
    // Two resets run one after the other, so that the user does not get two private tokens.
    await holdUserAlone(owner.id)
    const now = new Date()
    await execute(
      `update access_tokens set revoked_at = ?, encrypted = null
       where user_id = ? and kind = 'private' and revoked_at is null`,
      [now, owner.id]
    )
    await execute(
      "insert into access_tokens (token_hash, user_id, kind, encrypted, created_at) values (?, ?, 'private', ?, ?)",
      [tokenHash(token), owner.id, encrypt(token), now]
    )
    await publishToken(owner, { kind: 'private', name: '' }, origin)
    await audit(origin, {
      action: 'token.reset',
      target: { type: 'user', id: owner.id, name: owner.username },
      changes: { private_token: {} }
    })
  })
  return token
}

const publishToken = ({ id }: Owner, token: { kind: 'personal' | 'private'; name: string }, origin: Origin) =>
  publish({ kind: 'token.created', userId: id, token, by: doerOf(origin, id) })

/** Returns the time at which a token expires: the beginning of the given day (UTC). Throws BadParameters, Invalid. */
export function readEnd(text: string | undefined): Date | null {
  if (text === undefined) return null
  const end = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(end.getTime()) || end.toISOString().slice(0, 10) !== text) {
    throw new BadParameters('expires_at is invalid')
  }
  if (end.getTime() <= Date.now()) throw new Invalid('expires_at', 'must be in the future')
  return end
}
