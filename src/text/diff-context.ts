// Shows more of a file around its changes than git has returned.
import { type DiffLine, type Hunk, shownLine, WHOLE_FILE } from './diff.js'

interface Span {
  readonly hunk: Hunk
  /** The first line in each file, and the one after the last. */
  readonly old: readonly [from: number, to: number]
  readonly young: readonly [from: number, to: number]
}

/**
 * Returns the hunks of a file with up to `by` more lines before and after each, within the limits of a page of one file. `lines` are those
 * of the new file. Hunks that meet become one.
 */
export function widened(hunks: readonly Hunk[], lines: readonly string[], by: number): Hunk[] {
  const spans = hunks.map(spanOf)
  // A file that was empty before or after the change has no other lines.
  if (!spans.every(span => span !== null)) return [...hunks]
  const room = new Room()
  for (const { lines: shown } of hunks) for (const { text } of shown) room.take(text.length)
  const made: { heading: string; lines: DiffLine[] }[] = []
  let done = 1
  for (const [at, { hunk, old, young }] of spans.entries()) {
    const until = spans[at + 1]?.young[0] ?? lines.length + 1
    const start = Math.max(done, young[0] - by)
    const found = linesOf(lines, [start, young[0]], old[0] - young[0], room)
    // When the page is full, none are shown: no line may be missing between them and the change.
    const before = found.length === young[0] - start ? found : []
    const after = linesOf(lines, [young[1], Math.min(until, young[1] + by)], old[1] - young[1], room)
    const shown = [...before, ...hunk.lines, ...after]
    const last = made.at(-1)
    if (last && young[0] - before.length === done) last.lines.push(...shown)
    else made.push({ heading: hunk.heading, lines: shown })
    done = young[1] + after.length
  }
  return made.map(hunk => ({ ...hunk, heading: headingOf(hunk) }))
}

/** What a page of one file still has room for. */
class Room {
  #lines = WHOLE_FILE.lines
  #text = WHOLE_FILE.text

  /** Returns whether a line of this length fits. */
  take(length: number): boolean {
    this.#lines -= 1
    this.#text -= length
    return this.#lines >= 0 && this.#text >= 0
  }
}

function linesOf(
  lines: readonly string[],
  [from, to]: readonly [number, number],
  shift: number,
  room: Room
): DiffLine[] {
  const made: DiffLine[] = []
  for (let number = from; number < to; number++) {
    const shown = shownLine(lines[number - 1] ?? '')
    if (!room.take(shown.text.length)) break
    made.push({ kind: 'same', old: number + shift, new: number, ...shown, isUnended: false, isAround: true })
  }
  return made
}

function spanOf(hunk: Hunk): Span | null {
  const old = rangeOf(hunk.lines, 'old')
  const young = rangeOf(hunk.lines, 'new')
  return old && young && { hunk, old, young }
}

function rangeOf(lines: readonly DiffLine[], side: 'old' | 'new'): readonly [number, number] | null {
  const first = lines.find(line => line[side] !== null)?.[side] ?? null
  const last = lines.findLast(line => line[side] !== null)?.[side] ?? null
  return first === null || last === null ? null : [first, last + 1]
}

/** Returns the heading with the numbers of all lines. The words after them, which name a function, stay. */
function headingOf({ heading, lines }: Hunk): string {
  const words = /^@@ .*? @@(.*)$/s.exec(heading)?.[1] ?? ''
  const side = (name: 'old' | 'new') => {
    const [from, to] = rangeOf(lines, name) ?? [0, 0]
    return `${from},${to - from}`
  }
  return `@@ -${side('old')} +${side('new')} @@${words}`
}
