// The home page, and the lists of projects.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { applicationSettings } from '../../../areas/ground/settings/settings.queries.js'
import { listProjects, type ProjectScope } from '../../../areas/projects/projects/project-list.queries.js'
import { ProjectListQuery } from '../../../areas/projects/projects/projects.schema.js'
import { show } from '../page-routes.js'

const OPEN = { public: true as const }

export const explorePages: FastifyPluginAsyncTypebox = async app => {
  app.get('/', { config: OPEN }, async (request, reply) => {
    if (request.actor.user) return reply.redirect('/dashboard/projects')
    const { home_page_url: home } = await applicationSettings()
    return home ? reply.redirect(home) : showProjects(request, reply, 'visible', 'Public projects', {})
  })

  app.get(
    '/explore',
    { config: { can: 'project.list_visible' }, schema: { querystring: ProjectListQuery } },
    (request, reply) =>
      showProjects(
        request,
        reply,
        'visible',
        request.actor.user ? 'Projects that you can see' : 'Public projects',
        request.query
      )
  )

  app.get(
    '/dashboard/projects',
    { config: { can: 'project.list' }, schema: { querystring: ProjectListQuery } },
    (request, reply) => showProjects(request, reply, 'member', 'Your projects', request.query)
  )
}

async function showProjects(
  request: FastifyRequest,
  reply: FastifyReply,
  scope: ProjectScope,
  title: string,
  query: ProjectListQuery
): Promise<FastifyReply> {
  const projects = await listProjects(scope, query, request.actor)
  return show(request, reply, 'people/projects', { title, projects, query })
}
