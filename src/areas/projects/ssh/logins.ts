// Finds the login of an SSH connection by its key: a user's key or a deploy key.
import { createHash } from 'node:crypto'
import { type Actor, type ActorUser, actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { may } from '../../../access/authorize.js'
import { EVERYTHING } from '../../../access/scopes.js'
import { noteLastUse, type Used } from '../../../db/connect/last-use.js'
import { row } from '../../../db/connect/sql.js'
import { noteUseOf } from '../../people/credentials/last-use.js'
import { noteKeyUse } from '../../people/users/keys.js'
import { findProject } from '../projects/projects.queries.js'

export interface Login {
  readonly actor: Actor
  /** The key as it was added: type, base64 and an optional comment. */
  readonly publicKey: string
  /** The name in the log: a username, or `deploy key ID`. */
  readonly name: string
  readonly key: Used
}

interface KeyColumns {
  readonly key_id: number
  readonly public_key: string
  readonly last_used_at: Date | null
}

/** Returns the fingerprint of a key in its wire format, in the form in which keys are stored. */
export const fingerprintOf = (blob: Buffer): string =>
  createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')

/** Returns the login of the key with a fingerprint; null when the key is unknown or its user is not active. */
export async function findLogin(fingerprint: string): Promise<Login | null> {
  const ofUser = await row<KeyColumns & ActorUserColumns & { state: string }>(
    `select k.id as key_id, k.public_key, k.last_used_at, u.state, ${ACTOR_USER}
     from ssh_keys k join users u on u.id = k.user_id where k.fingerprint = ?`,
    [fingerprint]
  )
  if (ofUser) {
    if (ofUser.state !== 'active') return null
    return loginOf(ofUser, actorOf(actorUserOf(ofUser), 'ssh'), ofUser.username)
  }
  const deploy = await row<KeyColumns>(
    `select k.id as key_id, k.public_key, k.last_used_at from deploy_keys k where k.fingerprint = ?
     order by k.id limit 1`,
    [fingerprint]
  )
  if (!deploy) return null
  const actor: Actor = { user: null, by: 'deploy_key', sudoer: null, scopes: EVERYTHING, deployKey: fingerprint }
  return loginOf(deploy, actor, `deploy key ${deploy.key_id}`)
}

const loginOf = (found: KeyColumns, actor: Actor, name: string): Login => ({
  actor,
  name,
  publicKey: found.public_key,
  key: { id: found.key_id, lastUsedAt: found.last_used_at }
})

/** Notes that a key was used, and that its user is active. Returns immediately. */
export function noteUseOfLogin({ actor: { user }, key }: Login): void {
  if (user) {
    noteUseOf(user.id)
    noteKeyUse(key)
  } else noteLastUse('deploy_keys', key)
}

/**
 * Returns the user on whose behalf a push is recorded. Not specified: for a deploy key, the user who added it, if this
 * user may also push to the project; otherwise nobody. The builds of a push read what this user may read.
 */
export async function authorOfPush({ user, deployKey }: Actor, projectId: number): Promise<ActorUser | null> {
  if (deployKey === undefined) return user
  const found = await row<ActorUserColumns>(
    `select ${ACTOR_USER} from deploy_keys k join deploy_key_projects l on l.deploy_key_id = k.id join users u on u.id = k.user_id
     where k.fingerprint = ? and l.project_id = ? and k.can_push and u.state = 'active' order by k.id limit 1`,
    [deployKey, projectId]
  )
  if (!found) return null
  const actor = actorOf(actorUserOf(found), 'ssh')
  const project = await findProject(projectId, actor)
  return project && may(actor, 'repository.write', project) ? actor.user : null
}
