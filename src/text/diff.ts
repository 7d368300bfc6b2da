// Makes what pages show of changes: files, hunks and lines with their numbers, within limits. A file that is not shown
// says why, so that the page can link to it.
import { createHash } from 'node:crypto'
import { visible, visibleName } from '../lib/visible.js'

/** The change of one file, as the git layer returns it. */
export interface FilePatch {
  readonly oldPath: string
  readonly newPath: string
  /** Octal; `0` where there is no file. */
  readonly oldMode: string
  readonly newMode: string
  /** The ids of the blobs. */
  readonly oldId: string
  readonly newId: string
  /** The status letter of git. */
  readonly status: string
  readonly text: string
  readonly isTooLarge: boolean
}

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  /** The number in the old file; null for an added line. */
  readonly old: number | null
  /** The number in the new file; null for a removed line. */
  readonly new: number | null
  /** The text without its line end, with visible control characters. */
  readonly text: string
  /** The number of characters that are omitted from the text. */
  readonly cut: number
  /** True when the file ends without a line end after this line. */
  readonly isUnended: boolean
  /** True for a line that only stands around a change: git has not returned it. */
  readonly isAround?: true
}

/** One row of two columns. */
export interface DiffPair {
  readonly left: DiffLine | null
  readonly right: DiffLine | null
}

export interface Hunk {
  /** The lines that the hunk covers, such as `@@ -1,4 +1,5 @@ function`. */
  readonly heading: string
  readonly lines: readonly DiffLine[]
}

/**
 * Why the lines of a file are not shown: `long` and `page` may be loaded, the first because the file has many lines, the
 * second because the page is full. `omitted`: the git layer has no text for it, because it is too large.
 */
type Fold = 'long' | 'page' | 'omitted'

export interface ShownFile {
  /** The id of the file on its page. It only depends on the path. */
  readonly anchor: string
  readonly path: string
  readonly oldPath: string
  /** Both paths with visible control characters, cut when they are very long. */
  readonly name: string
  readonly oldName: string
  readonly change: 'added' | 'deleted' | 'renamed' | 'copied' | 'changed'
  readonly oldMode: string
  readonly newMode: string
  readonly oldId: string
  readonly newId: string
  readonly isBinary: boolean
  readonly added: number
  readonly removed: number
  readonly fold: Fold | null
  /** The number of lines that are shown: none of a file that is folded, is binary, or changed only its name or its mode. */
  readonly lines: number
  /** These lines. They are read when somebody asks for them. */
  readonly hunks: readonly Hunk[]
  /** The number of lines that are left out at the end. */
  readonly cutLines: number
}

export interface ShownDiff {
  readonly files: readonly ShownFile[]
  /** The number of all changed files, of which `files` are one page. */
  readonly total: number
  readonly added: number
  readonly removed: number
  /** True when there are more changed files than the git layer read, or texts that it omitted. */
  readonly isCut: boolean
  /** The number of files to skip for the next page; null on the last one. */
  readonly next: number | null
}

export interface DiffLimits {
  readonly files: number
  /** Lines and characters of one file. */
  readonly fileLines: number
  readonly fileText: number
  /** Lines and characters of all files together. */
  readonly lines: number
  readonly text: number
}

/** A page of many files. Two thousand lines of code are about 40 kB of compressed HTML. */
export const PAGE: DiffLimits = { files: 100, fileLines: 400, fileText: 40_000, lines: 2000, text: 160_000 }
/** A page of one file that somebody wants to see whole. */
export const WHOLE_FILE: DiffLimits = { files: 1, fileLines: 5000, fileText: 600_000, lines: 5000, text: 600_000 }
/** Characters of one line. */
const LINE = 1000

/** Returns the id of a file on a page of changes. */
export const anchorOf = (path: string): string => `diff-${createHash('sha1').update(path).digest('hex').slice(0, 10)}`

export interface DiffQuestion {
  /** More has changed than `patches` show. */
  readonly isCut?: boolean
  /** The number of files to skip. */
  readonly skip?: number
  /** The new path of the only file to show. */
  readonly only?: string
}

/** Returns one page of changes, or one whole file. */
export function shownDiff(
  patches: readonly FilePatch[],
  { isCut = false, skip = 0, only }: DiffQuestion = {}
): ShownDiff {
  const limits = only === undefined ? PAGE : WHOLE_FILE
  const counted = patches.map(patch => ({ patch, ...factsOf(patch) }))
  const asked = only === undefined ? counted.slice(skip) : counted.filter(({ patch }) => patch.newPath === only)
  const room = { lines: limits.lines, text: limits.text }
  const files = asked.slice(0, limits.files).map(one => {
    const fold = only === undefined ? foldOf(one, room, limits) : one.patch.isTooLarge ? ('omitted' as const) : null
    const file = shownFile(one, fold, limits)
    if (fold === null) {
      room.lines -= one.lines
      room.text -= one.patch.text.length
    }
    return file
  })
  const isMore = only === undefined && asked.length > files.length
  return {
    files,
    total: patches.length,
    added: sum(counted.map(({ added }) => added)),
    removed: sum(counted.map(({ removed }) => removed)),
    isCut: isCut || patches.some(({ isTooLarge }) => isTooLarge),
    next: isMore ? skip + files.length : null
  }
}

