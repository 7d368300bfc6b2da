// Git LFS over HTTP, as its project describes it (docs/api in github.com/git-lfs/git-lfs): batch with basic transfers, and locks. The
// paths are below that of the repository: NAMESPACE/PROJECT.git/info/lfs.
import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { refuseDuringMaintenance } from '../../areas/ground/settings/maintenance-mode.js'
import { MOST_OBJECTS, type Outcome, planDownload, planUpload } from '../../areas/projects/lfs/batch.js'
import { acceptUpload, findLinks, MissingObject } from '../../areas/projects/lfs/objects.js'
import type { LfsOperation } from '../../areas/projects/lfs/tokens.js'
import { BadRequest, Conflict, TooLarge, Unprocessable } from '../../errors.js'
import { Integer, Text } from '../../lib/schema.js'
import { Type } from '../../lib/type.js'
import type { GitPath } from '../git-access.js'
import { credentialsForTransfers, type LfsAccess, type LfsRequest, lfsUrl, openLfs } from './access.js'
import { answerLfs, answerLfsError, bodyReader } from './answers.js'
import { lfsLockRoutes } from './lock-routes.js'
import { transferRoutes } from './transfers.js'

const AskedObject = Type.Object({
  oid: Text('the SHA-256 of the content', { maxLength: 200 }),
  size: Type.Number({ description: 'bytes' })
})

const readBatch = bodyReader(
  Type.Object({
    operation: Text('download or upload', { maxLength: 20 }),
    transfers: Type.Optional(Type.Array(Text('the name of a way to transfer', { maxLength: 100 }), { maxItems: 100 })),
    hash_algo: Type.Optional(Text('sha256', { maxLength: 100 })),
    objects: Type.Array(AskedObject)
  })
)

const readVerify = bodyReader(
  Type.Object({ oid: Text('the SHA-256 of the content', { maxLength: 200 }), size: Integer('bytes', { minimum: 0 }) })
)

/** A thousand objects take about 120 KB. */
const BODY_LIMIT = 262_144

const LFS_ROUTE = { public: true, anyMachine: true } as const
const hidden = { hide: true } as object

export const lfsRoutes: FastifyPluginAsync = async app => {
  app.setErrorHandler((error, request, reply) => answerLfsError(error, request, reply))
  await app.register(transferRoutes)
  await app.register(async app => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: BODY_LIMIT }, (_request, body, done) => {
      try {
        done(null, JSON.parse(String(body)))
      } catch {
        done(new BadRequest('the body is not valid JSON'))
      }
    })
    await app.register(lfsLockRoutes)
    const reads = { ...LFS_ROUTE, duringMaintenance: true as const }

    app.post<{ Params: GitPath }>(
      '/:namespace/:project/info/lfs/objects/batch',
      { config: reads, schema: hidden, bodyLimit: BODY_LIMIT },
      async (request, reply) => {
        const { operation, transfers, hash_algo: hash = 'sha256', objects } = readBatch(request.body)
        if (operation !== 'download' && operation !== 'upload')
          throw new Unprocessable('operation must be download or upload')
        const access = await openLfs(request, operation)
        if (objects.length > MOST_OBJECTS) throw new TooLarge(`one request may name at most ${MOST_OBJECTS} objects`)
        if (hash !== 'sha256') throw new Conflict('hash_algo must be sha256')
        if (transfers && !transfers.includes('basic')) throw new Unprocessable('transfers must contain basic')
        if (operation === 'upload') await refuseDuringMaintenance()
        return answerBatch(reply, request, access, { operation, objects })
      }
    )

    app.post<{ Params: GitPath }>(
      '/:namespace/:project/info/lfs/objects/verify',
      { config: reads, schema: hidden },
      async (request, reply) => {
        const { project } = await openLfs(request, 'upload')
        const { oid, size } = readVerify(request.body)
        const found = (await findLinks(project.id, [oid])).get(oid)
        if (found === undefined) {
          await refuseDuringMaintenance()
          if (!(await acceptUpload(project.id, { oid, size }))) throw new MissingObject()
        } else if (found !== size) throw new Unprocessable(`the object has ${found} bytes`)
        return answerLfs(reply, {})
      }
    )
  })
}

interface Batch {
  readonly operation: LfsOperation
  readonly objects: readonly { readonly oid: string; readonly size: number }[]
}

async function answerBatch(
  reply: FastifyReply,
  request: LfsRequest,
  access: LfsAccess,
  { operation, objects }: Batch
): Promise<FastifyReply> {
  const { id } = access.project
  const outcomes = await (operation === 'upload' ? planUpload(id, objects) : planDownload(id, objects))
  const base = `${lfsUrl(access.project)}/objects`
  const credentials = await credentialsForTransfers(request, access, operation)
  const actionsFor = (outcome: Outcome<Batch['objects'][number]>) => {
    const { oid, size } = outcome.object
    if (operation === 'download') return { download: { href: `${base}/${oid}`, ...credentials } }
    if (outcome.is !== 'missing') return undefined
    return {
      upload: outcome.direct ?? { href: `${base}/${oid}?size=${size}`, ...credentials },
      verify: { href: `${base}/verify`, ...credentials }
    }
  }
  return answerLfs(reply, {
    transfer: 'basic',
    hash_algo: 'sha256',
    objects: outcomes.map(outcome => {
      const { oid, size } = outcome.object
      if (outcome.is === 'refused') return { oid, size, error: { code: outcome.code, message: outcome.why } }
      const actions = actionsFor(outcome)
      // The header is everything that a transfer needs, even if it is empty.
      return { oid, size, authenticated: true, ...(actions && { actions }) }
    })
  })
}
