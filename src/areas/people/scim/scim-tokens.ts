// The tokens of directories that manage accounts and groups through SCIM. Such a token works nowhere else, and no other token works
// there. Nobody has one until a sysadmin creates it.
import type { Origin } from '../../../access/actor.js'
import { noteLastUse } from '../../../db/connect/last-use.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Invalid, NoSuch, Unauthorized } from '../../../errors.js'
import { lineProblem } from '../../../lib/text-line.js'
import { newToken, tokenHash } from '../../../secrets.js'
import { audit } from '../../ground/audit/audit.js'
import { refuseToken } from '../credentials/login-throttle.js'
import { readEnd } from '../credentials/tokens.js'

export interface ScimToken {
  readonly id: number
  readonly name: string
  readonly created_at: Date
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
}

const SELECT = 'select id, name, created_at, last_used_at, expires_at, revoked_at from scim_tokens'
/** Not specified: the maximum number of tokens. There is a limit because their list has no pages. */
const MOST = 1000

/** Returns all tokens, newest first. */
export const listScimTokens = (): Promise<ScimToken[]> => rows<ScimToken>(`${SELECT} order by id desc limit ${MOST}`)

/** Returns a token by its number. Throws NoSuch. */
export async function requireScimToken(id: number): Promise<ScimToken> {
  const found = await row<ScimToken>(`${SELECT} where id = ?`, [id])
  if (!found) throw new NoSuch('SCIM token', id)
  return found
}

/** Creates a token, which can be shown only now. Throws Invalid and BadParameters, as for a personal access token. */
export async function createScimToken(
  { name, expires_at }: { readonly name: string; readonly expires_at?: string },
  origin: Origin
): Promise<{ row: ScimToken; token: string }> {
  const problem = lineProblem(name)
  if (problem) throw new Invalid('name', problem)
  const [expiresAt, token] = [readEnd(expires_at), newToken() + newToken()]
  const row = await transact(async () => {
    const now = new Date()
    const { insertId } = await execute(
      'insert into scim_tokens (token_hash, name, created_at, expires_at) values (?, ?, ?, ?)',
      [tokenHash(token), name, now, expiresAt]
    )
    await audit(origin, {
      action: 'scim_token.create',
      target: { type: 'scim_token', id: insertId, name },
      changes: expires_at === undefined ? {} : { expires_at: { after: expires_at } }
    })
    return { id: insertId, name, created_at: now, last_used_at: null, expires_at: expiresAt, revoked_at: null }
  })
  return { row, token }
}

/** Revokes a token: it stops working at once. A second call changes nothing. Throws NoSuch. */
export async function revokeScimToken(id: number, origin: Origin): Promise<ScimToken> {
  return transact(async () => {
    const { affectedRows } = await execute(
      'update scim_tokens set revoked_at = ? where id = ? and revoked_at is null',
      [new Date(), id]
    )
    const token = await requireScimToken(id)
    if (affectedRows > 0) {
      await audit(origin, { action: 'scim_token.revoke', target: { type: 'scim_token', id, name: token.name } })
    }
    return token
  })
}

/**
 * Returns the origin of the changes that the owner of a token makes. Throws Unauthorized for a token that is not valid, and
 * TooManyRequests after too many of them.
 */
export async function originOfScim(token: string | undefined, address: string): Promise<Origin> {
  if (token === undefined) throw new Unauthorized()
  const found = await row<ScimToken>(
    `${SELECT} where token_hash = ? and revoked_at is null and (expires_at is null or expires_at > ?)`,
    [tokenHash(token), new Date()]
  )
  if (!found) return refuseToken(address)
  noteLastUse('scim_tokens', { id: found.id, lastUsedAt: found.last_used_at })
  return { user: null, asker: null, name: found.name, actingAs: null, via: 'scim', address }
}
