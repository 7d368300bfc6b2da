// Copies the files of a repository while it is in use, in rounds: a round copies what the copy does not have yet. The last round runs
// while nobody changes refs, and is short.
import { statSync } from 'node:fs'
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DamagedRepository } from '../objects/objects.js'
import { formatPackedRefs } from '../refs/files.js'
import { objectFiles } from './object-files.js'
import type { Original, OriginalFile } from './original.js'

/** When git packs the repository again in each of so many rounds, something is wrong. */
const ROUNDS = 10

/** Copies the files of objects that a copy lacks, and removes those that the original no longer has. Returns the copied bytes. */
export async function copyObjects(from: Original, to: string, signal: AbortSignal): Promise<number> {
  let bytes = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const found = await from.objects()
    let isWhole = true
    for (const file of found) {
      signal.throwIfAborted()
      const copied = await copyIfNew(from, file, join(to, file.path))
      // Git has moved the objects of this file into another one.
      if (copied === undefined) isWhole = false
      else bytes += copied
    }
    if (!isWhole) continue
    const wanted = new Set(found.map(({ path }) => path))
    for (const path of [...objectFiles(to)].filter(path => !wanted.has(path))) await rm(join(to, path), { force: true })
    return bytes
  }
  throw new DamagedRepository(from.name, 'git packs it again and again')
}

/** Copies a file unless the copy has its size and time. Returns the copied bytes; undefined when the file does not exist any more. */
async function copyIfNew(from: Original, file: OriginalFile, to: string): Promise<number | undefined> {
  const { path, size, modified } = file
  const copy = statSync(to, { throwIfNoEntry: false })
  if (copy?.size === size && Math.floor(copy.mtimeMs) === Math.floor(modified)) return 0
  await mkdir(dirname(to), { recursive: true })
  // Without copyFile's mode the copy of a read-only pack could not be written again.
  await rm(to, { force: true })
  if (!(await from.copy(path, to))) return undefined
  // Git removes objects that no ref reaches by their age.
  await utimes(to, Math.floor(modified) / 1000, Math.floor(modified) / 1000)
  return size
}

/** Fills an empty repository with the branches and tags of another one, and the objects that they need. */
export async function copyBranches(from: Original, to: string, signal: AbortSignal): Promise<void> {
  // Refs first, so that every object that they need already exists.
  const refs = [...(await from.refs())].filter(([name]) => /^refs\/(heads|tags)\//.test(name))
  await copyObjects(from, to, signal)
  await writeFile(join(to, 'packed-refs'), formatPackedRefs(new Map(refs)), 'latin1')
}

/** Copies HEAD, the settings and all refs. Throws DamagedRepository when a ref cannot be read: the copy would not have it. */
export async function copyRefFiles(from: Original, to: string): Promise<void> {
  const unreadable = await from.unreadableRef()
  if (unreadable !== undefined) throw new DamagedRepository(from.name, `${unreadable} cannot be read`)
  for (const name of ['HEAD', 'config'] as const) {
    const text = await from.text(name)
    if (text === undefined) throw new DamagedRepository(from.name, `${name} is missing`)
    await writeFile(join(to, name), text)
  }
  await writeFile(join(to, 'packed-refs'), formatPackedRefs(await from.refs()), 'latin1')
}
