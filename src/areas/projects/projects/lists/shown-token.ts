// The token with which runners register, for the record of a project.
import type { Actor } from '../../../../access/actor.js'
import { levelIn } from '../../../../access/authorize.js'
import { MASTER } from '../../../../lib/levels.js'
import { decrypt } from '../../../../secrets.js'
import type { WholeProjectRow } from '../projects.queries.js'

/**
 * Returns the token, only for Masters and above. Omits one that was encrypted with another key: it must not make the project or the
 * list fail.
 */
export function tokenFor(
  project: Pick<WholeProjectRow, 'access_level' | 'namespace_owner_id' | 'runners_token_encrypted'>,
  actor: Actor
): string | undefined {
  if (!actor.user || levelIn(project, actor) < MASTER) return undefined
  try {
    return decrypt(project.runners_token_encrypted)
  } catch {
    return undefined
  }
}
