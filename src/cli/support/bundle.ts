// Writes a support bundle: what somebody else needs to find a fault, without secrets and without what users wrote. It contains only
// known fields, so a field that is added later stays out until somebody adds it here.
import { rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { config } from '../../config.js'
import { Failure } from '../../errors.js'
import { readFacts } from '../appliance/read-facts.js'
import type { CheckResult } from '../doctor/check.js'
import { examine } from '../doctor/examine.js'
import type { CheckName } from '../doctor/names.js'
import { withDatabase } from '../framework/with-database.js'
import { pickLog } from './log-lines.js'
import { scrubber } from './scrub.js'
import { pickSettings } from './settings.js'

/** Checks whose details name only folders, tables and jobs. The details of others quote servers, errors or users. */
const SAFE_DETAILS: ReadonlySet<CheckName> = new Set(['folders', 'schema', 'tables', 'jobs', 'dead_jobs', 'queues'])

/** Checks whose result quotes other servers, errors or users: only their verdict is shown. */
const QUOTING: ReadonlySet<CheckName> = new Set(['mail', 'mode', 'maintenance', 'backups'])

/** Seconds for measuring the folders of the home. */
const MEASURE = 5

export interface WrittenBundle {
  readonly file: string
  readonly bytes: number
  readonly contents: readonly { readonly name: string; readonly bytes: number }[]
  readonly log: { readonly lines: number; readonly skipped: number }
}

/** Writes the bundle into a new file. Its files have at most `most` bytes together: the log has the rest. Throws Failure. */
export async function writeBundle(file: string, most: number): Promise<WrittenBundle> {
  const path = resolve(file)
  // Before anything else: root may write where the owner of the home, as whom it continues, may not.
  const output = await open(path, 'wx', 0o600).catch(error => {
    throw unwritable(path, error)
  })
  try {
    return await fill(path, output, most)
  } catch (error) {
    remove(path)
    throw error
  } finally {
    await output.close()
  }
}

const unwritable = (path: string, error: unknown) =>
  new Failure(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}): choose another file with --to`)

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The owner of the home cannot remove a file in a folder of root.
  }
}

async function fill(path: string, output: FileHandle, most: number): Promise<WrittenBundle> {
  const { home } = config()
  const scrub = scrubber()
  const facts: unknown = await withDatabase(() => readFacts(MEASURE)).catch(failureOf)
  const checks = await examine({ fix: false, all: false })
  const documents = {
    'info.json': facts,
    'doctor.json': { ok: checks.every(({ ok }) => ok), checks: checks.map(viewCheck) },
    'config.json': { settings: pickSettings(home, scrub) }
  }
  const files = Object.entries(documents).map(([name, value]) => ({
    name,
    content: Buffer.from(`${scrubJson(value, scrub)}\n`)
  }))
  const used = files.reduce((sum, { content }) => sum + content.length, 0)
  const log = pickLog(Math.max(0, most - used), scrub)
  files.push({ name: 'log.jsonl', content: Buffer.from(log.text) })
  return {
    file: path,
    bytes: await writeArchive(output, files).catch(error => {
      throw unwritable(path, error)
    }),
    contents: files.map(({ name, content }) => ({ name, bytes: content.length })),
    log: { lines: log.lines, skipped: log.skipped }
  }
}

/** A failure of the appliance is what the bundle is for. Only messages of the program itself are shown. */
const failureOf = (error: unknown) => ({ error: error instanceof Failure ? error.message : 'the program has a fault' })

function viewCheck({ name, ok, skipped, found, details, remedy }: CheckResult) {
  return {
    name,
    ok,
    skipped,
    found: QUOTING.has(name) ? '(not shown)' : found,
    details: SAFE_DETAILS.has(name) ? details : details.map(() => '(not shown)'),
    remedy
  }
}

const LONGEST_TEXT = 500
const LONGEST_LIST = 100

const scrubJson = (value: unknown, scrub: (text: string) => string) =>
  JSON.stringify(
    value,
    (_, each: unknown) => {
      if (Array.isArray(each) && each.length > LONGEST_LIST && typeof each[0] === 'string')
        return each.slice(0, LONGEST_LIST)
      return typeof each === 'string' ? scrub(each).slice(0, LONGEST_TEXT) : each
    },
    2
  )

/** Returns the number of bytes. */
async function writeArchive(output: FileHandle, files: readonly { name: string; content: Buffer }[]): Promise<number> {
  const archive = pack()
  const mtime = new Date()
  for (const { name, content } of files)
    archive.entry({ name: `gitstead-support/${name}`, mode: 0o600, mtime }, content)
  archive.finalize()
  const stream = output.createWriteStream()
  await pipeline(archive, createGzip(), stream)
  return stream.bytesWritten
}
