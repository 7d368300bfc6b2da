// Requests to providers: with a limit of time and of size, and without redirects.
import { Limiter } from '../lib/limiter.js'
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

interface Asked extends RequestInit {
  readonly signal?: AbortSignal
}

/** As `fetch`, within the limits. Throws NoAnswer. */
export async function limitedFetch(url: string, options: Asked): Promise<Response> {
  const { signal } = options
  try {
    return await line.run({ client: new URL(url).host, ...(signal && { signal }) }, () => ask(url, options))
  } catch (error) {
    throw error instanceof NoAnswer ? error : new NoAnswer(reasonOf(error), { cause: error })
  }
}

async function ask(url: string, options: Asked): Promise<Response> {
  const answer = await fetch(url, { ...options, redirect: 'manual' })
  const { status, headers } = answer
  if (status >= 500 || status === 429) {
    await answer.body?.cancel()
    throw new NoAnswer(`it answers with status ${status}`)
  }
  const body = await bodyOf(answer)
  return new Response(EMPTY.includes(status) ? null : body, { status, headers })
}

async function bodyOf({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const kept: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    size += chunk.length
    if (size > LARGEST) throw new NoAnswer(`its answer is larger than ${LARGEST} bytes`)
    kept.push(chunk)
  }
  return new Uint8Array(Buffer.concat(kept))
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (name === 'TimeoutError' || name === 'AbortError') return 'it gave no complete answer in time'
  const code = cause?.code
  if (code === undefined) return cause?.message ?? message
  if (!/CERT|SIGNATURE|ISSUER/.test(code)) return `no connection to it (${code})`
  return `its certificate is not trusted (${code}): name its authority in NODE_EXTRA_CA_CERTS`
}
