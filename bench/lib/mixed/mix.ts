// The operations of the mixed load and their shares. The requirement specifies 70% reads of projects, lists, trees, files,
// commits and builds, 5% writes, 1% clones and 1% pushes. It does not specify the other 23%. They go to other common requests:
// reads of users, projects read by strangers, conditional GET, lists of refs, lists of own records.

import { tokenOfUser } from '../seed.js'
import type { Answer, Client } from './client.js'
import type { ActiveProject, Dataset } from './dataset.js'
import { clone, Failed, listRefs, push } from './git-client.js'

export interface Operation {
  readonly kind: string
  run(): Promise<void>
}

/** Kind, its share in percent, and a function that makes its operations. */
type Share = readonly [kind: string, percent: number, make: () => () => Promise<void>]

const API = '/api/v3'

/** A generator of numbers from 0 to 1 that returns the same numbers in each run (mulberry32). */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Returns the operations, one after the other; with `only`, those of one kind. `seed` must differ between runs on the same data,
 * because writes stay.
 */
export function mixOf(client: Client, dataset: Dataset, seed: number, only?: string): { next(): Operation } {
  const chance = random(seed)
  const below = (most: number) => Math.floor(chance() * most)
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T
  const unique = () => `${seed}-${++made}`
  let made = 0

  const read = (path: string, token?: string, more = '') =>
    send(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${token ? `private-token: ${token}\r\n` : ''}${more}\r\n`, path)
  async function send(request: string, about: string): Promise<Answer> {
    const answer = await client.send(request)
    const { status, body } = answer
    if ((status < 200 || status > 299) && status !== 304) {
      throw new Failed(status, `${about}: ${body.toString('latin1', 0, 200)}`)
    }
    return answer
  }
  const write = (method: string, path: string, token: string, body: object) => {
    const text = JSON.stringify(body)
    return send(
      `${method} ${API}${path} HTTP/1.1\r\nhost: localhost\r\nprivate-token: ${token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      `${method} ${path}`
    )
  }

  // A few projects get most of the work, following Zipf's law: the first of 200 a sixth, the last a thousandth.
  const weights = dataset.active.map((_, at) => 1 / (at + 1))
  const sum = weights.reduce((all, weight) => all + weight, 0)
  let reached = 0
  const steps = weights.map(weight => (reached += weight / sum))
  function active(): ActiveProject {
    const at = chance()
    const found = steps.findIndex(step => at <= step)
    return dataset.active[found === -1 ? 0 : found] as ActiveProject
  }
  // Commits and pushes use separate projects, otherwise one would overtake the other.
  const writable = (rest: number) => dataset.active.filter((_, at) => at % 4 === rest)
  const [pushed, committed] = [writable(0), writable(1)]
  const open = dataset.active.filter(({ visibility }) => visibility === 20)
  const ownerOf = ({ members }: ActiveProject) => tokenOfUser(members[0] ?? 0)
  const memberOf = ({ members }: ActiveProject) => tokenOfUser(one(members))
  const anybody = () => tokenOfUser(below(dataset.users))
  const basic = (token: string) => `authorization: Basic ${Buffer.from(`x:${token}`).toString('base64')}\r\n`
  const page = () => (chance() < 0.9 ? '' : `?page=${2 + below(9)}`)
  const rootTree = Buffer.from(dataset.rootTree, 'base64')
  const folders = ['', 'docs', ...Array.from({ length: 10 }, (_, at) => `src/part-${at}`)]

  /** A read in a repository, by a member. */
  const inRepository = (path: (project: ActiveProject) => string) => () => {
    const project = active()
    const token = memberOf(project)
    const url = `${API}/projects/${project.id}/${path(project)}`
    return () => read(url, token).then(nothing)
  }
  const list = (path: () => string, token: () => string) => () => {
    const [url, asker] = [`${API}/${path()}`, token()]
    return () => read(url, asker).then(nothing)
  }
  const fileUrl = () => `repository/files?ref=master&file_path=${one(dataset.paths)}`
  const busy = new Set<number>()
  const tags = new Map<string, string>()
  const builds = new Map<number, number>()

  const shares: Share[] = [
    ['project', 10, inRepository(() => '')],
    [
      'project',
      5,
      () => {
        // Projects that nobody has read for a long time.
        const [url, token] = [`${API}/projects/${dataset.firstProject + below(dataset.projects)}`, dataset.admin.token]
        return () => read(url, token).then(nothing)
      }
    ],
    ['list of own projects', 6, list(() => `projects${page()}`, anybody)],
    ['list of visible projects', 3, list(() => `projects/visible${page()}`, anybody)],
    [
      'list of all projects',
      1,
      list(
        () => `projects/all${page()}`,
        () => dataset.admin.token
      )
    ],
    ['tree', 10, inRepository(() => `repository/tree?path=${one(folders)}`)],
    ['file', 8, inRepository(fileUrl)],
    ['raw file', 4, inRepository(() => `repository/raw_blobs/${one(dataset.blobs)}`)],
    ['commit', 8, inRepository(() => `repository/commits/${one(dataset.commits)}`)],
    ['list of builds', 7, inRepository(() => `builds${page()}`)],
    [
      'list of builds of a commit',
      2,
      inRepository(() => `repository/commits/${one(dataset.commits.slice(0, 20))}/builds`)
    ],
    ['build', 3, build],
    ['list of pipelines', 3, inRepository(() => `pipelines${page()}`)],
    ['list of users', 2, list(() => `users${page()}`, anybody)],
    ['user', 2, list(() => `users/${dataset.firstUser + below(dataset.users)}`, anybody)],
    ['own account', 2, list(() => 'user', anybody)],
    ['own records', 3, list(() => one(['user/keys', 'user/emails', 'personal_access_tokens']), anybody)],
    ['project, by a stranger', 4, stranger],
    ['file that the client has', 6, conditional],
    ['list of refs', 4, gitRead(listRefs)],
    ['commit of a file', 2.5, commit],
    ['new token', 1, create('/personal_access_tokens', () => ({ name: unique() }))],
    ['new address', 0.5, create('/user/emails', () => ({ email: `${unique()}@example.org` }))],
    [
      'change of a user',
      0.5,
      () => {
        const path = `/users/${dataset.firstUser + below(dataset.users)}`
        const body = { bio: `Changed by ${unique()}` }
        return () => write('PUT', path, dataset.admin.token, body).then(nothing)
      }
    ],
    [
      'new project',
      0.5,
      () => {
        const body = { name: `made-${unique()}` }
        return () => write('POST', '/projects', dataset.admin.token, body).then(nothing)
      }
    ],
    ['clone', 1, gitRead(clone)],
    ['push', 1, pushOne]
  ]

  function create(path: string, body: () => object) {
    return () => {
      const [token, content] = [anybody(), body()]
      return () => write('POST', path, token, content).then(nothing)
    }
  }

  function build() {
    // The builds of the active projects are spread over all ids, so the load requests the newest one of a list.
    const project = active()
    const token = memberOf(project)
    const known = builds.get(project.id)
    if (known) return () => read(`${API}/projects/${project.id}/builds/${known}`, token).then(nothing)
    return async () => {
      const { body } = await read(`${API}/projects/${project.id}/builds?per_page=100`, token)
      const ids = [...body.toString().matchAll(/\{"id":(\d+),"name":"job-/g)].map(([, id]) => Number(id))
      const id = one(ids)
      if (id) builds.set(project.id, id)
    }
  }

  function stranger() {
    const url = `${API}/projects/${one(open).id}`
    return () => read(url).then(nothing)
  }

  function conditional() {
    const project = active()
    const [url, token] = [`${API}/projects/${project.id}/${fileUrl()}`, ownerOf(project)]
    return async () => {
      const tag = tags.get(url)
      const { head } = await read(url, token, tag ? `if-none-match: ${tag}\r\n` : '')
      const found = /\r\netag: ([^\r]+)/i.exec(head)?.[1]
      if (found) tags.set(url, found)
    }
  }

  function gitRead(work: (client: Client, repository: { path: string; authorization: string }) => Promise<unknown>) {
    return () => {
      const project = active()
      const repository = { path: project.path, authorization: basic(memberOf(project)) }
      return () => work(client, repository).then(nothing)
    }
  }

  /** A project that no other write of this kind is changing: two writes at once are a conflict, not a fault of the server. */
  function hold(list: readonly ActiveProject[]): { project: ActiveProject; release: () => void } {
    const free = list.filter(({ id }) => !busy.has(id))
    const project = one(free.length > 0 ? free : list)
    busy.add(project.id)
    return { project, release: () => busy.delete(project.id) }
  }

  function commit() {
    const { project, release } = hold(committed)
    const token = ownerOf(project)
    const content = { branch_name: 'master', content: `${unique()}\n`.repeat(20), commit_message: 'Write a file' }
    const change = chance() < 0.5
    const body = {
      ...content,
      file_path: change ? one(dataset.paths) : `added/folder-${below(20)}/${unique()}.txt`
    }
    return () =>
      write(change ? 'PUT' : 'POST', `/projects/${project.id}/repository/files`, token, body)
        .then(nothing)
        .finally(release)
  }

  function pushOne() {
    const { project, release } = hold(pushed)
    const repository = { path: project.path, authorization: basic(ownerOf(project)) }
    const number = seed * 100_000 + ++made
    return () => push(client, repository, rootTree, number).finally(release)
  }

  const chosen = shares.filter(([kind]) => only === undefined || kind === only)
  const all = chosen.reduce((total, [, percent]) => total + percent, 0)
  return { next: () => choose(chosen, chance() * all) }
}

const nothing = () => undefined

function choose(shares: readonly Share[], at: number): Operation {
  let rest = at
  for (const [kind, percent, make] of shares) {
    rest -= percent
    if (rest < 0) return { kind, run: make() }
  }
  throw new Error('there is no such kind')
}
