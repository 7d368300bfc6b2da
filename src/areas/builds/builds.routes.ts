import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { contentDisposition } from '../../lib/disposition.js'
import { Bytes, PlainText, ProjectParams } from '../../lib/schema.js'
import { readArtifactsOf, readArtifactsOfRef, readBuild, readBuilds, readTraceOf } from './build-readings.js'
import { BuildListQuery, BuildParams, CommitParams, JobQuery, RefParams } from './builds.schema.js'
import { Build, viewBuild } from './builds.view.js'

const TAGS = ['Builds']
const archive = { 200: Bytes('application/zip', 'The archive of artifacts.') }

const sendArchive = (reply: FastifyReply, archive: { size: number; stream: Readable; filename: string }) =>
  reply
    .type('application/zip')
    .header('content-length', archive.size)
    .header('content-disposition', contentDisposition('attachment', archive.filename))
    .send(archive.stream)

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
        description: 'The newest first.',
        params: ProjectParams,
        querystring: BuildListQuery,
        response: many
      }
    },
    async ({ project, query }, reply) => reply.page(await readBuilds(project, query), viewBuild)
  )

  app.get(
    '/projects/:id/repository/commits/:sha/builds',
    {
      config: read,
      schema: {
        tags: TAGS,
        summary: 'List the builds of a commit',
        description: 'Of all pipelines of the commit, the newest first.',
        params: CommitParams,
        querystring: BuildListQuery,
        response: many
      }
    },
    async ({ project, params, query }, reply) => reply.page(await readBuilds(project, query, params.sha), viewBuild)
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
        description: 'What its scripts have printed so far.',
        params: BuildParams,
        response: { 200: PlainText('The trace.') }
      }
    },
    async ({ project, params }, reply) => {
      const { stream, size } = await readTraceOf(project, params.build_id)
      return reply.type('text/plain; charset=utf-8').header('content-length', size).send(stream)
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
        response: archive
      }
    },
    async ({ project, params }, reply) => sendArchive(reply, await readArtifactsOf(project, params.build_id))
  )

  app.get(
    '/projects/:id/builds/artifacts/:ref_name/download',
    {
      config: read,
      schema: {
        tags: TAGS,
        operationId: 'downloadProjectRefArtifacts',
        summary: 'Download the artifacts of the last successful build of a branch or tag',
        description: 'Of the newest successful pipeline of the ref, the build with the given name.',
        params: RefParams,
        querystring: JobQuery,
        response: archive
      }
    },
    async ({ project, params, query }, reply) =>
      sendArchive(reply, await readArtifactsOfRef(project, params.ref_name, query.job))
  )
}
