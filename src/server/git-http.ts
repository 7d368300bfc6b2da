// Git over HTTP ("Transport"): NAMESPACE/PROJECT.git/{info/refs,git-upload-pack,git-receive-pack}. The server reads the
// whole request before it starts anything for it, so that a stalled client holds only its socket.

import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type Actor, slotOwner } from '../access/actor.js'
import { authorizeGit, may } from '../access/authorize.js'
import { describePipelines } from '../areas/ci/pipelines/push-answers.js'
import { repositoryFor } from '../areas/code/refs/lost-branch.js'
import { openPush, type PushDoor } from '../areas/code/refs/push.js'
import { allowsProtocol, gitProtocolAllowed, PROTOCOL_OFF } from '../areas/ground/settings/git-protocol.js'
import { refuseDuringMaintenance } from '../areas/ground/settings/maintenance-mode.js'
import {
  actorOfGitRequest,
  type GitCredentials,
  likelyToken,
  requireGitScope
} from '../areas/people/credentials/git-credentials.js'
import { describeMergeRequests } from '../areas/planning/merge-requests/push-answers.js'
import { projectUrls } from '../areas/projects/projects/project-urls.js'
import {
  findForGit,
  findProjectForGit,
  isOldPath,
  type ProjectRow
} from '../areas/projects/projects/projects.queries.js'
import { config as configuration } from '../config.js'
import { BadRequest, Failure, Forbidden, NotFound, Unauthorized } from '../errors.js'
import { readArriving, spoolRequest } from '../git/transport/request-spool.js'
import { advertise, type Caller, type Output, type Service, uploadPack } from '../git/transport/transport.js'
import { parseBasic } from '../lib/basic.js'
import { watchAccess } from './access-watch.js'
import { drain } from './discard-body.js'
import { headerToken } from './plugins/authenticate.js'
import { answerTo } from './plugins/errors.js'
import { cutStalledAnswer, cutStalledRequest } from './stalled-clients.js'

interface Path {
  readonly namespace: string
  readonly project: string
}

interface GitRequest {
  readonly actor: Actor
  readonly project: ProjectRow
  readonly repository: string
}

const REALM = 'Basic realm="Gitstead"'

/** Git reads text without a character set as Latin-1. */
const TEXT = 'text/plain; charset=utf-8'

export const gitHttpRoutes: FastifyPluginAsync = async app => {
  const config = { public: true as const, streams: true as const }
  const reads = { ...config, duringMaintenance: true as const }
  app.setErrorHandler(answerError)
  // The bodies are the streams of git: Fastify must neither parse nor collect them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  app.get<{ Params: Path; Querystring: { service?: string } }>(
    '/:namespace/:project/info/refs',
    { config, schema: { hide: true } as object },
    async (request, reply) => {
      const { service } = request.query
      if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
        return reply.code(403).type(TEXT).send('This server speaks the smart protocol only.\n')
      }
      const found = await open(request, service)
      if (!found) return challenge(reply)
      if (service === 'git-receive-pack') await refuseDuringMaintenance()
      const output = await advertise(found.repository, service, callerOf(request, reply, found))
      return answer(reply, `application/x-${service}-advertisement`, output)
    }
  )

  app.post<{ Params: Path }>('/:namespace/:project/git-upload-pack', { config: reads }, async (request, reply) => {
    const found = await open(request, 'git-upload-pack')
    if (!found) return challenge(reply)
    const { max_fetch_request: most } = configuration().git
    const excess = `The request of a fetch may have at most ${most} bytes (git.max_fetch_request)`
    const input = await spoolRequest(bodyOf(request), most, excess)
    try {
      const output = await uploadPack(found.repository, input, callerOf(request, reply, found))
      if (!reply.raw.closed && !isWhole(output)) {
        reply.raw.once(
          'close',
          watchAccess(found.actor, found.project, () => reply.raw.destroy())
        )
      }
      return answer(reply, 'application/x-git-upload-pack-result', output)
    } finally {
      input.release()
    }
  })

  app.post<{ Params: Path }>('/:namespace/:project/git-receive-pack', { config }, async (request, reply) => {
    const found = await open(request, 'git-receive-pack')
    if (!found) return challenge(reply)
    const { max_push_size: most } = configuration().git
    const excess = `One push may have at most ${most} bytes (git.max_push_size)`
    const read = (input: AsyncIterable<Buffer>) => readArriving(input, most, excess)
    const target = { ...found, ...callerOf(request, reply, found) }
    const notes = movedNotes(pathOf(request.params), found.project)
    const describe: PushDoor['describe'] = async (project, changes) => [
      ...notes,
      ...(await describePipelines(project, changes)),
      ...(await describeMergeRequests(project, changes, found.actor))
    ]
    const output = await openPush(target, bodyOf(request), { read, describe })
    drain(request.raw)
    return answer(reply, 'application/x-git-receive-pack-result', output)
  })

  // A client of Git LFS shows the message of such an answer. After 501 it continues without locks.
  for (const [method, end] of LFS_ROUTES) {
    const url = `/:namespace/:project/info/lfs/${end}`
    app.route({ method, url, config: reads, schema: { hide: true } as object, handler: refuseLfs })
  }
}

