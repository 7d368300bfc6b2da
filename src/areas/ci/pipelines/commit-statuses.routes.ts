import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findCommitOf } from '../../code/repository/contents.js'
import { postCommitStatus } from './statuses/commit-statuses.js'
import { listCommitStatuses } from './statuses/commit-statuses.queries.js'
import { StatusBody, StatusListQuery, StatusParams } from './statuses/commit-statuses.schema.js'
import { CommitStatus, viewCommitStatus } from './statuses/commit-statuses.view.js'

const TAGS = ['Commit statuses']

export const commitStatusRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/repository/commits/:sha/statuses',
    {
      config: { can: 'commit.read' },
      schema: {
        tags: TAGS,
        summary: 'List the statuses of a commit',
        description: 'Includes the statuses of its builds, oldest first. Needs the full id.',
        params: StatusParams,
        querystring: StatusListQuery,
        response: { 200: Type.Array(CommitStatus) }
      }
    },
    async ({ project, params, query }, reply) => {
      await findCommitOf(project, params.sha)
      return reply.page(await listCommitStatuses(project.id, params.sha.toLowerCase(), query), viewCommitStatus)
    }
  )

  app.post(
    '/projects/:id/statuses/:sha',
    {
      config: { can: 'status.write' },
      schema: {
        tags: TAGS,
        summary: 'Post the status of a commit',
        description: 'The status counts in the pipeline of the commit, like a build of a last stage `external`.',
        params: StatusParams,
        body: StatusBody,
        response: { 201: CommitStatus }
      }
    },
    async ({ project, params, body, origin }, reply) =>
      reply.code(201).send(viewCommitStatus(await postCommitStatus(project, params.sha, body, origin)))
  )
}
