// The transfers of git LFS: the bytes of one object, in constant memory.
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { MissingObject, openLinkedObject, storeObject } from '../../areas/projects/lfs/objects.js'
import { config } from '../../config.js'
import { BadRequest, RangeNotSatisfiable, Unprocessable } from '../../errors.js'
import { type ByteRange, byteRange } from '../../lib/byte-range.js'
import { mayBeDirect } from '../../storage/direct-downloads.js'
import { watchAccess } from '../access-watch.js'
import type { GitPath } from '../git-access.js'
import { cutStalledAnswer, cutStalledRequest } from '../stalled-clients.js'
import { openLfs } from './access.js'
import { answerLfs } from './answers.js'

interface ObjectPath extends GitPath {
  readonly oid: string
}

const PATH = '/:namespace/:project/info/lfs/objects/:oid'
const hidden = { hide: true } as object
const transfer = { public: true, anyMachine: true, streams: true } as const
const TYPE = 'application/octet-stream'

export const transferRoutes: FastifyPluginAsync = async app => {
  // The bodies are the objects: Fastify must neither parse nor collect them.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  app.get<{ Params: ObjectPath }>(PATH, { config: transfer, schema: hidden }, async (request, reply) => {
    const { actor, project } = await openLfs(request, 'download', request.params.oid)
    if (project.object_size == null) throw new MissingObject()
    await sendObject(request, reply)
    if (!reply.raw.closed) {
      const end = watchAccess(actor, project, () => reply.raw.destroy())
      reply.raw.once('close', end)
    }
    return reply
  })

  app.put<{ Params: ObjectPath; Querystring: { size?: string } }>(
    PATH,
    { config: transfer, schema: hidden },
    async (request, reply) => {
      const { project } = await openLfs(request, 'upload')
      const { raw, params, query, headers } = request
      const size = Number(query.size ?? headers['content-length'])
      if (!Number.isSafeInteger(size) || size < 0) throw new BadRequest('the size of the object is missing')
      // Only the end of the body would show it otherwise.
      const length = headers['content-length']
      if (length !== undefined && Number(length) !== size)
        throw new Unprocessable(`the body has ${length} bytes, but the object has ${size}`)
      cutStalledRequest(raw)
      const end = endLate(() => raw.destroy(new Error('the upload took longer than lfs.timeout')))
      try {
        await storeObject(project.id, { oid: params.oid, size }, () => raw)
      } finally {
        end()
      }
      return answerLfs(reply, {})
    }
  )
}

/** Ends a transfer that takes too long. Returns the function that ends the watch. */
function endLate(cut: () => void): () => void {
  const timer = setTimeout(cut, config().lfs.timeout * 1000)
  timer.unref()
  return () => clearTimeout(timer)
}

/** Sends an object, or the part of it that the client lacks. An object never changes, so its name is its version. */
async function sendObject(request: FastifyRequest<{ Params: ObjectPath }>, reply: FastifyReply): Promise<void> {
  const { headers, params } = request
  const { oid } = params
  const version = `"${oid}"`
  const wanted = headers['if-range'] === undefined || headers['if-range'] === version ? headers.range : undefined
  const choose = (size: number): ByteRange | undefined => {
    const range = byteRange(wanted, size)
    if (range === null) throw new RangeNotSatisfiable(size)
    return range
  }
  const { size, range, stream } = await openLinkedObject(oid, { choose, direct: mayBeDirect(request) })
  reply.type(TYPE).headers({
    etag: version,
    'accept-ranges': 'bytes',
    'cache-control': 'private, max-age=0, must-revalidate',
    'content-disposition': 'attachment',
    'content-length': String(range ? range.end - range.start + 1 : size),
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${size}` })
  })
  cutStalledAnswer(reply.raw)
  reply.raw.once(
    'close',
    endLate(() => reply.raw.destroy())
  )
  reply.code(range ? 206 : 200).send(stream)
}
