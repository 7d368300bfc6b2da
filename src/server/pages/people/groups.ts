// The pages of groups, and the form for a new one.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { levelInGroup } from '../../../access/authorize.js'
import { findGroup, listGroups } from '../../../areas/people/groups/groups.queries.js'
import { GroupListQuery } from '../../../areas/people/groups/groups.schema.js'
import { createGroup } from '../../../areas/people/members/group-creation.js'
import { GroupBody } from '../../../areas/projects/projects/group-projects.schema.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { ProjectListQuery } from '../../../areas/projects/projects/projects.schema.js'
import { OWNER, visibilityName } from '../../../lib/levels.js'
import { pathOfName } from '../../../lib/path.js'
import { GroupParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'
import { type Refusals, refusalsOf } from '../refusals.js'

const { name, path: groupPath, description, visibility_level } = GroupBody.properties
const NewGroup = Type.Object({ name, path: Type.Optional(groupPath), description, visibility_level })

export const groupPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/dashboard/groups',
    { config: { can: 'group.list' }, schema: { querystring: GroupListQuery } },
    async (request, reply) => {
      const groups = await listGroups('member', request.query, request.actor)
      return show(request, reply, 'people/groups', { title: 'Your groups', groups, query: request.query })
    }
  )

  const create = { can: 'group.create' as const }
  app.get('/groups/new', { config: create }, (request, reply) => showForm(request, reply, {}))

  app.post('/groups', { config: create, schema: { body: NewGroup } }, async (request, reply) => {
    const { name, path: given = pathOfName(name), ...rest } = request.body
    try {
      const id = await createGroup({ name, path: given, ...rest }, request.origin)
      const group = await findGroup(id, request.actor)
      return reply.redirect(path('groups', group?.path ?? given), 303)
    } catch (error) {
      return showForm(request, reply.code(400), request.body, refusalsOf(error))
    }
  })

  app.get(
    '/groups/:id',
    { config: { can: 'group.read' }, schema: { params: GroupParams, querystring: ProjectListQuery } },
    async (request, reply) => {
      const { group, query, actor } = request
      const projects = await listProjects({ group: group.id }, query, actor)
      return show(request, reply, 'people/group', {
        title: group.name,
        group,
        projects,
        query,
        visibility: visibilityName(group.visibility_level),
        mayCreate: levelInGroup(group, actor) >= OWNER
      })
    }
  )
}

const showForm = (request: FastifyRequest, reply: FastifyReply, entered: object, refusals?: Refusals) =>
  show(request, reply, 'people/new-group', { title: 'New group', entered, refusals })
