// Bare repositories in a folder that anybody may have filled. It reads their objects and refs as files, and nothing else: no hook runs,
// no configuration counts, and no link leads out of the folder.
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { Failure } from '../../../errors.js'
import type { LfsKey } from '../../../storage/lfs.js'

/** The repository cannot be imported. */
export class BadRepository extends Failure {}

const DEEPEST = 10
const MOST_FOLDERS = 100_000

/** Yields the paths of all folders NAME.git below a folder, in order. It does not look into them, and follows no links. */
export async function* repositoriesIn(root: string, signal: AbortSignal): AsyncGenerator<string> {
  let looked = 0
  async function* below(folder: string, depth: number): AsyncGenerator<string> {
    signal.throwIfAborted()
    if (++looked > MOST_FOLDERS) throw new Failure(`${root} has more than ${MOST_FOLDERS} folders: name a smaller one`)
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) continue
      if (entry.name.endsWith('.git') && entry.name !== '.git') yield path
      else if (depth < DEEPEST && entry.name !== '.git') yield* below(path, depth + 1)
    }
  }
  yield* below(root, 1)
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const found = await readdir(folder, { withFileTypes: true })
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

export interface CopyLimits {
  /** Bytes of all files. */
  readonly maxBytes: number
  readonly maxRefs: number
  readonly signal: AbortSignal
}

/** The longest file of a ref or HEAD, in bytes. */
const LONGEST_REF = 4096

/**
 * Copies the objects and refs of a repository into an empty one. Returns the branch of its HEAD, which need not exist; null without one.
 * Throws BadRepository.
 */
export async function copyRepositoryFiles(from: string, to: string, limits: CopyLimits): Promise<string | null> {
  const copied = { bytes: 0, refs: 0 }
  const add = (bytes: number) => {
    copied.bytes += bytes
    if (copied.bytes > limits.maxBytes)
      throw new BadRepository(`it has more than ${limits.maxBytes} bytes (imports.max_size)`)
  }
  const copy = async (name: string, longest = Number.POSITIVE_INFINITY) => {
    limits.signal.throwIfAborted()
    add(await copyFile(join(from, name), join(to, name), longest))
  }
  if (!(await isFolder(join(from, 'objects'))) || !(await isFolder(join(from, 'refs'))))
    throw new BadRepository('it has no objects and refs: it is not a bare repository')
  if (await exists(join(from, 'shallow'))) throw new BadRepository('its history is cut off (shallow)')
  if (await exists(join(from, 'objects/info/alternates')))
    throw new BadRepository('its objects are in another repository (alternates): repack it with git repack -ad first')
  for (const folder of await entriesOf(join(from, 'objects'))) {
    if (!folder.isDirectory()) continue
    const form =
      folder.name === 'pack' ? /^pack-[0-9a-f]{40}\.(pack|idx)$/ : OBJECT_FOLDER.test(folder.name) ? OBJECT : null
    if (form === null) continue
    for (const { name } of (await entriesOf(join(from, 'objects', folder.name))).filter(each => each.isFile()))
      if (form.test(name)) await copy(join('objects', folder.name, name))
  }
  if (await exists(join(from, 'packed-refs'))) await copy('packed-refs', limits.maxRefs * LONGEST_REF)
  for (const kind of ['refs/heads', 'refs/tags'])
    for await (const name of filesBelow(from, kind, DEEPEST)) {
      if (++copied.refs > limits.maxRefs) throw new BadRepository(`it has more than ${limits.maxRefs} refs`)
      await copy(name, LONGEST_REF)
    }
  const head = await readText(join(from, 'HEAD'))
  return /^ref: refs\/heads\/(\S+)\n?$/.exec(head)?.[1] ?? null
}

const OBJECT_FOLDER = /^[0-9a-f]{2}$/
const OBJECT = /^[0-9a-f]{38}$/

async function* filesBelow(root: string, folder: string, depth: number): AsyncGenerator<string> {
  if (depth === 0 || !(await isFolder(join(root, folder)))) return
  for (const entry of await entriesOf(join(root, folder))) {
    const path = join(folder, entry.name)
    if (entry.isFile() && !entry.name.endsWith('.lock')) yield path
    else if (entry.isDirectory()) yield* filesBelow(root, path, depth - 1)
  }
}

const isFolder = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null))?.isDirectory() === true
const exists = async (path: string): Promise<boolean> => (await lstat(path).catch(() => null)) !== null

/** Opens a file itself, never what a link leads to. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (error) {
    throw new BadRepository(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  throw new BadRepository(`${path} is not a file`)
}

/** Returns the number of bytes. */
async function copyFile(from: string, to: string, longest: number): Promise<number> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  const source = await openFile(from)
  try {
    const { size } = await source.stat()
    if (size > longest) throw new BadRepository(`${from} is too long`)
    const target = await open(to, 'w', 0o600)
    try {
      const buffer = Buffer.alloc(1_048_576)
      for (let at = 0; at < size; ) {
        const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, size - at), at)
        if (bytesRead === 0) break
        await target.writeFile(buffer.subarray(0, bytesRead))
        at += bytesRead
      }
    } finally {
      await target.close()
    }
    return size
  } finally {
    await source.close()
  }
}

async function readText(path: string): Promise<string> {
  const file = await openFile(path)
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LONGEST_REF), 0, LONGEST_REF, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Returns the path of an object of LFS that a repository keeps, where git-lfs does; null when it has none of this size. */
export async function lfsFileIn(repository: string, { oid, size }: LfsKey): Promise<string | null> {
  const folders = ['lfs', 'objects', oid.slice(0, 2), oid.slice(2, 4)]
  for (let depth = 1; depth <= folders.length; depth++)
    if (!(await isFolder(join(repository, ...folders.slice(0, depth))))) return null
  const path = join(repository, ...folders, oid)
  const found = await lstat(path).catch(() => null)
  return found?.isFile() && found.size === size ? path : null
}

/** Reads a file itself, never what a link leads to. */
export const readFileIn = async (path: string): Promise<Readable> => (await openFile(path)).createReadStream()

/** The path below the folder, for people. */
export const shownBelow = (root: string, path: string): string => relative(root, path)
