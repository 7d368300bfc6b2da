// Finds the actor for the credentials of a client. It looks tokens up by their hash and never compares them byte by byte.
import { type Actor, type ActorUser, actorOf, type Origin, originOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { scopesIn } from '../../../access/scopes.js'
import { noteLastUse } from '../../../db/connect/last-use.js'
import { execute, type Fragment, row, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { User } from '../../../db/models/index.js'
import { Forbidden, InvalidToken, NotFound, Unauthorized } from '../../../errors.js'
import { newToken, tokenHash } from '../../../secrets.js'
import { audit, changesBetween } from '../../ground/audit/audit.js'
import { MAINTENANCE, refuseWrite, type WithMaintenance } from '../../ground/settings/maintenance-mode.js'
import { applicationSettings } from '../../ground/settings/settings.queries.js'
import { DORMANT, wake } from '../users/suspension.js'
import { noteUseOf } from './last-use.js'
import { type DutyColumns, dutyColumns, factorDueAt } from './second-factor/duty.js'

/** A token as `t`, with its user as `u`. */
export interface TokenRow {
  readonly token_id: number
  readonly token_kind: 'private' | 'personal'
  readonly token_scopes: string
  readonly token_used_at: Date | null
}

/** The parts of a statement that finds a valid private or personal access token. */
export const TOKEN = {
  columns: 't.id as token_id, t.kind as token_kind, t.scopes as token_scopes, t.last_used_at as token_used_at',
  from: 'access_tokens t join users u on u.id = t.user_id',
  where: `t.token_hash = ? and t.revoked_at is null and (t.expires_at is null or t.expires_at > ?) and u.state = 'active'`
}
export const tokenValues = (token: string): Value[] => [tokenHash(token), new Date()]

/** Returns the actor of a private or personal access token; null if the token is unknown, revoked or expired, or its user is blocked. */
export async function actorOfToken(token: string): Promise<Actor | null> {
  const found = await row<TokenRow & ActorUserColumns>(
    `select ${TOKEN.columns}, ${ACTOR_USER} from ${TOKEN.from} where ${TOKEN.where}`,
    tokenValues(token)
  )
  return found ? actorOfRow(found, found) : null
}

/** Does the same for a request that writes. Throws Unavailable during maintenance. */
export async function actorOfWrite(token: string): Promise<Actor | null> {
  const found = await row<TokenRow & ActorUserColumns & WithMaintenance>(
    `select ${TOKEN.columns}, ${ACTOR_USER}, ${MAINTENANCE} from ${TOKEN.from} where ${TOKEN.where}`,
    tokenValues(token)
  )
  await refuseWrite(found)
  return found ? actorOfRow(found, found) : null
}

/** Returns the actor of a token that was found. */
export function actorOfRow(
  { token_id, token_kind, token_scopes, token_used_at }: TokenRow,
  of: ActorUserColumns
): Actor {
  const user = actorUserOf(of)
  noteUseOf(user.id)
  if (token_kind === 'personal') noteLastUse('access_tokens', { id: token_id, lastUsedAt: token_used_at })
  return { user, by: token_kind, sudoer: null, scopes: scopesIn(token_scopes) }
}

interface OAuthRow {
  readonly token_id: number
  readonly scopes: string
  readonly last_used_at: Date | null
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly grant_revoked_at: Date | null
  readonly state: string | null
}

/**
 * Returns the actor of an OAuth token; null if the token is unknown. Throws InvalidToken when it has expired or was
 * revoked, and Unauthorized when it has no user or its user is blocked.
 */
async function actorOfOAuthToken(token: string): Promise<Actor | null> {
  const found = await row<OAuthRow & ActorUserColumns>(
    `select t.id as token_id, t.scopes, t.last_used_at, t.expires_at, t.revoked_at, g.revoked_at as grant_revoked_at,
       u.state, ${ACTOR_USER}
     from oauth_tokens t join oauth_grants g on g.id = t.grant_id left join users u on u.id = g.user_id
     where t.token_hash = ?`,
    [tokenHash(token)]
  )
  if (!found) return null
  if (found.revoked_at || found.grant_revoked_at) throw new InvalidToken('The access token was revoked')
  if (found.expires_at && found.expires_at.getTime() <= Date.now())
    throw new InvalidToken('The access token has expired')
  if (found.state !== 'active') throw new Unauthorized()
  noteUseOf(found.id)
  noteLastUse('oauth_tokens', { id: found.token_id, lastUsedAt: found.last_used_at })
  return { user: actorUserOf(found), by: 'oauth', sudoer: null, scopes: scopesIn(found.scopes) }
}

const OAUTH_TOKEN = /^[0-9a-f]{64}$/

/** Returns whether a text has the form of an OAuth token. No other token has this form. */
export const isOAuthToken = (text: string): boolean => OAUTH_TOKEN.test(text)

/** Returns the actor of a token of any kind; null if it is unknown. Throws the errors of `actorOfOAuthToken`. */
export const actorOfAnyToken = (token: string): Promise<Actor | null> =>
  isOAuthToken(token) ? actorOfOAuthToken(token) : actorOfToken(token)

export interface SessionRow extends DutyColumns {
  readonly provider: string | null
}

/** The parts of a statement that finds a valid session. The values of `columns` come before those of the conditions. */
export const SESSION = {
  columns: (): Fragment => {
    const { sql, values } = dutyColumns()
    return { sql: `${sql}, s.provider`, values }
  },
  from: 'sessions s join users u on u.id = s.user_id',
  where: `s.id = ? and s.expires_at > ? and u.state = 'active'`,
  values: (cookie: string): Value[] => [tokenHash(cookie), new Date()]
}

/** Returns the actor of a session cookie; null if the session is unknown or expired, or its user is blocked. */
export async function actorOfSession(cookie: string): Promise<Actor | null> {
  const columns = SESSION.columns()
  const found = await row<SessionRow>(
    `select ${ACTOR_USER}, ${columns.sql} from ${SESSION.from} where ${SESSION.where}`,
    [...columns.values, ...SESSION.values(cookie)]
  )
  return found ? actorOfSessionRow(found) : null
}

/** Returns the actor of a session that was found. */
export async function actorOfSessionRow(found: SessionRow): Promise<Actor> {
  noteUseOf(found.id)
  const due = await factorDueAt(found, found.provider)
  return { ...actorOf(actorUserOf(found), 'session'), ...(due && { factorDueAt: due }) }
}

/** Returns the active user whom `sudo` names: digits are an id, other text is a username. */
export function findSudoUser(name: string): Promise<ActorUser | undefined> {
  const { where, values } = named(name)
  return one(`select ${ACTOR_USER} from users u where ${where} and u.state = 'active'`, values)
}

/**
 * Throws for a name that `findSudoUser` does not find. Not specified: a blocked user gets Forbidden with this reason, because
 * only administrators may ask.
 */
export async function refuseSudo(name: string): Promise<never> {
  const { where, values } = named(name)
  const found = await row<{ username: string }>(`select u.username from users u where ${where}`, values)
  if (found) throw new Forbidden(`The user ${found.username} is blocked`)
  throw new NotFound(`No user id or username for: ${name}`)
}

const named = (name: string): { where: string; values: Value[] } =>
  /^\d{1,10}$/.test(name)
    ? { where: 'u.id = ?', values: [Number(name)] }
    : { where: 'u.username_key = lower(?)', values: [name] }

/** The user who has signed in, and what proved it. */
export interface SignIn {
  readonly user: ActorUser
  /** The name of the provider in the configuration; null for the password of this appliance. */
  readonly provider: string | null
  /** The second factor, or the passkey that replaced the password; null when there was none. */
  readonly factor: string | null
  /** The provider's id of the session. With it, the provider ends the session. */
  readonly providerSession?: string
}

/** A sign-in with the password of this appliance and nothing else. */
export const byPassword = (user: ActorUser): SignIn => ({ user, provider: null, factor: null })

/** The browser in which somebody signs in. */
export interface Browser {
  readonly address: string
  readonly userAgent: string
}

/** Begins a session. Returns the value of the cookie and the time at which the session ends. */
export async function beginSession(
  { user, provider, factor, providerSession }: SignIn,
  client: Browser
): Promise<{ cookie: string; expiresAt: Date }> {
  const cookie = newToken() + newToken()
  const now = new Date()
  const { session_expire_delay: minutes } = await applicationSettings()
  const expiresAt = new Date(now.getTime() + minutes * 60_000)
  const id = tokenHash(cookie)
  await transact(async () => {
    await execute(
      `insert into sessions (id, user_id, address, user_agent, created_at, expires_at, provider, factor, provider_session)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        id,
        user.id,
        client.address,
        client.userAgent.slice(0, 255),
        now,
        expiresAt,
        provider,
        factor,
        providerSession ?? null
      ]
    )
    const account = await User.findByPk(user.id)
    // Only now the second factor is proven, too.
    if (account?.blockReason === DORMANT) await wake(user, client.address)
    await account?.update({ lastSignInAt: account.currentSignInAt, currentSignInAt: now }, { silent: true })
    const origin = originOf(actorOf(user, 'password'), client.address)
    await audit(origin, {
      action: 'session.create',
      target: targetOfSession(id, user.username),
      changes: changesBetween(null, { provider: provider ?? 'password', ...(factor === null ? {} : { factor }) })
    })
  })
  return { cookie, expiresAt }
}

/** Ends the session of a cookie when the user signs out. Returns the provider of the sign-in; null for a password. */
export const endSession = (cookie: string, origin: Origin): Promise<string | null> =>
  transact(async () => {
    const id = tokenHash(cookie)
    const found = await row<{ provider: string | null }>('select provider from sessions where id = ?', [id])
    const { affectedRows } = await execute('delete from sessions where id = ?', [id])
    if (affectedRows === 0) return null
    await audit(origin, { action: 'session.delete', target: targetOfSession(id, origin.name) })
    return found?.provider ?? null
  })

/** The id of a session is the hash of its cookie, which does not reveal the cookie. */
export const targetOfSession = (id: Buffer, username: string) => ({
  type: 'session',
  id: id.toString('hex'),
  name: username
})

async function one(sql: string, values: Value[]): Promise<ActorUser | undefined> {
  const found = await row<ActorUserColumns>(sql, values)
  return found && actorUserOf(found)
}
