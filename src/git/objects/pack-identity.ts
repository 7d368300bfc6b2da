// Shows whether a repository still has the same packs, without reading them.
import { type BigIntStats, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { aboutFile } from './stat.js'

/**
 * Returns a text that differs when a pack was added, replaced, changed or removed. Loose objects do not count: git checks each of
 * them before it sends one.
 */
export function identityOfPacks(repository: string): string {
  const folder = join(repository, 'objects/pack')
  const packs = namesIn(folder)
    .filter(name => name.endsWith('.pack'))
    .sort()
  return packs.map(name => identityOf(name, aboutFile(join(folder, name)))).join('\n')
}

const identityOf = (name: string, about: BigIntStats | undefined) =>
  `${name} ${about?.ino} ${about?.size} ${about?.mtimeNs}`

/** When a folder cannot be read, git says why. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
