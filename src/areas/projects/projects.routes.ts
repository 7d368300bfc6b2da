import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { NotFound } from '../../errors.js'
import { ProjectParams } from '../../lib/schema.js'
import { createProject } from './projects.js'
import { findProject, listProjects, type ProjectScope } from './projects.queries.js'
import { ProjectBody, ProjectListQuery } from './projects.schema.js'
import { Project, viewFor, viewProject } from './projects.view.js'

export const projectRoutes: FastifyPluginAsyncTypebox = async app => {
  const schema = { tags: ['Projects'], querystring: ProjectListQuery, response: { 200: Type.Array(Project) } }

  const list = (path: string, scope: ProjectScope, can: `project.list${'' | '_all' | '_visible'}`, summary: string) =>
    app.get(path, { config: { can }, schema: { ...schema, summary } }, async ({ query, actor }, reply) =>
      reply.page(await listProjects(scope, query, actor), viewFor(actor, query.simple))
    )

  list('/projects', 'member', 'project.list', 'List the projects that you own or are a member of')
  list('/projects/owned', 'owned', 'project.list', 'List the projects that you own')
  list('/projects/all', 'all', 'project.list_all', 'List all projects of the instance')
  list('/projects/visible', 'visible', 'project.list_visible', 'List the projects that you can see')

  app.get(
    '/projects/:id',
    {
      config: { can: 'project.read' },
      schema: { tags: ['Projects'], summary: 'Get a project', params: ProjectParams, response: { 200: Project } }
    },
    async ({ project, actor }) => viewProject(project, actor)
  )

  app.post(
    '/projects',
    {
      config: { can: 'project.create' },
      schema: {
        tags: ['Projects'],
        summary: 'Create a project',
        description: 'With an empty repository. A user who owns as many projects as allowed gets 403.',
        body: ProjectBody,
        response: { 201: Project },
        errors: [403]
      }
    },
    async ({ body, actor, origin }, reply) => {
      const project = await findProject(await createProject(body, origin), actor)
      if (!project) throw new NotFound('Project')
      return reply.code(201).send(viewProject(project, actor))
    }
  )
}
