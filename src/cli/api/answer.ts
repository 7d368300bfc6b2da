// Writes a response of the API to standard output, within its limits.
import type { IncomingMessage } from 'node:http'
import { Failure } from '../../errors.js'
import { ExitCode } from '../framework/failures.js'
import { writeOut } from '../framework/list-all.js'

/** Bytes of a response that a command holds in memory: for --json, and for each page of --paginate. */
const HELD = 16 * 1024 * 1024

/** Returns the status line and the headers as they were received. */
export function headOf({ httpVersion, statusCode, statusMessage, rawHeaders }: IncomingMessage): string {
  const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []))
  return shown(`HTTP/${httpVersion} ${statusCode} ${statusMessage}\n${lines.join('\n')}\n\n`)
}

/**
 * Streams the body to standard output. Throws Failure when it is larger than `most`. On a terminal, control characters
 * become question marks: text from a user must not move the cursor.
 */
export async function streamBody(answer: IncomingMessage, most: number): Promise<void> {
  const terminal = process.stdout.isTTY === true
  const decoder = new TextDecoder()
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) throw new Failure(`the response is larger than ${most} bytes: raise --max-bytes`)
    if (!(await writeOut(terminal ? shown(decoder.decode(chunk, { stream: true })) : chunk))) return
  }
  if (terminal && size > 0) await writeOut('\n')
}

const shown = (text: string) =>
  process.stdout.isTTY === true ? text.replace(/(?![\n\t])[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?') : text

/** Returns the body as a JSON value, or as text when it is not JSON. Throws Failure when it is too large or not text. */
export async function heldBody(answer: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > HELD) throw new Failure(`the response is larger than ${HELD} bytes: omit --json to stream it`)
    chunks.push(chunk)
  }
  const text = textOf(Buffer.concat(chunks))
  if (!/\bjson\b/.test(answer.headers['content-type'] ?? '')) return text
  return text === '' ? null : JSON.parse(text)
}

function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Failure('the response is not text: omit --json')
  }
}

const CODES: { readonly [status: number]: number } = {
  400: ExitCode.usage,
  405: ExitCode.usage,
  413: ExitCode.usage,
  415: ExitCode.usage,
  422: ExitCode.usage,
  404: ExitCode.notFound,
  409: ExitCode.conflict,
  429: ExitCode.unavailable,
  502: ExitCode.unavailable,
  503: ExitCode.unavailable,
  504: ExitCode.unavailable
}

/** Returns the exit code for a status. 304 is not a failure: nothing had to change. */
export function exitCodeOfStatus(status: number): number {
  if (status < 300 || status === 304) return 0
  return CODES[status] ?? ExitCode.failed
}
