// Git over HTTP ("Transport"): NAMESPACE/PROJECT.git/{info/refs,git-upload-pack,git-receive-pack}. All data is
// streamed.

import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../access/actor.js'
import { authorizeProject, may } from '../access/authorize.js'
import { actorOfGitRequest } from '../areas/credentials/git-credentials.js'
import { findProject, type ProjectRow } from '../areas/projects/projects.queries.js'
import { ensureRepository } from '../areas/projects/repositories.js'
import { openPush } from '../areas/refs/push.js'
import { refuseDuringMaintenance } from '../areas/settings/maintenance-mode.js'
import { applicationSettings } from '../areas/settings/settings.queries.js'
import { Forbidden, NotFound, Unauthorized, Unavailable } from '../errors.js'
import { advertise, type Service, uploadPack } from '../git/transport.js'

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

export const gitHttpRoutes: FastifyPluginAsync = async app => {
  const config = { public: true as const, streams: true as const }
  const reads = { ...config, duringMaintenance: true as const }
  // git shows the server's message to the user only when it is plain text.
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof Forbidden && error.reason !== undefined) {
      return reply.code(403).type('text/plain').send(`${error.reason}\n`)
    }
    if (error instanceof Unavailable) return reply.code(503).type('text/plain').send(`${error.message}\n`)
    throw error
  })
  // The bodies are git's streams: Fastify must neither parse nor collect them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  app.get<{ Params: Path; Querystring: { service?: string } }>(
    '/:namespace/:project/info/refs',
    { config, schema: { hide: true } as object },
    async (request, reply) => {
      const { service } = request.query
      if (service !== 'git-upload-pack' && service !== 'git-receive-pack') {
        return reply.code(403).type('text/plain').send('This server speaks the smart protocol only.\n')
      }
      const found = await open(request, service)
      if (!found) return challenge(reply)
      if (service === 'git-receive-pack') await refuseDuringMaintenance()
      const output = await advertise(found.repository, service, protocolOf(request))
      return answer(reply, `application/x-${service}-advertisement`, output)
    }
  )

  app.post<{ Params: Path }>('/:namespace/:project/git-upload-pack', { config: reads }, async (request, reply) => {
    const found = await open(request, 'git-upload-pack')
    if (!found) return challenge(reply)
    const output = await uploadPack(found.repository, { input: bodyOf(request), protocol: protocolOf(request) })
    return answer(reply, 'application/x-git-upload-pack-result', output)
  })

  app.post<{ Params: Path }>('/:namespace/:project/git-receive-pack', { config }, async (request, reply) => {
    const found = await open(request, 'git-receive-pack')
    if (!found) return challenge(reply)
    const output = await openPush(found, bodyOf(request))
    return answer(reply, 'application/x-git-receive-pack-result', output)
  })
}

/**
 * Returns the actor, the project and the repository of a request, or null when credentials are missing. Throws
 * NotFound, Forbidden.
 */
async function open(request: FastifyRequest<{ Params: Path }>, service: Service): Promise<GitRequest | null> {
  const { namespace, project: name } = request.params
  if (!name.endsWith('.git')) throw new NotFound()
  const path = `${namespace}/${name.slice(0, -'.git'.length)}`
  const credentials = basicCredentials(request)
  const actor = await actorOfGitRequest(credentials, request.ip)
  const [project, { enabled_git_access_protocol: protocol }] = await Promise.all([
    findProject(path, actor),
    applicationSettings()
  ])
  // Not specified: a build may use HTTP even then, because it has no other way to its code.
  if (protocol === 'ssh' && actor.by !== 'build') throw new Forbidden('Git over HTTP is switched off: use SSH')
  const action = service === 'git-receive-pack' ? 'repository.write' : 'repository.read'
  if (!credentials && !(project && may(actor, action, project))) return null
  try {
    authorizeProject(actor, action, project)
  } catch (error) {
    if (error instanceof Unauthorized) return null
    throw error
  }
  if (!project) throw new NotFound('Project')
  return { actor, project, repository: await ensureRepository(project) }
}

function basicCredentials(request: FastifyRequest): { user: string; password: string } | null {
  const found = /^basic\s+(.+)$/i.exec(request.headers.authorization ?? '')
  if (!found?.[1]) return null
  const text = Buffer.from(found[1], 'base64').toString('utf8')
  const at = text.indexOf(':')
  return at === -1 ? { user: text, password: '' } : { user: text.slice(0, at), password: text.slice(at + 1) }
}

const challenge = (reply: FastifyReply) =>
  reply.code(401).header('www-authenticate', REALM).type('text/plain').send('HTTP Basic: access denied\n')

function answer(reply: FastifyReply, type: string, output: Readable): FastifyReply {
  return reply.type(type).header('cache-control', 'no-cache, max-age=0, must-revalidate').send(output)
}

const protocolOf = (request: FastifyRequest): string | undefined => {
  const header = request.headers['git-protocol']
  return typeof header === 'string' ? header : undefined
}

/** Returns the decompressed body: git compresses large requests of a fetch with gzip. */
function bodyOf(request: FastifyRequest): Readable {
  const body = request.body as Readable
  if (!/gzip/.test(request.headers['content-encoding'] ?? '')) return body
  const gunzip = createGunzip()
  body.on('error', error => gunzip.destroy(error))
  body.on('aborted', () => gunzip.destroy(new Error('the request was interrupted')))
  return body.pipe(gunzip)
}
