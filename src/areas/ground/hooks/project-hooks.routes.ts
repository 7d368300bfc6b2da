import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import {
  createProjectHook,
  deleteProjectHook,
  findProjectHook,
  listProjectHooks,
  updateProjectHook
} from './project-hooks.js'
import { ProjectHookBody, ProjectHookListQuery, ProjectHookParams } from './project-hooks.schema.js'
import { ProjectHook, viewProjectHook } from './project-hooks.view.js'

export const projectHookRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'project_hook.administer' as const }
  const tags = ['Project hooks']
  const one = { tags, params: ProjectHookParams, response: { 200: ProjectHook } }

  app.get(
    '/projects/:id/hooks',
    {
      config,
      schema: {
        tags,
        summary: 'List the hooks of a project',
        params: ProjectParams,
        querystring: ProjectHookListQuery,
        response: { 200: Type.Array(ProjectHook) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listProjectHooks(project, query), viewProjectHook)
  )

  app.get(
    '/projects/:id/hooks/:hook_id',
    { config, schema: { ...one, summary: 'Get a hook of a project' } },
    async ({ project, params }) => viewProjectHook(await findProjectHook(project, params.hook_id))
  )

  app.post(
    '/projects/:id/hooks',
    {
      config,
      schema: {
        tags,
        summary: 'Add a hook to a project',
        params: ProjectParams,
        body: ProjectHookBody,
        response: { 201: ProjectHook },
        errors: [422]
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewProjectHook(await createProjectHook(project, body, origin)))
  )

  app.put(
    '/projects/:id/hooks/:hook_id',
    { config, schema: { ...one, summary: 'Change a hook of a project', body: ProjectHookBody, errors: [422] } },
    async ({ project, params, body, origin }) =>
      viewProjectHook(await updateProjectHook(project, params.hook_id, body, origin))
  )

  app.delete(
    '/projects/:id/hooks/:hook_id',
    { config, schema: { ...one, summary: 'Delete a hook of a project' } },
    async ({ project, params, origin }) => viewProjectHook(await deleteProjectHook(project, params.hook_id, origin))
  )
}
