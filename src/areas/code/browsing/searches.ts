// Searches the files of a project at one commit.
import { type Actor, slotOwner } from '../../../access/actor.js'
import { grep } from '../../../git/objects/grep.js'
import { findEntry, walkTree } from '../../../git/objects/tree.js'
import { visible } from '../../../lib/visible.js'
import type { RefPath } from './ref-paths.js'

interface FileHits {
  readonly path: string
  readonly lines: readonly { readonly line: number; readonly text: string }[]
}

export interface CodeSearch {
  readonly files: readonly FileHits[]
  readonly lines: number
  /** Why there may be more. */
  readonly cut: 'results' | 'time' | null
}

/** Returns the lines that contain a text, in any case, by files. Not specified: patterns. The text is taken as it is. */
export async function searchCode({ repository, commitId }: RefPath, text: string, actor: Actor): Promise<CodeSearch> {
  const client = slotOwner(actor)
  const { lines, cut } = await grep(repository, { commitId, text, client })
  const files = new Map<string, { line: number; text: string }[]>()
  for (const { path, line, text: found, isCutBefore, isCutAfter } of lines) {
    const shown = `${isCutBefore ? '…' : ''}${visible(found)}${isCutAfter ? '…' : ''}`
    files.set(path, [...(files.get(path) ?? []), { line, text: shown }])
  }
  return { files: [...files].map(([path, hits]) => ({ path, lines: hits })), lines: lines.length, cut }
}

/** Files that are looked at, and that are found by their names. */
const MOST_LOOKED_AT = 20_000
const MOST_NAMED = 20
/** No page can show a file with a longer path. */
const LONGEST_PATH = 4096

/** Returns the paths of files that contain a text, in any case, up to MOST_NAMED of the first MOST_LOOKED_AT files. */
export async function findPaths({ repository, commitId }: RefPath, text: string): Promise<string[]> {
  const root = await findEntry(repository, commitId, '')
  const wanted = text.toLowerCase()
  const found: string[] = []
  let looked = 0
  if (!root || wanted === '') return found
  await walkTree(repository, { id: root.id, folder: '', recursive: true }, ({ path, type }) => {
    if (type === 'blob' && path.length <= LONGEST_PATH && path.toLowerCase().includes(wanted)) found.push(path)
    looked += 1
    return looked < MOST_LOOKED_AT && found.length < MOST_NAMED
  })
  return found
}
