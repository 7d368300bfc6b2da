// Searches projects, issues, merge requests and users. The code of one project has its own search.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Actor } from '../../../access/actor.js'
import { listUsersInShort } from '../../../areas/people/users/users.queries.js'
import { viewUserBasic } from '../../../areas/people/users/users.record.js'
import { searchIssues } from '../../../areas/planning/issues/issue-search.queries.js'
import { issueUrl } from '../../../areas/planning/issues/issues.queries.js'
import { searchMergeRequests } from '../../../areas/planning/merge-requests/merge-request-search.queries.js'
import { mergeRequestUrl } from '../../../areas/planning/merge-requests/merge-requests.queries.js'
import { listProjects } from '../../../areas/projects/projects/project-list.queries.js'
import { type Static, Type } from '../../../lib/type.js'
import { path } from '../components.js'
import { show } from '../page-routes.js'

const SCOPES = ['projects', 'issues', 'merge_requests', 'users'] as const

const SearchQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 255 })),
  scope: Type.Optional(Type.Enum(SCOPES)),
  page: Type.Optional(Type.Integer({ minimum: 1 }))
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
      const { q = '', scope = 'projects', page = 1 } = request.query
      const isOpen = scope === 'projects' || request.actor.user !== null
      const results =
        q.trim() === '' || !isOpen ? undefined : await search(scope, { text: q.trim(), page }, request.actor)
      return show(request, reply, 'people/search', {
        title: 'Search',
        searched: q,
        scope,
        scopes: SCOPES,
        results,
        isOpen
      })
    }
  )
}

interface Query {
  readonly text: string
  readonly page: number
}

async function search(
  scope: Static<typeof SearchQuery>['scope'],
  { text, page }: Query,
  actor: Actor
): Promise<Results> {
  if (scope === 'users') {
    const found = await listUsersInShort({ search: text, page })
    const items = found.items
      .map(viewUserBasic)
      .map(({ name, username }) => ({ title: name, href: path(username), where: username }))
    return { ...found, items }
  }
  if (scope === 'issues') {
    const found = await searchIssues(text, NEWEST, actor)
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
    const found = await searchMergeRequests(text, NEWEST, actor)
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
    where: project.description?.slice(0, 200) ?? ''
  }))
  return { ...found, items }
}

const whole = (items: readonly Found[]): Results => ({ items, total: items.length, page: 1, perPage: NEWEST })
