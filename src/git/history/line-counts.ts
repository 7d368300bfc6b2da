// Counts the lines that a commit added and removed, in this process where git certainly finds the shortest way from one text to
// the other. Where it may settle for less, it is asked.
import { readSmall } from '../objects/reader.js'
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

/** Lines of a text that are compared here. */
const MOST_LINES = 10_000
/** Lines that come and go. From 256 on, git looks for a good answer instead of the shortest one. */
const MOST_EDITS = 200

/**
 * Counts as git does: it leaves out what both texts begin and end with, passes over lines that certainly come or go, and finds
 * the shortest way for the others. Returns undefined where it may settle for less.
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

/** Lines with their ends: the last one may have none. Latin1 keeps every byte. */
const linesOf = (text: Buffer): Lines => (text.length === 0 ? [] : text.toString('latin1').split(/(?<=\n)/))

const UNIQUE = 0
const MATCHED = 1
const FREQUENT = 2

/**
 * Returns the lines of a range that git tries to find in the other text. It passes over those that are not there, and over
 * frequent ones among many such lines.
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

/** A power of two near the square root. */
function roughRoot(value: number): number {
  let root = 1
  for (let rest = value; rest > 0; rest >>= 2) root <<= 1
  return root
}

/** Lines on each side of a frequent one that git looks at. */
const WINDOW = 100

/** Tells whether a frequent line has lines on both sides that are not in the other text, three times as many as frequent ones. */
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

/** The least number of lines to remove and to add (Myers, "An O(ND) Difference Algorithm"); undefined beyond the limit. */
function editsBetween(old: Lines, young: Lines): number | undefined {
  const most = Math.min(old.length + young.length, MOST_EDITS)
  /** How far into `old` the paths lead that end on each diagonal. */
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
