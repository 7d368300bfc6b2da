// Classifies why a mail was not accepted. The response of the server decides what happens next.
import type { NodemailerError } from 'nodemailer'

/**
 * - server: the server cannot be reached or rejects our login; no mail could be sent now
 * - later: the server does not accept this mail now
 * - refused: it never accepts this mail
 * - bounced: it never accepts mail for this mailbox
 */
export type FaultKind = 'server' | 'later' | 'refused' | 'bounced'

export class MailFault extends Error {
  override name = 'MailFault'

  constructor(
    readonly kind: FaultKind,
    message: string
  ) {
    super(message)
  }
}

/** Commands before the server learns about a mail. A refusal here says nothing about the mail. */
const BEFORE = new Set(['CONN', 'EHLO', 'HELO', 'LHLO', 'STARTTLS', 'API'])
/** Faults that nodemailer finds in a mail itself, without a response of the server. */
const OURS = new Set(['EENVELOPE', 'EMESSAGE', 'EMAXRECIPIENTS', 'EFILEACCESS', 'EURLACCESS'])
/** The server wants a login, or another one, whichever command it rejects. */
const LOGIN = new Set([530, 534, 535, 538])
/** The enhanced code (RFC 3463) of a mailbox that does not exist, without those about the sender: 5.1.7 and 5.1.8. */
const NO_MAILBOX = /^5\d\d[ -]5\.1\.(?![78]\b)\d+/

/** Returns the fault that an error of nodemailer means. The text is one line without secrets: servers do not repeat passwords. */
export function faultOf(error: unknown): MailFault {
  if (error instanceof MailFault) return error
  const known = error as NodemailerError
  const inner = known.rejectedErrors?.[0] ?? known
  const { command = '', response, responseCode } = inner
  const text = textOf(inner, response)
  if (known.name === 'AbortError' || known.code === 'EABORT')
    return new MailFault('server', 'the server did not take the mail in time')
  if (responseCode === undefined) return new MailFault(OURS.has(known.code ?? '') ? 'refused' : 'server', text)
  // 421: the server shuts down. A wrong password is a problem of the configuration, not of this mail.
  if (
    LOGIN.has(responseCode) ||
    known.code === 'EAUTH' ||
    command.startsWith('AUTH') ||
    BEFORE.has(command) ||
    responseCode === 421
  )
    return new MailFault('server', text)
  if (responseCode < 500 || responseCode === 503) return new MailFault('later', text)
  const bounced = command === 'RCPT TO' && NO_MAILBOX.test(response ?? '')
  return new MailFault(bounced ? 'bounced' : 'refused', text)
}

const LONGEST = 400

function textOf(error: NodemailerError, response: string | undefined): string {
  const text = response === undefined ? error.message : `${error.command ?? 'the server'}: ${response}`
  return text.replace(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST)
}
