// A forge on a real listener that replays a conversation: paths of its API, and what it answers. Everything else is 404.
import type { ServerResponse } from 'node:http'
import { openClient } from '../../../src/areas/migrate/sources/client.js'
import type { Draft, Reader, ReadOptions, Source, SourceProject } from '../../../src/areas/migrate/sources/source.js'
import { KINDS } from '../../../src/areas/upkeep/project-archives/format.js'
import { checkRecord } from '../../../src/areas/upkeep/project-archives/records.js'
import { loadConfig } from '../../../src/config.js'
import type { Test } from '../../helpers/tap.js'
import { receiver } from '../../webhooks/receiver.js'

/** A list is answered in pages. A function gets the query. A number is a status without a body. */
export type Answer = unknown

export interface ForgeOptions {
  /** The headers of a page of a list. */
  readonly paging: (page: { url: URL; number: number; pages: number; total: number }) => {
    readonly [name: string]: string
  }
  /** The names of the parameters for the size of a page, and the most that the forge gives. */
  readonly size: { readonly name: string; readonly most: number }
  /** The path of the API, such as /api/v4. */
  readonly api: string
  /** What the forge has outside of its API, such as a repository. */
  readonly files?: (path: string) => Buffer | undefined
}

/** A forge that is busy wants to be asked again, one that fails at once, so that no test waits. */
const RETRY: { readonly [status: number]: { readonly [name: string]: string } } = {
  429: { 'retry-after': '1' },
  503: { 'retry-after': '0' }
}

/** Starts a forge. `answers` may be changed while it runs. */
export async function startForge(t: Test, answers: { [path: string]: Answer }, options: ForgeOptions) {
  // Here, because several files of one process import this module, and each begins with its own configuration.
  process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
  loadConfig({})
  const { paging, size, api, files } = options
  const source = await receiver(t, (response, target) => {
    const url = new URL(target, `http://127.0.0.1:${source.port}`)
    const path = url.pathname.startsWith(`${api}/`) ? url.pathname.slice(api.length + 1) : url.pathname
    const file = files?.(url.pathname)
    if (file) return response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(file)
    const found = answers[`${path}${url.search}`] ?? answers[path]
    const value = typeof found === 'function' ? (found as (query: URLSearchParams) => unknown)(url.searchParams) : found
    if (value === undefined) return send(response, 404, '{"message":"404 Not Found"}')
    if (typeof value === 'number') return send(response, value, '{"message":"busy"}', RETRY[value] ?? {})
    if (typeof value === 'string') return send(response, 200, value, { 'content-type': 'text/plain' })
    if (!Array.isArray(value)) return send(response, 200, JSON.stringify(value))
    const each = Math.min(Number(url.searchParams.get(size.name) ?? 20), size.most)
    const number = Number(url.searchParams.get('page') ?? 1)
    const pages = Math.ceil(value.length / each)
    const part = value.slice((number - 1) * each, number * each)
    send(response, 200, JSON.stringify(part), paging({ url, number, pages, total: value.length }))
  })
  return {
    ...source,
    url: new URL(`http://127.0.0.1:${source.port}`),
    asked: () => source.received.map(({ url }) => url)
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: { readonly [name: string]: string } = {}
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
}

/** Opens a source as a run does. */
export function openSource(
  t: Test,
  reader: Reader,
  url: URL,
  { run = 1, folder = t.testdir(), ...options }: { run?: number; folder?: string } & Partial<ReadOptions> = {}
) {
  const client = openClient({
    base: reader.base(url),
    headers: reader.headers('sesame'),
    folder,
    run,
    rate: 1e6,
    maxBytes: 1e9,
    ignored: reader.ignored ?? [],
    signal: new AbortController().signal,
    sleep: async () => undefined
  })
  t.teardown(client.close)
  return { client, source: reader.open(client, url, { commitComments: false, ...options }), folder }
}

/** Reads all records of a project. Each must be a record of an archive once its people have names here. */
export async function readRecords(source: Source, project: SourceProject) {
  const skipped = new Map<string, number>()
  const found: { [kind: string]: Draft[] } = {}
  let number = 0
  for await (const draft of source.records(project, (what, why) => count(skipped, `${what}: ${why}`))) {
    // As the migration changes them.
    const values = {
      ...(draft.kind === 'project' && { avatar: null }),
      ...JSON.parse(JSON.stringify(draft).replaceAll('[bot]', '.bot')),
      ...(draft.author === null && { author: 'ghost' }),
      ...(typeof draft.fork === 'string' && { fork: 1 }),
      ...(draft.kind === 'label' && { title: String(draft.title).replace(',', '') })
    }
    if ((KINDS as readonly string[]).includes(draft.kind)) checkRecord(values, `draft ${++number}`)
    found[draft.kind] = [...(found[draft.kind] ?? []), draft]
  }
  return { found, skipped: Object.fromEntries(skipped) }
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

/** Rewrites a text of a project as a migration does. */
export const rewrite = (source: Source, project: SourceProject, text: string) =>
  source.text(project, text, {
    mention: username => (username === 'ada' ? 'ada.here' : username),
    file: ({ url, name }) => `FILE(${new URL(url).pathname} ${name})`,
    project: path => (path === project.path ? 'crew/tool' : null)
  })

/** Returns everything that a list of a source yields. */
export async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of list) found.push(each)
  return found
}
