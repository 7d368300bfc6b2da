// A real SMTP server, which keeps the mails that it accepts and can be made to fail.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { loadConfig } from '../../src/config.js'
import { closeMail } from '../../src/mail/transport.js'

interface TakenMail extends Omit<ParsedMail, 'to'> {
  /** The recipients of the envelope. */
  readonly to: string
  readonly source: string
}

export interface SmtpServer {
  readonly port: number
  /** The mails that it accepted, oldest first. */
  readonly mails: TakenMail[]
  /** Refuses instead of accepting: the text begins with the code, such as `550 5.1.1 No such user`. */
  refuse: { recipient?: (address: string) => string | null; data?: (mail: TakenMail) => string | null }
  stop(): Promise<void>
}

interface Test {
  teardown(fn: () => Promise<void>): void
}

function failure(text: string): Error {
  const [, code, rest] = /^(\d{3}) (.*)$/.exec(text) ?? []
  return Object.assign(new Error(rest), { responseCode: Number(code) })
}

/** Starts a server. Without options it requires no login and has no TLS. */
export async function smtpServer(t: Test, options: SMTPServerOptions = {}): Promise<SmtpServer> {
  const mails: TakenMail[] = []
  const refuse: SmtpServer['refuse'] = {}
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    closeTimeout: 100,
    onRcptTo: ({ address }, _session, done) => {
      const answer = refuse.recipient?.(address) ?? null
      done(answer === null ? null : failure(answer))
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = []
      stream.on('data', chunk => chunks.push(chunk))
      stream.on('end', async () => {
        const bytes = Buffer.concat(chunks)
        const to = session.envelope.rcptTo.map(({ address }) => address).join()
        const mail: TakenMail = { ...(await simpleParser(bytes)), to, source: bytes.toString() }
        const answer = refuse.data?.(mail) ?? null
        if (answer === null) mails.push(mail)
        done(answer === null ? null : failure(answer))
      })
    },
    ...options
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const stop = async () => {
    closeMail()
    await new Promise<void>(resolve => server.close(() => resolve()))
  }
  t.teardown(stop)
  return { port: (server.server.address() as AddressInfo).port, mails, refuse, stop }
}

/** Makes this process send mail to a server at this port. */
export function sendTo(port: number, smtp: object = {}, mail: object = {}): void {
  loadConfig({
    port: 0,
    mail: {
      transport: 'smtp',
      from: 'Gitstead <git@example.org>',
      ...mail,
      smtp: { host: '127.0.0.1', port, tls: 'none', timeout: 2, ...smtp }
    }
  })
}