const LFS_ROUTES = [
  ['POST', 'objects/batch'],
  ['GET', 'locks'],
  ['POST', 'locks'],
  ['POST', 'locks/verify']
] as const

const refuseLfs = (_request: FastifyRequest, reply: FastifyReply) =>
  reply
    .code(501)
    .type('application/vnd.git-lfs+json')
    .send(JSON.stringify({ message: 'Git LFS is not supported: push large files as ordinary git files' }))

/**
 * Returns the actor, the project and the repository of a request, or null when credentials are missing or wrong. Throws
 * NotFound, Forbidden, TooManyRequests.
 */
async function open(request: FastifyRequest<{ Params: Path }>, service: Service): Promise<GitRequest | null> {
  const path = pathOf(request.params)
  const credentials = credentialsOf(request)
  const { actor, project, allowed } = await readAll(credentials, path, request)
  // Not specified: a build may use HTTP even then, because it has no other way to get its code.
  if (!allowed && actor.by !== 'build') throw new Forbidden(PROTOCOL_OFF.http)
  const action = service === 'git-receive-pack' ? 'repository.write' : 'repository.read'
  if (!credentials && !(project && may(actor, action, project))) return null
  if (!isOwnBuild(actor, action, project)) authorizeGit(actor, action, project)
  if (!project) throw new NotFound('Project')
  return { actor, project, repository: await repositoryFor(service, project) }
}

/** One statement reads everything, except for a password. */
async function readAll(credentials: GitCredentials | null, path: string, request: FastifyRequest) {
  const token = likelyToken(credentials)
  const found = token === undefined ? null : await findForGit(token, path)
  const actor = found ? requireGitScope(found.actor) : await actorOfGitRequest(credentials, request.address)
  // The log line of the request names the user.
  request.actor = actor
  if (found?.project) return { actor, project: found.project, allowed: allowsProtocol(found.settings, 'http') }
  const project = await findProjectForGit(path, actor)
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
const pathOf = ({ namespace, project }: Path) => `${namespace}/${project.replace(/\.git$/, '')}`

/** Not specified: how git learns that a project has moved. The old path still works, and a push shows the new one. */
export function movedNotes(path: string, project: ProjectRow): string[] {
  if (!isOldPath(path, project)) return []
  const { http, ssh } = projectUrls(`${project.namespace_path}/${project.path}`)
  return ['This project has moved. Its new addresses are:', `  ${http}`, `  ${ssh}`]
}

/** What git needs to know about the client. When the client leaves, the work for it ends. */
function callerOf(request: FastifyRequest, reply: FastifyReply, { actor }: GitRequest): Caller {
  const leaving = new AbortController()
  if (reply.raw.closed) leaving.abort()
  // Aborting makes an error with its stack, and after most requests nothing is left to end.
  else reply.raw.once('close', () => reply.raw.writableFinished || leaving.abort())
  const header = request.headers['git-protocol']
  return {
    protocol: typeof header === 'string' ? header : undefined,
    client: slotOwner(actor),
    signal: leaving.signal
  }
}

/** Git shows a message of the server only when it is plain text. */
function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  // Nobody reads the answer when the client has left, or was cut off.
  const hasLeft = request.raw.destroyed && !request.raw.complete
  if (hasLeft || reply.raw.destroyed) return reply.code(400).send()
  drain(request.raw)
  if (error instanceof Unauthorized) return challenge(reply)
  const isBadGzip = String((error as NodeJS.ErrnoException).code).startsWith('Z_')
  const failure = isBadGzip ? new BadRequest('The body is not gzip') : error
  if (!(failure instanceof Failure)) throw error
  const { status, retryAfter } = answerTo(failure, request)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const text = failure instanceof Forbidden && failure.reason !== undefined ? failure.reason : failure.message
  return reply.code(status).type(TEXT).send(`${text}\n`)
}

/** Credentials are a Basic header, a Bearer header or a PRIVATE-TOKEN header. */
function credentialsOf(request: FastifyRequest): GitCredentials | null {
  const token = headerToken(request)
  return token === undefined ? parseBasic(request.headers.authorization) : { token }
}

const challenge = (reply: FastifyReply) =>
  reply.code(401).header('www-authenticate', REALM).type(TEXT).send('HTTP Basic: access denied\n')

function answer(reply: FastifyReply, type: string, output: Output): FastifyReply {
  reply.type(type).header('cache-control', 'no-cache, max-age=0, must-revalidate')
  if (isWhole(output)) return reply.send(output[0])
  cutStalledAnswer(reply.raw)
  return reply.send(output)
}

const isWhole = (output: Output): output is readonly [Buffer] => Array.isArray(output)

/** Returns the decompressed body: git compresses large fetch requests with gzip. */
function bodyOf(request: FastifyRequest): Readable {
  cutStalledRequest(request.raw)
  // Fastify sets no body for a request without a body and without a type.
  const body = (request.body as Readable | undefined) ?? request.raw
  if (!/gzip/.test(request.headers['content-encoding'] ?? '')) return body
  const gunzip = createGunzip()
  body.on('error', error => gunzip.destroy(error))
  body.on('aborted', () => gunzip.destroy(new Error('the request was interrupted')))
  return body.pipe(gunzip)
}
