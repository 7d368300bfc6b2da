// Writes mails as files to HOME/mail when nothing else is configured: a sysadmin can look at them, and no recipient gets them.
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions } from 'nodemailer'
import { config } from '../config.js'
import { nodemailer } from './nodemailer.js'

const NAME = /\.eml$/
/** How many files this process writes before it removes old ones. The task old_mail_files removes them, too. */
const ROUND = 100

const folder = () => join(config().home, 'mail')
let written = 0

/** Writes a mail. A second try of the same mail uses the same name, and therefore the same file. Returns the path. */
export async function keepMail(message: SendMailOptions, name: string): Promise<string> {
  const stream = nodemailer().createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
  const { message: bytes } = await stream.sendMail(message)
  await mkdir(folder(), { recursive: true, mode: 0o700 })
  const path = join(folder(), `${name}.eml`)
  const draft = join(folder(), `.${name}.${process.pid}`)
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(bytes as Buffer)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  if (++written % ROUND === 0) await removeOldFiles(false)
  return path
}

/** Removes files that are too old or beyond the allowed number. Returns how many. */
export async function removeOldFiles(dryRun: boolean): Promise<number> {
  const { max_files: most, max_age: age } = config().mail.file
  const names = await readdir(folder()).catch(none)
  const files = await Promise.all(
    names.map(async name => ({ name, at: (await stat(join(folder(), name)).catch(() => null))?.mtimeMs ?? null }))
  )
  const before = Date.now() - age * 1000
  const mails = files
    .filter(({ name, at }) => NAME.test(name) && at !== null)
    .sort((one, other) => Number(other.at) - Number(one.at))
  // Files of a killed process do not have the name of a mail. A young one may still be in use.
  const drafts = files.filter(({ name, at }) => name.startsWith('.') && at !== null && at < Date.now() - 3_600_000)
  const old = [...mails.slice(most), ...mails.slice(0, most).filter(({ at }) => Number(at) < before), ...drafts]
  if (!dryRun) for (const { name } of old) await rm(join(folder(), name), { force: true })
  return old.length
}

function none(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return []
  throw error
}
