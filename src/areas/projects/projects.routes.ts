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

  const list = (path: string, scope: ProjectScope, can: 'project.list' | 'project.list_all') =>
    app.get(path, { config: { can }, schema }, async ({ query, actor }, reply) =>
      reply.page(await listProjects(scope, query, actor), viewFor(actor, query.simple))
    )

  list('/projects', 'member', 'project.list')
  list('/projects/owned', 'owned', 'project.list')
  list('/projects/all', 'all', 'project.list_all')

  app.get('/projects/visible', { config: { can: 'project.list_visible' }, schema }, async ({ query, actor }, reply) =>
    reply.page(await listProjects('visible', query, actor), viewFor(actor, query.simple))
  )

  app.get(
    '/projects/:id',
    {
      config: { can: 'project.read' },
      schema: { tags: ['Projects'], params: ProjectParams, response: { 200: Project } }
    },
    async ({ project, actor }) => viewProject(project, actor)
  )

  app.post(
    '/projects',
    {
      config: { can: 'project.create' },
      schema: { tags: ['Projects'], body: ProjectBody, response: { 201: Project } }
    },
    async ({ body, actor, origin }, reply) => {
      const project = await findProject(await createProject(body, origin), actor)
      if (!project) throw new NotFound('Project')
      return reply.code(201).send(viewProject(project, actor))
    }
  )
}
