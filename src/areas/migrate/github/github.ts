// Reads GitHub (api.github.com) and GitHub Enterprise by their REST API.

import { SourceRefusal } from '../../projects/imports/source-failures.js'
import type { Client } from '../sources/client.js'
import { checked } from '../sources/shapes.js'
import type { Draft, Reader, Skipped, Source, SourceProject } from '../sources/source.js'
import { items, type Reading } from './lists.js'
import { noteDrafts, readChanges, readParticipants } from './notes.js'
import { type Lists, memberDrafts, organizationNames, readGroups, readUser, userNames } from './people.js'
import { issueDrafts, type Known, mergeRequestDrafts, readPullNumbers } from './planned.js'
import {
  hookDrafts,
  labelDrafts,
  milestoneDrafts,
  projectDraft,
  protectedBranchDrafts,
  releaseDrafts
} from './settings.js'
import { Meta, Repository, Self } from './shapes.js'
import { githubText } from './text.js'

const CLOUD = 'github.com'
const isCloudHost = (host: string) => host === CLOUD || host.endsWith('.ghe.com')
/** The host of the pages, also when a person enters the address of the API. */
const hostOf = ({ host }: URL) => host.replace(/^(?:www|api)\.(?=github\.com$|[\w-]+\.ghe\.com$)/, '')

