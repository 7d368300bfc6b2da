// Users who stand for people of another forge until these people have an account here. Nobody can sign in as a placeholder.
import type { Origin } from '../../../../access/actor.js'
import { Conflict, Forbidden } from '../../../../errors.js'
import { NO_PASSWORD } from '../../../../lib/password-hash.js'
import { pathProblem } from '../../../../lib/path.js'
import { newToken } from '../../../../secrets.js'
import { insertUsers } from '../users.js'

/** In `users.block_reason`. */
const PLACEHOLDER = 'placeholder'

/** Personal projects of a placeholder are not limited: they are those that the person had. */
const MOST_PROJECTS = 100_000
const MOST_TRIES = 100

/** Throws Forbidden for a placeholder, who never becomes active. */
export function refusePlaceholder(user: { readonly blockReason: string | null; readonly username: string }): void {
  if (user.blockReason === PLACEHOLDER)
    throw new Forbidden(`${user.username} stands for a person of another forge: use gitstead migrate assign instead`)
}

/** Creates a placeholder with this username, or with a number after it when the name is taken. Returns the user. */
export async function insertPlaceholder(
  person: { readonly username: string; readonly name: string },
  origin: Origin
): Promise<{ readonly id: number; readonly username: string }> {
  const plain = person.username
    .replace(/[^A-Za-z0-9_.-]+/g, '-')
    .replace(/^[-.]+|[-.]+$/g, '')
    .slice(0, 200)
  const name =
    person.name
      .replace(/\p{Cc}+/gu, ' ')
      .trim()
      .slice(0, 255) || person.username
  for (let tries = 1; tries <= MOST_TRIES; tries++) {
    const username = `${plain || 'user'}${tries === 1 ? '' : `-${tries}`}`
    if (pathProblem(username, 'namespace')) continue
    const body = {
      username,
      name,
      email: `${username.toLowerCase()}@placeholder.invalid`,
      password: '',
      projects_limit: MOST_PROJECTS,
      can_create_group: false
    }
    try {
      const [id = 0] = await insertUsers(
        [{ body, passwordHash: NO_PASSWORD, privateToken: newToken(), reason: PLACEHOLDER }],
        origin
      )
      return { id, username }
    } catch (error) {
      // A user or a group has the name.
      if (!(error instanceof Conflict)) throw error
    }
  }
  throw new Conflict(`no name is free for ${person.username}`)
}
