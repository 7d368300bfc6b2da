// Tokens for the transfers of git LFS. A client that connects by SSH has no other credentials for HTTP; a client with a password gets
// one too, because comparing a password takes 18 ms, and it would do so for every file. A token is bound to a user or a deploy key, to a
// project and to an operation. It is signed, not stored; each request reads the current rights of its owner.
import { timingSafeEqual } from 'node:crypto'
import { type Actor, actorOf } from '../../../access/actor.js'
import { ACTOR_USER, type ActorUserColumns, actorUserOf } from '../../../access/actor-user.js'
import { EVERYTHING } from '../../../access/scopes.js'
import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { Unauthorized } from '../../../errors.js'
import { signature } from '../../../secrets.js'

export type LfsOperation = 'download' | 'upload'

export interface LfsToken {
  readonly token: string
  readonly expiresAt: Date
}

interface Bound {
  readonly actor: Actor
  readonly projectId: number
  /** `upload` includes downloads. */
  readonly operation: LfsOperation
  readonly expiresAt: Date
}

const PURPOSE = 'LFS tokens'
const LONGEST = 1000

/** Makes a token for a user or a deploy key; undefined for other actors, who have credentials of their own. */
export function newLfsToken(
  { user, deployKey, by }: Actor,
  projectId: number,
  operation: LfsOperation
): LfsToken | undefined {
  const owner = user ? `user ${user.id}` : deployKey === undefined ? undefined : `key ${deployKey}`
  if (owner === undefined || by === 'build') return undefined
  const seconds = Math.floor(Date.now() / 1000) + config().lfs.token_expire
  const text = `${owner} ${projectId} ${operation} ${seconds}`
  const sign = signature(PURPOSE, text).toString('base64url')
  return { token: `${Buffer.from(text).toString('base64url')}.${sign}`, expiresAt: new Date(seconds * 1000) }
}

/** Returns what a token is bound to. Throws Unauthorized when it is wrong or has expired, or its user is not active. */
export async function readLfsToken(token: string): Promise<Bound> {
  const text = signedText(token)
  const [, kind, owner = '', project, operation, seconds] =
    /^(user|key) (\S+) (\d+) (download|upload) (\d+)$/.exec(text) ?? []
  const expiresAt = new Date(Number(seconds) * 1000)
  if (kind === undefined || expiresAt.getTime() <= Date.now()) throw new Unauthorized('the token of LFS has expired')
  const actor: Actor =
    kind === 'user'
      ? actorOf(await requireUser(Number(owner)), 'ssh')
      : { user: null, by: 'deploy_key', sudoer: null, scopes: EVERYTHING, deployKey: owner }
  return { actor, projectId: Number(project), operation: operation as LfsOperation, expiresAt }
}

function signedText(token: string): string {
  const [text = '', sign = ''] = token.length <= LONGEST ? token.split('.') : []
  const signed = Buffer.from(text, 'base64url').toString()
  const [expected, given] = [signature(PURPOSE, signed), Buffer.from(sign, 'base64url')]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Unauthorized()
  return signed
}

async function requireUser(id: number) {
  const found = await row<ActorUserColumns>(`select ${ACTOR_USER} from users u where u.id = ? and u.state = 'active'`, [
    id
  ])
  if (!found) throw new Unauthorized()
  return actorUserOf(found)
}
