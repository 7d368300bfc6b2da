// Finds the caller and the project of a request of git LFS: with the credentials of git, or with a token for transfers.
import type { FastifyRequest } from 'fastify'
import { authorizeGit } from '../../access/authorize.js'
import { oidOf } from '../../areas/projects/lfs/objects.js'
import { type LfsOperation, newLfsToken, readLfsToken } from '../../areas/projects/lfs/tokens.js'
import { projectUrls } from '../../areas/projects/projects/project-urls.js'
import { findProjectForGit, type ProjectRow } from '../../areas/projects/projects/projects.queries.js'
import { Failure, NotFound, Unauthorized } from '../../errors.js'
import { type GitAccess, type GitPath, openForGit, pathOf } from '../git-access.js'

/** The scheme of the tokens in the header Authorization. */
const SCHEME = 'RemoteAuth'

/** LFS is switched off. After this answer, a client continues without locks. */
export class LfsOff extends Failure {
  constructor() {
    super('Git LFS is switched off for this project')
  }
}

export type LfsRequest = FastifyRequest<{ Params: GitPath }>

export interface LfsAccess extends GitAccess {
  /** When the token of the request expires. */
  readonly expiresAt?: Date
}

/**
 * With `oid`, the project has the size of this object as `object_size`, if the object is its own. Throws Unauthorized, NotFound,
 * Forbidden, TooManyRequests, LfsOff.
 */
export async function openLfs(request: LfsRequest, operation: LfsOperation, oid = ''): Promise<LfsAccess> {
  const asked = { operation, oid: oidOf(oid) }
  const token = tokenOf(request)
  const access = token === undefined ? await byCredentials(request, asked) : await byToken(request, asked, token)
  const { lfs_enabled: isOn, namespace_kind, namespace_lfs_enabled: isOnForGroup } = access.project
  if (!isOn || (namespace_kind === 'group' && isOnForGroup !== 1)) throw new LfsOff()
  return access
}

interface AskedLfs {
  readonly operation: LfsOperation
  readonly oid: string
}

const tokenOf = ({ headers: { authorization = '' } }: LfsRequest): string | undefined =>
  authorization.startsWith(`${SCHEME} `) ? authorization.slice(SCHEME.length + 1) : undefined

export const actionOfLfs = (operation: LfsOperation) =>
  operation === 'upload' ? 'repository.write' : 'repository.read'

async function byCredentials(request: LfsRequest, { operation, oid }: AskedLfs): Promise<LfsAccess> {
  const found = await openForGit(request, actionOfLfs(operation), oid)
  if (!found) throw new Unauthorized()
  return found
}

async function byToken(request: LfsRequest, { operation, oid }: AskedLfs, token: string): Promise<LfsAccess> {
  const { actor, projectId, operation: allowed, expiresAt } = await readLfsToken(token)
  if (operation === 'upload' && allowed !== 'upload') throw new Unauthorized()
  request.actor = actor
  const project = await findProjectForGit(pathOf(request.params), actor, oid)
  authorizeGit(actor, actionOfLfs(operation), project)
  if (project?.id !== projectId) throw new NotFound('Project')
  return { actor, project, expiresAt }
}

/** What a client sends with its transfers. */
export interface TransferCredentials {
  readonly header?: { readonly [name: string]: string }
  readonly expires_in?: number
}

/**
 * Returns the credentials for the transfers of a request. A password is replaced by a token. Other credentials are repeated, so that
 * revoking them ends the transfers too.
 */
export async function credentialsForTransfers(
  { headers }: LfsRequest,
  { actor, project, expiresAt }: LfsAccess,
  operation: LfsOperation
): Promise<TransferCredentials> {
  if (actor.by === 'password' && actor.user) {
    const made = await newLfsToken({ kind: 'password', userId: actor.user.id }, project.id, operation)
    return { header: headerOf(made.token), expires_in: secondsUntil(made.expiresAt) }
  }
  const { authorization, 'private-token': privateToken } = headers
  if (typeof privateToken === 'string') return { header: { 'PRIVATE-TOKEN': privateToken } }
  if (authorization === undefined) return {}
  return { header: { Authorization: authorization }, ...(expiresAt && { expires_in: secondsUntil(expiresAt) }) }
}

const headerOf = (token: string) => ({ Authorization: `${SCHEME} ${token}` })

const secondsUntil = (moment: Date) => Math.max(1, Math.floor((moment.getTime() - Date.now()) / 1000))

/** Where the LFS of a project is. */
export const lfsUrl = (project: ProjectRow): string =>
  `${projectUrls(`${project.namespace_path}/${project.path}`).http}/info/lfs`

/** Returns the answer to `git-lfs-authenticate` over SSH, for a connection with the key of this fingerprint. */
export async function authenticateOverSsh(
  { actor: { user }, project }: GitAccess,
  fingerprint: string,
  operation: LfsOperation
): Promise<string> {
  if (!project.lfs_enabled) throw new LfsOff()
  const shown = user ? { kind: 'ssh' as const, userId: user.id, fingerprint } : { kind: 'key' as const, fingerprint }
  const { token, expiresAt } = await newLfsToken(shown, project.id, operation)
  return JSON.stringify({
    href: lfsUrl(project),
    header: headerOf(token),
    expires_at: expiresAt.toISOString(),
    expires_in: secondsUntil(expiresAt)
  })
}
