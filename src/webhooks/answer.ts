// What is kept of a receiver's answer. The receiver may be hostile, so every size here has a bound.
import type { IncomingMessage } from 'node:http'

/** Bytes of an answer that are read at the most; those beyond the kept ones are thrown away. */
const readLimit = 1024 * 1024
const mostHeaders = 50
const longestHeader = 1000

/**
 * Reads the body and leaves the first `limit` bytes of it in `kept`, also when it rejects because the answer breaks off
 * before its end.
 */
export async function readBody(response: IncomingMessage, limit: number, kept: Buffer[]): Promise<void> {
  let read = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (read < limit) kept.push(chunk.subarray(0, limit - read))
    read += chunk.length
    if (read >= readLimit) break
  }
}

/** The text of bytes that may end anywhere: wrong ones become U+FFFD, a character without its end is left out. */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}

/** The beginning of a text that takes at most `limit` bytes in UTF-8. */
export function boundedText(text: string, limit: number): string {
  return decodeText(Buffer.from(text).subarray(0, limit))
}

/** The first headers of an answer, names in lower case, values cut; repeated ones are joined by a comma. */
export function boundedHeaders(response: IncomingMessage): Record<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < response.rawHeaders.length && headers.size < mostHeaders; index += 2) {
    const name = (response.rawHeaders[index] ?? '').toLowerCase().slice(0, longestHeader)
    const value = response.rawHeaders[index + 1] ?? ''
    const before = headers.get(name)
    headers.set(name, (before === undefined ? value : `${before}, ${value}`).slice(0, longestHeader))
  }
  return Object.fromEntries(headers)
}
