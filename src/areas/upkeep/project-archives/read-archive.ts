// Reads the container. Anyone may have written it, so names, sizes and types are checked before a byte is unpacked, each entry
// has a limit while it is read, and the checksums at the end cover everything that was read.
import { createHash, type Hash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { type Readable, Transform } from 'node:stream'
import { Entry, openPromise, type ZipFile } from 'yauzl'
import { config } from '../../../config.js'
import { Failure, NoSuch } from '../../../errors.js'
import { isOid } from '../../../storage/lfs.js'
import { UPLOAD_NAME } from '../../../storage/uploads.js'
import {
  ARTIFACTS,
  BadProjectArchive,
  FORMAT,
  KINDS,
  LFS,
  LONGEST_LINE,
  LONGEST_MANIFEST,
  LONGEST_SUM,
  MANIFEST,
  type Manifest,
  MOST,
  MOST_BUILD_FILES,
  MOST_LFS_OBJECTS,
  MOST_RECORD_BYTES,
  MOST_REFS,
  PACK,
  RECORDS,
  REFS,
  SUMS,
  TRACES,
  UPLOADS
} from './format.js'

/** Deflate cannot compress better than this, so a higher ratio is forged. */
const BEST_RATIO = 1032

/** Folders of files, and what the files of each are called in messages. */
interface Folder {
  readonly name: (path: string) => boolean
  readonly called: 'uploads' | 'traces' | 'artifacts' | 'lfs'
  readonly most: () => number
}

const buildFile = (path: string, ending: string) =>
  /^[1-9]\d{0,9}$/.test(path.slice(0, -ending.length)) && path.endsWith(ending)
const FOLDERS: { readonly [prefix: string]: Folder } = {
  [UPLOADS]: {
    name: path => /^[0-9a-f]{32}\//.test(path) && UPLOAD_NAME.test(path.slice(33)),
    called: 'uploads',
    most: () => config().uploads.max_files
  },
  [TRACES]: { name: path => buildFile(path, '.log'), called: 'traces', most: () => MOST_BUILD_FILES },
  [ARTIFACTS]: { name: path => buildFile(path, '.zip'), called: 'artifacts', most: () => MOST_BUILD_FILES },
  [LFS]: { name: isOid, called: 'lfs', most: () => MOST_LFS_OBJECTS }
}

/** Returns the folder in which an entry is, with its slash; undefined for an entry in none. */
const folderOf = (name: string): string | undefined => /^\w+\//.exec(name)?.[0]

interface StoredFile {
  /** The path below its folder. */
  readonly path: string
  readonly size: number
  readonly open: () => Promise<Readable>
}

/** An open archive. Read it in the order of these functions. */
export interface OpenArchive {
  readonly manifest: Manifest
  /** Bytes of the file. */
  readonly size: number
  lines(name: typeof RECORDS | typeof REFS): AsyncGenerator<string>
  /** The pack; null for a repository without refs. */
  pack(): Promise<Readable | null>
  files(folder: typeof UPLOADS | typeof TRACES | typeof ARTIFACTS | typeof LFS): readonly StoredFile[]
  /** Throws BadProjectArchive unless every entry was read and has the checksum of the list. Returns the hash of the list. */
  checkSums(): Promise<string>
  close(): void
}

/** Opens an archive. Throws NoSuch, and BadProjectArchive for an invalid, truncated or too large archive, or for a newer format. */
export async function openArchive(path: string): Promise<OpenArchive> {
  const size = await sizeOf(path)
  const { imports, uploads, lfs } = config()
  const most = imports.max_size + uploads.max_size + imports.max_build_files + lfs.max_project_size
  if (size > most)
    throw new BadProjectArchive(
      `the archive is larger than ${most} bytes: raise imports.max_size, uploads.max_size, imports.max_build_files or lfs.max_project_size for the import`
    )
  const zip = await openZip(path)
  try {
    return await read(zip, size)
  } catch (error) {
    zip.close()
    throw translated(error)
  }
}

async function sizeOf(path: string): Promise<number> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new NoSuch('file', path) : new Failure(`${path} cannot be read (${error.code})`)
  })
  if (!found.isFile()) throw new BadProjectArchive(`${path} is not a file`)
  return found.size
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false, lazyEntries: true, strictFileNames: true })
  } catch (error) {
    throw translated(error)
  }
}

/** Turns errors of yauzl into BadProjectArchive. They are plain errors; errors of the system have a code. */
function translated(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure || error.name !== 'Error') return error
  const { code } = error as NodeJS.ErrnoException
  if (code !== undefined && !code.startsWith('Z_')) return error
  return new BadProjectArchive(`the archive is cut or damaged: ${error.message.slice(0, 300)}`)
}

