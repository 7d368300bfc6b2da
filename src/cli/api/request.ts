// One request to an appliance. It does not use fetch, which hides the original form of the response, and never settles when
// another program hangs up without a response.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request as secure } from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { BadParameters, Unavailable } from '../../errors.js'
import { request as plain } from '../../lib/node-http.js'
import { notConnected } from '../appliance/remote-address.js'

export interface Body {
  readonly type: string
  /** Undefined when the length is unknown. */
  readonly length?: number
  readonly content: Readable | string
}

export interface Question {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Body
  /** Fail after this many milliseconds without a byte in either direction. */
  readonly silence: number
  readonly signal: AbortSignal
}

/** Sends a request and returns the response as soon as its headers arrive. Follows no redirects. Throws Unavailable, Misconfigured. */
export function ask({ method, url, headers, body, silence, signal }: Question): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body?.length === undefined ? {} : { 'content-length': String(body.length) }
    const options = {
      method,
      signal,
      headers: { accept: '*/*', ...(body ? { 'content-type': body.type, ...length } : {}), ...headers }
    }
    const sent = (url.protocol === 'https:' ? secure : plain)(url, options, resolve)
    sent.setTimeout(silence, () => sent.destroy(new Unavailable(`no answer for ${silence / 1000} s: see --timeout`)))
    sent.on('error', error => {
      if (signal.aborted) return reject(signal.reason)
      reject(error instanceof Unavailable ? error : notConnected(url.origin, error))
    })
    if (!body || typeof body.content === 'string') return sent.end(body?.content)
    // A server that rejects the body responds before its end: the response counts, not the broken pipe.
    pipeline(body.content, sent).catch(() => undefined)
  })
}

/** Returns the content of a file as a body, or that of standard input for `-`. Throws BadParameters when the file cannot be read. */
export async function fileBody(file: string, type: string): Promise<Body> {
  if (file === '-') return { type, content: process.stdin }
  try {
    const found = await stat(file)
    if (!found.isFile()) return { type, content: createReadStream(file) }
    return { type, length: found.size, content: createReadStream(file) }
  } catch (error) {
    const text = `--input ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw new BadParameters(text, text)
  }
}