export const github: Reader = {
  title: 'GitHub, or GitHub Enterprise',
  ignored: ['download_count'],
  base: url => new URL(isCloudHost(hostOf(url)) ? `https://api.${hostOf(url)}/` : '/api/v3/', url.origin),
  headers: token => ({ authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28' }),
  credentials: token => ({ username: 'x-access-token', password: token }),
  open: (client, url) => openGithub(client, { base: github.base(url), web: `${url.protocol}//${hostOf(url)}` })
}

interface Server {
  /** The URL of the API, with a slash at the end. */
  readonly base: URL
  /** The origin of the pages. */
  readonly web: string
}

const [checkSelf, checkMeta, checkRepository] = [checked(Self), checked(Meta), checked(Repository)]

function openGithub(client: Client, { base, web }: Server): Source {
  const isCloud = isCloudHost(new URL(web).host)
  /** The numbers of the pull requests of the projects that were read, for their texts. */
  const pulls = new WeakMap<SourceProject, ReadonlySet<number>>()
  const wrong = (path: string) => new SourceRefusal(new URL(path, base), 'is not what the API of GitHub describes')
  const readingOf = ({ path }: SourceProject, skipped: Skipped): Reading => ({
    client,
    skipped,
    repo: `${base.href}repos/${path}`
  })

  async function self() {
    const found = checkSelf((await client.get('user')).body)
    if (!found) throw wrong('user')
    // The administrators of github.com itself are nobody's administrators elsewhere.
    return { username: found.login, isAdmin: !isCloud && found.site_admin === true }
  }

  const whole = async (found: Repository) =>
    checkRepository((await client.find(`repos/${found.full_name}`))?.body) ?? found

  return {
    refspecs: ['+refs/pull/*/head:refs/pull/*/head'],
    about: async () => {
      const version = checkMeta((await client.find('meta'))?.body)?.installed_version ?? 'current'
      return { version, ...(await self()) }
    },
    user: (name, skipped) => readUser({ client, skipped }, name, isCloud),
    groups: async function* (skipped) {
      yield* readGroups({ client, skipped }, (await self()).isAdmin)
    },
    projects: async function* (skipped) {
      const seen = new Set<number>()
      const lists = { client, skipped }
      for await (const list of repositoryLists(lists, (await self()).isAdmin)) {
        for await (const found of items(lists, list, Repository, { what: 'project', optional: true })) {
          // Only the repository itself names its source.
          if (!seen.has(found.id)) yield projectOf(found.fork ? await whole(found) : found)
          seen.add(found.id)
        }
      }
    },
    project: async path => {
      const where = `repos/${path}`
      if (!/^[\w.-]{1,100}\/[\w.-]{1,150}$/.test(path) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(path)) throw wrong(where)
      const found = checkRepository((await client.get(where)).body)
      if (!found) throw wrong(where)
      return projectOf(found)
    },
    counts: project => countsOf(client, `${base.href}repos/${project.path}`),
    records: (project, skipped) => {
      const reading = readingOf(project, skipped)
      return records(reading, project.raw as Repository, numbers => pulls.set(project, numbers))
    },
    text: (project, text, into) =>
      githubText(
        text,
        {
          web,
          api: base.href,
          project,
          // A server of a company usually shows nothing without a token, whatever it calls public.
          isPrivate: !isCloud || (project.raw as Repository).private,
          pulls: pulls.get(project) ?? new Set()
        },
        into
      )
  }
}

const projectOf = (found: Repository): SourceProject => ({
  id: String(found.id),
  path: found.full_name,
  cloneUrl: found.clone_url,
  wikiUrl: found.has_wiki ? found.clone_url.replace(/(?:\.git)?$/, '.wiki.git') : null,
  avatarUrl: null,
  size: found.size * 1024,
  forkOf: found.parent ? String(found.parent.id) : null,
  raw: found
})

/** Yields lists of repositories: those of the token, and those of all owners for an administrator of an own server. */
async function* repositoryLists(lists: Lists, isAdmin: boolean): AsyncGenerator<string> {
  yield 'user/repos?affiliation=owner,collaborator,organization_member'
  if (!isAdmin) return
  for await (const name of organizationNames(lists, true)) yield `orgs/${name}/repos?type=all`
  for await (const name of userNames(lists)) yield `users/${name}/repos?type=owner`
}

async function* records(
  reading: Reading,
  repository: Repository,
  remember: (pulls: ReadonlySet<number>) => void
): AsyncGenerator<Draft> {
  const pulls = await readPullNumbers(reading)
  remember(pulls)
  const labels = new Set<string>()
  const milestones = new Set<number>()
  const known: Known = {
    labels,
    milestones,
    issues: new Set(),
    pulls: new Set(),
    reactedPulls: new Set(),
    participants: await readParticipants(reading)
  }
  yield* memberDrafts(reading, repository)
  for await (const draft of labelDrafts(reading, repository)) {
    labels.add(String(draft.title))
    yield draft
  }
  for await (const draft of milestoneDrafts(reading)) {
    milestones.add(draft.iid)
    yield draft
  }
  yield* protectedBranchDrafts(reading, repository)
  yield* releaseDrafts(reading, repository)
  yield* hookDrafts(reading)
  const changes = await readChanges(reading)
  yield* issueDrafts(reading, known)
  yield* mergeRequestDrafts(reading, known, changes.merges)
  yield* noteDrafts(reading, known, changes)
  const counters = { issue: highest(known.issues), milestone: highest(milestones), merge_request: highest(known.pulls) }
  yield projectDraft(reading, repository, counters)
}

const highest = (numbers: ReadonlySet<number>): number => {
  let most = 0
  for (const each of numbers) most = Math.max(most, each)
  return most
}

const COUNTED = {
  label: 'labels',
  milestone: 'milestones?state=all',
  release: 'releases',
  merge_request: 'pulls?state=all',
  planned: 'issues?state=all',
  comment: 'issues/comments',
  review_comment: 'pulls/comments',
  commit_comment: 'comments'
}

/** Asks for one item of each list: the link to its last page has the number of all. */
async function countsOf(client: Client, repo: string): Promise<{ readonly [what: string]: number | null }> {
  const found: Record<string, number | null> = {}
  for (const [name, path] of Object.entries(COUNTED)) {
    const page = await client.find(`${repo}/${path}${path.includes('?') ? '&' : '?'}per_page=1`)
    const link = page?.headers.get('link') ?? ''
    const last = /[?&]page=(\d{1,9})[^>]*>;\s*rel="last"/.exec(link)?.[1]
    const isWhole = page !== null && Array.isArray(page.body) && link === ''
    found[name] = last !== undefined ? Number(last) : isWhole ? (page.body as unknown[]).length : null
  }
  const { planned = null, comment = null, ...rest } = found
  const pulls = found.merge_request ?? null
  return {
    ...rest,
    issue: planned === null || pulls === null ? null : planned - pulls,
    note: comment
  }
}
