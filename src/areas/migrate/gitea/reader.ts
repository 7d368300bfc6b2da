// The reader for API v1 of Gitea, of Forgejo, which came from it, and of Gogs, from which it came.

import { SourceRefusal } from '../../projects/imports/source-failures.js'
import type { Client } from '../sources/client.js'
import { checked } from '../sources/shapes.js'
import type { Reader, Source, SourceProject } from '../sources/source.js'
import { type Forge, itemsOf } from './lists.js'
import { readGroups, readSelf, readUser } from './people.js'
import { repositoryRecords } from './records.js'
import { Repository, Version } from './shapes.js'
import { giteaText } from './texts.js'

const checkVersion = checked(Version)
const checkRepository = checked(Repository)

export const gitea: Reader = {
  title: 'Gitea, Forgejo or Gogs',
  ignored: ['download_count', 'last_login'],
  base: url => new URL(`${url.href.replace(/\/*$/, '')}/api/v1/`),
  headers: token => ({ authorization: `token ${token}` }),
  credentials: (token, username) => ({ username, password: token }),
  open: (client, url) => open(client, url)
}

interface Raw {
  readonly repository: Repository
  /** The numbers of the pull requests, once they have been read. */
  readonly pulls: Set<number>
}

const rawOf = ({ raw }: SourceProject) => raw as Raw

function open(client: Client, url: URL): Source {
  const forge: Forge = { client, base: gitea.base(url) }
  const web = url.href.replace(/\/*$/, '')
  // Gogs does not have this page.
  const version = async () => checkVersion((await client.find('version'))?.body)?.version ?? null
  return {
    refspecs: ['+refs/pull/*/head:refs/pull/*/head'],
    about: async () => ({ version: (await version()) ?? 'Gogs', ...(await readSelf(forge)) }),
    user: (username, skipped) => readUser(forge, username, skipped),
    groups: skipped => readGroups(forge, skipped),
    projects: async function* (skipped) {
      const { isAdmin } = await readSelf(forge)
      const list = isAdmin && (await version()) !== null ? 'repos/search?sort=id&order=asc' : 'user/repos'
      for await (const found of itemsOf(forge, list, checkRepository, { what: 'project', skipped }))
        yield sourceProject(found)
    },
    project: async path => {
      const at = `repos/${path.split('/').map(encodeURIComponent).join('/')}`
      const found = checkRepository((await client.get(at)).body)
      if (found) return sourceProject(found)
      throw new SourceRefusal(new URL(at, forge.base), 'is not a repository as the API describes it')
    },
    counts: project => countRecords(forge, project),
    records: async function* (project, skipped) {
      const isGogs = (await version()) === null
      yield* repositoryRecords({ ...forge, ...rawOf(project), skipped, isGogs })
    },
    text: (project, text, into) => giteaText({ project, web, pulls: rawOf(project).pulls }, text, into)
  }
}

const sourceProject = (found: Repository): SourceProject => ({
  id: String(found.id),
  path: found.full_name,
  cloneUrl: found.clone_url,
  wikiUrl: found.has_wiki === false ? null : found.clone_url.replace(/(?:\.git)?$/, '.wiki.git'),
  avatarUrl: found.avatar_url || null,
  size: found.size === null || found.size === undefined ? null : found.size * 1024,
  forkOf: found.parent ? String(found.parent.id) : null,
  raw: { repository: found, pulls: new Set() } satisfies Raw
})

const COUNTED = {
  labels: 'labels?',
  milestones: 'milestones?state=all&',
  issues: 'issues?state=all&type=issues&',
  merge_requests: 'pulls?state=all&',
  releases: 'releases?'
}

async function countRecords({ client }: Forge, { path }: SourceProject) {
  const counts: { [what: string]: number | null } = {}
  for (const [what, list] of Object.entries(COUNTED)) {
    const found = await client.find(`repos/${path}/${list}limit=1&page=1`)
    const total = found?.headers.get('x-total-count') ?? ''
    counts[what] = found === null ? 0 : /^\d{1,12}$/.test(total) ? Number(total) : null
  }
  return counts
}
