// Finds the caller and the project of a request of git over HTTP, or of git LFS.
import type { FastifyRequest } from 'fastify'
import type { Actor } from '../access/actor.js'
import { authorizeGit, may } from '../access/authorize.js'
import { allowsProtocol, gitProtocolAllowed, PROTOCOL_OFF } from '../areas/ground/settings/git-protocol.js'
import {
  actorOfGitRequest,
  type GitCredentials,
  likelyToken,
  requireGitScope
} from '../areas/people/credentials/git-credentials.js'
import {
  findForGit,
  findProjectForGit,
  type ProjectRow,
  type WithObject
} from '../areas/projects/projects/projects.queries.js'
import { Forbidden, NotFound } from '../errors.js'
import { parseBasic } from '../lib/basic.js'
import { headerToken } from './plugins/authenticate.js'

export interface GitPath {
  readonly namespace: string
  readonly project: string
}

export interface GitAccess {
  readonly actor: Actor
  readonly project: ProjectRow & Partial<WithObject>
}

export type GitAction = 'repository.read' | 'repository.write'

/**
 * Returns the actor and the project of a request, or null when credentials are missing or wrong. Throws NotFound, Forbidden,
 * TooManyRequests. With `oid`, which may be empty, the project is WithObject.
 */
export async function openForGit(
  request: FastifyRequest<{ Params: GitPath }>,
  action: GitAction,
  oid?: string
): Promise<GitAccess | null> {
  const credentials = credentialsOf(request)
  const { actor, project, allowed } = await readAll(credentials, request, oid)
  // Not specified: a build may use HTTP even then, because it has no other way to get its code.
  if (!allowed && actor.by !== 'build') throw new Forbidden(PROTOCOL_OFF.http)
  if (!credentials && !(project && may(actor, action, project))) return null
  if (!isOwnBuild(actor, action, project)) authorizeGit(actor, action, project)
  if (!project) throw new NotFound('Project')
  return { actor, project }
}

/** One statement reads everything, except for a password. */
async function readAll(
  credentials: GitCredentials | null,
  request: FastifyRequest<{ Params: GitPath }>,
  oid: string | undefined
) {
  const path = pathOf(request.params)
  const token = likelyToken(credentials)
  const found = token === undefined ? null : await findForGit(token, path, oid)
  const actor = found ? requireGitScope(found.actor) : await actorOfGitRequest(credentials, request.address)
  // The log line of the request names the user.
  request.actor = actor
  if (found?.project) return { actor, project: found.project, allowed: allowsProtocol(found.settings, 'http') }
  const project = await findProjectForGit(path, actor, oid)
  return {
    actor,
    project,
    allowed: project ? allowsProtocol(project.settings, 'http') : await gitProtocolAllowed('http')
  }
}

/** Whether a build without a user reads its own project. */
const isOwnBuild = ({ buildOf }: Actor, action: string, project: ProjectRow | undefined) =>
  action === 'repository.read' && project !== undefined && project.id === buildOf

/** Many people and some clients omit `.git`. */
export const pathOf = ({ namespace, project }: GitPath) => `${namespace}/${project.replace(/\.git$/, '')}`

/** Credentials are a Basic header, a Bearer header or a PRIVATE-TOKEN header. */
function credentialsOf(request: FastifyRequest): GitCredentials | null {
  const token = headerToken(request)
  return token === undefined ? parseBasic(request.headers.authorization) : { token }
}
