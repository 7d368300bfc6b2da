// Sends mails with the program sendmail, which most mail servers have. The library would wait for it without a limit.
import { spawn } from 'node:child_process'
import type { SendMailOptions } from 'nodemailer'
import { config } from '../config.js'
import { type FaultKind, MailFault } from './faults.js'
import { nodemailer } from './nodemailer.js'

/** How many characters of the output of the program are kept. */
const LONGEST_WORDS = 1000
/** Nothing from our own environment, which may contain passwords. */
const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C' }
/** The meanings of exit codes in sysexits.h. Any other code is a fault of the program or of its configuration. */
const MEANINGS: { readonly [code: number]: FaultKind } = { 65: 'refused', 67: 'bounced', 68: 'refused', 75: 'later' }

/** Hands a mail to the program and waits until it ends. Throws MailFault. */
export async function sendByProgram(message: SendMailOptions, signal: AbortSignal): Promise<string> {
  const { from, to } = message.envelope as { from: string; to: string[] }
  // Addresses are in the place of options, and some programs do not support `--`.
  if ([from, ...to].some(address => address.startsWith('-')))
    throw new MailFault('refused', 'sendmail would read the address as an option')
  const stream = nodemailer().createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  const { message: bytes } = await stream.sendMail(message)
  const { path } = config().mail.sendmail
  const { code, words } = await run(path, ['-i', '-f', from, ...to], bytes as Buffer, signal)
  if (code === 0) return `${path} has accepted the mail`
  if (signal.aborted) throw new MailFault('server', `${path} did not end in time`)
  const said = words.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  throw new MailFault(MEANINGS[code ?? -1] ?? 'server', `${path} ended with ${code}: ${said}`.slice(0, 400))
}

function run(path: string, args: string[], input: Buffer, signal: AbortSignal) {
  return new Promise<{ code: number | null; words: string }>((resolve, reject) => {
    const child = spawn(path, args, { env: ENVIRONMENT, cwd: '/', signal, killSignal: 'SIGKILL' })
    let words = ''
    const keep = (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(0, LONGEST_WORDS)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.stdin.on('error', () => undefined)
    child.on('error', error => {
      if (signal.aborted) resolve({ code: null, words: '' })
      else reject(new MailFault('server', error.message))
    })
    child.on('exit', code => resolve({ code, words }))
    child.stdin.end(input)
  })
}
