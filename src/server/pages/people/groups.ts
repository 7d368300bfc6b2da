// The pages of groups: their projects and members.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { levelInGroup } from '../../../access/authorize.js'
import { listGroups } from '../../../areas/people/groups/groups.queries.js'
import { GroupListQuery } from '../../../areas/people/groups/groups.schema.js'
import { listMembers } from '../../../areas/people/members/members.queries.js'
import { MemberListQuery } from '../../../areas/people/members/members.schema.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import { sourceOfGroup } from '../../../areas/people/members/sources.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { ProjectListQuery } from '../../../areas/projects/projects/projects.schema.js'
import { levelName, OWNER, visibilityName } from '../../../lib/levels.js'
import { GroupParams } from '../../../lib/schema.js'
import { show } from '../page-routes.js'

export const groupPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/dashboard/groups',
    { config: { can: 'group.list' }, schema: { querystring: GroupListQuery } },
    async (request, reply) => {
      const groups = await listGroups('member', request.query, request.actor)
      return show(request, reply, 'people/groups', { title: 'Your groups', groups, query: request.query })
    }
  )

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

  app.get(
    '/groups/:id/group_members',
    { config: { can: 'group_member.read' }, schema: { params: GroupParams, querystring: MemberListQuery } },
    async (request, reply) => {
      const page = await listMembers(sourceOfGroup(request.group), request.query)
      const members = page.items.map(member => ({ ...viewMember(member), level: levelName(member.access_level) }))
      return show(request, reply, 'people/members', { title: 'Members', members, page, query: request.query })
    }
  )
}
