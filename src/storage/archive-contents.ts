// The files in the archive of a build, wherever the archive is stored. Anyone may have made the archive: it is only listed within
// limits, and nothing of it is written to a disk.
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  validateFileName,
  type ZipFile
} from 'yauzl'
import { config } from '../config.js'
import { Failure } from '../errors.js'
import { openArtifact } from './artifacts.js'
import type { BuildKey } from './files.js'

interface ArchivedFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
}

export interface ArchiveListing {
  /** Sorted by their paths. */
  readonly files: readonly ArchivedFile[]
  /** The number of files whose paths are too long, or lead out of the archive. */
  readonly odd: number
}

/** An archive that is not a zip file, or too large to be listed. */
export class UnreadableArchive extends Failure {}

const MOST_ENTRIES = 10_000
/** Bytes of one path, and of the names of all entries. A zip archive allows 65,535 for each. */
const LONGEST_PATH = 4096
const MOST_OF_NAMES = 4 * 1024 * 1024
/** A larger file is only in the archive as a whole. */
const LARGEST_FILE = 1_073_741_824
/** Deflate cannot compress better than this, so an entry that claims more is false. */
const BEST_RATIO = 1032

/** Archives never change under their key. */
const listings = new LRUCache<string, ArchiveListing>({
  maxSize: 4 * MOST_OF_NAMES,
  sizeCalculation: ({ files }) => files.reduce((sum, { path }) => sum + 100 + 2 * path.length, 100)
})

/** Returns the files of an archive; null when there is no archive. Throws UnreadableArchive. */
export async function listArchive(key: BuildKey): Promise<ArchiveListing | null> {
  // Another home has other builds with the same ids.
  const name = `${config().home} ${key.build}-${key.attempt}`
  const known = listings.get(name)
  if (known) return known
  const found = await withArchive(key, async zip => {
    const files: ArchivedFile[] = []
    let odd = 0
    for await (const { entry, path } of entriesOf(zip)) {
      if (path === null) odd += 1
      else if (!path.endsWith('/')) files.push({ path, size: entry.uncompressedSize })
    }
    return { files: files.sort((one, other) => (one.path < other.path ? -1 : 1)), odd }
  })
  if (found) listings.set(name, found)
  return found
}

/** Opens a file of an archive; null when there is none with this path. Throws UnreadableArchive. */
export async function openArchivedFile(
  key: BuildKey,
  path: string
): Promise<{ readonly size: number; readonly stream: Readable } | null> {
  return withArchive(key, async zip => {
    for await (const { entry, path: found } of entriesOf(zip)) {
      if (found !== path || path.endsWith('/')) continue
      const { uncompressedSize: size, compressedSize: packed } = entry
      if (!entry.canDecodeFileData() || size > LARGEST_FILE || size > packed * BEST_RATIO + 1024) {
        throw new UnreadableArchive('this file can only be read from the whole archive')
      }
      return { size, stream: await zip.openReadStreamPromise(entry) }
    }
    return null
  })
}

/** Returns the entries with their paths; null for a path that cannot be shown. */
async function* entriesOf(zip: ZipFile): AsyncGenerator<{ readonly entry: Entry; readonly path: string | null }> {
  if (zip.entryCount > MOST_ENTRIES) throw new UnreadableArchive(`it has more than ${MOST_ENTRIES} entries`)
  let room = MOST_OF_NAMES
  for await (const entry of zip.eachEntry()) {
    room -= entry.fileNameRaw.length
    if (room < 0) throw new UnreadableArchive('the names of its files are too long')
    yield { entry, path: pathOf(entry) }
  }
}

function pathOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string | null {
  const path = getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true)
  return Buffer.byteLength(path) > LONGEST_PATH || validateFileName(path) !== null ? null : path
}

async function withArchive<T>(key: BuildKey, use: (zip: ZipFile) => Promise<T>): Promise<T | null> {
  let size = 0
  // An empty range is not possible, so this opens the file only to learn its size.
  const found = await openArtifact(key, bytes => {
    size = bytes
    return bytes > 0 ? { start: 0, end: 0 } : undefined
  })
  if (!found) return null
  found.stream.destroy()
  try {
    // With decoded names, the library refuses the whole archive because of one odd name.
    const options = { autoClose: false, lazyEntries: true, decodeStrings: false as const }
    return await use(await fromRandomAccessReaderPromise(new ArchiveReader(key), size, options))
  } catch (error) {
    throw translated(error)
  }
}

/** Turns errors of yauzl, which are plain errors. Errors of the system have a code. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error
  const { code } = error as NodeJS.ErrnoException
  return code === undefined || code.startsWith('Z_') ? new UnreadableArchive('it is damaged') : error
}

const BLOCK = 65_536
const MOST_BLOCKS = 32

/** Reads an archive at any place, on the disk or in the bucket. The list of entries is read in many small steps, so blocks are kept. */
class ArchiveReader extends RandomAccessReader {
  readonly #blocks = new Map<number, Promise<Buffer>>()

  constructor(readonly key: BuildKey) {
    super()
  }

  override read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null) => void
  ): void {
    this.#copy(into.subarray(offset, offset + length), position).then(() => done(null), done)
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#range(start, end - 1))
  }

  async #copy(into: Buffer, position: number): Promise<void> {
    for (let at = 0; at < into.length; ) {
      const place = position + at
      const block = await this.#block(Math.floor(place / BLOCK))
      const copied = block.copy(into, at, place % BLOCK)
      if (copied === 0) throw new UnreadableArchive('it ends too early')
      at += copied
    }
  }

  #block(number: number): Promise<Buffer> {
    const known = this.#blocks.get(number)
    if (known) return known
    const read = buffer(Readable.from(this.#range(number * BLOCK, (number + 1) * BLOCK - 1)))
    this.#blocks.set(number, read)
    const [oldest] = this.#blocks.keys()
    if (this.#blocks.size > MOST_BLOCKS && oldest !== undefined) this.#blocks.delete(oldest)
    return read
  }

  async *#range(start: number, last: number): AsyncGenerator<Buffer> {
    const found = await openArtifact(this.key, size => ({ start, end: Math.min(last, size - 1) }))
    // Somebody has erased the build.
    if (!found) throw new UnreadableArchive('it no longer exists')
    yield* found.stream
  }
}
