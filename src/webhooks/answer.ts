// Reads the part of a receiver's answer that we keep. The receiver may be hostile, so every size here has a limit.
import type { IncomingMessage } from 'node:http'

/** The most bytes of an answer that we read. Bytes that are not kept are thrown away. */
const READ_LIMIT = 1024 * 1024
const MOST_HEADERS = 50
const LONGEST_HEADER = 1000

/**
 * Reads the body and puts its first `limit` bytes into `kept`. When the answer breaks off before its end, this rejects, but
 * `kept` has the bytes that arrived.
 */
export async function readBody(response: IncomingMessage, limit: number, kept: Buffer[]): Promise<void> {
  let read = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    if (read < limit) kept.push(chunk.subarray(0, limit - read))
    read += chunk.length
    if (read >= READ_LIMIT) break
  }
}

/** Decodes bytes that may end anywhere. Wrong bytes become U+FFFD; an incomplete last character is left out. */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}

/** The beginning of a text, at most `limit` bytes of UTF-8. */
export function boundedText(text: string, limit: number): string {
  return decodeText(Buffer.from(text).subarray(0, limit))
}

/** The first headers of an answer: names in lower case, long values cut, and repeated headers joined by a comma. */
export function boundedHeaders(response: IncomingMessage): Record<string, string> {
  const headers = new Map<string, string>()
  for (let index = 0; index + 1 < response.rawHeaders.length && headers.size < MOST_HEADERS; index += 2) {
    const name = (response.rawHeaders[index] ?? '').toLowerCase().slice(0, LONGEST_HEADER)
    const value = response.rawHeaders[index + 1] ?? ''
    const before = headers.get(name)
    headers.set(name, (before === undefined ? value : `${before}, ${value}`).slice(0, LONGEST_HEADER))
  }
  return Object.fromEntries(headers)
}
