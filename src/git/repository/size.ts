// Measures the objects of a repository as `git count-objects -v` does, without a process.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nextPiece } from '../objects/time-slices.js'

const KIB = 1024
/** The unit in which the kernel reports the space of a file on the disk. */
const SECTOR = 512
/** After this many folders, other work runs: a folder takes up to 0.1 ms. */
const STRETCH = 16

/**
 * Returns the size of a repository's objects in bytes: the space of loose objects on the disk, and packs with their indexes.
 * Rejects when the repository does not exist.
 */
export async function repositorySize(path: string): Promise<number> {
  const objects = join(path, 'objects')
  const folders = readdirSync(objects).filter(name => /^[0-9a-f]{2}$/.test(name))
  let loose = 0
  for (const [at, folder] of folders.entries()) {
    if (at % STRETCH === STRETCH - 1) await nextPiece()
    for (const name of namesIn(join(objects, folder))) {
      if (/^[0-9a-f]{38}$/.test(name)) loose += (aboutThere(join(objects, folder, name))?.blocks ?? 0) * SECTOR
    }
  }
  let packed = 0
  for (const name of namesIn(join(objects, 'pack'))) {
    if (/^pack-[0-9a-f]{40}\.(?:pack|idx)$/.test(name)) packed += aboutThere(join(objects, 'pack', name))?.size ?? 0
  }
  return (Math.floor(loose / KIB) + Math.floor(packed / KIB)) * KIB
}

/** Git may remove a folder or file at any time. */
const aboutThere = (path: string) => statSync(path, { throwIfNoEntry: false })

/** Returns the names in a folder; none when it does not exist. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