async function read(zip: ZipFile, size: number): Promise<OpenArchive> {
  const entries = await readEntries(zip)
  const sums = new Map<string, string>()
  const open = (name: string, limit: number) => openEntry(zip, entryOf(entries, name), limit, sums)
  const manifest = checkManifest(parsed(await textOf(await open(MANIFEST, LONGEST_MANIFEST))))
  const filesIn = (folder: string): readonly StoredFile[] =>
    [...entries.values()]
      .filter(({ fileName }) => folderOf(fileName) === folder)
      .map(({ fileName, uncompressedSize: size }) => ({
        path: fileName.slice(folder.length),
        size,
        open: () => open(fileName, size)
      }))
  const files = new Map(Object.keys(FOLDERS).map(folder => [folder, filesIn(folder)]))
  for (const [folder, { called }] of Object.entries(FOLDERS)) {
    if (files.get(folder)?.length !== manifest[called])
      throw new BadProjectArchive(`the number of ${called} differs from the manifest`)
  }
  return {
    manifest,
    size,
    lines: async function* (name) {
      yield* linesIn(await open(name, name === RECORDS ? MOST_RECORD_BYTES : MOST_REFS * 512), name)
    },
    pack: async () => (entries.has(PACK) ? open(PACK, config().imports.max_size) : null),
    files: folder => files.get(folder) ?? [],
    checkSums: async () => {
      const text = await textOf(await openEntry(zip, entryOf(entries, SUMS), LONGEST_SUM * entries.size, new Map()))
      return compareSums(text, [...entries.keys()], sums)
    },
    close: () => zip.close()
  }
}

/** Reads the list of entries: only the known names, in their order. */
async function readEntries(zip: ZipFile): Promise<ReadonlyMap<string, Entry>> {
  const { uploads, imports, lfs } = config()
  const counts = new Map<string, number>()
  const bytes = new Map<string, number>()
  const entries = new Map<string, Entry>()
  let [packed, last] = [0, -1]
  for await (const entry of zip.eachEntry()) {
    const { rank, folder } = placeOf(entry)
    const again = entries.has(entry.fileName) || (rank === last && folder === undefined)
    if (rank < last || again) throw new BadProjectArchive(`${shown(entry)} is a duplicate, or in the wrong place`)
    last = rank
    packed += entry.compressedSize
    if (folder !== undefined) {
      requireCount(FOLDERS[folder]?.called ?? '', add(counts, folder, 1), FOLDERS[folder]?.most() ?? 0)
      add(bytes, folder, entry.uncompressedSize)
    }
    // Entries that share their bytes would unpack to a large content from a small archive.
    if (packed > zip.fileSize) throw new BadProjectArchive('entries overlap')
    entries.set(entry.fileName, withoutBuffers(entry))
  }
  const size = (folder: string) => bytes.get(folder) ?? 0
  requireBytes('uploads', size(UPLOADS), uploads.max_size, 'uploads.max_size')
  requireBytes(
    'traces and artifacts',
    size(TRACES) + size(ARTIFACTS),
    imports.max_build_files,
    'imports.max_build_files'
  )
  requireBytes('LFS objects', size(LFS), lfs.max_project_size, 'lfs.max_project_size')
  return entries
}

function add(sums: Map<string, number>, name: string, amount: number): number {
  const sum = (sums.get(name) ?? 0) + amount
  sums.set(name, sum)
  return sum
}

function requireBytes(name: string, bytes: number, most: number, setting: string): void {
  if (bytes > most) throw new BadProjectArchive(`the ${name} are larger than ${most} bytes (${setting})`)
}

/** The parts of an entry that its stream needs. The original keeps several buffers, and there may be 200,000 entries. */
function withoutBuffers(entry: Entry): Entry {
  const { fileName, compressedSize, uncompressedSize, compressionMethod, relativeOffsetOfLocalHeader } = entry
  const { generalPurposeBitFlag } = entry
  const kept = { fileName, compressedSize, uncompressedSize, compressionMethod, relativeOffsetOfLocalHeader }
  return Object.assign(new Entry(), kept, { generalPurposeBitFlag })
}

const ORDER = [MANIFEST, RECORDS, REFS, PACK, UPLOADS, TRACES, ARTIFACTS, LFS, SUMS]
const shown = ({ fileName }: Entry) => JSON.stringify(fileName.slice(0, 200))

/** Returns the rank of an entry in the order. Throws BadProjectArchive for an entry that cannot be in an archive. */
function placeOf(entry: Entry): { readonly rank: number; readonly folder: string | undefined } {
  const { fileName, uncompressedSize, compressedSize } = entry
  const folder = folderOf(fileName)
  const isKnown = folder === undefined || FOLDERS[folder]?.name(fileName.slice(folder.length))
  const rank = isKnown ? ORDER.indexOf(folder ?? fileName) : -1
  if (rank < 0) throw new BadProjectArchive(`${shown(entry)} does not belong in an archive`)
  const type = (entry.externalFileAttributes >>> 16) & 0o170000
  if (type !== 0 && type !== 0o100000) throw new BadProjectArchive(`${shown(entry)} is not a file`)
  if (!entry.canDecodeFileData()) throw new BadProjectArchive(`${shown(entry)} has an unknown compression`)
  if (uncompressedSize > compressedSize * BEST_RATIO + 1024) {
    throw new BadProjectArchive(`${shown(entry)} claims an impossible size`)
  }
  return { rank, folder }
}

