// Fetches the pages of a source, one request for each page in each run. What was fetched in the current run is on the disk (page-store.ts).
import type { Readable } from 'node:stream'
import { hasMoreValues } from '../../../lib/json.js'
import { newPace, restOf, type Sleep } from '../../projects/imports/pace.js'
import { SourceFailure, SourceRefusal } from '../../projects/imports/source-failures.js'
import { type Answer, openTransport, readText, type TransportLimits } from '../../projects/imports/transport.js'
import { openPages, type StoredPage } from './page-store.js'
import { isSamePage } from './same-page.js'

/** Bytes of one page, unpacked, and values in it. */
const LARGEST_PAGE = 32 * 1024 * 1024
const MOST_VALUES = 300_000
/** Pages of one list. */
const MOST_PAGES = 20_000
const MOST_REDIRECTS = 5
const MOST_ATTEMPTS = 6
/** Milliseconds before the second attempt. The pause doubles with each. */
const FIRST_PAUSE = 1000
/** Seconds for one file. */
const FILE_S = 1800
/** Statuses of a record or list that is not there, or that the token does not show. */
const ABSENT: readonly number[] = [403, 404, 410, 451]
/** The headers that a page needs later. */
const KEPT = ['etag', 'link', 'x-next-page', 'x-total', 'x-total-count', 'x-gitlab-version'] as const

/** @public */
export interface Page {
  readonly body: unknown
  /** Names in lower case: `link`, `x-next-page`, `x-total`, `x-total-count`. */
  readonly headers: ReadonlyMap<string, string>
}

/** Where a file is. @public */
export interface FilePlace {
  /** Absolute. */
  readonly url: string
  /**
   * Whether the token is sent, to the servers of the source only. Default: to the server of the API. A reader says true only for files
   * that the authors of the project may read, because the token of an administrator reads more.
   */
  readonly needsToken?: boolean
}

export interface Client {
  /**
   * Returns one page. `path` is relative to the base of the API, such as `projects?page=1`, or an absolute URL of the same server.
   * Throws SourceFailure.
   */
  get(path: string): Promise<Page>
  /** The same; null when the source answers with 403, 404, 410 or 451. */
  find(path: string): Promise<Page | null>
  /** The text of a page that is not JSON; null where `find` returns null. */
  text(path: string): Promise<string | null>
  /**
   * All pages of a list, by `Link: rel=next` or `X-Next-Page`, without the items that the page before had as well: when somebody adds a
   * record in the meantime, the last ones of a page move to the next. With `optional`, a list that `find` does not find is empty.
   */
  list(path: string, options?: { readonly optional?: boolean }): AsyncIterable<readonly unknown[]>
  /**
   * Reads a file, which must arrive within half an hour. `read` stops at its own limit of bytes; it begins again when the connection
   * breaks. Redirects may lead to other servers, which do not get the token. Returns null when the file is not there.
   */
  file<T>(file: FilePlace, read: (stream: Readable) => Promise<T>): Promise<T | null>
}

export interface ClientOptions {
  /** Ends with a slash. */
  readonly base: URL
  /** The URL of the pages, whose server may be another one. */
  readonly pages?: URL
  /** With the token. */
  readonly headers: { readonly [name: string]: string }
  /** Where the pages are kept. */
  readonly folder: string
  /** The number of the run. */
  readonly run: number
  /** Requests in a second. */
  readonly rate: number
  /** Bytes that all pages together may have. */
  readonly maxBytes: number
  /** See Reader. */
  readonly ignored?: readonly string[]
  readonly signal: AbortSignal
  /** For tests. */
  readonly sleep?: Sleep
  readonly limits?: TransportLimits
}

export interface OpenClient extends Client {
  /** The highest number of a run that has stored one of the pages used: that of the last change. */
  newest(): number
  /** Requests so far. */
  requests(): number
  close(): void
}

interface Fetched {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly text: string
}

