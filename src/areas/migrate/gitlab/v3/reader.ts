// GitLab 8 and other instances of Gitstead, by API v3.
import { parseMoment } from '../../../../lib/moment.js'
import { SourceRefusal } from '../../../projects/imports/source-failures.js'
import type { Client } from '../../sources/client.js'
import { rewritten } from '../../sources/rewrite.js'
import { fitting, fittingOne, momentOf } from '../../sources/shapes.js'
import type { Reader, ReadOptions, Source, SourceGroup, SourceProject, SourceUser } from '../../sources/source.js'
import { dialectOf } from './dialect.js'
import { membersOf } from './members.js'
import { readRecords } from './records.js'
import { check, type ProjectShape } from './shapes.js'

const VISIBILITIES = { 0: 'private', 10: 'internal', 20: 'public' } as const

export const gitlab3: Reader = {
  title: 'GitLab 8, or another Gitstead (API v3)',
  base: url => new URL(`${url.href.replace(/\/*$/, '')}/api/v3/`),
  headers: token => ({ 'private-token': token }),
  // Gitstead takes the token as the password of its user. GitLab 8 takes it as the password of `oauth2` only for OAuth tokens.
  credentials: (token, username) => ({ username, password: token }),
  open: (client, url, options) => sourceOf(client, url, options)
}

function sourceOf(client: Client, url: URL, options?: ReadOptions): Source {
  const dialect = dialectOf(url)
  const about = async () => {
    const user = check.user((await client.get('user')).body)
    if (!user) throw new SourceRefusal(url, 'does not answer as API v3 does')
    const version = check.version((await client.find('version'))?.body)
    return { version: version?.version ?? 'unknown', username: user.username, isAdmin: user.is_admin === true }
  }
  const projectOf = (project: ProjectShape): SourceProject => ({
    id: String(project.id),
    path: project.path_with_namespace,
    cloneUrl: project.http_url_to_repo,
    wikiUrl: project.wiki_enabled ? project.http_url_to_repo.replace(/(\.git)?$/, '.wiki.git') : null,
    avatarUrl: project.avatar_url ?? null,
    size: project.statistics?.repository_size ?? null,
    forkOf: project.forked_from_project ? String(project.forked_from_project.id) : null,
    raw: project
  })
  return {
    refspecs: ['+refs/merge-requests/*:refs/merge-requests/*'],
    about,
    user: async (username, skipped) => {
      const report = { what: 'user', skipped }
      const found = await client.find(`users?username=${encodeURIComponent(username)}`)
      const list = Array.isArray(found?.body) ? found.body : []
      const user = [...fitting(list, check.user, report)].find(
        each => each.username.toLowerCase() === username.toLowerCase()
      )
      if (!user) return null
      // The list is short for users who are no administrators.
      const whole = fittingOne((await client.find(`users/${user.id}`))?.body, check.user, report) ?? user
      const keys: { title: string; key: string }[] = []
      for await (const page of client.list(`users/${user.id}/keys`, { optional: true }))
        keys.push(...fitting(page, check.key, { what: `key of ${user.username}`, skipped }))
      return { ...userOf(whole), keys }
    },
    groups: async function* (skipped) {
      for await (const page of client.list('groups?per_page=100&all_available=true')) {
        for (const group of fitting(page, check.group, { what: 'group', skipped })) {
          const detail = check.groupDetail((await client.find(`groups/${group.id}`))?.body)
          const report = { what: `member of ${group.path}`, skipped }
          const level = Number(detail?.visibility_level ?? 0) as keyof typeof VISIBILITIES
          yield {
            path: group.path,
            name: group.name,
            description: group.description ?? null,
            visibility: VISIBILITIES[level] ?? 'private',
            members: await membersOf(client, `groups/${group.id}/members?per_page=100`, report)
          } satisfies SourceGroup
        }
      }
    },
    projects: async function* (skipped) {
      const { isAdmin } = await about()
      const path = isAdmin ? 'projects/all' : 'projects'
      const seen = new Set<number>()
      // Gitstead lists archived projects only on request. GitLab lists them in both.
      for (const archived of ['', '&archived=true']) {
        for await (const page of client.list(`${path}?per_page=100&order_by=id&sort=asc${archived}`)) {
          for (const project of fitting(page, check.project, { what: 'project', skipped })) {
            if (!seen.has(project.id)) yield projectOf(project)
            seen.add(project.id)
          }
        }
      }
    },
    project: async path => {
      const found = check.project((await client.get(`projects/${encodeURIComponent(path)}`)).body)
      if (!found) throw new SourceRefusal(url, `has no project ${path} that can be read`)
      return projectOf(found)
    },
    counts: async project => {
      const counts: Record<string, number | null> = {}
      for (const kind of ['issues', 'merge_requests', 'milestones', 'labels', 'snippets', 'pipelines', 'builds']) {
        const state = kind === 'merge_requests' ? '&state=all' : ''
        const found = await client.find(`projects/${project.id}/${kind}?per_page=1${state}`)
        const total = found?.headers.get('x-total')
        counts[kind] = found === null ? 0 : total === undefined ? null : Number(total)
      }
      return counts
    },
    records: (project, skipped) => readRecords(client, project, { skipped, ...options }),
    text: (project, text, into) => rewritten(dialect(project.path), project, text, into)
  }
}

const userOf = (user: NonNullable<ReturnType<typeof check.user>>): SourceUser => ({
  username: user.username,
  name: user.name,
  // Only administrators see addresses. One that is not confirmed proves nothing.
  email: user.email && parseMoment(user.confirmed_at ?? '') ? user.email : null,
  isAdmin: user.is_admin === true,
  state: user.state === 'active' || user.state === undefined ? 'active' : 'blocked',
  createdAt: momentOf(user.created_at) ?? '1970-01-01T00:00:00.000Z'
})
