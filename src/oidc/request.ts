// Requests to providers: with a limit of time and of size, without redirects, and with the authority that the settings name.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import type { OidcSettings } from '../config/oidc.js'
import { Limiter } from '../lib/limiter.js'
import { request as plainRequest } from '../lib/node-http.js'
import { NoAnswer } from './failures.js'

/** Bytes of an answer. Documents of discovery and keys have some 10 kB. */
const LARGEST = 1_048_576
/** A provider that answers slowly must not keep more requests of this server busy. */
const AT_ONCE = 16
const WAITING = 64

/** The statuses of answers without a body. */
const EMPTY = [204, 205, 304]

const line = new Limiter({
  capacity: 4 * AT_ONCE,
  perClient: AT_ONCE,
  queue: {
    capacity: WAITING,
    perClient: free => free / 2,
    full: () => new NoAnswer('too many requests to it are open')
  }
})

/** What openid-client and this folder ask for. */
interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: URLSearchParams | string | null
  readonly signal?: AbortSignal
}

type Settings = Pick<OidcSettings, 'ca'>

/** Returns `fetch` for one provider, within the limits. It throws NoAnswer. */
export const fetchFrom =
  (settings: Settings) =>
  async (url: string, options: Asked): Promise<Response> => {
    const { signal } = options
    try {
      return await line.run({ client: new URL(url).host, ...(signal && { signal }) }, () => ask(url, options, settings))
    } catch (error) {
      throw error instanceof NoAnswer ? error : new NoAnswer(reasonOf(error), { cause: error })
    }
  }

/** Not by `fetch`, which cannot be given an authority. */
async function ask(url: string, { method = 'GET', headers, body, signal }: Asked, { ca }: Settings): Promise<Response> {
  const limits = signal && { signal }
  const authority = ca === null ? undefined : { ca: await readAuthority(ca) }
  const send = new URL(url).protocol === 'https:' ? secureRequest : plainRequest
  const outgoing = send(url, { method, headers: { ...headers }, ...limits, ...authority })
  // A connection that is cut after the answer may emit a second error. Without a listener, it would end the process.
  outgoing.on('error', () => {})
  let answer: IncomingMessage | undefined
  try {
    outgoing.end(body?.toString())
    const [message] = (await once(outgoing, 'response', limits)) as [IncomingMessage]
    answer = message
    const status = answer.statusCode ?? 0
    if (status >= 500 || status === 429) throw new NoAnswer(`it answers with status ${status}`)
    const bytes = await bodyOf(answer)
    // A body that ends with its connection looks complete even when the time limit has cut it.
    signal?.throwIfAborted()
    return new Response(EMPTY.includes(status) ? null : bytes, { status, headers: headersOf(answer) })
  } finally {
    if (!answer?.complete) outgoing.destroy()
  }
}

const readAuthority = (path: string): Promise<Buffer> =>
  readFile(path).catch(({ code }: NodeJS.ErrnoException) => {
    throw new NoAnswer(`the file in ca, ${path}, cannot be read (${code})`)
  })

const headersOf = ({ headers }: IncomingMessage): [string, string][] =>
  Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : []
  )

async function bodyOf(answer: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LARGEST) throw new NoAnswer(`its answer is larger than ${LARGEST} bytes`)
    kept.push(chunk)
  }
  return new Uint8Array(Buffer.concat(kept))
}

function reasonOf(error: unknown): string {
  const { name, message, code } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError') return 'it gave no complete answer in time'
  if (code === undefined) return message
  if (!/CERT|SIGNATURE|ISSUER/.test(code)) return `no connection to it (${code})`
  return `its certificate is not trusted (${code}): set ca to the file of its authority`
}
