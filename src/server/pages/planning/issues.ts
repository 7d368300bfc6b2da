// The lists of issues, the page of one, and what a visitor does there with one click.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { requireNumberedIssue } from '../../../areas/planning/issues/issues.queries.js'
import { Type } from '../../../lib/type.js'
import { show } from '../page-routes.js'
import { readIssuePage } from './issue-page.js'

const IssueNumber = Type.Object({ iid: Type.Integer() })

export const issuePages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/issues/:iid',
    { config: { can: 'issue.read' }, schema: { params: IssueNumber } },
    async (request, reply) => {
      const issue = await requireNumberedIssue(request.project, request.params.iid, request.actor)
      return show(request, reply, 'planning/issue', await readIssuePage(request, issue))
    }
  )
}
