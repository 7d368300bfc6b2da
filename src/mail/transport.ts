// Hands mails to the server, to sendmail, or to files. One connection for each process, and one mail at a time: that is the
// pace of the server, and a process that is killed leaves only one mail of which nobody knows whether it was taken.
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
 * Hands a mail over. `name` is that of its file, if mails are files; `stop` ends the try. Returns what the server said.
 * Throws MailFault.
 */
export async function sendMessage(message: SendMailOptions, name: string, stop?: AbortSignal): Promise<string> {
  const { mail } = config()
  // A clock for each mail that runs on after it would keep the mail in memory: a list has thousands.
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

/** What both sides of a conversation say, without passwords and without mails: `C: EHLO ...`, `S: 250 ...`. */
export type Say = (line: string) => void

/**
 * Talks to the server of `mail.smtp` over a connection of its own: connects, logs in if there is a user, and sends a mail if
 * there is one. `say` gets each line. Throws MailFault.
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

/** Passes on what nodemailer logs of the conversation. It hides passwords itself. */
function tellTo(say: Say) {
  const line = (entry: { readonly tnx?: unknown }, text: string) => {
    const side = { client: 'C', server: 'S' }[String(entry.tnx)]
    if (side) for (const part of text.split(/\r?\n/)) say(`${side}: ${part}`)
  }
  const quiet = () => undefined
  return { level: quiet, trace: quiet, debug: line, info: quiet, warn: quiet, error: quiet, fatal: quiet }
}

/** Closes the connection. A mail that is on its way fails. */
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
    // The delivery counts its tries. One that nobody counts could send the mail again.
    maxRequeues: 0,
    idleTimeout: IDLE
  })
  // A connection that breaks between two mails concerns nobody: the next one opens another.
  made.on('error', () => undefined)
  open = { of: config(), transporter: made }
  return made
}

/** Bytes of one answer of a server. */
const LONGEST_ANSWER = 65_536

/** The options of a connection. */
export function smtpOptions() {
  const { host, port, tls, verify_tls: verify, user, password, timeout } = config().mail.smtp
  const withPassword = user !== ''
  // Otherwise whoever stands between could take the password.
  const required = tls === 'starttls-required' || (tls === 'starttls' && withPassword)
  const milliseconds = timeout * 1000
  return {
    host,
    port,
    secure: tls === 'tls',
    ignoreTLS: tls === 'none',
    requireTLS: required,
    // Anybody between us and the server could have left STARTTLS out, so a certificate proves nothing here.
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
