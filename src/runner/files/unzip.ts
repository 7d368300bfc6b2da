// Unpacks the archive of another build into a work tree. Any user may have made its content, perhaps with a runner outside of
// the appliance, and also the target tree. So nothing is written through a link, or outside of the tree.
import { createWriteStream } from 'node:fs'
import { chmod, lstat, mkdir, symlink, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { type Entry, openPromise, validateFileName, type ZipFile } from 'yauzl'
import { Failure } from '../../errors.js'
import { leadsInside } from '../tree.js'

export interface UnzipLimits {
  /** Maximum bytes of all files together, and of one file. */
  readonly total: number
  readonly file: number
  readonly entries?: number
}

/** An archive that is broken, too large or hostile. */
export class BadArchive extends Failure {}

/** Deflate cannot compress better than this, so an entry that claims more is false. */
const BEST_RATIO = 1032
const MOST_ENTRIES = 100_000
const LONGEST_TARGET = 4096

/**
 * Unpacks a zip file. Its files replace files with the same name. Throws BadArchive. When the list of entries already
 * shows the problem, it throws before it writes anything.
 */
export async function unzip(archive: string, into: string, limits: UnzipLimits, signal?: AbortSignal): Promise<void> {
  const zip = await openArchive(archive)
  try {
    const entries = await readEntries(zip, limits)
    for (const entry of entries) {
      signal?.throwIfAborted()
      await unpack(zip, entry, into)
    }
  } catch (error) {
    throw translated(error)
  } finally {
    zip.close()
  }
}

async function openArchive(archive: string): Promise<ZipFile> {
  try {
    return await openPromise(archive, { autoClose: false, lazyEntries: true, strictFileNames: true })
  } catch (error) {
    throw translated(error)
  }
}

/** Turns errors of yauzl into BadArchive. They are plain errors; errors of the system have a code. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure || error.name === 'AbortError') return error
  const { code } = error as NodeJS.ErrnoException
  return code === undefined || code.startsWith('Z_') ? new BadArchive(error.message) : error
}

async function readEntries(zip: ZipFile, limits: UnzipLimits): Promise<Entry[]> {
  const entries: Entry[] = []
  const most = limits.entries ?? MOST_ENTRIES
  if (zip.entryCount > most) throw new BadArchive(`more than ${most} entries`)
  let total = 0
  let packed = 0
  for await (const entry of zip.eachEntry()) {
    check(entry, limits)
    total += entry.uncompressedSize
    packed += entry.compressedSize
    if (total > limits.total) throw new BadArchive(`more than ${limits.total} bytes when unpacked`)
    // Entries that share their bytes are the other way to get large content from a small archive.
    if (packed > zip.fileSize) throw new BadArchive('entries overlap')
    entries.push(entry)
  }
  return entries
}

function check(entry: Entry, limits: UnzipLimits): void {
  const { fileName, uncompressedSize, compressedSize } = entry
  const name = JSON.stringify(fileName.slice(0, 200))
  const problem = validateFileName(fileName)
  if (problem) throw new BadArchive(problem)
  if (fileName === '' || fileName.includes('\0') || fileName.split('/').includes('.git')) {
    throw new BadArchive(`the name ${name} is not allowed`)
  }
  if (!entry.canDecodeFileData()) throw new BadArchive(`${name} is encrypted or packed in an unknown way`)
  if (uncompressedSize > limits.file) throw new BadArchive(`${name} is larger than ${limits.file} bytes`)
  if (uncompressedSize > compressedSize * BEST_RATIO + 1024) throw new BadArchive(`${name} claims an impossible size`)
}

async function unpack(zip: ZipFile, entry: Entry, into: string): Promise<void> {
  const names = entry.fileName.split('/').filter(name => name !== '' && name !== '.')
  const folder = entry.fileName.endsWith('/')
  const mode = entry.externalFileAttributes >>> 16
  await makeFolders(into, folder ? names : names.slice(0, -1))
  if (folder) return
  const path = join(into, ...names)
  const present = await lstat(path).catch(() => undefined)
  if (present?.isDirectory()) throw new BadArchive(`${JSON.stringify(entry.fileName)} already exists as a folder`)
  if (present) await unlink(path)
  if ((mode & 0o170000) === 0o120000) return link(zip, entry, path)
  if ((mode & 0o170000) !== 0 && (mode & 0o170000) !== 0o100000) {
    throw new BadArchive(`${JSON.stringify(entry.fileName)} is neither a file nor a link`)
  }
  await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  await chmod(path, 0o600 | (mode & 0o777 || 0o644))
}

async function makeFolders(into: string, names: string[]): Promise<void> {
  let path = into
  for (const name of names) {
    path = join(path, name)
    const present = await lstat(path).catch(() => undefined)
    if (!present) await mkdir(path, { mode: 0o755 })
    else if (!present.isDirectory())
      throw new BadArchive(`${JSON.stringify(names.join('/'))} leads through a link or a file`)
  }
}

async function link(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  if (entry.uncompressedSize > LONGEST_TARGET) throw new BadArchive('a link is too long')
  const target = (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8')
  if (!leadsInside(entry.fileName, target)) {
    throw new BadArchive(`the link ${JSON.stringify(entry.fileName)} leads out of the archive`)
  }
  await symlink(target, path)
}
