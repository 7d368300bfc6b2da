import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { ByteRange } from '../../../lib/byte-range.js'
import { contentDisposition } from '../../../lib/disposition.js'
import { Bytes, PlainText, ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { mayBeDirect } from '../../../storage/direct-downloads.js'
import { readArtifactsOf, readArtifactsOfRef, readBuild, readTraceOf } from './build-readings.js'
import { BuildListQuery, BuildParams, CommitParams, JobQuery, RefParams } from './builds.schema.js'
import { Build, viewBuild } from './builds.view.js'
import { sendBuilds } from './shown/kept-builds.js'

const TAGS = ['Builds']

interface OpenPart {
  readonly size: number
  readonly range?: ByteRange
  readonly stream: Readable
}

/** The failure of a request for a part of a file. */
const PARTS = [416] as const
const DOWNLOADS = [302, ...PARTS] as const
const archive = {
  200: Bytes('application/zip', 'The archive of the artifacts.'),
  206: Bytes('application/zip', 'The part of the archive that the Range header selects.')
}

function sendPart(reply: FastifyReply, { size, range, stream }: OpenPart): FastifyReply {
  const { start, end } = range ?? { start: 0, end: size - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${start}-${end}/${size}`)
  return reply
    .header('accept-ranges', 'bytes')
    .header('content-length', end - start + 1)
    .send(stream)
}

function sendArchive(reply: FastifyReply, archive: OpenPart & { filename: string; etag?: string }): FastifyReply {
  if (archive.etag) reply.header('etag', archive.etag)
  reply.type('application/zip').header('content-disposition', contentDisposition('attachment', archive.filename))
  return sendPart(reply, archive)
}

export const buildRoutes: FastifyPluginAsyncTypebox = async app => {
  const list = { can: 'build.list' as const }
  const read = { can: 'build.read' as const }
  const many = { 200: Type.Array(Build) }

  app.get(
    '/projects/:id/builds',
    {
      config: list,
      schema: {
        tags: TAGS,
        summary: 'List the builds of a project',
        description: 'Newest first.',
        params: ProjectParams,
        querystring: BuildListQuery,
        response: many
      }
    },
    async ({ project, query }, reply) => sendBuilds(reply, project, query)
  )

  app.get(
    '/projects/:id/repository/commits/:sha/builds',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the builds of a commit',
        description: 'Builds of all pipelines of the commit, newest first.',
        params: CommitParams,
        querystring: BuildListQuery,
        response: many
      }
    },
    async ({ project, params, query }, reply) => sendBuilds(reply, project, query, params.sha)
  )

  app.get(
    '/projects/:id/builds/:build_id',
    { config: read, schema: { tags: TAGS, summary: 'Get a build', params: BuildParams, response: { 200: Build } } },
    async ({ project, params }) => viewBuild(await readBuild(project, params.build_id))
  )

  app.get(
    '/projects/:id/builds/:build_id/trace',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'Get the trace of a build',
        description:
          'The output of its scripts so far. `Range: bytes=N-` selects the output after the first N bytes; 416 while there is no more.',
        params: BuildParams,
        errors: PARTS,
        response: { 200: PlainText('The trace.'), 206: PlainText('The part that the Range header selects.') }
      }
    },
    async ({ project, params, headers }, reply) => {
      const trace = await readTraceOf(project, params.build_id, headers)
      return sendPart(reply.type('text/plain; charset=utf-8'), trace)
    }
  )

  app.get(
    '/projects/:id/builds/:build_id/artifacts',
    {
      config: read,
      schema: {
        tags: TAGS,
        operationId: 'downloadProjectBuildArtifacts',
        summary: 'Download the artifacts of a build',
        params: BuildParams,
        errors: DOWNLOADS,
        response: archive
      }
    },
    async (request, reply) => {
      const { project, params, headers, actor } = request
      const wanted = { ...headers, actor, direct: mayBeDirect(request) }
      return sendArchive(reply, await readArtifactsOf(project, params.build_id, wanted))
    }
  )

  app.get(
    '/projects/:id/builds/artifacts/:ref_name/download',
    {
      config: read,
      schema: {
        tags: TAGS,
        operationId: 'downloadProjectRefArtifacts',
        summary: 'Download the artifacts of the last successful build of a branch or tag',
        description: 'The artifacts of the build with the given name in the newest successful pipeline of the ref.',
        params: RefParams,
        querystring: JobQuery,
        errors: DOWNLOADS,
        response: archive
      }
    },
    async (request, reply) => {
      const { project, params, query, headers, actor } = request
      const build = { ref: params.ref_name, name: query.job }
      const wanted = { ...headers, actor, direct: mayBeDirect(request) }
      return sendArchive(reply, await readArtifactsOfRef(project, build, wanted))
    }
  )
}
