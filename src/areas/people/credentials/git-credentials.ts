// Checks the credentials of git clients. HTTP Basic contains a password, a build token, or a private, personal or OAuth
// token in either field; a Bearer or PRIVATE-TOKEN header contains a token.
import { type Actor, actorOf, nobody } from '../../../access/actor.js'
import { row } from '../../../db/connect/sql.js'
import { Unauthorized } from '../../../errors.js'
import { tokenHash } from '../../../secrets.js'
import { actorOfAnyToken, isOAuthToken } from './credentials.js'
import { refuseToken } from './login-throttle.js'
import { signInByPassword } from './password-sign-in.js'

/** The user name with which runners clone. */
const BUILD_USER = 'gitlab-ci-token'

/** The user name of applications that send their OAuth token as the password. */
const OAUTH_USER = 'oauth2'

/** A user name and a password, or a token of a header. */
export type GitCredentials = { readonly user: string; readonly password: string } | { readonly token: string }

/** Returns the actor of a git request; `nobody` without credentials. Throws Unauthorized when the credentials are wrong. */
export async function actorOfGitRequest(credentials: GitCredentials | null, address: string): Promise<Actor> {
  if (!credentials) return nobody
  const found = await byCredentials(credentials, address)
  if (!found) throw new Unauthorized()
  return found
}

/** Returns the text in credentials that is a private or personal access token, unless it is a password. */
export function likelyToken(credentials: GitCredentials | null): string | undefined {
  if (!credentials) return undefined
  if (!('token' in credentials) && credentials.user === BUILD_USER) return undefined
  const text = 'token' in credentials ? credentials.token : credentials.password || credentials.user
  return text === '' || isOAuthToken(text) ? undefined : text
}

/** Returns the actor of a valid token. Throws Unauthorized when the token may not use git. */
export function requireGitScope(actor: Actor): Actor {
  if (!actor.scopes.includes('api')) throw new Unauthorized()
  return actor
}

async function byCredentials(credentials: GitCredentials, address: string): Promise<Actor | null> {
  if ('token' in credentials) return byToken(credentials.token, address)
  const { user, password } = credentials
  if (user === BUILD_USER) return (await byBuildToken(password)) ?? refuseToken(address)
  return byTokenOrPassword(user, password, address)
}

/** Returns the actor of a token; null when the token may not use git. */
async function byToken(token: string, address: string): Promise<Actor | null> {
  const found = (await actorOfAnyToken(token)) ?? refuseToken(address)
  return found.scopes.includes('api') ? found : null
}

async function byTokenOrPassword(user: string, password: string, address: string): Promise<Actor | null> {
  // Tries tokens first: a token takes one statement, a password takes 18 ms of hashing.
  for (const token of [password, user]) {
    const found = token === '' ? null : await actorOfAnyToken(token)
    // A valid token that may not use git does not count as a guess.
    if (found) return found.scopes.includes('api') ? found : null
  }
  // An expired token does not count as a guess at the password of an account with that name.
  if (password === '' || (user === OAUTH_USER && isOAuthToken(password))) refuseToken(address)
  const signedIn = await signInByPassword(user, password, { address, door: 'git' })
  return signedIn && actorOf(signedIn.user, 'password')
}

interface BuildUser {
  readonly project_id: number
  readonly user_id: number | null
  /** Null when the user is deleted or blocked. */
  readonly id: number | null
  readonly username: string
  readonly name: string
  readonly email: string
  readonly external: number
}

/** Returns the actor of a build token: the user who started the build, as long as the build runs. */
async function byBuildToken(token: string): Promise<Actor | null> {
  const found = await row<BuildUser>(
    `select b.project_id, b.user_id, u.id, u.username, u.name, u.email, u.external
     from builds b left join users u on u.id = b.user_id and u.state = 'active'
     where b.token_hash = ? and b.status = 'running'`,
    [tokenHash(token)]
  )
  if (!found) return null
  // The builds of a trigger have no user, but they need the code of their project.
  if (found.user_id === null) return { ...nobody, by: 'build', buildOf: found.project_id }
  if (found.id === null) return null
  const { id, username, name, email, external } = found
  // Never an administrator, even if one started the build: a build may read only what its user may read as a member.
  return actorOf({ id, username, name, email, external: external === 1, admin: false }, 'build')
}
