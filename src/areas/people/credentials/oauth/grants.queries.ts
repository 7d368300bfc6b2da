import { row, rows } from '../../../../db/connect/sql.js'
import { tokenHash } from '../../../../secrets.js'

/** The user of a grant, with the columns that an actor needs. Null for an application that acts for itself. */
interface Person {
  readonly user_id: number | null
  readonly username: string | null
  readonly state: string | null
}

interface Client {
  readonly application_id: number | null
  readonly uid: string | null
  readonly application_name: string | null
}

export interface CodeRow extends Person, Client {
  readonly grant_id: number
  readonly scopes: string
  readonly code_expires_at: Date
  readonly code_used_at: Date | null
  readonly redirect_uri: string
  readonly code_challenge: string | null
  readonly code_challenge_method: string | null
  readonly grant_revoked_at: Date | null
}

export interface TokenPairRow extends Person, Client {
  readonly id: number
  readonly grant_id: number
  readonly kind: string
  readonly scopes: string
  readonly created_at: Date
  readonly expires_at: Date | null
  readonly revoked_at: Date | null
  readonly grant_revoked_at: Date | null
}

const PEOPLE = 'g.user_id, u.username, u.state, g.application_id, a.uid, a.name as application_name'
const JOINS = 'left join users u on u.id = g.user_id left join oauth_applications a on a.id = g.application_id'

export function findCode(code: string): Promise<CodeRow | undefined> {
  return row<CodeRow>(
    `select g.id as grant_id, g.scopes, g.code_expires_at, g.code_used_at, g.redirect_uri, g.code_challenge,
       g.code_challenge_method, g.revoked_at as grant_revoked_at, ${PEOPLE}
     from oauth_grants g ${JOINS} where g.code_hash = ?`,
    [tokenHash(code)]
  )
}

/** Finds a pair of tokens by one of the two. */
export function findPair(by: 'token_hash' | 'refresh_hash', token: string): Promise<TokenPairRow | undefined> {
  return row<TokenPairRow>(
    `select t.id, t.grant_id, g.kind, t.scopes, t.created_at, t.expires_at, t.revoked_at,
       g.revoked_at as grant_revoked_at, ${PEOPLE}
     from oauth_tokens t join oauth_grants g on g.id = t.grant_id ${JOINS} where t.${by} = ?`,
    [tokenHash(token)]
  )
}

/** An application that has access to the account of a user. */
export interface AuthorizationRow {
  /** Null when the tokens were issued for a password, without an application. */
  readonly application_id: number | null
  readonly name: string | null
  readonly scopes: string
  readonly since: Date
  readonly last_used_at: Date | null
}

const AUTHORIZATIONS = `select g.application_id, max(a.name) as name, max(g.scopes) as scopes, min(g.created_at) as since,
    max(t.last_used_at) as last_used_at
  from oauth_grants g join oauth_tokens t on t.grant_id = g.id and t.revoked_at is null
  left join oauth_applications a on a.id = g.application_id
  where g.user_id = ? and g.revoked_at is null`

/** Returns the applications that have access to a user's account, at most 100, those with the latest grants first. */
export function listAuthorizations(userId: number): Promise<AuthorizationRow[]> {
  return rows<AuthorizationRow>(`${AUTHORIZATIONS} group by g.application_id order by max(g.id) desc limit 100`, [
    userId
  ])
}

/** Returns the access of one application; null as the id means passwords without one. Undefined when it has no access. */
export function findAuthorization(userId: number, applicationId: number | null): Promise<AuthorizationRow | undefined> {
  return row<AuthorizationRow>(`${AUTHORIZATIONS} and g.application_id <=> ? group by g.application_id`, [
    userId,
    applicationId
  ])
}
