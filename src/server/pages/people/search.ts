// Searches projects, issues, merge requests and users. The code of one project has its own search.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { listUsersInShort } from '../../../areas/people/users/users.queries.js'
import { viewUserBasic } from '../../../areas/people/users/users.record.js'
import { findIssuesByText } from '../../../areas/planning/issues/issue-search.queries.js'
import { issueUrl } from '../../../areas/planning/issues/issues.queries.js'
import { findMergeRequestsByText } from '../../../areas/planning/merge-requests/merge-request-search.queries.js'
import { mergeRequestUrl } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'

const SCOPES = ['projects', 'issues', 'merge_requests', 'users'] as const

const SearchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  scope: Type.Optional(Type.Enum(SCOPES)),
  page: Type.Optional(Type.Integer({ minimum: 1 })),
  /** The path of the project from whose page the search comes. */
  project: Type.Optional(Type.String({ maxLength: 511, pattern: '^[\\w.-]+/[\\w.-]+$' }))
})

interface Found {
  readonly title: string
  readonly href: string
  readonly where: string
  readonly state?: string
}

interface Results {
  readonly items: readonly Found[]
  readonly total: number
  readonly page: number
  readonly perPage: number
}

/** Searches of texts show only the newest results. */
const NEWEST = 50

export const searchPages: FastifyPluginAsyncTypebox = async app => {
  app.get(
    '/search',
    { config: { can: 'project.list_visible' }, schema: { querystring: SearchQuery } },
    async (request, reply) => {
      const { q = '', scope, page = 1, project } = request.query
      const text = q.trim()
      const { actor } = request
      // Users and the texts of projects are for signed-in users, as in the API.
      const open = actor.user ? SCOPES : (['projects'] as const)
      const wanted = text === '' ? [] : open.filter(each => scope === undefined || scope === each)
      const found = await Promise.all(
        wanted.map(async each => ({ scope: each, results: await search(each, { text, page }, actor) }))
      )
      const isOpen = scope === undefined || actor.user !== null || scope === 'projects'
      return show(request, reply, 'people/search', {
        title: 'Search',
        searched: q,
        project,
        scope,
        scopes: SCOPES,
        few: scope === undefined ? FEW : undefined,
        found,
        isOpen
      })
    }
  )
}

/** A search of everything shows the first results of each kind. */
const FEW = 5

interface Query {
  readonly text: string
  readonly page: number
}

async function search(scope: (typeof SCOPES)[number], { text, page }: Query, actor: Actor): Promise<Results> {
  if (scope === 'users') {
    const found = await listUsersInShort({ search: text, page })
    const items = found.items
      .map(viewUserBasic)
      .map(({ name, username }) => ({ title: name, href: path(username), where: username }))
    return { ...found, items }
  }
  if (scope === 'issues') {
    const found = await findIssuesByText(text, NEWEST, actor)
    return whole(
      found.map(issue => ({
        title: issue.title,
        href: new URL(issueUrl(issue)).pathname,
        where: `${issue.namespace_path}/${issue.project_path}#${issue.iid}`,
        state: issue.state
      }))
    )
  }
  if (scope === 'merge_requests') {
    const found = await findMergeRequestsByText(text, NEWEST, actor)
    return whole(
      found.map(row => {
        const { pathname } = new URL(mergeRequestUrl(row))
        return { title: row.title, href: pathname, where: pathname.slice(1), state: row.state }
      })
    )
  }
  const found = await listProjects('visible', { search: text, page }, actor)
  const items = found.items.map(project => ({
    title: `${project.namespace_name} / ${project.name}`,
    href: path(project.namespace_path, project.path),
    // Strangers do not see descriptions in the API either.
    where: (actor.user && project.description?.slice(0, 200)) ?? ''
  }))
  return { ...found, items }
}

const whole = (items: readonly Found[]): Results => ({ items, total: items.length, page: 1, perPage: NEWEST })
