// Packs the artifacts of a build. It stores a link as a link when its target is in the tree, and skips it otherwise: it never
// reads anything through a link. It stores folders only together with the files in them.
import { createWriteStream } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { addAbortSignal, type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { TooLarge } from '../../errors.js'
import { pathMatcher } from '../../lib/glob.js'
import { leadsInside, openInside, walk } from '../tree.js'
import type { BuildUser } from '../user.js'

export interface Packing {
  readonly tree: string
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  /** The files that existed before the script, when the archive must contain the files that are new. */
  readonly before: Set<string> | undefined
  /** The path of the archive. */
  readonly to: string
  /** Maximum bytes of the archive; its content may be ten times as large. */
  readonly limit: number
  readonly user: BuildUser | undefined
  readonly signal: AbortSignal
  /** Gets a line of text about files that are not packed. */
  readonly warn: (text: string) => void
}

interface Chosen {
  readonly path: string
  readonly size: number
  readonly mode: number
  readonly mtime: Date
  readonly target: string | undefined
}

/** The content of an archive may be this many times larger than the limit of the archive. Packing and unpacking share this bound. */
export const CONTENT_RATIO = 10
const MOST_FILES = 100_000
const MOST_WARNINGS = 20

/**
 * Packs the artifacts. Returns the size of the archive in bytes and the number of files, or undefined when no file
 * matches. Throws TooLarge with the reason in one line.
 */
export async function packArtifacts(packing: Packing): Promise<{ size: number; files: number } | undefined> {
  const tree = await realpath(packing.tree)
  const chosen = await choose({ ...packing, tree })
  if (chosen.length === 0) return undefined
  const zip = new ZipFile()
  const content = zip.outputStream as Readable
  zip.on('error', error => content.destroy(error instanceof Error ? error : new Error(String(error))))
  const ended = new AbortController()
  for (const file of chosen) add(zip, { ...packing, tree, signal: ended.signal }, file)
  zip.end()
  let size = 0
  const meter = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      done(size > packing.limit ? new TooLarge(`the archive is larger than ${packing.limit} bytes`) : null, chunk)
    }
  })
  try {
    await pipeline(content, meter, createWriteStream(packing.to, { flags: 'wx', mode: 0o600 }), {
      signal: packing.signal
    })
  } finally {
    ended.abort()
  }
  return { size, files: chosen.length }
}

async function choose(packing: Packing): Promise<Chosen[]> {
  const named = pathMatcher(packing.paths)
  const excluded = pathMatcher(packing.exclude)
  const chosen: Chosen[] = []
  let bytes = 0
  const leftOut: string[] = []
  for await (const { path, entry } of walk(packing.tree)) {
    packing.signal.throwIfAborted()
    if (entry.isDirectory() || excluded(path)) continue
    if (!named(path) && !(packing.before && !packing.before.has(path))) continue
    const file = await inspect(packing, path)
    if (!file) leftOut.push(path)
    else chosen.push(file)
    bytes += file?.size ?? 0
    if (chosen.length > MOST_FILES) throw new TooLarge(`more than ${MOST_FILES} files`)
    if (bytes > packing.limit * CONTENT_RATIO) {
      throw new TooLarge(`the files are larger than ${packing.limit * CONTENT_RATIO} bytes`)
    }
  }
  for (const path of leftOut.slice(0, MOST_WARNINGS)) packing.warn(`${JSON.stringify(path)} is not packed`)
  if (leftOut.length > MOST_WARNINGS) packing.warn(`${leftOut.length - MOST_WARNINGS} more files are not packed`)
  return chosen
}

/**
 * Returns undefined for something that an archive cannot or should not contain: devices, links out of the tree, names that are
 * not text.
 */
async function inspect({ tree, user }: Packing, path: string): Promise<Chosen | undefined> {
  if (/[\\\uFFFD]|^[a-zA-Z]:/.test(path)) return undefined
  const full = join(tree, path)
  const stats = await lstat(full).catch(() => undefined)
  if (!stats) return undefined
  const file = { path, mode: stats.mode & 0o777, mtime: timeInArchive(stats.mtime) }
  if (stats.isSymbolicLink()) {
    const target = await readlink(full)
    return leadsInside(path, target) && !target.includes('\uFFFD') ? { ...file, size: 0, target } : undefined
  }
  const handle = stats.isFile() ? await openInside(tree, path, user) : undefined
  if (!handle) return undefined
  await handle.close()
  return { ...file, size: stats.size, target: undefined }
}

/**
 * A script may set any time on its files. The library limits later times itself. On a time before 1970 it throws outside
 * of every promise, which would end the worker with all its builds.
 */
const timeInArchive = (time: Date) => (time.getTime() < 0 ? new Date(0) : time)

/** Packs a file. `signal` closes it, because the library leaves the file open when it fails. */
function add(zip: ZipFile, { tree, user, signal }: Packing, { path, mode, mtime, target }: Chosen): void {
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), path, { mode: 0o120777, mtime, compress: false })
    return
  }
  zip.addReadStreamLazy(path, { mode: 0o100000 | mode, mtime }, done => {
    openInside(tree, path, user).then(
      // The size limit above used the size at that time. If the file grows, the limit of the archive itself stops it.
      handle => (handle ? done(null, addAbortSignal(signal, handle.createReadStream())) : refuse(zip, path)),
      error => zip.emit('error', error)
    )
  })
}

const refuse = (zip: ZipFile, path: string) => zip.emit('error', new Error(`${path} changed while it was being packed`))

/** Returns the file name for an archive whose `name` comes from a CI file. */
export function archiveName(name: string): string {
  const plain = name.replace(/[\0-\x1f\x7f/\\]+/g, '-').replace(/^\.+/, '')
  return `${[...plain].slice(0, 100).join('').trim() || 'artifacts'}.zip`
}
