// Hands mails to the server, to sendmail, or to files. Each process has one connection and sends one mail at a time: the server
// sets the pace, and a killed process leaves at most one mail of unknown state.
import type { SendMailOptions, Transporter } from 'nodemailer'
import { type Config, config } from '../config.js'
import { faultOf, MailFault } from './faults.js'
import { keepMail } from './file.js'
import { nodemailer } from './nodemailer.js'
import { sendByProgram } from './sendmail.js'

/** Milliseconds after which an idle connection is closed: mails often come in bursts. */
const IDLE = 20_000

let open: { readonly of: Config; readonly transporter: Transporter } | undefined

/**
 * Hands over a mail. `name` is its file name if mails are files; `stop` ends the try. Returns the response of the server. Throws
 * MailFault.
 */
export async function sendMessage(message: SendMailOptions, name: string, stop?: AbortSignal): Promise<string> {
  const { mail } = config()
  // A timer for each mail that keeps running would keep the mail in memory, and a list has thousands.
  const controller = new AbortController()
  const { signal } = controller
  const end = () => controller.abort()
  const limit = setTimeout(end, mail.smtp.send_timeout * 1000)
  stop?.addEventListener('abort', end, { once: true })
  try {
    if (mail.transport === 'file') return await keepMail(message, name)
    if (mail.transport === 'sendmail') return await sendByProgram(message, signal)
    const info = await transporter().sendMail({ ...message, signal })
    return String(info.response ?? '')
  } catch (error) {
    throw faultOf(error)
  } finally {
    clearTimeout(limit)
    stop?.removeEventListener('abort', end)
  }
}

/** Gets each line that either side of a conversation says, without passwords and mails: `C: EHLO ...`, `S: 250 ...`. */
export type Say = (line: string) => void

/**
 * Talks to the server of `mail.smtp` over a separate connection: connects, logs in if there is a user, and sends a mail if there
 * is one. `say` gets each line. Throws MailFault.
 */
export async function converse(message: SendMailOptions | null, say: Say = () => undefined): Promise<void> {
  const trial = nodemailer().createTransport({ ...smtpOptions(), logger: tellTo(say), transactionLog: true })
  let limit: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(
      () => reject(new MailFault('server', 'the server did not answer in time')),
      config().mail.smtp.send_timeout * 1000
    )
  })
  try {
    await Promise.race([message ? trial.sendMail(message) : trial.verify(), late])
  } catch (error) {
    throw faultOf(error)
  } finally {
    clearTimeout(limit)
    trial.close()
  }
}

/** Passes on the log of nodemailer, which hides passwords itself. */
function tellTo(say: Say) {
  const line = (entry: { readonly tnx?: unknown }, text: string) => {
    const side = { client: 'C', server: 'S' }[String(entry.tnx)]
    if (side) for (const part of text.split(/\r?\n/)) say(`${side}: ${part}`)
  }
  const quiet = () => undefined
  return { level: quiet, trace: quiet, debug: line, info: quiet, warn: quiet, error: quiet, fatal: quiet }
}

/** Closes the connection. A mail that is being sent fails. */
export function closeMail(): void {
  open?.transporter.close({ force: true })
  open = undefined
}

function transporter(): Transporter {
  if (open?.of === config()) return open.transporter
  closeMail()
  const made = nodemailer().createTransport({
    ...smtpOptions(),
    pool: true,
    maxConnections: 1,
    maxMessages: 100,
    // The delivery counts its tries. An uncounted try could send the mail again.
    maxRequeues: 0,
    idleTimeout: IDLE
  })
  // A connection that breaks between two mails does no harm: the next mail opens another.
  made.on('error', () => undefined)
  open = { of: config(), transporter: made }
  return made
}

/** The limit of bytes of one response of a server. */
const LONGEST_ANSWER = 65_536

/** The options of a connection. */
function smtpOptions() {
  const { host, port, tls, verify_tls: verify, user, password, timeout } = config().mail.smtp
  const withPassword = user !== ''
  // Otherwise anyone in between could steal the password.
  const required = tls === 'starttls-required' || (tls === 'starttls' && withPassword)
  const milliseconds = timeout * 1000
  return {
    host,
    port,
    secure: tls === 'tls',
    ignoreTLS: tls === 'none',
    requireTLS: required,
    // Anyone between us and the server could have removed STARTTLS, so a certificate proves nothing here.
    tls: { rejectUnauthorized: verify && (required || tls === 'tls') },
    ...(withPassword && { auth: { user, pass: password } }),
    connectionTimeout: milliseconds,
    greetingTimeout: milliseconds,
    socketTimeout: milliseconds,
    dnsTimeout: milliseconds,
    socketCloseTimeout: 1000,
    maxResponseSize: LONGEST_ANSWER,
    allowInternalNetworkInterfaces: true
  }
}
