import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Actor } from '../../../access/actor.js'
import type { Page } from '../../../db/lists/paginate.js'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { requireMilestone } from '../milestones/milestones.queries.js'
import { listGroupIssues } from './group-issues.queries.js'
import { listMilestoneIssues, listProjectIssues } from './issue-list.queries.js'
import { readIssues } from './issue-readings.js'
import type { ListedIssueRow } from './issues.queries.js'
import {
  GroupIssueParams,
  GroupIssueQuery,
  IssueListQuery,
  MilestoneIssueParams,
  MilestoneIssueQuery,
  OwnIssueQuery
} from './issues.schema.js'
import { Issue, viewIssue } from './issues.view.js'
import { listOwnIssues } from './own-issues.queries.js'

async function show(page: Page<ListedIssueRow>, actor: Actor, reply: FastifyReply) {
  return reply.page({ ...page, items: await readIssues(page.items, actor) }, viewIssue)
}

export const issueListRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Issues']
  const response = { 200: Type.Array(Issue) }

  app.get(
    '/issues',
    {
      config: { can: 'issue.list_own' },
      schema: {
        tags,
        summary: 'List the issues that you created',
        description: 'In all projects that you can see.',
        querystring: OwnIssueQuery,
        response
      }
    },
    async ({ query, actor }, reply) => show(await listOwnIssues(query, actor), actor, reply)
  )

  app.get(
    '/groups/:id/issues',
    {
      config: { can: 'group.read' },
      schema: {
        tags,
        summary: 'List the issues of the projects of a group',
        description: 'In the projects that you can see. Open issues by default.',
        params: GroupIssueParams,
        querystring: GroupIssueQuery,
        response
      }
    },
    async ({ group, query, actor }, reply) => show(await listGroupIssues(group.id, query, actor), actor, reply)
  )

  app.get(
    '/projects/:id/issues',
    {
      config: { can: 'issue.list', kept: true },
      schema: {
        tags,
        summary: 'List the issues of a project',
        params: ProjectParams,
        querystring: IssueListQuery,
        response
      }
    },
    async ({ project, query, actor }, reply) => show(await listProjectIssues(project, query, actor), actor, reply)
  )

  app.get(
    '/projects/:id/milestones/:milestone_id/issues',
    {
      config: { can: 'milestone.read' },
      schema: {
        tags: ['Milestones'],
        summary: 'List the issues of a milestone',
        params: MilestoneIssueParams,
        querystring: MilestoneIssueQuery,
        response
      }
    },
    async ({ project, params, query, actor }, reply) => {
      const { id } = await requireMilestone(project.id, params.milestone_id)
      return show(await listMilestoneIssues(project, id, query, actor), actor, reply)
    }
  )
}
