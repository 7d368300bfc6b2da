// Cuts the lines out of a change that notes are about.
import { visible } from '../lib/visible.js'
import { type DiffLine, eachLine, shownLine } from './diff.js'

/** Lines of the change above a line. */
const ABOVE = 3

export interface LinePlace {
  readonly side: 'old' | 'new'
  readonly number: number
}

type Reached = Pick<DiffLine, 'kind' | 'old' | 'new'> & { readonly start: number; readonly end: number }

/** Characters of a line that a mail shows. */
const IN_MAIL = 200

/** Returns the lines of a change that end with each place, in the order of the places; empty for a line that the change does not show. */
export const excerptsOf = (text: string, places: readonly LinePlace[]): DiffLine[][] =>
  reachedIn(text, places).map(lines => lines.map(line => lineIn(text, line)))

/**
 * Returns a line of a change of a file with the lines before it, as a diff shows them. The number is that of `DiffLine`: of the new
 * file, or of the old one for a line that was removed. Null when the change does not show the line.
 */
export function linesTo(text: string, side: LinePlace['side'], number: number): string | null {
  const [lines = []] = reachedIn(text, [{ side, number }])
  // Everything before `start` is the mark of the line.
  const shown = lines.map(({ start, end }) =>
    visible(text.slice(start - 1, Math.min(end, start + IN_MAIL)).replace(/\r$/, ''))
  )
  return shown.length > 0 ? shown.join('\n') : null
}

function reachedIn(text: string, places: readonly LinePlace[]): Reached[][] {
  const wanted = { old: numbersOf(places, 'old'), new: numbersOf(places, 'new') }
  const found = { old: new Map<number, Reached[]>(), new: new Map<number, Reached[]>() }
  let [old, young] = [0, 0]
  let last: Reached[] = []
  eachLine(text, Number.POSITIVE_INFINITY, {
    hunk: from => {
      ;[old, young] = from
      last = []
    },
    line: (kind, start, end) => {
      const line = { kind, old: kind === 'added' ? null : old++, new: kind === 'removed' ? null : young++, start, end }
      last.push(line)
      if (last.length > ABOVE + 1) last.shift()
      const side = kind === 'removed' ? 'old' : 'new'
      const number = line[side] ?? 0
      if (wanted[side].has(number)) found[side].set(number, [...last])
    },
    unended: () => {}
  })
  return places.map(({ side, number }) => found[side].get(number) ?? [])
}

const numbersOf = (places: readonly LinePlace[], side: LinePlace['side']): ReadonlySet<number> =>
  new Set(places.filter(place => place.side === side).map(({ number }) => number))

const lineIn = (text: string, { kind, old, new: young, start, end }: Reached): DiffLine => ({
  ...{ kind, old, new: young, isUnended: false },
  ...shownLine(text.slice(start, end))
})
