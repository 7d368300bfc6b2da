// Reads the mails in HOME/mail with a different library than the one that writes them.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ParsedMail, simpleParser } from 'mailparser'
import { config } from '../../src/config.js'
import { runJobs } from './jobs.js'

export interface ReadMail {
  /** In lower case. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The path of the first link with a token. */
  readonly link: string | undefined
}

/** Returns a function that runs all jobs, and returns the mails since its last call, in the order of their addresses. */
export function mailbox(): () => Promise<ReadMail[]> {
  const seen = new Set<string>()
  return async () => {
    await runJobs()
    const folder = join(config().home, 'mail')
    const files = existsSync(folder) ? readdirSync(folder).filter(file => file.endsWith('.eml') && !seen.has(file)) : []
    for (const file of files) seen.add(file)
    const mails = await Promise.all(
      files.map(async file => shownOf(await simpleParser(readFileSync(join(folder, file)))))
    )
    return mails.sort((one, other) => one.to.localeCompare(other.to) || one.subject.localeCompare(other.subject))
  }
}

function shownOf(mail: ParsedMail): ReadMail {
  const [to] = [mail.to].flat()
  const text = mail.text ?? ''
  const link = /https?:\/\/[^/\s]+(\/\S+\?token=\S+)/.exec(text)?.[1]
  return {
    to: (to?.value[0]?.address ?? '').toLowerCase(),
    subject: mail.subject ?? '',
    text,
    html: mail.html || '',
    link
  }
}
