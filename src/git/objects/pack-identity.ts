// Shows whether a repository still has the same packs, without reading them.
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns a text that differs when a pack was added, replaced, changed or removed. Loose objects do not count: git checks each of
 * them before it sends one.
 */
export async function identityOfPacks(repository: string): Promise<string> {
  const folder = join(repository, 'objects/pack')
  const packs = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.pack')).sort()
  const found = await Promise.all(packs.map(name => stat(join(folder, name)).catch(() => null)))
  return found.map((file, at) => `${packs[at]} ${file?.ino} ${file?.size} ${file?.mtimeMs}`).join('\n')
}
