// Git over HTTP ("Transport"): NAMESPACE/PROJECT.git/{info/refs,git-upload-pack,git-receive-pack}. The server reads the
// whole request before it starts anything for it, so that a stalled client holds only its socket.

import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { slotOwner } from '../access/actor.js'
import { describePipelines } from '../areas/ci/pipelines/push-answers.js'
import { repositoryFor } from '../areas/code/refs/lost-branch.js'
import { openPush, type PushDoor } from '../areas/code/refs/push.js'
import { refuseDuringMaintenance } from '../areas/ground/settings/maintenance-mode.js'
import { describeMergeRequests } from '../areas/planning/merge-requests/push-answers.js'
import { projectUrls } from '../areas/projects/projects/project-urls.js'
import { isOldPath, type ProjectRow } from '../areas/projects/projects/projects.queries.js'
import { isCluster } from '../cluster/storages.js'
import { config as configuration } from '../config.js'
import { BadRequest, Failure, Forbidden, NotHere, SecondFactorNeeded, Unauthorized } from '../errors.js'
import { readArriving, spoolRequest } from '../git/transport/request-spool.js'
import { advertise, type Caller, type Output, type Service, uploadPack } from '../git/transport/transport.js'
import { watchAccess } from './access-watch.js'
import { drain } from './discard-body.js'
import { type GitAccess, openForGit, type GitPath as Path, pathOf } from './git-access.js'
import { isSmall, passOnAfter } from './pass-on.js'
import { answerTo } from './plugins/errors.js'
import { sentBodies } from './sent-bodies.js'
import { cutStalledAnswer, cutStalledRequest } from './stalled-clients.js'

interface GitRequest extends GitAccess {
  readonly repository: string
}

export const REALM = 'Basic realm="Gitstead"'

/** Git reads text without a character set as Latin-1. */
const TEXT = 'text/plain; charset=utf-8'

export const gitHttpRoutes: FastifyPluginAsync = async app => {
  const config = { public: true as const, streams: true as const }
  const reads = { ...config, duringMaintenance: true as const }
  app.setErrorHandler(async (error, request, reply) =>
    (await passOnAfter(error, request, reply)) ? reply : answerError(error, request, reply)
  )
  // The bodies are the streams of git: Fastify must neither parse nor collect them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, payload, done) => {
    if (!isCluster() || !isSmall(request)) return done(null, payload)
    // The repository may move to another machine while a push waits: then that one gets the same body.
    payload.toArray().then((parts: Buffer[]) => {
      const body = Buffer.concat(parts)
      sentBodies.set(request, body)
      done(null, Readable.from([body]))
    }, done)
  })

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

  const fetches = { ...reads, mayKnow: mayKnow('git-upload-pack') }
  app.post<{ Params: Path }>('/:namespace/:project/git-upload-pack', { config: fetches }, async (request, reply) => {
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

  const pushes = { ...config, mayKnow: mayKnow('git-receive-pack') }
  app.post<{ Params: Path }>('/:namespace/:project/git-receive-pack', { config: pushes }, async (request, reply) => {
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
}

/** Returns the actor, the project and the repository of a request, or null when credentials are missing or wrong. */
async function open(request: FastifyRequest<{ Params: Path }>, service: Service): Promise<GitRequest | null> {
  const found = await openForGit(request, service === 'git-receive-pack' ? 'repository.write' : 'repository.read')
  return found && { ...found, repository: await repositoryFor(service, found.project) }
}

/** Returns a function that throws unless a caller may use the repository, wherever it is. */
const mayKnow = (service: Service) => async (request: FastifyRequest) => {
  try {
    if (!(await open(request as FastifyRequest<{ Params: Path }>, service))) throw new Unauthorized()
  } catch (error) {
    if (!(error instanceof NotHere)) throw error
  }
}

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
  if (error instanceof SecondFactorNeeded) return challenge(reply, FACTOR_NEEDED)
  if (error instanceof Unauthorized) return challenge(reply)
  const isBadGzip = String((error as NodeJS.ErrnoException).code).startsWith('Z_')
  const failure = isBadGzip ? new BadRequest('The body is not gzip') : error
  if (!(failure instanceof Failure)) throw error
  const { status, retryAfter } = answerTo(failure, request)
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const text = failure instanceof Forbidden && failure.reason !== undefined ? failure.reason : failure.message
  return reply.code(status).type(TEXT).send(`${text}\n`)
}

const challenge = (reply: FastifyReply, text = 'HTTP Basic: access denied') =>
  reply.code(401).header('www-authenticate', REALM).type(TEXT).send(`${text}\n`)

const FACTOR_NEEDED =
  'Your account needs a second factor to sign in: use a personal access token in place of the password'

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
  // Its readers get the error. When a request was refused before its end, nothing reads it any more.
  return pipeline(body, createGunzip(), () => undefined)
}
