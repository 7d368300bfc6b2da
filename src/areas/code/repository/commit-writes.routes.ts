import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { readCommitOf } from './contents.js'
import { fileBodyLimit } from './file-limit.js'
import { CommitDetail, CommitItem, viewCommitDetail, viewCommitItem } from './repository.view.js'
import { cherryPick } from './writing/cherry-pick.js'
import { commitActions } from './writing/commit-actions.js'
import { CommitBody, PickBody, PickParams } from './writing/commits.schema.js'

const TAGS = ['Repository']

export const commitWriteRoutes: FastifyPluginAsyncTypebox = async app => {
  const write = { can: 'commit.write' as const }

  app.post(
    '/projects/:id/repository/commits',
    {
      config: write,
      bodyLimit: fileBodyLimit(),
      schema: {
        tags: TAGS,
        summary: 'Create a commit with several actions',
        description: 'Performs all actions or none.',
        params: ProjectParams,
        body: CommitBody,
        response: { 201: CommitDetail }
      }
    },
    async ({ project, body, origin }, reply) => {
      const { commit, stats } = await readCommitOf(project, await commitActions(project, body, origin))
      return reply.code(201).send(viewCommitDetail(commit, stats, null))
    }
  )

  app.post(
    '/projects/:id/repository/commits/:sha/cherry_pick',
    {
      config: write,
      schema: {
        tags: TAGS,
        summary: 'Cherry-pick a commit to a branch',
        params: PickParams,
        body: PickBody,
        response: { 201: CommitItem }
      }
    },
    async ({ project, params, body, origin }, reply) =>
      reply.code(201).send(viewCommitItem(await cherryPick(project, params.sha, body.branch, origin)))
  )
}
