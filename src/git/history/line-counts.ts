// Counts the lines that a commit added and removed. This process counts where git certainly finds the shortest edit
// script. Where git may settle for a longer one, git must count.
import { readSmall } from '../objects/reader.js'
import type { FileChange, FileState } from './tree-diff.js'

export interface CommitStats {
  readonly additions: number
  readonly deletions: number
}

/** The maximum number of files that are compared for one commit, and the maximum total size of their contents in bytes. */
const MOST_FILES = 100
const MOST_BYTES = 1024 * 1024
/** Git treats a file as binary when its first 8000 bytes contain a NUL. */
const LOOKED_AT = 8000
const SUBMODULE = '160000'
const NOTHING: CommitStats = { additions: 0, deletions: 0 }

/** Returns how many lines changes add and remove, as `git diff --shortstat` counts. Returns undefined when the caller must ask git. */
export async function countLines(repository: string, changes: readonly FileChange[]): Promise<CommitStats | undefined> {
  if (changes.length > MOST_FILES) return undefined
  let [additions, deletions, bytes] = [0, 0, 0]
  for (const { before, after } of changes) {
    if (before?.id === after?.id) continue
    // When a file replaces a link or a submodule, git counts two changes.
    if (before && after && before.mode.slice(0, 3) !== after.mode.slice(0, 3)) return undefined
    const [old, young] = [await contentOf(repository, before), await contentOf(repository, after)]
    bytes += (old?.length ?? 0) + (young?.length ?? 0)
    if (!old || !young || bytes > MOST_BYTES) return undefined
    const counts = isBinary(old) || isBinary(young) ? NOTHING : countBetween(old, young)
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

/** The maximum number of lines of a text that is compared here. */
const MOST_LINES = 10_000
/** The maximum number of added and removed lines. From 256 on, git looks for a good result instead of the shortest one. */
const MOST_EDITS = 200

/**
 * Counts as git does: it skips the lines that both texts begin and end with, discards lines that were certainly added or removed,
 * and finds the shortest edit script for the rest. Returns undefined where git may settle for a longer script.
 */
function countBetween(before: Buffer, after: Buffer): CommitStats | undefined {
  const [old, young] = [linesOf(before), linesOf(after)]
  if (Math.max(old.length, young.length) > MOST_LINES) return undefined
  const shorter = Math.min(old.length, young.length)
  let head = 0
  while (head < shorter && old[head] === young[head]) head++
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === young.at(-1 - tail)) tail++
  const [removed, added] = [old.length - head - tail, young.length - head - tail]
  const left = matchable(old, young, { from: head, to: old.length - tail })
  const right = matchable(young, old, { from: head, to: young.length - tail })
  const edits = editsBetween(left, right)
  if (edits === undefined) return undefined
  const same = (left.length + right.length - edits) / 2
  return { additions: added - same, deletions: removed - same }
}

type Lines = readonly string[]

/** Splits a text into lines with their line ends; the last line may have none. Latin1 keeps every byte. */
const linesOf = (text: Buffer): Lines => (text.length === 0 ? [] : text.toString('latin1').split(/(?<=\n)/))

const UNIQUE = 0
const MATCHED = 1
const FREQUENT = 2

/**
 * Returns the lines of a range that git tries to find in the other text. It discards lines that are not in the other
 * text, and frequent lines that are surrounded by such lines.
 */
function matchable(lines: Lines, other: Lines, { from, to }: { readonly from: number; readonly to: number }): Lines {
  const range = lines.slice(from, to)
  const times = new Map(range.map(line => [line, 0]))
  for (const line of other) {
    const count = times.get(line)
    if (count !== undefined) times.set(line, count + 1)
  }
  const limit = Math.min(roughRoot(lines.length), 1024)
  const kinds = range.map(line => {
    const count = times.get(line) ?? 0
    return count === 0 ? UNIQUE : count < limit ? MATCHED : FREQUENT
  })
  return range.filter((_, at) => kinds[at] === MATCHED || (kinds[at] === FREQUENT && !isLost(kinds, at)))
}

/** Returns a power of two near the square root. */
function roughRoot(value: number): number {
  let root = 1
  for (let rest = value; rest > 0; rest >>= 2) root <<= 1
  return root
}

/** The number of lines on each side of a frequent line that git looks at. */
const WINDOW = 100

/**
 * Returns whether a frequent line has, on both sides, lines that are not in the other text, and more than three times
 * as many of them as frequent lines.
 */
function isLost(kinds: readonly number[], at: number): boolean {
  let [unique, frequent] = [0, 0]
  for (const step of [-1, 1]) {
    const before = unique
    frequent++
    for (let other = at + step; Math.abs(other - at) <= WINDOW; other += step) {
      const kind = kinds[other]
      if (kind === undefined || kind === MATCHED) break
      if (kind === UNIQUE) unique++
      else frequent++
    }
    if (unique === before) return false
  }
  return frequent * 4 < frequent + unique
}

/** Returns the smallest number of lines to remove and to add (Myers, "An O(ND) Difference Algorithm"), or undefined beyond the limit. */
function editsBetween(old: Lines, young: Lines): number | undefined {
  const most = Math.min(old.length + young.length, MOST_EDITS)
  /** How far into `old` the paths reach that end on each diagonal. */
  const reached = new Int32Array(2 * most + 3)
  for (let edits = 0; edits <= most; edits++) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const [below, above] = [reached[most + diagonal] ?? 0, reached[most + diagonal + 2] ?? 0]
      let x = diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1
      while (x < old.length && x - diagonal < young.length && old[x] === young[x - diagonal]) x++
      reached[most + diagonal + 1] = x
      if (x >= old.length && x - diagonal >= young.length) return edits
    }
  }
  return undefined
}
