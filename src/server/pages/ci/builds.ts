import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { may } from '../../../access/authorize.js'
import { hasArtifacts } from '../../../areas/ci/builds/artifacts.js'
import {
  cancelBuildOf,
  eraseBuild,
  keepArtifacts,
  playBuild,
  retryBuildOf
} from '../../../areas/ci/builds/build-actions.js'
import { mustFindBuild, readBuild, readBuilds, readTraceOf } from '../../../areas/ci/builds/build-readings.js'
import { BuildListQuery } from '../../../areas/ci/builds/builds.schema.js'
import { type BuildReading, viewBuild } from '../../../areas/ci/builds/builds.view.js'
import { mayDownload } from '../../../areas/ci/builds/files/artifact-access.js'
import { shownBuild } from '../../../areas/ci/builds/shown/build-lines.js'
import { readTraceEnd, readTraceSince } from '../../../areas/ci/builds/shown/trace-parts.js'
import { Integer, Text } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { backOf } from '../page-routes.js'
import { projectPath } from '../place.js'
import { sendFile } from './files.js'
import { BuildParams } from './params.js'
import { showCi } from './pipelines.js'

const params = BuildParams
const TraceQuery = Type.Object({
  attempt: Integer('the run of the build', { minimum: 0 }),
  offset: Integer('the bytes that are shown', { minimum: 0 }),
  place: Type.Optional(Text('how the output continues there', { maxLength: 1500 }))
})

export const buildPages: FastifyPluginAsyncTypebox = async app => {
  const read = { config: { can: 'build.read' as const }, schema: { params } }
  const write = { config: { can: 'build.write' as const }, schema: { params } }

  app.get(
    '/:namespace/:project/builds',
    { config: { can: 'build.list' }, schema: { querystring: BuildListQuery } },
    async (request, reply) => {
      const builds = await readBuilds(request.project, request.query)
      const shown = { ...builds, items: builds.items.map(viewShown) }
      return showCi(request, reply, 'ci/builds', { title: 'Builds', builds: shown, scope: request.query.scope ?? [] })
    }
  )

  app.get('/:namespace/:project/builds/:build_id', read, async (request, reply) => {
    const { project, params, actor } = request
    const reading = await readBuild(project, params.build_id)
    const { build } = reading
    const trace = await readTraceEnd(build)
    return showCi(request, reply, 'ci/build', {
      title: `${build.name} (#${build.id})`,
      ...{ heading: build.name, build: viewShown(reading), row: build, trace },
      mayDownload: hasArtifacts(build) && (await mayDownload(project, build.id, actor)),
      mayWrite: may(actor, 'build.write', project)
    })
  })

  app.get(
    '/:namespace/:project/builds/:build_id/trace',
    { ...read, schema: { params, querystring: TraceQuery } },
    async ({ project, params, query }, reply) => {
      const build = await mustFindBuild(project, params.build_id)
      const part = await readTraceSince(build, { place: '', ...query })
      return reply.header('cache-control', 'no-store').send({ status: build.status, attempt: build.attempt, part })
    }
  )

  app.get('/:namespace/:project/builds/:build_id/raw', read, async ({ project, params }, reply) => {
    const { size, stream } = await readTraceOf(project, params.build_id, {})
    return sendFile(reply, { size, stream, type: 'text/plain; charset=utf-8' })
  })

  for (const [name, act] of [
    ['retry', retryBuildOf],
    ['erase', eraseBuild],
    ['keep', keepArtifacts]
  ] as const) {
    app.post(`/:namespace/:project/builds/:build_id/${name}`, write, async (request, reply) => {
      const id = await act(request.project, request.params.build_id, request.origin)
      return reply.redirect(buildPath(request, id), 303)
    })
  }

  // These also stand on the page of the pipeline, where the reader stays.
  for (const [name, act] of [
    ['cancel', cancelBuildOf],
    ['play', playBuild]
  ] as const) {
    app.post(`/:namespace/:project/builds/:build_id/${name}`, write, async (request, reply) => {
      await act(request.project, request.params.build_id, request.origin)
      return reply.redirect(backOf(request), 303)
    })
  }
}

const buildPath = ({ project }: FastifyRequest, id: number) => projectPath(project) + path('builds', id)

const viewShown = (reading: BuildReading) => ({ ...viewBuild(reading), ...shownBuild(reading.build) })
