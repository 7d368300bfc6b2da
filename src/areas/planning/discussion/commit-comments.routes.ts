import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '../../../lib/type.js'
import { findCommitOf } from '../../code/repository/contents.js'
import { createCommitComment } from './comments/commit-comments.js'
import { listCommitComments } from './comments/commit-comments.queries.js'
import { CommentBody, CommentsParams, CommentsQuery, NewCommentParams } from './comments/commit-comments.schema.js'
import { CommitComment, viewCommitComment } from './comments/commit-comments.view.js'

const TAGS = ['Repository']

export const commitCommentRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/repository/commits/:sha/comments',
    {
      config: { can: 'commit.read' },
      schema: {
        tags: TAGS,
        summary: 'List the comments on a commit',
        description: 'Oldest first.',
        params: CommentsParams,
        querystring: CommentsQuery,
        response: { 200: Type.Array(CommitComment) }
      }
    },
    async ({ project, params, query }, reply) => {
      const sha = await findCommitOf(project, params.sha)
      return reply.page(await listCommitComments(project.id, sha, query), viewCommitComment)
    }
  )

  app.post(
    '/projects/:id/repository/commits/:sha/comments',
    {
      config: { can: 'commit.comment' },
      schema: {
        tags: TAGS,
        summary: 'Comment on a commit',
        description: 'A comment on a line that the commit did not change refers to the whole commit.',
        params: NewCommentParams,
        body: CommentBody,
        response: { 201: CommitComment }
      }
    },
    async ({ project, params, body, origin }, reply) =>
      reply.code(201).send(viewCommitComment(await createCommitComment(project, params.sha, body, origin)))
  )
}
