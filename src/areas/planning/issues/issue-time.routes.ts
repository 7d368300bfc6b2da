import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import type { TimeStatsRow } from '../participation/time-tracking.js'
import { DurationBody, TimeStats, viewTimeStats } from '../participation/time-tracking.view.js'
import { estimateIssue, spendTimeOnIssue } from './issue-time.js'
import { requireIssue } from './issues.queries.js'
import { IssueParams } from './issues.schema.js'

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
  readonly params: { readonly issue_id: number }
}

const shown = async (stats: Promise<TimeStatsRow>) => viewTimeStats(await stats)
const estimate = ({ project, actor, params }: Asked, text: string | null) =>
  shown(estimateIssue(project, params.issue_id, text, actor))
const spend = ({ project, actor, params }: Asked, text: string | null) =>
  shown(spendTimeOnIssue(project, params.issue_id, text, actor))

export const issueTimeRoutes: FastifyPluginAsyncTypebox = async app => {
  const one = { tags: ['Issues'], params: IssueParams, response: { 200: TimeStats } }
  const config = { can: 'issue.write' as const }

  app.get(
    '/projects/:id/issues/:issue_id/time_stats',
    { config: { can: 'issue.read' }, schema: { ...one, summary: 'Get the time statistics of an issue' } },
    async ({ project, params, actor }) => viewTimeStats(await requireIssue(project, params.issue_id, actor))
  )

  app.post(
    '/projects/:id/issues/:issue_id/time_estimate',
    { config, schema: { ...one, summary: 'Set the time estimate of an issue', body: DurationBody } },
    async req => estimate(req, req.body.duration)
  )

  app.post(
    '/projects/:id/issues/:issue_id/reset_time_estimate',
    { config, schema: { ...one, summary: 'Remove the time estimate of an issue' } },
    async req => estimate(req, null)
  )

  app.post(
    '/projects/:id/issues/:issue_id/add_spent_time',
    {
      config,
      schema: {
        ...one,
        summary: 'Log time spent on an issue',
        description: 'A leading `-` subtracts the time.',
        body: DurationBody,
        response: { 201: TimeStats }
      }
    },
    async (req, reply) => reply.code(201).send(await spend(req, req.body.duration))
  )

  app.post(
    '/projects/:id/issues/:issue_id/reset_spent_time',
    { config, schema: { ...one, summary: 'Remove all time spent on an issue' } },
    async req => spend(req, null)
  )
}
