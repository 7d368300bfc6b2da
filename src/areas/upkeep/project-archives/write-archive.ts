// Writes the container: one entry after another, each hashed while it is written. A file appears under its name when it is
// complete.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { link, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { Conflict, Failure } from '../../../errors.js'
import { syncFolder } from '../../../storage/files.js'
import { draftOf, removeDeadDrafts } from './drafts.js'
import { SUMS } from './format.js'

export interface Entry {
  readonly name: string
  /** False for content that is already compressed. */
  readonly compress: boolean
  /** Called after the previous entries are written. */
  readonly open: () => Promise<Readable> | Readable
}

/** Writes an archive with these entries, and the list of their checksums. Throws Conflict when the file exists. */
export async function writeArchive(
  file: string,
  entries: AsyncIterable<Entry>,
  signal: AbortSignal
): Promise<{ bytes: number }> {
  const path = resolve(file)
  await removeDeadDrafts(path)
  const draft = draftOf(path)
  try {
    const bytes = await writeDraft(draft, entries, signal)
    // Unlike a rename, this fails when the file was created in the meantime.
    await link(draft, path)
    await syncFolder(dirname(path))
    return { bytes }
  } catch (error) {
    throw named(error, path)
  } finally {
    await rm(draft, { force: true })
  }
}

function named(error: unknown, path: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EEXIST') return new Conflict(`${path} already exists: choose another file with --output`)
  if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR' || code === 'EROFS' || code === 'EPERM') {
    return new Failure(`${path} cannot be written (${code}): choose another file with --output`)
  }
  return error
}

async function writeDraft(draft: string, entries: AsyncIterable<Entry>, signal: AbortSignal): Promise<number> {
  const ended = new AbortController()
  const zip = new ZipFile()
  const content = zip.outputStream as Readable
  zip.on('error', error => content.destroy(error instanceof Error ? error : new Error(String(error))))
  // The stream opens and closes the file itself: after a failure, a descriptor would be closed twice.
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true })
  const done = pipeline(content, file, { signal })
  // The failure is thrown below; until then nothing awaits it.
  done.catch(() => undefined)
  try {
    await addAll({ zip, content, ended: ended.signal }, entries)
    zip.end()
    await done
    return (await stat(draft)).size
  } catch (error) {
    content.destroy(error as Error)
    // The file is closed before it is removed.
    await done.catch(() => undefined)
    throw error
  } finally {
    ended.abort()
  }
}

interface Writing {
  readonly zip: ZipFile
  readonly content: Readable
  /** Closes the entry that is being read. The writer of the archive leaves it open on failure. */
  readonly ended: AbortSignal
}

async function addAll(writing: Writing, entries: AsyncIterable<Entry>): Promise<void> {
  const sums: string[] = []
  for await (const entry of entries) sums.push(`${await add(writing, entry)}  ${entry.name}\n`)
  writing.zip.addBuffer(Buffer.from(sums.join('')), SUMS, { mode: 0o100600 })
}

/** Resolves with the hash after the entry was read to its end. */
function add({ zip, content, ended }: Writing, { name, compress, open: source }: Entry): Promise<string> {
  return new Promise((resolve, reject) => {
    content.once('error', reject)
    const hash = createHash('sha256')
    const meter = new Transform({
      transform: (chunk: Buffer, _, done) => {
        hash.update(chunk)
        done(null, chunk)
      },
      flush: done => {
        content.off('error', reject)
        resolve(hash.digest('hex'))
        done()
      }
    })
    const options = { mode: 0o100600, compress, forceZip64Format: true }
    zip.addReadStreamLazy(name, options, done => {
      Promise.resolve(source()).then(
        stream => {
          pipeline(stream, meter, { signal: ended }).catch(error => zip.emit('error', error))
          done(null, meter)
        },
        error => zip.emit('error', error)
      )
    })
  })
}

/** Returns the lines as bytes, in pieces of limited size. */
export function linesOf(lines: AsyncIterable<string> | Iterable<string>): Readable {
  return Readable.from(pieces(lines), { objectMode: false })
}

async function* pieces(lines: AsyncIterable<string> | Iterable<string>): AsyncGenerator<Buffer> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < 65_536) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
