// Walks through a build's work tree and gives it to another user. It reports links and never follows them.
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, lchown, lstat, open, opendir, readlink } from 'node:fs/promises'
import { join, posix } from 'node:path'
import type { BuildUser } from './user.js'

const MOST_ENTRIES = 1_000_000

/**
 * Yields everything below the folder, except `.git` at its top. A folder comes before its content. It skips folders
 * that it cannot read.
 */
export async function* walk(root: string, { git } = { git: false }): AsyncGenerator<{ path: string; entry: Dirent }> {
  const open = ['']
  let seen = 0
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for await (const entry of entriesOf(join(root, folder))) {
      const path = posix.join(folder, entry.name)
      if (path === '.git' && !git) continue
      if (++seen > MOST_ENTRIES) throw new Error(`a work tree of more than ${MOST_ENTRIES} entries`)
      yield { path, entry }
      if (entry.isDirectory()) open.push(path)
    }
  }
}

/**
 * Yields the entries of a folder. A script may leave folders without read permission, or nested deeper than the kernel
 * allows for one path.
 */
async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EACCES', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR'].includes(code)) throw error
  }
}

/** Returns the paths of all files and links. */
export async function filesIn(root: string): Promise<Set<string>> {
  const files = new Set<string>()
  for await (const { path, entry } of walk(root)) if (!entry.isDirectory()) files.add(path)
  return files
}

/**
 * Gives the tree to the user of builds. Throws when a file has a second name (a hard link), for example that of an
 * object in a repository on the same disk: the build would get the right to write there.
 */
export async function handOver(root: string, { uid, gid }: BuildUser): Promise<void> {
  for await (const { path, entry } of walk(root, { git: true })) {
    const full = join(root, path)
    if (entry.isFile() && (await lstat(full)).nlink > 1) throw new Error(`${path} is shared with another folder`)
    await lchown(full, uid, gid)
  }
  await lchown(root, uid, gid)
}

/**
 * Opens a regular file of the tree for reading. Returns undefined for anything else. It checks the opened file itself,
 * so that nobody can replace the path with a link or another file: the file is in the tree and belongs to `user`.
 */
export async function openInside(root: string, path: string, user?: BuildUser): Promise<FileHandle | undefined> {
  const full = join(root, path)
  const handle = await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined
  )
  if (!handle) return undefined
  let isInside = false
  try {
    const stats = await handle.stat()
    const here = (await readlink(`/proc/self/fd/${handle.fd}`)) === full
    isInside = here && stats.isFile() && (!user || stats.uid === user.uid)
  } finally {
    if (!isInside) await handle.close()
  }
  return isInside ? handle : undefined
}

/** Returns true when a link with this target at this path of a tree leads to a place in the tree. */
export function leadsInside(path: string, target: string): boolean {
  if (target === '' || posix.isAbsolute(target) || target.includes('\0')) return false
  const place = posix.normalize(posix.join(posix.dirname(path), target))
  return place !== '..' && !place.startsWith('../')
}
