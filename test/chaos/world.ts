// The state of one chaos run: the running appliance, and the history of what it acknowledged to its clients.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Appliance, freePort, makeUser, startAppliance } from '../scenarios/appliance.js'
import { type ApiAnswer, askApi, Receiver, remoteUrl } from '../scenarios/client.js'
import { rowsAt, rowsOf } from '../scenarios/rows.js'
import { type Cluster, startCluster } from './cluster.js'

export const ZERO = '0'.repeat(40)

/** A ref value that the server acknowledged to a client. */
export interface AcceptedRef {
  readonly project: number
  readonly ref: string
  readonly old: string
  readonly new: string
}

/** A file that the API acknowledged. */
export interface WrittenFile {
  readonly project: number
  readonly branch: string
  readonly path: string
  readonly content: string
}

export interface World {
  readonly home: string
  readonly folder: string
  readonly url: string
  readonly token: string
  readonly random: () => number
  readonly victims: Victims
  readonly receiver: Receiver
  appliance: Appliance
  /** The appliance is this cluster. */
  readonly cluster?: Cluster
  readonly environment: Record<string, string>
  readonly refs: AcceptedRef[]
  readonly files: WrittenFile[]
  readonly projects: { id: number; name: string }[]
  /** Names of requested projects without an answer: they may exist. */
  readonly doubtfulProjects: string[]
  /** Answers that must never come, whichever process dies. */
  readonly wrongAnswers: string[]
  /** For each victim in a cluster: the milliseconds until the next write. */
  readonly gaps: number[]
}

/** Settings that make a round short. The rules are the same with any values. */
const ENVIRONMENT = { GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '3', GITSTEAD_GIT_TIMEOUT: '120' }

/** All processes of the appliance, or only workers while they run builds. Of a cluster: everything, or the writer of its rows. */
export type Victims = 'all' | 'workers' | 'writer'

interface WorldOptions {
  readonly folder: string
  readonly random: () => number
  readonly victims?: Victims
  /** Whether the appliance is a cluster. */
  readonly isCluster?: boolean
}

const ADMIN = ['--admin', '--projects-limit', '100000']

/** Makes a new home with an administrator, two hooks and nothing else. */
export async function makeWorld({ folder, random, victims = 'all', isCluster }: WorldOptions): Promise<World> {
  mkdirSync(join(folder, 'clones'), { recursive: true })
  const receiver = new Receiver()
  await receiver.open()
  const { home, token, ...running } = await (isCluster ? startAsCluster(folder) : startAlone(folder))
  const { appliance } = running
  const world: World = {
    ...running,
    home,
    folder,
    url: appliance.url,
    token,
    random,
    victims,
    receiver,
    environment: ENVIRONMENT,
    refs: [],
    files: [],
    projects: [],
    doubtfulProjects: [],
    wrongAnswers: [],
    gaps: []
  }
  // Clients rewrite their branches, and nobody rewrites a protected one.
  const open = await ask(world, 'PUT', '/application/settings', { default_branch_protection: 0 })
  if (open.status !== 200) throw new Error(`the setting was answered with ${open.status}`)
  for (const path of ['one', 'two']) {
    const url = `http://127.0.0.1:${receiver.port}/${path}`
    const { status } = await ask(world, 'POST', '/hooks', { url, token: 'chaos', tag_push_events: true })
    if (status !== 201) throw new Error(`the hook was answered with ${status}`)
  }
  return world
}

async function startAlone(folder: string) {
  const home = join(folder, 'home')
  const { private_token: token } = await makeUser(home, 'root', ADMIN)
  return { home, token, appliance: await startAppliance({ home, port: await freePort(), environment: ENVIRONMENT }) }
}

async function startAsCluster(folder: string) {
  const cluster = await startCluster(folder, ENVIRONMENT)
  const { home } = cluster.machines[0]
  const { private_token: token } = await makeUser(home, 'root', ADMIN, cluster.environment)
  const logs = cluster.machines.flatMap(({ home }) => ['server', 'worker'].map(kind => join(home, '..', kind, 'log')))
  const appliance: Appliance = {
    url: cluster.url,
    port: Number(new URL(cluster.url).port),
    pid: process.pid,
    log: () => logs.map(path => readFileSync(path, 'utf8')).join('\n'),
    processes: () => ({}),
    stop: async () => {
      await cluster.stop()
      return 0
    },
    kill: () => Promise.reject(new Error('a cluster has no supervisor'))
  }
  return { home, token, appliance, cluster }
}

export const ask = <T = Record<string, unknown>>(
  world: World,
  method: string,
  path: string,
  body?: unknown
): Promise<ApiAnswer<T>> => askApi<T>({ url: world.url, token: world.token }, method, path, body)

/** Milliseconds that a part of a cluster may be away. */
const AWAY_MS = 10_000

/** Reads, and tries again for ten seconds when the answer says so: the proxy may not yet have seen that the servers are back. */
export async function read<T = Record<string, unknown>>(world: World, path: string): Promise<ApiAnswer<T>> {
  for (const end = Date.now() + AWAY_MS; ; await sleep(200)) {
    const answer = await ask<T>(world, 'GET', path)
    if (answer.status !== 503 || !answer.headers.get('retry-after') || Date.now() > end) return answer
  }
}

/**
 * Sends a request while any process may die. Returns undefined when there is no answer, or when the answer asks the
 * client to try again later.
 */
export async function tryAsk<T = Record<string, unknown>>(world: World, method: string, path: string, body?: unknown) {
  try {
    const answer = await ask<T>(world, method, path, body)
    if (answer.status === 503 && answer.headers.get('retry-after')) return undefined
    // The proxy of a cluster says that the server died.
    if (answer.status === 502 && world.cluster) return undefined
    if (answer.status >= 500) {
      world.wrongAnswers.push(`${method} ${path}: ${answer.status} ${answer.bytes.toString().slice(0, 200)}`)
    }
    return answer.status >= 500 ? undefined : answer
  } catch {
    return undefined
  }
}

export const remoteOf = (world: World, name: string) => remoteUrl(world.url, `root/${name}`, 'root', world.token)

/** Returns rows of the appliance's own database. */
export const query = <T>({ home, cluster }: World, sql: string): Promise<T[]> =>
  cluster ? rowsAt<T>(cluster.rows.url, sql) : rowsOf<T>(home, sql)
