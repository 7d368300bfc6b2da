import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { cancelBuildOf, eraseBuild, keepArtifacts, playBuild, retryBuildOf } from './build-actions.js'
import { readBuild } from './build-readings.js'
import { BuildParams } from './builds.schema.js'
import { Build, viewBuild } from './builds.view.js'

export const buildActionRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'build.write' as const }
  const tags = ['Builds']
  const made = { tags, params: BuildParams, response: { 201: Build } }
  const changed = { tags, params: BuildParams, response: { 200: Build } }

  app.post(
    '/projects/:id/builds/:build_id/cancel',
    {
      config,
      schema: { ...made, summary: 'Cancel a build', description: 'Does not change a build that has ended.' }
    },
    async ({ project, params, origin }, reply) => {
      const id = await cancelBuildOf(project, params.build_id, origin)
      return reply.code(201).send(viewBuild(await readBuild(project, id)))
    }
  )

  app.post(
    '/projects/:id/builds/:build_id/retry',
    {
      config,
      schema: {
        ...made,
        summary: 'Retry a build',
        description: 'Creates a new build with the same script and returns it. The old build stays.'
      }
    },
    async ({ project, params, origin }, reply) => {
      const id = await retryBuildOf(project, params.build_id, origin)
      return reply.code(201).send(viewBuild(await readBuild(project, id)))
    }
  )

  app.post(
    '/projects/:id/builds/:build_id/erase',
    { config, schema: { ...made, summary: 'Erase a build', description: 'Removes its trace and its artifacts.' } },
    async ({ project, params, origin }, reply) => {
      const id = await eraseBuild(project, params.build_id, origin)
      return reply.code(201).send(viewBuild(await readBuild(project, id)))
    }
  )

  app.post(
    '/projects/:id/builds/:build_id/artifacts/keep',
    {
      config,
      schema: { ...changed, summary: 'Keep the artifacts of a build', description: 'They no longer expire.' }
    },
    async ({ project, params }) => viewBuild(await readBuild(project, await keepArtifacts(project, params.build_id)))
  )

  app.post(
    '/projects/:id/builds/:build_id/play',
    { config, schema: { ...changed, summary: 'Start a manual build' } },
    async ({ project, params, origin }) =>
      viewBuild(await readBuild(project, await playBuild(project, params.build_id, origin)))
  )
}
