// The protocol of stock runners 0.x and 1.x, below /ci/api/v1. Only its names and statuses differ from the later one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { NotFound } from '../../../errors.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { TraceMismatch } from '../../../storage/traces.js'
import { callTrigger } from '../pipelines/triggers.js'
import { checkUpload, dropArchive, openDependency, receiveUpload } from './external/artifacts.js'
import { buildDocument } from './external/build-document.js'
import { noteContact } from './external/contact.js'
import { type HeldBuild, heldBy, NotHeld, requireHeld } from './external/held-builds.js'
import { addToTrace, type Report, report } from './external/progress.js'
import { registerRunner, requireRunner, unregisterRunner } from './external/registration.js'
import { takeNext } from './external/take.js'
import { countIfWrong } from './external/wrong-token.js'
import { answerPlainJson, LAST_UPDATE, rangeOf, shownToken, TRACE_LIMIT } from './runner-answers.js'
import {
  DownloadQuery,
  JobCall,
  JobParams,
  JobReport,
  RegisterCall,
  RunnerCall,
  TriggerRefCall,
  TriggerRefParams,
  UploadQuery
} from './runner-protocol.schema.js'

const hidden = { hide: true as const }
const config = { public: true as const }
/** Builds continue during maintenance, also on external runners. This also saves a statement for each chunk of a trace. */
const ofBuilds = { ...config, duringMaintenance: true as const }

const buildToken = (request: FastifyRequest) => shownToken(request.query, request.headers['build-token'])

export const runnerV1Routes: FastifyPluginAsyncTypebox = async app => {
  app.setErrorHandler(answerError)
  app.addHook('onSend', answerPlainJson)

  app.post('/runners/register', { config, schema: { ...hidden, body: RegisterCall } }, async (request, reply) => {
    const { body, origin } = request
    return reply.code(201).send(await registerRunner(body.token ?? '', body, origin))
  })

  app.delete('/runners/delete', { config, schema: { ...hidden, body: RunnerCall } }, async (request, reply) => {
    await unregisterRunner(request.body.token, request.origin)
    return reply.code(200).send({})
  })

  app.post('/builds/register', { config: ofBuilds, schema: { ...hidden, body: JobCall } }, async (request, reply) => {
    const { runner, job, value } = await takeNext({ ...request.body, token: request.body.token })
    if (job) return reply.code(201).send(buildDocument(job))
    reply.header(LAST_UPDATE, value)
    if (runner.active && knowsEmpty(request)) return reply.code(204).send()
    throw new NotFound()
  })

  // Runners also send this for build -1: 404 means that their token is valid.
  app.put(
    '/builds/:id',
    { config: ofBuilds, bodyLimit: TRACE_LIMIT, schema: { ...hidden, params: JobParams, body: JobReport } },
    async (request, reply) => {
      const runner = await requireRunner(request.body.token)
      await noteContact(runner, request.body.info)
      await reportOf(await heldBy(runner.id, request.params.id), request.body)
      return reply.code(200).send({})
    }
  )

  app.post(
    '/builds/:id/artifacts',
    {
      config: { ...ofBuilds, streams: true, takesFile: true },
      schema: { ...hidden, params: JobParams, querystring: UploadQuery }
    },
    async (request, reply) => {
      const shown = buildToken(request) ?? ''
      const build = await requireHeld(request.params.id, shown)
      const upload = checkUpload(request.query)
      await request.receiveFile(file => receiveUpload({ ...build, shown }, file, upload))
      return reply.code(201).send({ id: build.buildId, status: build.status })
    }
  )

  app.delete(
    '/builds/:id/artifacts',
    { config, schema: { ...hidden, params: JobParams, querystring: DownloadQuery } },
    async (request, reply) => {
      await dropArchive(await requireHeld(request.params.id, buildToken(request)))
      return reply.code(200).send({})
    }
  )

  app.get(
    '/builds/:id/artifacts',
    { config, schema: { ...hidden, params: JobParams, querystring: DownloadQuery } },
    async (request, reply) => {
      const { size, stream, filename } = await openDependency(request.params.id, buildToken(request))
      const disposition = contentDisposition('attachment', filename)
      return reply
        .type('application/octet-stream')
        .headers({ 'content-length': size, 'content-disposition': disposition })
        .send(stream)
    }
  )

  // Scripts of that time start pipelines here.
  app.post(
    '/projects/:id/refs/:ref/trigger',
    { config, schema: { ...hidden, params: TriggerRefParams, body: TriggerRefCall } },
    async ({ params, body }, reply) => reply.code(201).send(await callTrigger(params.id, params.ref, body))
  )

  await app.register(traceRoutes)
}

/** A runner stops a build for which it gets 404. */
async function reportOf(build: HeldBuild | undefined, body: Report): Promise<void> {
  if (!build) throw new NotFound()
  try {
    await report(build, body)
  } catch (error) {
    throw error instanceof NotHeld ? new NotFound() : error
  }
}

/** From 1.0 on runners accept 204; older ones only 404. */
const knowsEmpty = ({ headers }: FastifyRequest) =>
  /^gitlab-(?:ci-multi-)?runner [1-9]/.test(headers['user-agent'] ?? '')

const traceRoutes: FastifyPluginAsyncTypebox = async app => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  app.patch(
    '/builds/:id/trace.txt',
    { config: ofBuilds, bodyLimit: TRACE_LIMIT, schema: { ...hidden, params: JobParams } },
    async (request, reply) => {
      const build = await requireHeld(request.params.id, buildToken(request))
      const chunk = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const size = await addToTrace(build, request.headers['content-range'], chunk)
      return reply
        .code(202)
        .headers({ 'build-status': build.status, range: rangeOf(size) })
        .send()
    }
  )
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  countIfWrong(error, request)
  // Runners 1.x crash without the range.
  if (error instanceof TraceMismatch) return reply.code(416).header('range', rangeOf(error.size)).send()
  if (error instanceof NotHeld && error.status) reply.header('build-status', error.status)
  throw error
}
