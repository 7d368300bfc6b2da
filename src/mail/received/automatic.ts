// Recognizes mail that no person wrote: answering it could start a loop.
import type { Headers } from 'mailparser'

const LISTED = /^(bulk|junk|list|auto_reply)$/i
/** Exchange marks its own automatic replies with these; other values only concern receipts. */
const SUPPRESSED = /\b(all|oof|autoreply)\b/i
const NO_SENDER = /^(<>)?$|^<?mailer-daemon(@|>|$)/i
const AUTOREPLY_HEADERS = ['x-autoreply', 'x-autorespond', 'x-auto-reply', 'x-autoresponder', 'x-gitstead-reason']

/** Returns why a mail is automatic; null when a person wrote it. `sender` is the one of the envelope, if it is known. */
export function whyAutomatic(
  headers: Headers,
  raw: (name: string) => string | undefined,
  sender?: string
): string | null {
  const envelope = sender ?? raw('return-path')
  if (envelope !== undefined && NO_SENDER.test(envelope.trim())) return 'it has no sender'
  const submitted = raw('auto-submitted')
  if (submitted !== undefined && !/^no\b/i.test(submitted)) return `Auto-Submitted: ${submitted}`
  const precedence = raw('precedence')
  if (precedence !== undefined && LISTED.test(precedence)) return `Precedence: ${precedence}`
  if (SUPPRESSED.test(raw('x-auto-response-suppress') ?? '')) return 'X-Auto-Response-Suppress'
  const mark = AUTOREPLY_HEADERS.find(name => headers.has(name))
  if (mark !== undefined) return mark
  if (/^multipart\/report\b/i.test(raw('content-type') ?? '')) return 'it is a report'
  return null
}
