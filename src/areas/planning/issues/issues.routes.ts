import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Actor, askerOf } from '../../../access/actor.js'
import { ProjectParams } from '../../../lib/schema.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { changeSubscription } from '../participation/subscriptions.js'
import { createIssue } from './creation.js'
import { readIssue } from './issue-readings.js'
import { deleteIssue, updateIssue } from './issues.js'
import { type IssueRow, requireIssue, requireShownIssue } from './issues.queries.js'
import { IssueBody, IssueChange, IssueParams, MoveBody } from './issues.schema.js'
import { Issue, viewIssue } from './issues.view.js'
import { moveIssue } from './move.js'

interface Asked {
  readonly project: ProjectRow
  readonly actor: Actor
}

const show = async ({ actor }: Pick<Asked, 'actor'>, issue: IssueRow) => viewIssue(await readIssue(issue, actor))

async function subscribe({ project, actor }: Asked, id: number, subscribed: boolean) {
  const issue = await requireIssue(project, id, actor)
  await changeSubscription('Issue', issue, askerOf(actor).id, subscribed)
  return viewIssue(await readIssue(issue, actor))
}

export const issueRoutes: FastifyPluginAsyncTypebox = async app => {
  const tags = ['Issues']
  const one = { tags, params: IssueParams, response: { 200: Issue } }

  app.get(
    '/projects/:id/issues/:issue_id',
    { config: { can: 'issue.read', kept: true }, schema: { ...one, summary: 'Get an issue' } },
    async req => show(req, await requireShownIssue(req.project, req.params.issue_id, req.actor))
  )

  app.post(
    '/projects/:id/issues',
    {
      config: { can: 'issue.create' },
      schema: {
        tags,
        summary: 'Create an issue',
        description: 'Ignores values that only reporters may set when other users send them.',
        params: ProjectParams,
        body: IssueBody,
        response: { 201: Issue }
      }
    },
    async (req, reply) => reply.code(201).send(await show(req, await createIssue(req.project, req.body, req.actor)))
  )

  app.put(
    '/projects/:id/issues/:issue_id',
    {
      config: { can: 'issue.write' },
      schema: {
        ...one,
        summary: 'Change, close or reopen an issue',
        description:
          'For its author, its assignee and reporters. Ignores values that only reporters may set when other users send them.',
        body: IssueChange
      }
    },
    async req => show(req, await updateIssue(req.project, req.params.issue_id, req.body, req.actor))
  )

  app.delete(
    '/projects/:id/issues/:issue_id',
    {
      config: { can: 'issue.write' },
      schema: { ...one, summary: 'Delete an issue', description: 'For owners of the project.' }
    },
    async req => {
      const issue = await requireIssue(req.project, req.params.issue_id, req.actor, 'Issue')
      const shown = await show(req, issue)
      await deleteIssue(req.project, issue, req.actor)
      return shown
    }
  )

  app.post(
    '/projects/:id/issues/:issue_id/move',
    {
      config: { can: 'issue.write' },
      schema: {
        ...one,
        summary: 'Move an issue to another project',
        description: 'For reporters of both projects. Returns the new issue.',
        body: MoveBody,
        response: { 201: Issue }
      }
    },
    async (req, reply) => {
      const moved = await moveIssue(req.project, req.params.issue_id, req.body.to_project_id, req.actor)
      return reply.code(201).send(await show(req, moved))
    }
  )

  app.post(
    '/projects/:id/issues/:issue_id/subscription',
    {
      config: { can: 'issue.read' },
      schema: { ...one, summary: 'Subscribe to an issue', response: { 201: Issue }, errors: [304] }
    },
    async (req, reply) => reply.code(201).send(await subscribe(req, req.params.issue_id, true))
  )

  app.delete(
    '/projects/:id/issues/:issue_id/subscription',
    { config: { can: 'issue.read' }, schema: { ...one, summary: 'End the subscription to an issue', errors: [304] } },
    async req => subscribe(req, req.params.issue_id, false)
  )
}