/** Returns the lines of a hunk in two columns: removed lines stand next to the added lines that replace them. */
export function sideBySide(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = []
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as DiffLine
    if (line.kind === 'same') {
      pairs.push({ left: line, right: line })
      at += 1
      continue
    }
    const removed = runOf(lines, at, 'removed')
    const added = runOf(lines, at + removed.length, 'added')
    for (let row = 0; row < Math.max(removed.length, added.length); row++) {
      pairs.push({ left: removed[row] ?? null, right: added[row] ?? null })
    }
    at += removed.length + added.length
  }
  return pairs
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): readonly DiffLine[] {
  let end = from
  while (lines[end]?.kind === kind) end++
  return lines.slice(from, end)
}

interface Counts {
  readonly lines: number
  readonly added: number
  readonly removed: number
}

type Facts = Counts & Pick<ShownFile, 'anchor' | 'name' | 'oldName'>

interface Counted extends Facts {
  readonly patch: FilePatch
}

/** The git layer keeps its answers: changes are counted once. */
const facts = new WeakMap<FilePatch, Facts>()

function factsOf(patch: FilePatch): Facts {
  const known = facts.get(patch)
  if (known) return known
  const { newPath, oldPath, text } = patch
  const found = {
    ...countLines(text),
    ...{ anchor: anchorOf(newPath), name: visibleName(newPath), oldName: visibleName(oldPath) }
  }
  facts.set(patch, found)
  return found
}

interface Room {
  readonly lines: number
  readonly text: number
}

function foldOf({ patch, lines }: Counted, room: Room, limits: DiffLimits): Fold | null {
  if (patch.isTooLarge) return 'omitted'
  if (lines > limits.fileLines || patch.text.length > limits.fileText) return 'long'
  return lines > room.lines || patch.text.length > room.text ? 'page' : null
}

const CHANGES: Record<string, ShownFile['change']> = { A: 'added', D: 'deleted', R: 'renamed', C: 'copied' }

function shownFile({ patch, lines, ...found }: Counted, fold: Fold | null, limits: DiffLimits): ShownFile {
  const { oldPath, newPath, oldMode, newMode, oldId, newId, status, text } = patch
  const shown = fold === null ? Math.min(lines, limits.fileLines) : 0
  let hunks: readonly Hunk[] | undefined
  return {
    ...found,
    ...{ path: newPath, oldPath, oldMode, newMode },
    ...{ oldId, newId, change: CHANGES[status] ?? 'changed' },
    isBinary: text.startsWith('Binary files '),
    fold,
    lines: shown,
    get hunks() {
      hunks ??= shown > 0 ? readHunks(text, shown) : []
      return hunks
    },
    cutLines: fold === null ? lines - shown : 0
  }
}

/** Counts lines without keeping them: a page shows the numbers of every file, also of those that are folded. */
function countLines(text: string): Counts {
  const found = { lines: 0, added: 0, removed: 0 }
  eachLine(text, Number.POSITIVE_INFINITY, {
    hunk: () => {},
    line: kind => {
      found.lines += 1
      if (kind !== 'same') found[kind] += 1
    },
    unended: () => {}
  })
  return found
}

/** Returns what a page shows of a line. */
export function shownLine(line: string): Pick<DiffLine, 'text' | 'cut'> {
  const cut = Math.max(0, line.length - LINE)
  return { text: visible(line.slice(0, line.length - cut).replace(/\r$/, '')), cut }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

function readHunks(text: string, most: number): Hunk[] {
  const hunks: { heading: string; lines: Writable<DiffLine>[] }[] = []
  let [old, young] = [0, 0]
  eachLine(text, most, {
    hunk: (from, heading) => {
      ;[old, young] = from
      hunks.push({ heading: visible(heading), lines: [] })
    },
    line: (kind, start, end) => {
      hunks.at(-1)?.lines.push({
        kind,
        old: kind === 'added' ? null : old++,
        new: kind === 'removed' ? null : young++,
        ...shownLine(text.slice(start, end)),
        isUnended: false
      })
    },
    unended: () => {
      const last = hunks.at(-1)?.lines.at(-1)
      if (last) last.isUnended = true
    }
  })
  return hunks
}

interface Reader {
  readonly hunk: (from: [old: number, young: number], heading: string) => void
  readonly line: (kind: DiffLine['kind'], start: number, end: number) => void
  readonly unended: () => void
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@.*/s
const KINDS: Record<string, DiffLine['kind']> = { ' ': 'same', '+': 'added', '-': 'removed' }

/** Reads the unified format. The numbers of a hunk say where it ends, because a removed line may look like a heading. */
export function eachLine(text: string, most: number, { hunk, line, unended }: Reader): void {
  let [olds, youngs, read] = [0, 0, 0]
  for (let start = 0, end = 0; start < text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const kind = KINDS[text[start] ?? '']
    if (olds + youngs > 0 && kind) {
      if (kind !== 'added') olds -= 1
      if (kind !== 'removed') youngs -= 1
      if (++read > most) return
      line(kind, start + 1, end)
    } else if (text[start] === '\\') unended()
    else {
      const found = HUNK.exec(text.slice(start, Math.min(end, start + LINE)))
      if (!found) continue
      olds = Number(found[2] ?? 1)
      youngs = Number(found[4] ?? 1)
      hunk([Number(found[1]), Number(found[3])], found[0])
    }
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
