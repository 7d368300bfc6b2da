// The grants of users to applications: codes, and the families of tokens that were issued for them. The database stores
// only hashes. Revoking a grant ends all of its tokens with one row.
import { randomBytes } from 'node:crypto'
import type { Origin } from '../../../../access/actor.js'
import { config } from '../../../../config.js'
import { execute, row, rows } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { OAuthRefusal } from '../../../../errors.js'
import { tokenHash } from '../../../../secrets.js'
import { audit } from '../../../ground/audit/audit.js'
import { targetOf } from '../oauth-applications.js'

/** Seconds. */
export const CODE_LIFE = 600

/** The application of a grant; null when a client sends a password without one. */
export type Client = { readonly id: number; readonly name: string } | null

export interface Pair {
  readonly accessToken: string
  /** Absent for an application that acts for itself: it can request a new token. */
  readonly refreshToken?: string
  readonly scopes: readonly string[]
  readonly createdAt: Date
  readonly expiresAt: Date | null
}

interface NewCode {
  readonly client: { readonly id: number; readonly name: string }
  readonly userId: number
  readonly scopes: readonly string[]
  readonly redirectUri: string
  readonly challenge?: { readonly text: string; readonly method: string }
}

/** Returns a new code or token: 256 bits, as 64 hexadecimal digits. */
export const newSecret = (): string => randomBytes(32).toString('hex')

/** Stores the consent of a user. Returns the code for the application. */
export async function grantCode({ client, userId, scopes, redirectUri, challenge }: NewCode, origin: Origin) {
  const code = newSecret()
  const now = new Date()
  await transact(async () => {
    await execute(
      `insert into oauth_grants (application_id, user_id, kind, scopes, code_hash, code_expires_at, redirect_uri,
         code_challenge, code_challenge_method, created_at) values (?, ?, 'authorization_code', ?, ?, ?, ?, ?, ?, ?)`,
      [
        client.id,
        userId,
        scopes.join(' '),
        tokenHash(code),
        new Date(now.getTime() + CODE_LIFE * 1000),
        redirectUri,
        challenge?.text ?? null,
        challenge?.method ?? null,
        now
      ]
    )
    await audit(origin, {
      action: 'oauth.authorize',
      target: targetOf(client),
      changes: { user: { after: origin.name }, scopes: { after: scopes } }
    })
  })
  return code
}

/** Uses a code up, so that only one guess about it is possible. Returns false when it was used before or at the same moment. */
export async function useCode(grantId: number): Promise<boolean> {
  const { affectedRows } = await execute(
    'update oauth_grants set code_used_at = ? where id = ? and code_used_at is null and revoked_at is null',
    [new Date(), grantId]
  )
  return affectedRows === 1
}

interface Issue {
  readonly client: Client
  readonly userId: number | null
  readonly kind: string
  readonly scopes: readonly string[]
  /** The grant of a code or of a refresh token. Without it, a new grant is created. */
  readonly grantId?: number
  /** The pair whose refresh token is used up. */
  readonly replaces?: number
}

/**
 * Issues a pair of tokens. Throws OAuthRefusal when the grant was revoked in the meantime, or when its refresh token
 * was used twice: then all tokens of the grant stop working.
 */
export async function issuePair(issue: Issue, origin: Origin): Promise<Pair> {
  const made = await transact(() => insertPair(issue, origin))
  if (made) return made
  if (issue.grantId !== undefined) await revokeGrant(issue.grantId, origin, REUSED)
  throw new OAuthRefusal('invalid_grant', 'Invalid grant: it was revoked, or used before')
}

