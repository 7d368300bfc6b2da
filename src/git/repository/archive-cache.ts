// Keeps archives in HOME/cache/archives. While git creates an archive, it is written to a file as fast as the disk
// allows, and all clients that request it read the same file: twenty builds that fetch the same archive cost one
// process. An archive that is too large to be kept is created again for each reader, who continues from the byte that
// it has reached: the same request produces the same bytes.
import { createHash, randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../config.js'
import { lruOf } from '../../lib/lru.js'
import { pacedStream } from '../../lib/paced-stream.js'
import { plug } from '../../lib/plug.js'
import { failure, type GitProcess } from '../process/run.js'
import { type ArchiveRequest, startArchive, streamArchive } from './archive.js'

/** Milliseconds after which a client that reads nothing is disconnected. */
const PATIENCE = 60_000
const READ_SIZE = 262_144
/** The number of bytes that git may be ahead of the file. */
const AHEAD = 1024 * 1024
/** The number of bytes of one write, unless fewer arrive within GATHER_MS milliseconds. */
const BATCH = 131_072
const GATHER_MS = 4
const MOST_FILES = 2000
/** Milliseconds after which the last use of a file is recorded again. */
const NOTED = 60_000

export interface OpenArchive {
  readonly stream: Readable
  /** Null while git creates the archive. */
  readonly size: number | null
}

/** Archives in the bucket, which all machines share (storage.archives). `name` is the path below the home. */
export interface ArchiveShelf {
  /** Undefined when there is none, or the bucket is away: the archive can be created. */
  open(name: string): Promise<{ readonly stream: Readable; readonly size: number } | undefined>
  /** Failures do not matter. */
  put(name: string, path: string): Promise<void>
  /** Removes all archives whose names begin with `start`. */
  drop(start: string): Promise<void>
}

export const archiveShelf = plug<ArchiveShelf>('archiveShelf')
const hasShelf = () => config().storage.archives === 's3'
const shelfName = (path: string) => relative(config().home, path)

/** Returns the name of an archive in the bucket. */
export const archiveObject = (request: ArchiveRequest): string =>
  shelfName(join(folderOf(request.repository), archiveKey(request)))

export const archiveFolder = (): string => join(config().home, 'cache', 'archives')
/**
 * Returns the maximum size of one archive, a quarter of the cache: several archives may be created at the same time,
 * and one must not displace all others.
 */
const mostKept = () => Math.floor(config().git.archive_cache / 4)

const folderOf = (repository: string) => join(archiveFolder(), basename(repository, '.git'))

/** Names an archive by everything that determines its bytes. */
export const archiveKey = ({ repository, commit, format, prefix }: ArchiveRequest): string =>
  createHash('sha256').update(`${repository}\0${commit}\0${format}\0${prefix}`).digest('hex')

const builds = new Map<string, Build>()
/** Archives that are too large to be kept. */
const large = lruOf<string, true>(1000, { ttl: 3_600_000 })

/** Opens an archive. Throws Unavailable when too many callers wait. The caller must read the stream or destroy it. */
export async function openArchive(request: ArchiveRequest): Promise<OpenArchive> {
  const path = join(folderOf(request.repository), archiveKey(request))
  const kept = await openKept(path)
  if (kept) return kept
  const shelved = hasShelf() ? await (await archiveShelf()).open(shelfName(path)) : undefined
  if (shelved) return { stream: paced(shelved.stream), size: shelved.size }
  const underway = builds.get(path)
  if (underway?.isWanted()) return await underway.join(request)
  const hasRoom = (builds.size + 1) * mostKept() <= config().git.archive_cache
  if (mostKept() === 0 || large.has(path) || !hasRoom)
    return { stream: paced(await streamArchive(request)), size: null }
  const build = new Build(path, mostKept())
  builds.set(path, build)
  void build.run(request).finally(() => builds.get(path) === build && builds.delete(path))
  return await build.join(request)
}

/** Returns the size of an archive that is kept, otherwise null. */
export async function keptSize(request: ArchiveRequest): Promise<number | null> {
  const found = await stat(join(folderOf(request.repository), archiveKey(request))).catch(() => null)
  return found?.size ?? null
}

const paced = (chunks: Readable | AsyncIterable<Buffer>) => pacedStream(chunks as AsyncIterable<Buffer>, PATIENCE)

async function openKept(path: string): Promise<OpenArchive | null> {
  const file = await open(path).catch(() => null)
  if (!file) return null
  const stream = file.createReadStream({ highWaterMark: READ_SIZE })
  try {
    const { size, mtimeMs } = await file.stat()
    if (Date.now() - mtimeMs > NOTED) await utimes(path, new Date(), new Date()).catch(() => {})
    return { stream: paced(stream), size }
  } catch (error) {
    stream.destroy()
    throw error
  }
}

/** `over`: the file has no more room, and each reader continues with a separate process. */
type State = 'open' | 'whole' | 'over' | 'failed'

class Build {
  #state: State = 'open'
  #size = 0
  #readers = 0
  /** True when the last reader has left before the end. */
  #isAbandoned = false
  #isRunning = true
  #error: unknown
  #file: FileHandle | undefined
  #git: GitProcess | undefined
  #waiting: (() => void)[] = []
  /** Output of git that is not yet in the file. */
  #queue: Buffer[] = []
  #queued = 0
  #writing: Promise<void> | undefined
  #isBroken = false

  constructor(
    private readonly path: string,
    private readonly most: number
  ) {}

  readonly isWanted = (): boolean => !this.#isAbandoned && this.#state !== 'failed'

  /** Opens the archive at its beginning. Throws the error of git when it failed before its first output. */
  async join(request: ArchiveRequest): Promise<OpenArchive> {
    this.#readers += 1
    while (this.#size === 0 && this.#state === 'open') await this.#grown()
    if (this.#state === 'failed' && this.#size === 0) {
      this.#leave()
      throw this.#error
    }
    const stream = paced(this.#follow(request))
    stream.once('close', () => this.#leave())
    return { stream, size: null }
  }

  /** Runs git to create the archive. Never rejects: the readers get the error. */
  async run(request: ArchiveRequest): Promise<void> {
    const draft = `${this.path}.${randomBytes(6).toString('hex')}.new`
    try {
      await mkdir(dirname(draft), { recursive: true, mode: 0o700 }).catch(() => {})
      this.#file = await open(draft, 'w+', 0o600).catch(() => undefined)
      // From here until its output is read, nothing may wait: output that git writes before it ends would be lost.
      const { args, git } = await startArchive(request)
      this.#git = git
      if (this.#isAbandoned) git.kill()
      await this.#store(git)
      const exit = await git.done
      if (this.#state === 'over') await rm(draft, { force: true })
      else if (exit.code !== 0 || exit.ended) throw failure(args, exit, git.stderr())
      else await this.#keep(draft)
    } catch (error) {
      this.#git?.kill()
      this.#end('failed', error)
      await rm(draft, { force: true }).catch(() => {})
    }
    this.#isRunning = false
    this.#closeUnused()
  }

  async #store(git: GitProcess): Promise<void> {
    for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
      if (this.#size + this.#queued + chunk.length > this.most) large.set(this.path, true)
      if (!large.has(this.path) && (await this.#queueUp(chunk))) continue
      git.kill()
      break
    }
    await this.#writing
    // The written bytes stay readable after the file loses its name. A full disk also ends here: no download depends on it.
    if (this.#isBroken || large.has(this.path)) this.#end('over')
  }

  /** Git continues while its output is written. Returns false when no more can be written to the file. */
  async #queueUp(chunk: Buffer): Promise<boolean> {
    this.#queue.push(chunk)
    this.#queued += chunk.length
    this.#writing ??= this.#write()
    if (this.#queued > AHEAD) await this.#writing
    return !this.#isBroken
  }

  async #write(): Promise<void> {
    try {
      while (this.#queue.length > 0 && !this.#isBroken) {
        // Git writes pieces of 10 KB, and each would cost a turn for the writer and for all readers.
        if (this.#queued < BATCH) await sleep(GATHER_MS)
        const bytes = Buffer.concat(this.#queue.splice(0))
        for (let at = 0; at < bytes.length; ) {
          if (!this.#file) throw new Error('no file')
          at += (await this.#file.write(bytes, at, bytes.length - at, this.#size + at)).bytesWritten
        }
        this.#queued -= bytes.length
        this.#size += bytes.length
        this.#wake()
      }
    } catch {
      this.#isBroken = true
    }
    this.#writing = undefined
  }

  async #keep(draft: string): Promise<void> {
    this.#end('whole')
    // After a power cut, a file with this name must not lack its bytes.
    await this.#file?.sync()
    await rename(draft, this.path)
    if (hasShelf()) await (await archiveShelf()).put(shelfName(this.path), this.path)
    await makeRoom()
  }

  async *#follow(request: ArchiveRequest): AsyncGenerator<Buffer> {
    let at = 0
    for (;;) {
      if (at < this.#size) {
        const bytes = Buffer.allocUnsafe(Math.min(READ_SIZE, this.#size - at))
        const { bytesRead = 0 } = (await this.#file?.read(bytes, 0, bytes.length, at)) ?? {}
        if (bytesRead === 0) throw new Error('the file of an archive has become shorter')
        at += bytesRead
        yield bytes.subarray(0, bytesRead)
      } else if (this.#state === 'whole') return
      else if (this.#state === 'failed') throw this.#error
      else if (this.#state === 'over') return yield* restOf(request, at)
      else await this.#grown()
    }
  }

  #grown(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const go of this.#waiting.splice(0)) go()
  }

  #end(state: State, error?: unknown): void {
    if (this.#state === 'open') {
      this.#state = state
      this.#error = error
    }
    this.#wake()
  }

  #leave(): void {
    this.#readers -= 1
    if (this.#readers > 0) return
    if (this.#state === 'open') {
      this.#isAbandoned = true
      this.#git?.kill()
    }
    this.#closeUnused()
  }

  #closeUnused(): void {
    if (this.#readers > 0 || this.#isRunning) return
    void this.#file?.close().catch(() => {})
    this.#file = undefined
  }
}

/** Creates an archive again, and drops its first bytes. */
async function* restOf(request: ArchiveRequest, from: number): AsyncGenerator<Buffer> {
  const stream = await streamArchive(request)
  let left = from
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (chunk.length > left) yield chunk.subarray(left)
      left = Math.max(0, left - chunk.length)
    }
  } finally {
    stream.destroy()
  }
}

export interface KeptArchive {
  readonly path: string
  readonly size: number
  /** When the archive was last requested, in milliseconds. */
  readonly used: number
}

/** Returns the archives that are kept and the drafts, least recently used first. */
export async function keptArchives(): Promise<KeptArchive[]> {
  const found: KeptArchive[] = []
  for (const folder of await readdir(archiveFolder()).catch((): string[] => [])) {
    for (const name of await readdir(join(archiveFolder(), folder)).catch((): string[] => [])) {
      const path = join(archiveFolder(), folder, name)
      const about = await stat(path).catch(() => null)
      if (about?.isFile()) found.push({ path, size: about.size, used: about.mtimeMs })
    }
  }
  return found.sort((a, b) => a.used - b.used)
}

/** Removes the least recently used archives until the others fit. */
async function makeRoom(): Promise<void> {
  const kept = await keptArchives()
  let size = kept.reduce((sum, archive) => sum + archive.size, 0)
  let files = kept.length
  for (const archive of kept) {
    if (size <= config().git.archive_cache && files <= MOST_FILES) return
    // Drafts are in use, or maintenance removes them.
    if (archive.path.endsWith('.new')) continue
    await rm(archive.path, { force: true })
    size -= archive.size
    files -= 1
  }
}

/** Removes all archives of a repository. */
export async function dropArchives(repository: string): Promise<void> {
  await rm(folderOf(repository), { recursive: true, force: true })
  if (hasShelf()) await (await archiveShelf()).drop(`${shelfName(folderOf(repository))}/`)
}
