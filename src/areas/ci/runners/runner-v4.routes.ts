// The protocol of stock runners from 9.0 on, below /api/v4. Runners send their own tokens, so these routes do not involve users.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { contentDisposition } from '../../../lib/disposition.js'
import { TraceMismatch } from '../../../storage/traces.js'
import { checkUpload, openDependency, receiveUpload } from './external/artifacts.js'
import { noteContact } from './external/contact.js'
import { NotHeld, requireHeld } from './external/held-builds.js'
import { HeldQuestions } from './external/held-questions.js'
import { jobDocument } from './external/job-document.js'
import { addToTrace, report } from './external/progress.js'
import { registerRunner, requireRunner, resetRunnerToken, unregisterRunner } from './external/registration.js'
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
  UploadQuery
} from './runner-protocol.schema.js'

const hidden = { hide: true as const }
const config = { public: true as const }
/** Builds continue during maintenance, also on external runners. This also saves a statement for each chunk of a trace. */
const ofBuilds = { ...config, duringMaintenance: true as const }

const runnerToken = (request: FastifyRequest) => shownToken(request.body, request.headers['runner-token'])
const jobToken = (request: FastifyRequest) =>
  shownToken(request.body, undefined) ?? shownToken(request.query, request.headers['job-token'])

/** Aborts when the connection closes before the response. */
function whenGone({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => gone.abort())
  return gone.signal
}

export const runnerV4Routes: FastifyPluginAsyncTypebox = async app => {
  app.setErrorHandler(answerError)
  app.addHook('onSend', answerPlainJson)
  const held = new HeldQuestions()
  app.addHook('preClose', async () => held.end())

  app.post('/runners', { config, schema: { ...hidden, body: RegisterCall } }, async ({ body, origin }, reply) => {
    const { id, token } = await registerRunner(body.token ?? '', body, origin)
    return reply.code(201).send({ id, token, token_expires_at: null })
  })

  app.post('/runners/verify', { config, schema: { ...hidden, body: RunnerCall } }, async request => {
    const token = runnerToken(request)
    const runner = await requireRunner(token)
    await noteContact(runner, request.body.info)
    return { id: runner.id, token, token_expires_at: null }
  })

  // `gitlab-runner reset-token` sends it. Our tokens do not expire, so no runner does it automatically.
  app.post(
    '/runners/reset_authentication_token',
    { config, schema: { ...hidden, body: RunnerCall } },
    async (request, reply) => {
      const { token } = await resetRunnerToken(runnerToken(request), request.origin)
      return reply.code(201).send({ token, token_expires_at: null })
    }
  )

  app.delete('/runners', { config, schema: { ...hidden, body: RunnerCall } }, async (request, reply) => {
    await unregisterRunner(runnerToken(request), request.origin)
    return reply.code(204).send()
  })

  // One of several machines that share a token leaves. Machines are not distinguished, so nothing changes.
  app.delete('/runners/managers', { config, schema: { ...hidden, body: RunnerCall } }, async (request, reply) => {
    await requireRunner(runnerToken(request))
    return reply.code(204).send()
  })

  app.post('/jobs/request', { config: ofBuilds, schema: { ...hidden, body: JobCall } }, async (request, reply) => {
    const { address, body } = request
    const { job, value } = await takeNext({ ...body, token: runnerToken(request) }, (first, ask) =>
      held.hold(first, { address, system: body.system_id ?? '', gone: whenGone(reply) }, ask)
    )
    return job
      ? reply.code(201).send(jobDocument(job, request.body.info))
      : reply.code(204).header(LAST_UPDATE, value).send()
  })

  app.put(
    '/jobs/:id',
    { config: ofBuilds, bodyLimit: TRACE_LIMIT, schema: { ...hidden, params: JobParams, body: JobReport } },
    async (request, reply) => {
      const build = await requireHeld(request.params.id, jobToken(request))
      await report(build, request.body)
      if (request.body.state !== 'success' && request.body.state !== 'failed') reply.header('job-status', build.status)
      return reply.code(200).send({})
    }
  )

  app.post(
    '/jobs/:id/artifacts',
    {
      config: { ...ofBuilds, streams: true, takesFile: true },
      schema: { ...hidden, params: JobParams, querystring: UploadQuery }
    },
    async (request, reply) => {
      const shown = jobToken(request) ?? ''
      const build = await requireHeld(request.params.id, shown)
      const upload = checkUpload(request.query)
      await request.receiveFile(file => receiveUpload({ ...build, shown }, file, upload))
      return reply.code(201).send({})
    }
  )

  app.get(
    '/jobs/:id/artifacts',
    { config, schema: { ...hidden, params: JobParams, querystring: DownloadQuery } },
    async (request, reply) => {
      const { direct_download: direct = false } = request.query
      const { size, stream, filename } = await openDependency(request.params.id, jobToken(request), direct)
      const disposition = contentDisposition('attachment', filename)
      return reply
        .type('application/octet-stream')
        .headers({ 'content-length': size, 'content-disposition': disposition })
        .send(stream)
    }
  )

  await app.register(traceRoutes)
}

/** The body is bytes: a chunk of a trace may end in the middle of a character. */
const traceRoutes: FastifyPluginAsyncTypebox = async app => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes))
  app.patch(
    '/jobs/:id/trace',
    { config: ofBuilds, bodyLimit: TRACE_LIMIT, schema: { ...hidden, params: JobParams } },
    async (request, reply) => {
      const build = await requireHeld(request.params.id, jobToken(request))
      const chunk = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      const size = await addToTrace(build, request.headers['content-range'], chunk)
      return reply
        .code(202)
        .headers({ 'job-status': build.status, range: rangeOf(size) })
        .send()
    }
  )
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  countIfWrong(error, request)
  if (error instanceof TraceMismatch) return reply.code(416).header('range', rangeOf(error.size)).send()
  // A runner stops the script of a build whose status is canceled.
  if (error instanceof NotHeld && error.status) reply.header('job-status', error.status)
  throw error
}