export function openClient(options: ClientOptions): OpenClient {
  const { base, run, signal } = options
  const transport = openTransport(signal, options.limits)
  const pace = newPace(options.rate, signal, options.sleep)
  const pages = openPages(options.folder, run, LARGEST_PAGE)
  let [newest, requests, bytes] = [0, 0, 0]
  /** The pages of an earlier run that are still the same. */
  const confirmed = new Set<string>()

  async function page(path: string): Promise<StoredPage> {
    const url = urlOf(path)
    const known = await pages.read(url.href)
    if (known && (known.isFresh || confirmed.has(url.href))) return use(known.page)
    const { status, headers, text } = await fetchText(url, known?.page.headers.etag)
    if (status === 304 && known) return keep(url, known.page)
    bytes += text.length
    if (bytes > options.maxBytes)
      throw new SourceRefusal(url, `sends more than ${options.maxBytes} bytes of records (imports.max_size)`)
    const kept = KEPT.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]]]))
    // An absent page is stored, too: it counts as a change when it appears or disappears.
    const found: StoredPage = { run, status, headers: Object.fromEntries(kept), body: text }
    if (known && isSamePage(known.page, found, options.ignored ?? [])) return keep(url, known.page)
    // Other statuses end the run, or are rare: nothing is kept of them.
    if (status !== 200 && !ABSENT.includes(status)) return found
    await pages.write(url.href, found)
    return use(found)
  }

  function keep(url: URL, page: StoredPage): StoredPage {
    confirmed.add(url.href)
    return use(page)
  }

  function use(page: StoredPage): StoredPage {
    newest = Math.max(newest, page.run)
    return page
  }

  /** Fetches a page, with a few attempts. Follows redirects on the same server. */
  async function fetchText(first: URL, tag: string | undefined): Promise<Fetched> {
    const more: { readonly [name: string]: string } = tag === undefined ? {} : { 'if-none-match': tag }
    const headers = { accept: 'application/json', 'accept-encoding': 'gzip', ...options.headers, ...more }
    let url = first
    for (let redirects = 0; ; redirects++) {
      const answer = await attempts(url, async () => {
        return transport.get(url, headers, async ({ status, headers, stream }) => {
          if (Number(headers['content-length']) > LARGEST_PAGE)
            throw new SourceRefusal(url, `is larger than ${LARGEST_PAGE} bytes, by its Content-Length`)
          // The bodies of other answers are not read: nobody needs them, and they may repeat the token.
          return { status, headers, text: status === 200 ? await readText(url, stream, LARGEST_PAGE) : '' }
        })
      })
      if (!isRedirect(answer.status)) return answer
      if (redirects === MOST_REDIRECTS) throw new SourceRefusal(first, 'redirects too often')
      const next = redirectOf(url, answer.headers.location)
      if (next.origin !== base.origin)
        throw new SourceRefusal(
          url,
          `redirects to another server, ${originOf(next)}: give the URL of that server instead`
        )
      url = next
    }
  }

  /** Makes an attempt, and others after a pause while the source is busy or cannot be reached. */
  async function attempts<T extends { readonly status: number; readonly headers: Answer['headers'] }>(
    url: URL,
    attempt: () => Promise<T>
  ): Promise<T> {
    for (let made = 1; ; made++) {
      await pace.turn()
      requests++
      const outcome = await attempt().catch((error: unknown) => {
        if (!(error instanceof SourceFailure) || error instanceof SourceRefusal || made === MOST_ATTEMPTS) throw error
        return null
      })
      const pause = FIRST_PAUSE * 2 ** (made - 1)
      if (outcome === null) {
        pace.rest(pause)
        continue
      }
      const { status, headers } = outcome
      const rest = restOf(status, headers)
      const isBusy = status === 429 || (status === 403 && rest !== null) || status === 202 || status >= 500
      if (!isBusy) {
        if (rest !== null) pace.rest(rest)
        return outcome
      }
      if (made === MOST_ATTEMPTS) throw new SourceFailure(url, `still answers with status ${status}`, status)
      pace.rest(rest ?? pause)
    }
  }

  /** Keeps the path of a link and not its server: behind a proxy, forges often name the wrong one. */
  function urlOf(path: string): URL {
    const url = new URL(path, base)
    if (url.origin === base.origin && url.pathname.startsWith(base.pathname)) return url
    throw new SourceRefusal(base, 'names a page of another server')
  }

  const find = async (path: string): Promise<Page | null> => {
    const found = await page(path)
    return ABSENT.includes(found.status) ? null : opened(urlOf(path), found)
  }

  return {
    get: async path => opened(urlOf(path), await page(path)),
    find,
    text: async path => {
      const found = await page(path)
      return ABSENT.includes(found.status) ? null : requireFound(urlOf(path), found).body
    },
    list: async function* (path, { optional = false } = {}) {
      const seen = new Set<string>()
      let before = new Set<string>()
      for (let next: string | null = path; next !== null; ) {
        const url = urlOf(next)
        if (seen.has(url.href)) throw new SourceRefusal(url, 'is a page of a list that leads to itself')
        if (seen.add(url.href).size > MOST_PAGES)
          throw new SourceRefusal(urlOf(path), `is a list of more than ${MOST_PAGES} pages`)
        const found: Page | null = optional && seen.size === 1 ? await find(next) : opened(url, await page(next))
        if (found === null) return
        if (!Array.isArray(found.body)) throw new SourceRefusal(url, 'is not a list')
        next = nextOf(url, found.headers)
        if (next === null && before.size === 0) yield found.body
        else {
          const texts = found.body.map(item => JSON.stringify(item))
          yield found.body.filter((_, at) => !before.has(texts[at] ?? ''))
          before = new Set(texts)
        }
      }
    },
    file: async ({ url: text, needsToken = 'at the API' }, read) => {
      if (!URL.canParse(text)) return null
      let url = new URL(text)
      const trusted = [needsToken && base.origin, needsToken === true && options.pages?.origin]
      for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
        if (url.protocol !== 'http:' && url.protocol !== 'https:') return null
        const token = trusted.includes(url.origin) ? options.headers : {}
        // GitHub describes an asset of a release as JSON, unless the request asks for bytes.
        const headers = { accept: 'application/octet-stream', ...token }
        const at = url
        const {
          status,
          headers: got,
          content
        } = await attempts(at, () =>
          transport.get(
            at,
            headers,
            async answer => ({ ...answer, content: answer.status === 200 ? await read(answer.stream) : null }),
            FILE_S
          )
        )
        if (!isRedirect(status)) return content
        url = redirectOf(url, got.location)
      }
      throw new SourceRefusal(url, 'redirects too often')
    },
    newest: () => newest,
    requests: () => requests,
    close: transport.close
  }
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

