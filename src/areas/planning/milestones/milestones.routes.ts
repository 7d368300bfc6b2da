import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { createMilestone, updateMilestone } from './milestones.js'
import { listMilestones, requireMilestone } from './milestones.queries.js'
import { MilestoneBody, MilestoneChange, MilestoneListQuery, MilestoneParams } from './milestones.schema.js'
import { Milestone, viewMilestone } from './milestones.view.js'

export const milestoneRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Milestones']
  const one = { tags, params: MilestoneParams, response: { 200: Milestone } }

  app.get(
    '/projects/:id/milestones',
    {
      config: { can: 'milestone.read' },
      schema: {
        tags,
        summary: 'List the milestones of a project',
        params: ProjectParams,
        querystring: MilestoneListQuery,
        response: { 200: Type.Array(Milestone) }
      }
    },
    async ({ project, query }, reply) => reply.page(await listMilestones(project.id, query), viewMilestone)
  )

  app.get(
    '/projects/:id/milestones/:milestone_id',
    { config: { can: 'milestone.read' }, schema: { ...one, summary: 'Get a milestone' } },
    async ({ project, params }) => viewMilestone(await requireMilestone(project.id, params.milestone_id))
  )

  app.post(
    '/projects/:id/milestones',
    {
      config: { can: 'milestone.write' },
      schema: {
        tags,
        summary: 'Create a milestone',
        params: ProjectParams,
        body: MilestoneBody,
        response: { 201: Milestone }
      }
    },
    async ({ project, body, origin }, reply) =>
      reply.code(201).send(viewMilestone(await createMilestone(project, body, origin)))
  )

  app.put(
    '/projects/:id/milestones/:milestone_id',
    {
      config: { can: 'milestone.write' },
      schema: { ...one, summary: 'Change, close or activate a milestone', body: MilestoneChange }
    },
    async ({ project, params, body, origin }) =>
      viewMilestone(await updateMilestone(project, params.milestone_id, body, origin))
  )
}
