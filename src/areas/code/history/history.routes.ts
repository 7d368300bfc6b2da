import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ProjectParams } from '../../../lib/schema.js'
import { Type } from '../../../lib/type.js'
import { findCommitOf } from '../repository/contents.js'
import { CommitItem, viewCommitItem } from '../repository/repository.view.js'
import { readDiff } from './commit-diff.js'
import { findCommits } from './commit-list.js'
import { compare, findCompared } from './compare.js'
import { findTip, readContributors } from './contributors.js'
import { CommitListQuery, CommitParams, CompareQuery } from './history.schema.js'
import { Compare, Contributor, DiffEntry, viewCompare, viewContributor, viewDiffEntry } from './history.view.js'

const TAGS = ['Repository']
const CUT = 'the header `X-Gitstead-Truncated: true` says that something is omitted'

export const historyRoutes: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/projects/:id/repository/commits',
    {
      config: { can: 'commit.read' },
      schema: {
        tags: TAGS,
        summary: 'List the commits of a branch',
        description: 'Newest first. Pages count from 0, and there are no headers for pages.',
        params: ProjectParams,
        querystring: CommitListQuery,
        errors: [304],
        response: { 200: Type.Array(CommitItem) }
      }
    },
    async ({ project, query }, reply) => {
      const { tip, read } = await findCommits(project, query)
      if (tip !== null && reply.isKnown(tip)) return reply
      return (await read()).map(viewCommitItem)
    }
  )

  app.get(
    '/projects/:id/repository/commits/:sha/diff',
    {
      config: { can: 'commit.read' },
      schema: {
        tags: TAGS,
        summary: 'Get the changes of a commit',
        description: `Compared with its first parent: at most 1,000 files, 512 KiB for each and 4 MiB together; ${CUT}.`,
        params: CommitParams,
        errors: [304, 413],
        response: { 200: Type.Array(DiffEntry) }
      }
    },
    async ({ project, params }, reply) => {
      const id = await findCommitOf(project, params.sha)
      if (reply.isKnown(id)) return reply
      const { patches, isCut } = await readDiff(project, id)
      if (isCut) reply.header('x-gitstead-truncated', 'true')
      return patches.map(viewDiffEntry)
    }
  )

  app.get(
    '/projects/:id/repository/compare',
    {
      config: { can: 'repository.read' },
      schema: {
        tags: TAGS,
        summary: 'Compare two commits, branches or tags',
        description:
          'At most the newest 1,000 commits, 1,000 files, 512 KiB for each and 4 MiB together; `compare_timeout` is true when something is omitted.',
        params: ProjectParams,
        querystring: CompareQuery,
        errors: [304, 413],
        response: { 200: Compare }
      }
    },
    async ({ project, query }, reply) => {
      const found = await findCompared(project, query)
      if (reply.isKnown(`${found.from}-${found.to}`)) return reply
      return viewCompare(await compare(project, found))
    }
  )

  app.get(
    '/projects/:id/repository/contributors',
    {
      config: { can: 'repository.read' },
      schema: {
        tags: TAGS,
        summary: 'List the contributors to the default branch',
        description: `Grouped by the addresses in the commits, without merges; contributors with the most commits first, at most 10,000; ${CUT}.`,
        params: ProjectParams,
        errors: [304],
        response: { 200: Type.Array(Contributor) }
      }
    },
    async ({ project }, reply) => {
      const tip = await findTip(project)
      if (tip === null) return []
      if (reply.isKnown(tip)) return reply
      const { people, isCut } = await readContributors(project, tip)
      if (isCut) reply.header('x-gitstead-truncated', 'true')
      return people.map(viewContributor)
    }
  )
}
