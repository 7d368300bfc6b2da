// Fetches a text from a URL that a user has entered. The URL may point into a private network, and the server there may
// stall, send too much, or redirect: the rules for hooks apply here too.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Failure } from '../errors.js'
import { openRequest } from './deliver.js'
import { faultText } from './faults.js'
import { allowedRanges } from './target.js'
import { checkHookUrl } from './url.js'

/** Milliseconds for the lookup, the connection and the whole answer. */
const TIMEOUT = 10_000

/**
 * Returns the text, or the problem in one line, which continues a sentence about the URL. A redirect is a problem. `timeout`
 * is in milliseconds. Throws Misconfigured when `hooks.allow` is wrong.
 */
export async function fetchText(
  url: string,
  limit: number,
  timeout = TIMEOUT
): Promise<{ text: string } | { problem: string }> {
  const wrong = checkHookUrl(url)
  if (wrong) return { problem: wrong }
  const allow = allowedRanges()
  const signal = AbortSignal.timeout(Math.min(timeout, TIMEOUT))
  try {
    return await get(new URL(url), { allow, signal, limit })
  } catch (fault) {
    if (signal.aborted) return { problem: 'gave no complete answer in time' }
    if (fault instanceof Failure) throw fault
    return { problem: `could not be read: ${faultText(fault)}` }
  }
}

interface Limits extends Pick<Parameters<typeof openRequest>[1], 'allow' | 'signal'> {
  readonly limit: number
}

async function get(url: URL, { limit, ...limits }: Limits): Promise<{ text: string } | { problem: string }> {
  const headers = { host: url.host, accept: 'text/yaml, text/plain, */*', 'user-agent': 'Gitstead' }
  const outgoing = openRequest(url, { headers, verifyTls: true, method: 'GET', ...limits })
  try {
    outgoing.end()
    const [response] = (await once(outgoing, 'response', { signal: limits.signal })) as [IncomingMessage]
    if (response.statusCode !== 200) return { problem: `answered with status ${response.statusCode}` }
    const kept: Buffer[] = []
    let size = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) return { problem: `is larger than ${limit} bytes` }
      kept.push(chunk)
    }
    // A body that ends with its connection looks complete even when the time limit has cut it.
    limits.signal.throwIfAborted()
    return { text: Buffer.concat(kept).toString('utf8') }
  } finally {
    outgoing.destroy()
  }
}
