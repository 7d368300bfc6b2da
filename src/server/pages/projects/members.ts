import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { listMembers } from '../../../areas/people/members/members.queries.js'
import { MemberListQuery } from '../../../areas/people/members/members.schema.js'
import { viewMember } from '../../../areas/people/members/members.view.js'
import { sourceOfProject } from '../../../areas/people/members/sources.js'
import { levelName } from '../../../lib/levels.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'

export const projectMemberPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/project_members',
    { config: { can: 'member.read' }, schema: { querystring: MemberListQuery } },
    async (request, reply) => {
      const { project, query } = request
      const page = await listMembers(sourceOfProject(project), query)
      const members = page.items.map(member => ({ ...viewMember(member), level: levelName(member.access_level) }))
      const group = project.namespace_kind === 'group' ? path('groups', project.namespace_path) : undefined
      return show(request, reply, 'projects/members', { title: 'Members', members, page, query, group })
    }
  )
}