function entryOf(entries: ReadonlyMap<string, Entry>, name: string): Entry {
  const entry = entries.get(name)
  if (!entry) throw new BadProjectArchive(`${name} is missing: this is not the archive of a project`)
  return entry
}

/** Opens an entry; `sums` gets its hash after it was read to its end. */
async function openEntry(zip: ZipFile, entry: Entry, limit: number, sums: Map<string, string>): Promise<Readable> {
  if (entry.uncompressedSize > limit) throw new BadProjectArchive(`${shown(entry)} is larger than ${limit} bytes`)
  const source = await zip.openReadStreamPromise(entry).catch(error => {
    throw translated(error)
  })
  const hash: Hash = createHash('sha256')
  const meter = new Transform({
    transform: (chunk: Buffer, _, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
    flush: done => {
      sums.set(entry.fileName, hash.digest('hex'))
      done()
    }
  })
  source.once('error', error => meter.destroy(translated(error) as Error))
  meter.once('close', () => source.destroy())
  return source.pipe(meter)
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** Yields the lines of a stream. It never keeps more than one line and one chunk. */
export async function* linesIn(stream: Readable, name: string): AsyncGenerator<string> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8')
      parts = []
      size = 0
      from = end + 1
    }
    if (from < chunk.length) parts.push(chunk.subarray(from))
    size += chunk.length - from
    if (size > LONGEST_LINE) throw new BadProjectArchive(`${name} has a line of more than ${LONGEST_LINE} bytes`)
  }
  if (size > 0) throw new BadProjectArchive(`${name} ends within a line`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BadProjectArchive(`${MANIFEST} is not JSON`)
  }
}

function checkManifest(value: unknown): Manifest {
  const manifest = (typeof value === 'object' && value !== null ? value : {}) as Partial<Manifest>
  const { gitstead, project, exported_at: at } = manifest
  const format: unknown = manifest.format
  if (typeof format !== 'number' || !Number.isInteger(format))
    throw new BadProjectArchive(`${MANIFEST} names no format`)
  if (format > FORMAT)
    throw new BadProjectArchive(
      `the archive has format ${format}, and this version reads formats up to ${FORMAT}: update Gitstead first`
    )
  if (format < 1) throw new BadProjectArchive(`no version of Gitstead has written format ${format}`)
  for (const [name, text] of Object.entries({ gitstead, project, exported_at: at })) {
    if (typeof text !== 'string' || text.length > 600) throw new BadProjectArchive(`${MANIFEST}: ${name} is invalid`)
  }
  // Format 1 had fewer kinds of records and files.
  const none = format === 1 ? { ...Object.fromEntries(KINDS.map(kind => [kind, 0])), traces: 0, artifacts: 0 } : {}
  const counts = { ...none, ...manifest.counts } as Manifest['counts']
  const whole = { lfs: 0, ...none, ...manifest, counts } as Manifest
  for (const kind of KINDS) requireCount(kind, counts[kind], MOST[kind])
  requireCount('refs', whole.refs, MOST_REFS)
  for (const { called, most } of Object.values(FOLDERS)) requireCount(called, whole[called], most())
  if (counts.project !== 1) throw new BadProjectArchive(`${MANIFEST}: an archive has one project`)
  return whole
}

function requireCount(name: string, count: unknown, most: number): void {
  if (!Number.isSafeInteger(count) || (count as number) < 0)
    throw new BadProjectArchive(`${MANIFEST}: the number of ${name} is invalid`)
  if ((count as number) > most) throw new BadProjectArchive(`the archive has more than ${most} of ${name}`)
}

/** Compares the list with what was read. The list contains every entry, and every entry was read. */
function compareSums(text: string, names: readonly string[], found: ReadonlyMap<string, string>): string {
  const listed = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}(.{1,300})$/.exec(line) ?? []
    if (sum !== undefined && name !== undefined) listed.set(name, sum)
    else if (line !== '') throw new BadProjectArchive(`${SUMS} is invalid`)
  }
  const covered = names.filter(name => name !== SUMS)
  for (const name of covered) {
    if (listed.get(name) !== found.get(name) || !found.has(name))
      throw new BadProjectArchive(`${name} has changed since it was written: use another copy of the archive`)
  }
  if (listed.size !== covered.length) throw new BadProjectArchive(`${SUMS} names missing entries`)
  return createHash('sha256').update(text).digest('hex')
}
