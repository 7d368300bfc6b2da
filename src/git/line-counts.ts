// Counts the lines that a commit added and removed, in this process where the answer does not depend on how lines are matched:
// a block of lines that came, went, or was replaced by others. Everything else is left to git.
import { readSmall } from './reader.js'
import type { FileChange, FileState } from './tree-diff.js'

export interface CommitStats {
  readonly additions: number
  readonly deletions: number
}

/** Files that are compared for one commit, and bytes of their contents together. */
const MOST_FILES = 100
const MOST_BYTES = 1024 * 1024
/** Git takes a file for binary when its beginning has a NUL. */
const LOOKED_AT = 8000
const SUBMODULE = '160000'
const NOTHING: CommitStats = { additions: 0, deletions: 0 }

/** Returns how many lines changes add and remove, as `git diff --shortstat` counts. Returns undefined when git must be asked. */
export async function countLines(repository: string, changes: readonly FileChange[]): Promise<CommitStats | undefined> {
  if (changes.length > MOST_FILES) return undefined
  let [additions, deletions, bytes] = [0, 0, 0]
  for (const { before, after } of changes) {
    if (before?.id === after?.id) continue
    // A file in the place of a link or a submodule is two changes.
    if (before && after && before.mode.slice(0, 3) !== after.mode.slice(0, 3)) return undefined
    const [old, young] = [await contentOf(repository, before), await contentOf(repository, after)]
    bytes += (old?.length ?? 0) + (young?.length ?? 0)
    if (!old || !young || bytes > MOST_BYTES) return undefined
    const counts = isBinary(old) || isBinary(young) ? NOTHING : countBetween(linesOf(old), linesOf(young))
    if (!counts) return undefined
    additions += counts.additions
    deletions += counts.deletions
  }
  return { additions, deletions }
}

async function contentOf(repository: string, file: FileState | null): Promise<Buffer | null> {
  if (!file) return Buffer.alloc(0)
  if (file.mode === SUBMODULE) return Buffer.from(`Subproject commit ${file.id}\n`)
  const found = await readSmall(repository, file.id)
  return found?.type === 'blob' ? found.content : null
}

const isBinary = (content: Buffer) => content.subarray(0, LOOKED_AT).includes(0)

/** Lines with their ends: the last one may have none. Latin1 keeps every byte. */
const linesOf = (content: Buffer): readonly string[] =>
  content.length === 0 ? [] : content.toString('latin1').split(/(?<=\n)/)

/** Returns undefined when lines between the first and the last difference are in both. */
function countBetween(old: readonly string[], young: readonly string[]): CommitStats | undefined {
  const shorter = Math.min(old.length, young.length)
  let head = 0
  while (head < shorter && old[head] === young[head]) head++
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++
  const removed = old.slice(head, old.length - tail)
  const added = new Set(young.slice(head, young.length - tail))
  if (removed.some(line => added.has(line))) return undefined
  return { additions: young.length - head - tail, deletions: removed.length }
}
