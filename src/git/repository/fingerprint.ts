// Detects whether the files of a repository have changed, without reading them.
import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Temporary files of git. */
const PASSING = /^(tmp_objdir-|tmp_obj_|tmp_pack_|tmp_idx_|tmp_graph_)|\.lock$/

/**
 * Returns a hash of the names, sizes and dates of all files of a repository: 32 bytes. A repository of 300 files takes
 * 3 ms; git needs more than that to start.
 */
export async function fingerprintOf(repository: string): Promise<Buffer> {
  const hash = createHash('sha256')
  await add(hash, repository, '')
  return hash.digest()
}

async function add(hash: ReturnType<typeof createHash>, root: string, below: string): Promise<void> {
  const entries = await readdir(join(root, below), { withFileTypes: true }).catch(unlessGone)
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (PASSING.test(entry.name)) continue
    const path = join(below, entry.name)
    if (entry.isDirectory()) await add(hash, root, path)
    else {
      const [found] = await lstat(join(root, path)).then(file => [file], unlessGone)
      if (found) hash.update(`${path}\0${found.size}\0${found.mtimeMs}\0`)
    }
  }
}

function unlessGone(error: unknown): never[] {
  if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
  throw error
}
