// Turns a delivery error into one line for the owner of the hook.
import { RefusedTarget } from './target.js'

const CLOSED = 'the receiver closed the connection before its answer was complete'

const texts: Record<string, string> = {
  ENOTFOUND: 'the host name has no address',
  ENODATA: 'the host name has no address',
  EAI_AGAIN: 'the host name cannot be resolved at the moment',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ETIMEDOUT: 'the host does not answer',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network of the host cannot be reached',
  ERR_INVALID_CHAR: 'the token has characters that are not allowed in a header',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large'
}

/** One line of at most 300 characters, without secrets: it contains no part of the URL or of the headers. */
export function faultText(error: unknown): string {
  if (error instanceof RefusedTarget) return error.message
  const code = codeOf(error)
  const known = texts[code]
  if (known) return known
  const message = oneLine(error instanceof Error ? error.message : String(error))
  if (code.startsWith('HPE_')) return `the answer is not HTTP: ${message}`
  if (/CERT|SIGNATURE|ISSUER/.test(code)) return `the certificate of the receiver is not valid: ${message}`
  if (/SSL|TLS|EPROTO/.test(code)) return `TLS with the receiver failed: ${message}`
  return message || code || 'the delivery failed'
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** Makes a message one short line. The names in a certificate are chosen by the receiver and may contain anything. */
function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > 250 ? `${line.slice(0, 250)}...` : line
}
