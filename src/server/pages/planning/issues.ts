// The lists of issues, the page of one, and what a visitor does there with one click.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { ActionOn } from '../../../access/abilities.js'
import { type Actor, askerOf } from '../../../access/actor.js'
import { may } from '../../../access/authorize.js'
import { listGroupIssues } from '../../../areas/planning/issues/group-issues.queries.js'
import { listProjectIssues } from '../../../areas/planning/issues/issue-list.queries.js'
import { readIssues } from '../../../areas/planning/issues/issue-readings.js'
import { type IssueTabs, withTabs } from '../../../areas/planning/issues/issue-tabs.js'
import { updateIssue } from '../../../areas/planning/issues/issues.js'
import { type ListedIssueRow, requireNumberedIssue } from '../../../areas/planning/issues/issues.queries.js'
import { GroupIssueQuery, IssueSearch, OwnIssueSearch } from '../../../areas/planning/issues/issues.schema.js'
import { listOwnIssues } from '../../../areas/planning/issues/own-issues.queries.js'
import { labelsIn } from '../../../areas/planning/labels/labels.queries.js'
import { changeSubscription } from '../../../areas/planning/participation/subscriptions.js'
import { finishTodosOn, markTodo } from '../../../areas/reach/todos/todos.js'
import { GroupParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { keptReading } from '../../plugins/kept-readings.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { issuePath, readIssuePage } from './issue-page.js'
import { unlessDone } from './once.js'

const IssueNumber = Type.Object({ iid: Type.Integer() })

/** What a visitor does with an issue by one click: the action, and the rule of the API. */
const CLICKS: {
  readonly [name: string]: {
    readonly can: ActionOn<'project'>
    readonly run: (request: FastifyRequest, issue: ListedIssueRow) => Promise<unknown>
  }
} = {
  take: {
    can: 'issue.write',
    run: ({ project, actor }, { id }) => updateIssue(project, id, { assignee_id: askerOf(actor).id }, actor)
  },
  subscribe: {
    can: 'issue.read',
    run: ({ actor }, issue) => changeSubscription('Issue', issue, askerOf(actor).id, true)
  },
  unsubscribe: {
    can: 'issue.read',
    run: ({ actor }, issue) => changeSubscription('Issue', issue, askerOf(actor).id, false)
  },
  todo: { can: 'issue.read', run: ({ actor }, issue) => markTodo(todoOf(issue), askerOf(actor).id) },
  done: { can: 'issue.read', run: ({ actor }, issue) => finishTodosOn(todoOf(issue), askerOf(actor).id) }
}

const todoOf = ({ id, project_id: projectId }: ListedIssueRow) => ({ type: 'Issue', id, projectId }) as const

export const issuePages: FastifyPluginAsyncTypebox = async app => {
  const all = '/:namespace/:project/issues'

  app.get(all, { config: { can: 'issue.list' }, schema: { querystring: IssueSearch } }, async (request, reply) => {
    const { project, query, actor } = request
    const { list, labels } = await keptReading(request, async () => {
      const list = await read(await withTabs(query, each => listProjectIssues(project, each, actor)), actor)
      return { list, labels: await labelsIn(project, list) }
    })
    return show(request, reply, 'planning/issues', {
      title: 'Issues',
      list,
      labels: new Map(labels),
      base: `${projectPath(project)}/issues`,
      query,
      mayCreate: may(actor, 'issue.create', project)
    })
  })

  app.get(
    '/groups/:id/issues',
    { config: { can: 'group.read' }, schema: { params: GroupParams, querystring: GroupIssueQuery } },
    async (request, reply) => {
      const { group, query, actor } = request
      const list = await read(await withTabs(query, each => listGroupIssues(group.id, each, actor)), actor)
      return show(request, reply, 'planning/group-issues', { title: 'Issues', list, query })
    }
  )

  app.get(
    '/dashboard/issues',
    { config: { can: 'issue.list_own' }, schema: { querystring: OwnIssueSearch } },
    async (request, reply) => {
      const { query, actor } = request
      const list = await read(await withTabs(query, each => listOwnIssues(each, actor)), actor)
      return show(request, reply, 'planning/own-issues', { title: 'Your issues', list, query })
    }
  )

  app.get(`${all}/:iid`, { config: { can: 'issue.read' }, schema: { params: IssueNumber } }, async (request, reply) =>
    show(request, reply, 'planning/issue', await readIssuePage(request, request.params.iid))
  )

  for (const [name, { can, run }] of Object.entries(CLICKS)) {
    app.post(`${all}/:iid/${name}`, { config: { can }, schema: { params: IssueNumber } }, async (request, reply) => {
      const issue = await requireNumberedIssue(request.project, request.params.iid, request.actor)
      await unlessDone(run(request, issue))
      return reply.redirect(issuePath(request.project, issue.iid), 303)
    })
  }
}

const read = async (list: IssueTabs, actor: Actor) => ({ ...list, items: await readIssues(list.items, actor) })
