// Finds everything that is wrong with the files of a repository, and joins intact objects into new files when damaged ones are left.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { checkRepository, repackRepository, writeCommitGraph } from './maintenance.js'
import { faultsOfFiles, objectFiles } from './object-files.js'

/** Returns the faults that git and the checksums show, one line each. It reads every object, which takes minutes for a large repository. */
export async function findFaults(repository: string): Promise<string[]> {
  const { problems } = await checkRepository(repository, { contents: true })
  return [...problems, ...(await faultsOfFiles(repository))]
}

/** Files that git writes again from the objects. */
const DERIVED = /\.(bitmap|rev)$|^objects\/info\/commit-graph/

/**
 * Writes all objects into new packs. For an object with a damaged copy, git takes an intact one from another file. Call it with the
 * lock of `repository_upkeep` held. Throws GitFailure when an object has no intact copy.
 */
export async function rewriteObjects(repository: string): Promise<void> {
  for (const path of [...objectFiles(repository)]) {
    if (DERIVED.test(path)) await rm(join(repository, path), { force: true })
  }
  await repackRepository(repository)
  await writeCommitGraph(repository)
}
