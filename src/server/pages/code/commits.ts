// Pages of commits: the history of a branch or of a file, one commit, and what two commits differ in.
import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { may } from '../../../access/authorize.js'
import { findRefPath } from '../../../areas/code/browsing/ref-paths.js'
import { openDiff } from '../../../areas/code/browsing/whole-diffs.js'
import { findCommits } from '../../../areas/code/history/commit-list.js'
import { compare, findCompared } from '../../../areas/code/history/compare.js'
import { findCommitOf } from '../../../areas/code/repository/contents.js'
import { cherryPick } from '../../../areas/code/repository/writing/cherry-pick.js'
import { PickBody } from '../../../areas/code/repository/writing/commits.schema.js'
import { repositoryPath } from '../../../areas/projects/projects/repositories.js'
import { NotFound } from '../../../errors.js'
import { Type } from '../../../lib/type.js'
import { visible } from '../../../lib/visible.js'
import { inPath } from '../components.js'
import { show } from '../page-routes.js'
import { projectPath } from '../place.js'
import { refusalsOf } from '../refusals.js'
import { readCommitPage } from './commit-page.js'
import { readStates } from './commit-states.js'
import { DiffQuery, diffPart } from './diff.js'
import { codePath, codePlace, otherRefs, restOf } from './places.js'

/** Plain text in a sandbox, like the content of files. */
const sendDiff = (reply: FastifyReply, stream: Readable) =>
  reply
    .type('text/plain; charset=utf-8')
    .headers({ 'cache-control': 'private, no-cache', 'content-security-policy': "default-src 'none'; sandbox" })
    .send(stream)

/** Commits of one page. */
const PER_PAGE = 40
/** Commits that a comparison lists. */
const MOST_COMPARED = 100

const ListQuery = Type.Object({ page: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })) })
const DiffParameters = Type.Object(DiffQuery)
/** `page` is that of the comments. */
const CommitQuery = Type.Object({
  ...DiffQuery,
  page: ListQuery.properties.page,
  note: Type.Optional(Type.String({ maxLength: 64 }))
})
const CompareForm = Type.Object({
  from: Type.Optional(Type.String({ maxLength: 255 })),
  to: Type.Optional(Type.String({ maxLength: 255 }))
})

export const commitPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/:namespace/:project/commits/*',
    { config: { can: 'commit.read' }, schema: { querystring: ListQuery } },
    async (request, reply) => {
      const { project, query, actor } = request
      if (project.default_branch === null) return show(request, reply, 'code/empty', { title: 'No commits yet' })
      const found = await findRefPath(project, restOf(request))
      const page = query.page ?? 1
      const asked = { ref_name: found.commitId, path: found.path, page: page - 1, per_page: PER_PAGE }
      const commits = await (await findCommits(project, asked)).read()
      const title = found.path === '' ? 'Commits' : `History of ${visible(found.path)}`
      const isLast = commits.length < PER_PAGE
      const code = codePlace(request, found)
      const [refs, stateOf] = await Promise.all([
        otherRefs(request, code),
        readStates(
          project,
          actor,
          commits.map(({ id }) => id)
        )
      ])
      return show(request, reply, 'code/commits', {
        title,
        code,
        commits,
        stateOf,
        page,
        isLast,
        refs,
        part: 'commits'
      })
    }
  )

  app.get('/:namespace/:project/commits', { config: { can: 'commit.read' } }, async ({ project }, reply) =>
    reply.redirect(codePath(projectPath(project), 'commits', project.default_branch ?? 'master'))
  )

  app.get(
    '/:namespace/:project/commit/:sha',
    { config: { can: 'commit.read' }, schema: { querystring: CommitQuery } },
    async (request, reply) => {
      const { project, query, actor } = request
      const { sha } = request.params as { sha: string }
      const [, name = sha, format] = /^([0-9a-f]{4,40})\.(diff|patch)$/i.exec(sha) ?? []
      const id = await findCommitOf(project, name)
      if (format) return sendDiff(reply, await openDiff(project, id, format === 'patch' ? format : 'diff', actor))
      return show(request, reply, 'code/commit', await readCommitPage(request, id, query))
    }
  )

  app.post(
    '/:namespace/:project/commit/:sha/cherry_pick',
    { config: { can: 'commit.write' }, schema: { body: PickBody } },
    async (request, reply) => {
      const { project, body, origin } = request
      const id = await findCommitOf(project, (request.params as { sha: string }).sha)
      try {
        const made = await cherryPick(project, id, body.branch, origin)
        return reply.redirect(`${projectPath(project)}/commit/${made.id}`, 303)
      } catch (error) {
        const pick = error instanceof NotFound ? { branch: 'there is no such branch' } : refusalsOf(error)
        return show(request, reply.code(400), 'code/commit', {
          ...(await readCommitPage(request, id, {})),
          pick: { branch: body.branch, refused: Object.values(pick).join(', ') }
        })
      }
    }
  )

  app.get(
    '/:namespace/:project/compare',
    { config: { can: 'repository.read' }, schema: { querystring: CompareForm } },
    async (request, reply) => {
      const { project, query } = request
      const base = projectPath(project)
      const { from = project.default_branch ?? '', to } = query
      if (from && to) return reply.redirect(`${base}/compare/${inPath(from)}...${inPath(to)}`)
      return show(request, reply, 'code/compare', { title: 'Compare', base, from, to: to ?? '', result: null })
    }
  )

  app.get(
    '/:namespace/:project/compare/*',
    { config: { can: 'repository.read' }, schema: { querystring: DiffParameters } },
    async (request, reply) => {
      const { project, query, actor } = request
      const base = projectPath(project)
      // No name of a ref contains two dots in a row.
      const [, from = '', to = ''] = /^(.*?)\.\.\.?(.*)$/s.exec(restOf(request)) ?? []
      const ids = await findCompared(project, { from, to }).catch(error => {
        if (error instanceof NotFound) return null
        throw error
      })
      if (!ids) {
        const problem = 'One of these is not the name of a branch or a tag, and not the id of a commit.'
        return show(request, reply.code(404), 'code/compare', {
          title: 'Compare',
          problem,
          base,
          from,
          to,
          result: null
        })
      }
      const result = await compare(project, ids)
      const diff = await diffPart(result, query, {
        repository: repositoryPath(project),
        page: `${base}/compare/${inPath(from)}...${inPath(to)}?`,
        fileAt: ({ path, oldPath }, side) =>
          codePath(base, 'blob', side === 'new' ? ids.to : ids.from, side === 'new' ? path : oldPath)
      })
      const commits = result.commits.slice(-MOST_COMPARED).reverse()
      const stateOf = await readStates(
        project,
        actor,
        commits.map(({ id }) => id)
      )
      const title = `Compare ${visible(from)} with ${visible(to)}`
      const mayPropose = may(actor, 'merge_request.create', project)
      return show(request, reply, 'code/compare', { title, base, from, to, result, commits, stateOf, diff, mayPropose })
    }
  )
}
