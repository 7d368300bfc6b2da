// A client of git LFS, for servers that nobody trusts: the address rules of hooks apply to every connection, bytes and seconds are limited,
// and the password goes to the server of the repository only. It serves migrations, imports and mirrors.
import { PassThrough, type Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../../../config.js'
import { drained } from '../../../../lib/drained.js'
import type { LfsKey } from '../../../../storage/lfs.js'
import { restOf } from '../pace.js'
import { SourceFailure, SourceRefusal } from '../source-failures.js'
import { type Answer, openTransport, readText } from '../transport.js'
import { type Action, type LfsOperation, type PlannedObject, questionOf, readPlan } from './batch.js'

/** Where the LFS of a repository is, and what proves who asks. */
export interface LfsServer {
  readonly endpoint: URL
  readonly header: Action['header']
}

interface RepositoryPlace {
  readonly url: URL
  readonly username: string
  readonly password: string
}

/** The LFS of a repository that git reaches by http or https. */
export function lfsServerOf({ url, username, password }: RepositoryPlace): LfsServer {
  const endpoint = new URL(url)
  endpoint.username = endpoint.password = endpoint.search = endpoint.hash = ''
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, '').replace(/\.git$/, '')}.git/info/lfs`
  const login = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  return { endpoint, header: username === '' && password === '' ? {} : { authorization: login } }
}

/** The server has no LFS for this repository, or not for this user. */
export class NoLfs extends SourceRefusal {}

export interface LfsClient {
  /** Asks about a part of `questions`. Throws NoLfs and SourceFailure. */
  plan(operation: LfsOperation, keys: readonly LfsKey[]): Promise<readonly PlannedObject[]>
  /** Gets an object. A broken transfer continues where it was. `store` checks the content. Throws SourceFailure, and what `store` throws. */
  download(planned: PlannedObject, store: (stream: Readable) => Promise<unknown>): Promise<void>
  /** Sends an object. Throws SourceFailure, and what `open` throws. */
  upload(planned: PlannedObject, open: () => Promise<Readable>): Promise<void>
  close(): void
}

/** Bytes of an answer. */
const LARGEST_ANSWER = 4 * 1024 * 1024
const MOST_REDIRECTS = 5
const MOST_ATTEMPTS = 4
/** Milliseconds before the second attempt. The pause doubles with each. */
const FIRST_PAUSE = 500
const TYPE = 'application/vnd.git-lfs+json'
const ABSENT: readonly number[] = [401, 403, 404, 405, 406, 410, 415, 422, 501]

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

type Head = Pick<Answer, 'status' | 'headers'>

interface Outcome extends Head {
  readonly text: string
}

export function openLfsClient({ endpoint, header: own }: LfsServer, signal: AbortSignal): LfsClient {
  const transport = openTransport(signal)

  /** Makes an attempt, and others after a pause while the server is busy or cannot be reached. */
  async function attempts<T extends Head>(at: URL, make: () => Promise<T>): Promise<T> {
    for (let made = 1; ; made++) {
      const outcome = await make().catch((error: unknown) => {
        if (!(error instanceof SourceFailure) || error instanceof SourceRefusal || made === MOST_ATTEMPTS) throw error
        return null
      })
      const isBusy = outcome === null || outcome.status === 429 || (outcome.status >= 500 && outcome.status !== 501)
      if (outcome !== null && !isBusy) return outcome
      if (outcome !== null && made === MOST_ATTEMPTS)
        throw new SourceFailure(at, `still answers with status ${outcome.status}`, outcome.status)
      const asked = outcome && restOf(outcome.status, outcome.headers)
      await sleep(asked ?? FIRST_PAUSE * 2 ** (made - 1), undefined, { signal })
    }
  }

  const readBody =
    (at: URL) =>
    async ({ status, headers, stream }: Answer): Promise<Outcome> => ({
      ...{ status, headers },
      // The bodies of other answers are not read: nobody needs them, and they may repeat the password.
      text: status === 200 ? await readText(at, stream, LARGEST_ANSWER) : ''
    })

  /** Makes a request, and again where the server redirects it. As in git-lfs, its method and its body stay. */
  async function following<T extends Head>({ href, header }: Action, make: (to: Action) => Promise<T>): Promise<T> {
    let to: Action = { href, header }
    for (let redirects = 0; ; redirects++) {
      const outcome = await attempts(to.href, () => make(to))
      if (!REDIRECTS.includes(outcome.status)) return outcome
      if (redirects === MOST_REDIRECTS) throw new SourceRefusal(href, 'redirects too often')
      const next = redirectOf(to.href, outcome.headers.location)
      // What proves who asks is for one origin only.
      to = { href: next, header: next.origin === to.href.origin ? to.header : {} }
    }
  }

  const post = (action: Action, body: Buffer): Promise<Outcome> =>
    following(action, ({ href, header }) => {
      const headers = { ...header, accept: TYPE, 'content-type': TYPE, 'content-length': String(body.length) }
      return transport.send(href, { method: 'POST', headers, body }, readBody(href))
    })

  /** A server that sends no credentials for an action on itself wants those of the repository. */
  const signed = ({ href, header }: Action): Action =>
    header.authorization === undefined && href.origin === endpoint.origin
      ? { href, header: { ...own, ...header } }
      : { href, header }

  async function receive(action: Action, { size }: LfsKey, into: PassThrough): Promise<void> {
    let received = 0
    const { status } = await following(signed(action), ({ href: at, header }) => {
      const whole = { ...header, 'accept-encoding': 'identity' }
      const sent = received > 0 ? { ...whole, range: `bytes=${received}-` } : whole
      const read = async ({ status, headers, stream }: Answer): Promise<Head> => {
        // A server that does not know ranges sends everything again.
        let skip = status === 200 ? received : 0
        if (status === 206 && !headers['content-range']?.startsWith(`bytes ${received}-`))
          return { status: 416, headers }
        if (status !== 200 && status !== 206) return { status, headers }
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          const rest = chunk.subarray(skip)
          skip = Math.max(0, skip - chunk.length)
          received += rest.length
          if (received > size) throw new SourceRefusal(at, `sends more than the ${size} bytes of the object`)
          if (rest.length > 0 && !into.write(rest)) await taken(into)
        }
        if (received < size) throw new SourceFailure(at, `sent only ${received} of ${size} bytes`)
        return { status, headers }
      }
      return transport.get(at, sent, read, config().lfs.timeout)
    })
    if (status !== 200 && status !== 206) throw new SourceRefusal(action.href, `answered with status ${status}`, status)
  }

  return {
    plan: async (operation, keys) => {
      // Not resolved as a link: a path that begins with two slashes would name another server.
      const at = new URL(endpoint)
      at.pathname += '/objects/batch'
      const { status, text } = await post({ href: at, header: own }, questionOf(operation, keys))
      if (ABSENT.includes(status)) throw new NoLfs(at, `answered with status ${status}`, status)
      if (status !== 200) throw new SourceRefusal(at, `answered with status ${status}`, status)
      const plan = readPlan(operation, keys, parsed(text))
      if (!plan) throw new SourceRefusal(at, 'does not answer as the batch API of git LFS does')
      return plan
    },
    download: async ({ key, action, refusal }, store) => {
      if (!action || refusal !== null)
        throw new SourceRefusal(endpoint, `does not give the object ${key.oid}: ${refusal ?? 'it names no place'}`, 404)
      const into = new PassThrough()
      const stored = store(into)
      // Until the transfer has ended, nobody awaits it.
      stored.catch(error => into.destroy(error instanceof Error ? error : new Error(String(error))))
      into.on('error', () => {})
      try {
        await receive(action, key, into)
        into.end()
      } catch (error) {
        // What stops the storing stops the transfer, and is the reason.
        if (!into.destroyed) into.destroy(error as Error)
        else await stored
        await stored.catch(() => {})
        throw error
      }
      await stored
    },
    upload: async ({ key, action, verify }, open) => {
      if (!action) return
      const { href } = action
      const { status } = await following(signed(action), async ({ href, header }): Promise<Head> => {
        const type = { 'content-type': 'application/octet-stream' }
        const headers = { ...type, ...header, 'content-length': String(key.size) }
        const sending = { method: 'PUT' as const, headers, body: await open(), seconds: config().lfs.timeout }
        return transport.send(href, sending, async ({ status, headers }) => ({ status, headers }))
      })
      if (status < 200 || status > 299) throw new SourceRefusal(href, `answered with status ${status}`, status)
      if (!verify) return
      const checked = await post(signed(verify), Buffer.from(JSON.stringify(key)))
      if (checked.status !== 200)
        throw new SourceRefusal(verify.href, `answered with status ${checked.status}`, checked.status)
    },
    close: transport.close
  }
}

function redirectOf(url: URL, location: string | undefined): URL {
  const next = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : null
  if (next === null || !/^https?:$/.test(next.protocol)) throw new SourceRefusal(url, 'redirects to no URL')
  if (url.protocol === 'https:' && next.protocol === 'http:')
    throw new SourceRefusal(url, 'redirects from https to http')
  return next
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Waits until a stream takes more. Throws the reason when it was destroyed. */
async function taken(stream: PassThrough): Promise<void> {
  if (stream.destroyed) throw stream.errored ?? new Error('nobody takes the object any more')
  await drained(stream)
}
