import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { readProjects } from '../../projects/projects/project-readings.js'
import type { ShownProjectRow } from '../../projects/projects/projects.queries.js'
import { createEnvironment, deleteEnvironment, updateEnvironment } from './environments.js'
import { type EnvironmentRow, listEnvironments } from './environments.queries.js'
import { EnvironmentBody, EnvironmentChange, EnvironmentListQuery, EnvironmentParams } from './environments.schema.js'
import { Environment, viewEnvironmentFor } from './environments.view.js'
import { stopEnvironment } from './stop.js'

interface ProjectRequest {
  readonly shownProject: ShownProjectRow
  readonly actor: Actor
}

const viewFor = async ({ shownProject, actor }: ProjectRequest) =>
  viewEnvironmentFor(shownProject, actor, await readProjects([shownProject], actor, { withoutPermissions: true }))

const view = async (request: ProjectRequest, row: EnvironmentRow) => (await viewFor(request))(row)

export const environmentRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Environments']
  const one = { tags, params: EnvironmentParams, response: { 200: Environment } }

  app.get(
    '/projects/:id/environments',
    {
      config: { can: 'environment.read', showsProject: true },
      schema: {
        tags,
        summary: 'List the environments of a project',
        params: ProjectParams,
        querystring: EnvironmentListQuery,
        response: { 200: Type.Array(Environment) }
      }
    },
    async (req, reply) => reply.page(await listEnvironments(req.project.id, req.query), await viewFor(req))
  )

  app.post(
    '/projects/:id/environments',
    {
      config: { can: 'environment.create', showsProject: true },
      schema: {
        tags,
        summary: 'Create an environment',
        params: ProjectParams,
        body: EnvironmentBody,
        response: { 201: Environment }
      }
    },
    async (req, reply) =>
      reply.code(201).send(await view(req, await createEnvironment(req.project, req.body, req.origin)))
  )

  app.put(
    '/projects/:id/environments/:environment_id',
    {
      config: { can: 'environment.administer', showsProject: true },
      schema: { ...one, summary: 'Change an environment', body: EnvironmentChange }
    },
    async req => view(req, await updateEnvironment(req.project, req.params.environment_id, req.body, req.origin))
  )

  app.post(
    '/projects/:id/environments/:environment_id/stop',
    {
      config: { can: 'environment.stop', showsProject: true },
      schema: {
        ...one,
        summary: 'Stop an environment',
        description: 'Starts the `on_stop` job of its last deployment if that is a manual job.'
      }
    },
    async req => view(req, await stopEnvironment(req.project, req.params.environment_id, req.origin))
  )

  app.delete(
    '/projects/:id/environments/:environment_id',
    {
      config: { can: 'environment.administer', showsProject: true },
      schema: { ...one, summary: 'Delete an environment', description: 'Also deletes its deployments.' }
    },
    async req => view(req, await deleteEnvironment(req.project, req.params.environment_id, req.origin))
  )
}
