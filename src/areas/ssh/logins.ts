// Finds out whose key opens an SSH connection: that of a user, or a deploy key.
import { createHash } from 'node:crypto'
import { type Actor, type ActorUser, actorOf } from '../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../access/actor-user.js'
import { may } from '../../access/authorize.js'
import { EVERYTHING } from '../../access/scopes.js'
import { execute, row } from '../../db/sql.js'
import { log } from '../../log.js'
import { noteUseOf } from '../credentials/last-use.js'
import { findProject } from '../projects/projects.queries.js'

export interface Login {
  readonly actor: Actor
  /** The key as it was added: type, base64 and perhaps a comment. */
  readonly publicKey: string
  /** Whom the log names: a username, or `deploy key ID`. */
  readonly name: string
  readonly key: StoredKey
}

interface StoredKey {
  readonly table: 'ssh_keys' | 'deploy_keys'
  readonly id: number
  readonly lastUsedAt: Date | null
}

interface KeyColumns {
  readonly key_id: number
  readonly public_key: string
  readonly last_used_at: Date | null
}

/** The fingerprint of a key in its wire format, as keys are stored with it. */
export const fingerprintOf = (blob: Buffer): string =>
  createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')

/** The login of the key with a fingerprint; null when nobody has it, or a user who is not active. */
export async function findLogin(fingerprint: string): Promise<Login | null> {
  const ofUser = await row<KeyColumns & ActorUserColumns & { state: string }>(
    `select k.id as key_id, k.public_key, k.last_used_at, u.state, ${ACTOR_USER}
     from ssh_keys k join users u on u.id = k.user_id where k.fingerprint = ?`,
    [fingerprint]
  )
  if (ofUser) {
    if (ofUser.state !== 'active') return null
    return loginOf('ssh_keys', ofUser, actorOf(actorUserOf(ofUser), 'ssh'), ofUser.username)
  }
  const deploy = await row<KeyColumns>(
    `select k.id as key_id, k.public_key, k.last_used_at from deploy_keys k where k.fingerprint = ?
     order by k.id limit 1`,
    [fingerprint]
  )
  if (!deploy) return null
  const actor: Actor = { user: null, by: 'deploy_key', sudoer: null, scopes: EVERYTHING, deployKey: fingerprint }
  return loginOf('deploy_keys', deploy, actor, `deploy key ${deploy.key_id}`)
}

const loginOf = (table: StoredKey['table'], found: KeyColumns, actor: Actor, name: string): Login => ({
  actor,
  name,
  publicKey: found.public_key,
  key: { table, id: found.key_id, lastUsedAt: found.last_used_at }
})

/** The last use is written again after this many milliseconds, because otherwise every connection would be a write. */
const LAST_USE_AGE = 600_000

/** Notes that a key was used, and that its user is not gone. Waits for nothing. */
export function noteKeyUse({ actor: { user }, key: { table, id, lastUsedAt } }: Login): void {
  if (user) noteUseOf(user.id)
  const now = new Date()
  const old = new Date(now.getTime() - LAST_USE_AGE)
  if (lastUsedAt && lastUsedAt > old) return
  // If many calls at once have read the old time, only one of them writes.
  execute(`update ${table} set last_used_at = ? where id = ? and (last_used_at is null or last_used_at <= ?)`, [
    now,
    id,
    old
  ]).catch(error => log().warn({ error: String(error) }, 'cannot write the last use of a key'))
}

/**
 * The user in whose name a push is recorded. Not specified: for a deploy key, the user who added it, as long as this user
 * may push to the project too; otherwise nobody. The builds of a push read what this user may read.
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
