// Packs what a build leaves behind. Links are stored as links when they lead to a place in the tree, and left out
// otherwise: nothing is ever read through one. Folders are stored only with the files in them.
import { createWriteStream } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import { TooLarge } from '../errors.js'
import { pathMatcher } from './glob.js'
import { leadsInside, openInside, walk } from './tree.js'
import type { BuildUser } from './user.js'

export type Packing = {
  tree: string
  paths: string[]
  exclude: string[]
  /** The files that were there before, when those that were not are to be packed. */
  before: Set<string> | undefined
  /** Where the archive is written. */
  to: string
  /** Bytes of the archive; its content may be ten times that. */
  limit: number
  user: BuildUser | undefined
  signal: AbortSignal
  /** Told of what is left out. */
  warn: (text: string) => void
}

type Chosen = { path: string; size: number; mode: number; mtime: Date; target: string | undefined }

/** How much more than an archive's limit its content may be: the one bound for packing and unpacking. */
export const contentRatio = 10
const mostFiles = 100_000
const mostWarnings = 20

/** The size in bytes and the number of files, or undefined when nothing matches. Throws TooLarge with a line of why. */
export async function packArtifacts(packing: Packing): Promise<{ size: number; files: number } | undefined> {
  const tree = await realpath(packing.tree)
  const chosen = await choose({ ...packing, tree })
  if (chosen.length === 0) return undefined
  const zip = new ZipFile()
  const content = zip.outputStream as Readable
  zip.on('error', error => content.destroy(error instanceof Error ? error : new Error(String(error))))
  for (const file of chosen) add(zip, { ...packing, tree }, file)
  zip.end()
  let size = 0
  const meter = new Transform({
    transform(chunk: Buffer, _, done) {
      size += chunk.length
      done(size > packing.limit ? new TooLarge(`the archive is larger than ${packing.limit} bytes`) : null, chunk)
    }
  })
  await pipeline(content, meter, createWriteStream(packing.to, { flags: 'wx', mode: 0o600 }), {
    signal: packing.signal
  })
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
    if (chosen.length > mostFiles) throw new TooLarge(`more than ${mostFiles} files`)
    if (bytes > packing.limit * contentRatio) {
      throw new TooLarge(`the files are larger than ${packing.limit * contentRatio} bytes`)
    }
  }
  for (const path of leftOut.slice(0, mostWarnings)) packing.warn(`${JSON.stringify(path)} is left out`)
  if (leftOut.length > mostWarnings) packing.warn(`${leftOut.length - mostWarnings} more are left out`)
  return chosen
}

/** Undefined for what an archive cannot hold, or should not: devices, links out of the tree, names that are no text. */
async function inspect({ tree, user }: Packing, path: string): Promise<Chosen | undefined> {
  if (/[\\\uFFFD]|^[a-zA-Z]:/.test(path)) return undefined
  const full = join(tree, path)
  const stats = await lstat(full).catch(() => undefined)
  if (!stats) return undefined
  const file = { path, mode: stats.mode & 0o777, mtime: stats.mtime }
  if (stats.isSymbolicLink()) {
    const target = await readlink(full)
    return leadsInside(path, target) && !target.includes('\uFFFD') ? { ...file, size: 0, target } : undefined
  }
  const handle = stats.isFile() ? await openInside(tree, path, user) : undefined
  if (!handle) return undefined
  await handle.close()
  return { ...file, size: stats.size, target: undefined }
}

function add(zip: ZipFile, { tree, user }: Packing, { path, mode, mtime, target }: Chosen): void {
  if (target !== undefined) {
    zip.addBuffer(Buffer.from(target), path, { mode: 0o120777, mtime, compress: false })
    return
  }
  zip.addReadStreamLazy(path, { mode: 0o100000 | mode, mtime }, done => {
    openInside(tree, path, user).then(
      // The bound above was taken from the size at that time: one that grows is cut off by the archive's own limit.
      handle => (handle ? done(null, handle.createReadStream()) : refuse(zip, path)),
      error => zip.emit('error', error)
    )
  })
}

const refuse = (zip: ZipFile, path: string) => zip.emit('error', new Error(`${path} has changed while it was packed`))

/** The file name of an archive whose name a CI file gives. */
export function archiveName(name: string): string {
  const plain = name.replace(/[\0-\x1f\x7f/\\]+/g, '-').replace(/^\.+/, '')
  return `${[...plain].slice(0, 100).join('').trim() || 'artifacts'}.zip`
}
