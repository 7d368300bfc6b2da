import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { type Page, type PageRequest, window } from '../../../db/lists/paginate.js'
import { Type } from '../../../lib/type.js'
import { CommitItem, viewCommitItem } from '../../code/repository/repository.view.js'
import { readIssues } from '../issues/issue-readings.js'
import { Issue, viewIssue } from '../issues/issues.view.js'
import { issuesClosedBy } from './closing.js'
import { requireMergeRequest } from './merge-requests.queries.js'
import { MergeRequestParams, PATHS, PageQuery, VersionParams } from './merge-requests.schema.js'
import { MergeRequestChanges, viewMergeRequestChanges } from './merge-requests.view.js'
import { readMergeRequest } from './readings.js'
import { readChanges, readCommits, readPatches } from './versions/changes.js'
import { latestVersion, listVersions, requireVersion } from './versions/versions.queries.js'
import { Version, VersionDetail, viewVersion, viewVersionDetail } from './versions/versions.view.js'

const TAGS = ['Merge requests']
const CUT = 'the header `X-Gitstead-Truncated: true` says that something was left out'
const LIMITS = `At most 1,000 files, 512 KiB for each and 4 MiB together; ${CUT}.`

const tellCut = (reply: FastifyReply, isCut: boolean) => isCut && reply.header('x-gitstead-truncated', 'true')

/** Returns a page of a short list that is read as a whole. */
function partOf<T>(list: readonly T[], query: PageRequest): Page<T> {
  const { page, perPage } = window(query)
  return { items: list.slice((page - 1) * perPage, page * perPage), total: list.length, page, perPage }
}

export const changeRoutes: FastifyPluginAsyncTypebox = async app => {
  const config = { can: 'merge_request.read' as const }
  for (const { one, deprecated, named } of PATHS) {
    app.get(
      `${one}/commits`,
      {
        config,
        schema: {
          tags: TAGS,
          deprecated,
          ...named('listOldMergeRequestCommits'),
          summary: 'List the commits of a merge request',
          description: `Newest first, at most 1,000; ${CUT}.`,
          params: MergeRequestParams,
          response: { 200: Type.Array(CommitItem) }
        }
      },
      async ({ project, params }, reply) => {
        const { id } = await requireMergeRequest(project.id, params.merge_request_id)
        const { commits, isCut } = await readCommits(project, await latestVersion(id))
        tellCut(reply, isCut)
        return commits.map(viewCommitItem)
      }
    )

    app.get(
      `${one}/changes`,
      {
        config,
        schema: {
          tags: TAGS,
          deprecated,
          ...named('getOldMergeRequestChanges'),
          summary: 'Get a merge request with its changes',
          description: LIMITS,
          params: MergeRequestParams,
          errors: [413],
          response: { 200: MergeRequestChanges }
        }
      },
      async ({ project, params, actor }, reply) => {
        const found = await requireMergeRequest(project.id, params.merge_request_id)
        const [reading, changed] = await Promise.all([
          readMergeRequest(found, actor),
          latestVersion(found.id).then(version => readPatches(project, version))
        ])
        tellCut(reply, changed.isCut)
        return viewMergeRequestChanges(reading, changed.patches)
      }
    )

    app.get(
      `${one}/closes_issues`,
      {
        config,
        schema: {
          tags: TAGS,
          deprecated,
          ...named('listOldMergeRequestIssues'),
          summary: 'List the issues that a merge request closes when it is merged',
          description: 'The first 100 issues that its description and its commits close.',
          params: MergeRequestParams,
          querystring: PageQuery,
          response: { 200: Type.Array(Issue) }
        }
      },
      async ({ project, params, query, actor }, reply) => {
        const found = await requireMergeRequest(project.id, params.merge_request_id)
        const page = partOf(await issuesClosedBy(project, found, actor), query)
        return reply.page({ ...page, items: await readIssues(page.items, actor) }, viewIssue)
      }
    )
  }

  app.get(
    `${PATHS[0].one}/versions`,
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'List the versions of a merge request',
        description: 'Newest first, at most 1,000. Each push to the source branch creates a version.',
        params: MergeRequestParams,
        response: { 200: Type.Array(Version) }
      }
    },
    async ({ project, params }) => {
      const { id } = await requireMergeRequest(project.id, params.merge_request_id)
      return (await listVersions(id)).map(viewVersion)
    }
  )

  app.get(
    `${PATHS[0].one}/versions/:version_id`,
    {
      config,
      schema: {
        tags: TAGS,
        summary: 'Get a version with its commits and changes',
        description: LIMITS,
        params: VersionParams,
        errors: [413],
        response: { 200: VersionDetail }
      }
    },
    async ({ project, params }, reply) => {
      const { id } = await requireMergeRequest(project.id, params.merge_request_id)
      const version = await requireVersion(id, params.version_id)
      const changes = await readChanges(project, version)
      tellCut(reply, changes.isCut)
      return viewVersionDetail(version, changes)
    }
  )
}
