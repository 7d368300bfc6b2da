// Tokens for the transfers of git LFS. A client that connects by SSH has no other credentials for HTTP; a client with a password gets
// one too, because comparing a password takes 18 ms, and it would do so for every file. A token is bound to a user or a deploy key, to
// the password or key for which it was made, to a project and to an operation. It is signed, not stored: each request compares it with
// the current password, key and rights of its owner.
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

/** What somebody has shown to get a token. */
export type ShownCredentials =
  | { readonly kind: 'password'; readonly userId: number }
  /** A key of a user, by its fingerprint. */
  | { readonly kind: 'ssh'; readonly userId: number; readonly fingerprint: string }
  | { readonly kind: 'key'; readonly fingerprint: string }

const PURPOSE = 'LFS tokens'
const LONGEST = 1000

/** Makes a token for a user or a deploy key. Throws Unauthorized when the user is no longer active. */
export async function newLfsToken(
  shown: ShownCredentials,
  projectId: number,
  operation: LfsOperation
): Promise<LfsToken> {
  const user = shown.kind === 'key' ? '' : `${shown.userId} `
  const proof = shown.kind === 'password' ? versionOf(await requireUser(shown.userId)) : shown.fingerprint
  const seconds = Math.floor(Date.now() / 1000) + config().lfs.token_expire
  const text = `${shown.kind} ${user}${proof} ${projectId} ${operation} ${seconds}`
  const sign = signature(PURPOSE, text).toString('base64url')
  return { token: `${Buffer.from(text).toString('base64url')}.${sign}`, expiresAt: new Date(seconds * 1000) }
}

/**
 * Returns what a token is bound to. Throws Unauthorized when it is wrong or has expired, its user is not active, or the password or key
 * has changed.
 */
export async function readLfsToken(token: string): Promise<Bound> {
  const text = signedText(token)
  const [, kind, userId, proof = '', project, operation, seconds] =
    /^(password|ssh|key) (?:(\d+) )?(\S+) (\d+) (download|upload) (\d+)$/.exec(text) ?? []
  const expiresAt = new Date(Number(seconds) * 1000)
  if (kind === undefined || expiresAt.getTime() <= Date.now()) throw new Unauthorized('the token of LFS has expired')
  const actor: Actor =
    kind === 'key'
      ? { user: null, by: 'deploy_key', sudoer: null, scopes: EVERYTHING, deployKey: proof }
      : actorOf(actorUserOf(await ownerOf(kind, Number(userId), proof)), 'ssh')
  return { actor, projectId: Number(project), operation: operation as LfsOperation, expiresAt }
}

function signedText(token: string): string {
  const [text = '', sign = ''] = token.length <= LONGEST ? token.split('.') : []
  const signed = Buffer.from(text, 'base64url').toString()
  const [expected, given] = [signature(PURPOSE, signed), Buffer.from(sign, 'base64url')]
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw new Unauthorized()
  return signed
}

interface Owner extends ActorUserColumns {
  readonly password_hash: string
  readonly two_factor_at: Date | null
}

async function ownerOf(kind: string, id: number, proof: string): Promise<Owner> {
  const owner = await requireUser(id, kind === 'ssh' ? proof : undefined)
  if (kind === 'password' && versionOf(owner) !== proof) throw new Unauthorized()
  return owner
}

/** Changes with the password, and when a second factor is set up: then git accepts the password no longer. */
const versionOf = ({ password_hash, two_factor_at }: Owner): string =>
  signature('passwords of LFS tokens', `${two_factor_at?.getTime() ?? ''} ${password_hash}`).toString('base64url')

async function requireUser(id: number, fingerprint?: string): Promise<Owner> {
  const withKey = 'and exists (select 1 from ssh_keys k where k.user_id = u.id and k.fingerprint = ?)'
  const found = await row<Owner>(
    `select ${ACTOR_USER}, u.password_hash, u.two_factor_at from users u
     where u.id = ? and u.state = 'active' ${fingerprint === undefined ? '' : withKey}`,
    fingerprint === undefined ? [id] : [id, fingerprint]
  )
  if (!found) throw new Unauthorized()
  return found
}