async function insertPair({ client, userId, kind, scopes, grantId, replaces }: Issue, origin: Origin) {
  const now = new Date()
  if (grantId !== undefined && !(await isAlive(grantId))) return null
  if (replaces !== undefined && !(await retire(replaces, now))) return null
  const of = grantId ?? (await insertGrant({ client, userId, kind, scopes }, now))
  const { token_expire: life } = config().oauth
  const pair: Pair = {
    accessToken: newSecret(),
    ...(kind === 'client_credentials' ? {} : { refreshToken: newSecret() }),
    scopes,
    createdAt: now,
    expiresAt: life === 0 ? null : new Date(now.getTime() + life * 1000)
  }
  await execute(
    `insert into oauth_tokens (grant_id, token_hash, refresh_hash, scopes, created_at, expires_at)
     values (?, ?, ?, ?, ?, ?)`,
    [
      of,
      tokenHash(pair.accessToken),
      pair.refreshToken === undefined ? null : tokenHash(pair.refreshToken),
      scopes.join(' '),
      now,
      pair.expiresAt
    ]
  )
  // A refresh does not change the grant and happens again and again, so it is not audited.
  if (replaces === undefined) {
    const changes = { kind: { after: kind }, user: { after: origin.user?.username }, scopes: { after: scopes } }
    await audit(origin, { action: 'oauth.token', target: targetOfGrant(client, of), changes })
  }
  return pair
}

/** Locks the grant, so that a revocation comes before or after. */
const isAlive = async (grantId: number) =>
  Boolean(await row('select id from oauth_grants where id = ? and revoked_at is null for update', [grantId]))

async function retire(pairId: number, now: Date): Promise<boolean> {
  const sql = 'update oauth_tokens set revoked_at = ? where id = ? and revoked_at is null'
  return (await execute(sql, [now, pairId])).affectedRows === 1
}

async function insertGrant({ client, userId, kind, scopes }: Issue, now: Date): Promise<number> {
  const { insertId } = await execute(
    'insert into oauth_grants (application_id, user_id, kind, scopes, created_at) values (?, ?, ?, ?, ?)',
    [client?.id ?? null, userId, kind, scopes.join(' '), now]
  )
  return insertId
}

/** The reason for a revocation, for the audit. */
export const REUSED = 'a code or refresh token was used twice'
export const ASKED = 'the application requested it'
const WITHDRAWN = 'the user withdrew the access'
const TAKEN = 'an administrator revoked the access'

/** Ends all tokens of a grant. A second call changes nothing. */
export function revokeGrant(id: number, origin: Origin, reason: string): Promise<void> {
  return transact(async () => {
    const sql = 'update oauth_grants set revoked_at = ? where id = ? and revoked_at is null'
    const { affectedRows } = await execute(sql, [new Date(), id])
    if (affectedRows === 0) return
    const found = await row<{ application_id: number | null; name: string | null; username: string | null }>(
      `select g.application_id, a.name, u.username from oauth_grants g
       left join oauth_applications a on a.id = g.application_id left join users u on u.id = g.user_id where g.id = ?`,
      [id]
    )
    const { application_id: applicationId = null, name = null, username = null } = found ?? {}
    await audit(origin, {
      action: 'oauth.revoke',
      target: targetOfGrant(applicationId === null ? null : { id: applicationId, name: name ?? '' }, id),
      changes: { user: { before: username }, reason: { after: reason } }
    })
  })
}

/** Withdraws everything that a user granted to an application; null means passwords without an application. */
export async function withdraw(userId: number, applicationId: number | null, origin: Origin): Promise<void> {
  await transact(async () => {
    const of = applicationId === null ? 'application_id is null' : 'application_id = ?'
    const found = await rows<{ id: number }>(
      `select id from oauth_grants where user_id = ? and revoked_at is null and ${of}`,
      applicationId === null ? [userId] : [userId, applicationId]
    )
    for (const { id } of found) await revokeGrant(id, origin, origin.via === 'command' ? TAKEN : WITHDRAWN)
  })
}

const targetOfGrant = (client: Client, grantId: number) =>
  client === null ? { type: 'oauth_grant', id: grantId, name: 'password' } : targetOf(client)
