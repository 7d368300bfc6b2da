// Not specified: these routes show, cancel and retry builds of any project, for a dashboard on another machine.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Conflict } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { cancelBuilds, retryBuilds } from '../../ci/builds/administer.js'
import { watchedBuilds } from '../../ci/builds/dashboard-builds.queries.js'
import { watchBuild } from '../../ci/builds/live-build.js'
import {
  CanceledBuild,
  RetriedBuild,
  viewWatchedBuild,
  viewWatchedBuildDetails,
  WatchedBuild,
  WatchedBuildDetails
} from './dashboard-builds.view.js'
import { BuildParams } from './jobs.schema.js'

export const watchedBuildRoutes: FastifyPluginAsyncTypebox = async app => {
  const read = { can: 'job.read' as const }
  const change = { can: 'job.administer' as const }
  const tags = ['Background-job metrics']

  app.get(
    '/bgjobs/builds',
    {
      config: read,
      schema: {
        tags,
        summary: 'List builds of all projects',
        description: 'At most 100 running builds, 100 waiting builds, and the 100 newest builds, newest first.',
        response: { 200: Type.Array(WatchedBuild) }
      }
    },
    async () => (await watchedBuilds()).map(viewWatchedBuild)
  )

  app.get(
    '/bgjobs/builds/:id',
    {
      config: read,
      schema: {
        tags,
        summary: 'Get a build of any project',
        description: 'The response includes the end of its trace.',
        params: BuildParams,
        response: { 200: WatchedBuildDetails }
      }
    },
    async ({ params }) => viewWatchedBuildDetails(await watchBuild(params.id))
  )

  app.post(
    '/bgjobs/builds/:id/cancel',
    {
      config: change,
      schema: {
        tags,
        summary: 'Cancel a build of any project',
        description: 'Returns 409 for a build that has ended.',
        params: BuildParams,
        response: { 201: CanceledBuild },
        errors: [409]
      }
    },
    async ({ params, origin }, reply) => {
      const [id] = await cancelBuilds([params.id], origin)
      if (id === undefined) throw new Conflict('Build has ended')
      return reply.code(201).send({ id })
    }
  )

  app.post(
    '/bgjobs/builds/:id/retry',
    {
      config: change,
      schema: {
        tags,
        summary: 'Retry a build of any project',
        description: 'Adds a new build to the pipeline. Returns 403 for a build that has not ended.',
        params: BuildParams,
        response: { 201: RetriedBuild }
      }
    },
    async ({ params: { id }, origin }, reply) => {
      const retried = await retryBuilds([id], origin)
      return reply.code(201).send({ id, retried_as: retried.get(id) ?? id })
    }
  )
}
