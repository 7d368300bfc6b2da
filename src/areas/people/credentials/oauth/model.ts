// The functions that the OAuth library calls during one request. The library decides the order of the checks of RFC
// 6749 and RFC 7636; this model finds and writes the rows.
import { timingSafeEqual } from 'node:crypto'
import type OAuth2Server from '@node-oauth/oauth2-server'
import { type ActorUser, actorOf, nobody, type Origin, originOf } from '../../../../access/actor.js'
import { SCOPES, scopesIn } from '../../../../access/scopes.js'
import { tokenHash } from '../../../../secrets.js'
import { countWrongToken } from '../login-throttle.js'
import { type ApplicationRow, findApplication, redirectUrisOf } from '../oauth-applications.queries.js'
import { signInByPassword } from '../password-sign-in.js'
import { type Client, issuePair, newSecret, type Pair, REUSED, revokeGrant, useCode } from './grants.js'
import { type CodeRow, findCode, findPair, type TokenPairRow } from './grants.queries.js'

/** Stands for "no application" where the library needs an id: a password may come without one. No application has this id. */
export const NO_CLIENT = 'none'

export const GRANTS = ['authorization_code', 'refresh_token', 'password', 'client_credentials'] as const
const OF_PUBLIC = GRANTS.filter(grant => grant !== 'client_credentials')

export interface TokenContext {
  readonly address: string
  readonly grantType?: string
  readonly redirectUri?: string
  readonly username?: string
  readonly password?: string
}

interface LibraryClient extends OAuth2Server.Client {
  readonly application: ApplicationRow | null
}

type Model = OAuth2Server.AuthorizationCodeModel &
  OAuth2Server.PasswordModel &
  OAuth2Server.RefreshTokenModel &
  OAuth2Server.ClientCredentialsModel

/** The library stores only what these functions give it. `issued` is the pair that the request received. */
export function modelFor(context: TokenContext): Model & { issued: () => Pair | undefined } {
  let issued: Pair | undefined
  let grantId: number | undefined
  let replaces: number | undefined
  const { address } = context
  const byNobody: Origin = originOf({ ...nobody, by: 'oauth' }, address)

  return {
    issued: () => issued,
    getClient: (uid, secret) => clientOf(uid, secret, context),
    generateAccessToken: async () => newSecret(),
    getAccessToken: async () => null,
    getUser: async () =>
      (await signInByPassword(context.username ?? '', context.password ?? '', { address, door: 'oauth' }))?.user ??
      null,
    // This grant has no user, but the library requires an object.
    getUserFromClient: async () => ({}),
    validateScope: async (_user, client, wanted) => allowedScopes((client as LibraryClient).application, wanted),

    async getAuthorizationCode(code) {
      const found = await findCode(code)
      if (!found) return wrong(address)
      if (found.code_used_at) await revokeGrant(found.grant_id, byNobody, REUSED)
      if (found.code_used_at || found.grant_revoked_at || found.state !== 'active') return null
      grantId = found.grant_id
      return codeOf(code, found)
    },

    // The redirect URI is compared here, because the library would return a different error.
    async revokeAuthorizationCode({ redirectUri }) {
      if (grantId === undefined || !(await useCode(grantId))) return false
      return redirectUri === context.redirectUri
    },

    async getRefreshToken(token) {
      const found = await findPair('refresh_hash', token)
      if (!found) return wrong(address)
      if (found.revoked_at) await revokeGrant(found.grant_id, byNobody, REUSED)
      if (found.revoked_at || found.grant_revoked_at || found.state !== 'active') return null
      return { refreshToken: token, scope: scopesIn(found.scopes), client: holderOf(found), user: userOf(found), found }
    },

    // The old pair ends in the transaction that writes the new one.
    async revokeToken({ found }) {
      const { id, grant_id } = found as TokenPairRow
      grantId = grant_id
      replaces = id
      return true
    },

    async saveToken({ scope = [], accessToken }, client, user) {
      const { application } = client as LibraryClient
      const kind = context.grantType ?? ''
      const person = user.id === undefined ? null : (user as ActorUser)
      const origin = person ? originOf(actorOf(person, kind === 'password' ? 'password' : 'oauth'), address) : byNobody
      const of: Client = application && { id: application.id, name: application.name }
      issued = await issuePair(
        { client: of, userId: person?.id ?? null, kind, scopes: scope, grantId, replaces },
        origin
      )
      return { accessToken, scope, client, user }
    },

    saveAuthorizationCode: async () => null
  }
}

/** Counts an unknown code or token. Returns what the library treats as not found. */
function wrong(address: string): null {
  countWrongToken(address)
  return null
}

async function clientOf(
  uid: string,
  secret: string | null | undefined,
  context: TokenContext
): Promise<LibraryClient | null> {
  const { grantType, address } = context
  if (uid === NO_CLIENT) return { id: NO_CLIENT, grants: ['password', 'refresh_token'], application: null }
  const found = await findApplication(uid)
  if (!found) return wrong(address)
  // Without a grant type, this is a browser that requests a code, and it knows no secret.
  if (grantType !== undefined && !proves(found, secret)) return secret ? wrong(address) : null
  const grants = found.confidential === 1 ? [...GRANTS] : OF_PUBLIC
  return { id: uid, grants, redirectUris: redirectUrisOf(found), application: found }
}

/** Returns whether a client with this secret is the application. One that cannot keep a secret need not send it. */
export function proves(
  { secret_hash, confidential }: { secret_hash: Buffer; confidential: number },
  secret: string | null | undefined
): boolean {
  if (!secret) return confidential === 0
  return timingSafeEqual(secret_hash, tokenHash(secret))
}

/** Returns the scopes that a client gets: those that it requests, if the application may have them; otherwise false. */
function allowedScopes(application: ApplicationRow | null, wanted: string[] | undefined): string[] | false {
  const most: readonly string[] = application ? scopesIn(application.scopes) : SCOPES
  if (!wanted || wanted.length === 0) return most.includes('api') ? ['api'] : [...most]
  return wanted.every(scope => most.includes(scope)) ? [...new Set(wanted)] : false
}

const codeOf = (code: string, found: CodeRow) => ({
  authorizationCode: code,
  expiresAt: found.code_expires_at,
  redirectUri: found.redirect_uri,
  scope: scopesIn(found.scopes) as string[],
  client: { id: found.uid ?? NO_CLIENT, grants: [] },
  user: userOf(found),
  ...(found.code_challenge === null
    ? {}
    : { codeChallenge: found.code_challenge, codeChallengeMethod: found.code_challenge_method ?? 'S256' })
})

const holderOf = ({ uid }: TokenPairRow) => ({ id: uid ?? NO_CLIENT, grants: [] })

const userOf = ({ user_id, username }: { user_id: number | null; username: string | null }) => ({
  id: user_id,
  username
})