function redirectOf(url: URL, location: string | undefined): URL {
  if (location === undefined || !URL.canParse(location, url)) throw new SourceRefusal(url, 'redirects to no URL')
  return new URL(location, url)
}

/** URLs of other schemes have no origin. */
const originOf = ({ origin, protocol }: URL) => (origin === 'null' ? `a URL that begins with ${protocol}` : origin)

function hintOf(status: number): string {
  if (status === 401) return ': the token is wrong or has ended'
  if (status === 403) return ': the token may not read this'
  return ''
}

function requireFound(url: URL, page: StoredPage): StoredPage {
  const { status } = page
  if (status === 200) return page
  throw new SourceRefusal(url, `answered with status ${status}${hintOf(status)}`, status)
}

/** JSON can have half of an emoji, which no URL and no column can. */
const HALF = /\\u[dD][89a-fA-F]/
const whole = (_: string, value: unknown) => (typeof value === 'string' ? value.toWellFormed() : value)

function opened(url: URL, page: StoredPage): Page {
  const { body, headers } = requireFound(url, page)
  if (hasMoreValues(body, MOST_VALUES)) throw new SourceRefusal(url, `has more than ${MOST_VALUES} values`)
  try {
    return { body: JSON.parse(body, HALF.test(body) ? whole : undefined), headers: new Map(Object.entries(headers)) }
  } catch {
    throw new SourceRefusal(url, 'is not JSON')
  }
}

/** The next page of a list, as a path on the same server. */
function nextOf(url: URL, headers: ReadonlyMap<string, string>): string | null {
  const link = /<([^<>]{1,4000})>\s*;[^,<]*\brel="?next"?/i.exec(headers.get('link') ?? '')?.[1]
  if (link !== undefined && URL.canParse(link, url)) {
    const { pathname, search } = new URL(link, url)
    return `${url.origin}${pathname}${search}`
  }
  const number = headers.get('x-next-page') ?? ''
  if (!/^\d{1,9}$/.test(number)) return null
  const next = new URL(url)
  next.searchParams.set('page', number)
  return next.href
}
