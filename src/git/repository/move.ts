// Copies the files of a repository while it is in use, in rounds: a round copies what the copy does not have yet. The last round runs
// while nobody changes refs, and is short.
import { statSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DamagedRepository } from '../objects/objects.js'
import { formatPackedRefs, readRefFiles, unreadableRefs } from '../refs/files.js'
import { objectFiles } from './object-files.js'

/** When git packs the repository again in each of so many rounds, something is wrong. */
const ROUNDS = 10

/** Copies the files of objects that a copy lacks, and removes those that the original no longer has. Returns the copied bytes. */
export async function copyObjects(from: string, to: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const found = new Set(objectFiles(from))
    let isWhole = true
    for (const path of found) {
      signal.throwIfAborted()
      const copied = await copyIfNew(join(from, path), join(to, path))
      // Git has moved the objects of this file into another one.
      if (copied === undefined) isWhole = false
      else bytes += copied
    }
    if (!isWhole) continue
    for (const path of [...objectFiles(to)].filter(path => !found.has(path))) await rm(join(to, path), { force: true })
    return bytes
  }
  throw new DamagedRepository(from, 'git packs it again and again')
}

/** Copies a file unless the copy has its size and time. Returns the copied bytes; undefined when the file does not exist any more. */
async function copyIfNew(from: string, to: string): Promise<number | undefined> {
  const original = statSync(from, { throwIfNoEntry: false })
  if (!original) return undefined
  const copy = statSync(to, { throwIfNoEntry: false })
  if (copy?.size === original.size && Math.floor(copy.mtimeMs) === Math.floor(original.mtimeMs)) return 0
  try {
    await mkdir(dirname(to), { recursive: true })
    // Without copyFile's mode the copy of a read-only pack could not be written again.
    await rm(to, { force: true })
    await copyFile(from, to)
    // Git removes objects that no ref reaches by their age.
    await utimes(to, original.atimeMs / 1000, Math.floor(original.mtimeMs) / 1000)
    return original.size
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Copies HEAD, the settings and all refs. Throws DamagedRepository when a ref cannot be read: the copy would not have it. */
export async function copyRefFiles(from: string, to: string): Promise<void> {
  const [unreadable] = unreadableRefs(from, 'refs')
  if (unreadable !== undefined) throw new DamagedRepository(from, `${unreadable} cannot be read`)
  for (const name of ['HEAD', 'config']) await writeFile(join(to, name), await readFile(join(from, name)))
  await writeFile(join(to, 'packed-refs'), formatPackedRefs(readRefFiles(from)), 'latin1')
}
