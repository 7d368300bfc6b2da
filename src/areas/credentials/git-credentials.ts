// What git clients show by HTTP Basic: a password, a private or personal access token in either field, or a build token.
import { type Actor, actorOf, nobody } from '../../access/actor.js'
import { row } from '../../db/sql.js'
import { Unauthorized } from '../../errors.js'
import { tokenHash } from '../../secrets.js'
import { actorOfToken, userOfPassword } from './credentials.js'

/** The user name that runners clone under. */
const BUILD_USER = 'gitlab-ci-token'

/** The actor; nobody without credentials. Throws Unauthorized when they are wrong. */
export async function actorOfGitRequest(
  credentials: { user: string; password: string } | null,
  address: string
): Promise<Actor> {
  if (!credentials) return nobody
  const { user, password } = credentials
  const found = await (user === BUILD_USER ? byBuildToken(password) : byTokenOrPassword(user, password, address))
  if (!found) throw new Unauthorized()
  return found
}

async function byTokenOrPassword(user: string, password: string, address: string): Promise<Actor | null> {
  // A token takes one statement, a password 18 ms of hashing: tokens first.
  for (const token of [password, user]) {
    const found = token === '' ? null : await actorOfToken(token)
    if (found?.scopes.includes('api')) return found
  }
  const byPassword = password === '' ? null : await userOfPassword(user, password, address)
  return byPassword && actorOf(byPassword, 'password')
}

/** The user who started a build may read by its token while it runs. */
async function byBuildToken(token: string): Promise<Actor | null> {
  const found = await row<{ id: number; username: string; name: string; email: string; external: number }>(
    `select u.id, u.username, u.name, u.email, u.external from builds b join users u on u.id = b.user_id
     where b.token_hash = ? and b.status = 'running' and u.state = 'active'`,
    [tokenHash(token)]
  )
  // Never an administrator, whoever started it: a build reads what its user is a member of.
  return found ? actorOf({ ...found, external: found.external === 1, admin: false }, 'build') : null
}
