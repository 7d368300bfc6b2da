// The reader for GitLab's API v4.

import { SourceRefusal } from '../../../projects/imports/source-failures.js'
import type { Client } from '../../sources/client.js'
import { checked, fitting } from '../../sources/shapes.js'
import type { Reader, ReadOptions, Source, SourceProject } from '../../sources/source.js'
import { readGroups, readSelf, readUser } from './people.js'
import { projectRecords } from './records.js'
import { Project, Version } from './shapes.js'
import { gitlabText } from './texts.js'

const checkVersion = checked(Version)
const checkProject = checked(Project)

export const gitlab4: Reader = {
  title: 'GitLab, with API v4 (since version 9)',
  base: url => new URL(`${url.href.replace(/\/*$/, '')}/api/v4/`),
  headers: token => ({ 'private-token': token }),
  credentials: token => ({ username: 'oauth2', password: token }),
  open: (client, url, options) => open(client, url, options)
}

function open(client: Client, url: URL, options?: ReadOptions): Source {
  const base = gitlab4.base(url)
  const web = url.href.replace(/\/*$/, '')
  const version = async () => checkVersion((await client.find('version'))?.body)?.version ?? ''
  return {
    refspecs: [
      '+refs/merge-requests/*/head:refs/merge-requests/*/head',
      // The commits of earlier versions of merge requests, where the source shows these refs.
      '+refs/keep-around/*:refs/keep-around/*'
    ],
    about: async () => ({ version: await version(), ...(await readSelf(client)) }),
    user: (username, skipped) => readUser(client, username, skipped),
    groups: skipped => readGroups(client, skipped),
    projects: async function* (skipped) {
      const { isAdmin } = await readSelf(client)
      const query = `per_page=100&pagination=keyset&order_by=id&sort=asc&statistics=true${isAdmin ? '' : '&membership=true'}`
      for await (const page of client.list(`projects?${query}`)) {
        for (const found of fitting(page, checkProject, { what: 'project', skipped }))
          yield sourceProject(found, base, await version())
      }
    },
    project: async path => {
      const found = checkProject((await client.get(`projects/${encodeURIComponent(path)}?statistics=true`)).body)
      if (found) return sourceProject(found, base, await version())
      throw new SourceRefusal(
        new URL(`projects/${encodeURIComponent(path)}`, base),
        'is not a project as the API describes it'
      )
    },
    counts: project => countRecords(client, project),
    records: (project, skipped) => projectRecords({ client, base, project: rawOf(project).project, skipped }, options),
    text: (project, text, into) => gitlabText({ project, base, web, hasUploads: rawOf(project).hasUploads }, text, into)
  }
}

interface Raw {
  readonly project: Project
  readonly hasUploads: boolean
}

const rawOf = ({ raw }: SourceProject) => raw as Raw

function isSince(version: string, major: number, minor: number): boolean {
  const [, one = 0, other = 0] = /^(\d{1,4})\.(\d{1,4})/.exec(version)?.map(Number) ?? []
  return one > major || (one === major && other >= minor)
}

function sourceProject(found: Project, base: URL, version: string): SourceProject {
  const clone = found.http_url_to_repo
  return {
    id: String(found.id),
    path: found.path_with_namespace,
    cloneUrl: clone,
    wikiUrl: found.wiki_enabled === false ? null : clone.replace(/(?:\.git)?$/, '.wiki.git'),
    // The pages give the avatar of a private project only to a browser. The API gives it since version 16.9, and uploads since 17.4.
    avatarUrl:
      found.avatar_url && isSince(version, 16, 9)
        ? new URL(`projects/${found.id}/avatar`, base).href
        : found.avatar_url || null,
    size: found.statistics?.repository_size ?? null,
    forkOf: found.forked_from_project ? String(found.forked_from_project.id) : null,
    raw: { project: found, hasUploads: isSince(version, 17, 4) } satisfies Raw
  }
}

const COUNTED = {
  labels: 'labels?',
  milestones: 'milestones?',
  issues: 'issues?scope=all&',
  merge_requests: 'merge_requests?scope=all&state=all&',
  releases: 'releases?',
  snippets: 'snippets?',
  pipelines: 'pipelines?'
}

async function countRecords(client: Client, { id }: SourceProject) {
  const counts: { [what: string]: number | null } = {}
  for (const [what, path] of Object.entries(COUNTED)) {
    const found = await client.find(`projects/${id}/${path}per_page=1`)
    const total = found?.headers.get('x-total') ?? ''
    // Above 10,000 records, GitLab does not count them.
    counts[what] = found === null ? 0 : /^\d{1,12}$/.test(total) ? Number(total) : null
  }
  return counts
}
