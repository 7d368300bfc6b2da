import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { GroupParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { updateGroup } from '../../people/groups/groups.js'
import { createGroup } from '../../people/members/group-creation.js'
import { GroupDetail, groupDetail, writtenGroup } from './group-detail.js'
import { GroupBody, GroupChange } from './group-projects.schema.js'
import { sendProjects } from './lists/project-texts.js'
import { pageOfProjects } from './project-list.queries.js'
import { ProjectListQuery } from './projects.schema.js'
import { Project } from './projects.view.js'

const TAGS = ['Groups']
const CUT =
  'At most 500 projects of each kind; the header `X-Gitstead-Truncated: true` says that there are more, which `/groups/:id/projects` lists.'

export const groupProjectRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/groups/:id',
    {
      config: { can: 'group.read' },
      schema: {
        tags: TAGS,
        summary: 'Get a group',
        description: CUT,
        params: GroupParams,
        response: { 200: GroupDetail }
      }
    },
    async ({ group, actor }, reply) => show(await groupDetail(group, actor), reply)
  )

  app.post(
    '/groups',
    {
      config: { can: 'group.create' },
      schema: {
        tags: TAGS,
        summary: 'Create a group',
        description: 'For users who can create groups. You become its owner.',
        body: GroupBody,
        response: { 201: GroupDetail },
        errors: [403]
      }
    },
    async ({ body, actor, origin }, reply) => {
      const { answer } = await writtenGroup(await createGroup(body, origin), actor)
      return reply.code(201).send(answer)
    }
  )

  app.put(
    '/groups/:id',
    {
      config: { can: 'group.administer' },
      schema: {
        tags: TAGS,
        summary: 'Change a group',
        description: `A new path moves its projects. ${CUT}`,
        params: GroupParams,
        body: GroupChange,
        response: { 200: GroupDetail }
      }
    },
    async ({ group, body, actor, origin }, reply) => {
      await updateGroup(group.id, body, origin)
      return show(await writtenGroup(group.id, actor), reply)
    }
  )

  app.get(
    '/groups/:id/projects',
    {
      config: { can: 'group.read' },
      schema: {
        tags: TAGS,
        summary: 'List the projects of a group',
        params: GroupParams,
        querystring: ProjectListQuery,
        response: { 200: Type.Array(Project) }
      }
    },
    async ({ group, query, actor }, reply) =>
      sendProjects(reply, await pageOfProjects({ group: group.id }, query, actor), actor, query)
  )
}

function show({ answer, cut }: Awaited<ReturnType<typeof groupDetail>>, reply: FastifyReply) {
  if (cut) reply.header('x-gitstead-truncated', 'true')
  return answer
}
