// Marks what changed within lines: in a removed line and the added line that replaces it, the part between their common beginning and
// their common end.
import { type DiffLine, sideBySide } from './diff.js'

/** A part of the text of a line, in characters. */
export interface Part {
  readonly from: number
  readonly to: number
}

/** Lines that have less in common are different lines: their marks would say nothing. */
const LEAST_COMMON = 1 / 3

/** Returns the parts of the lines of a hunk that changed. Lines without such a part are missing. */
export function changedParts(lines: readonly DiffLine[]): ReadonlyMap<DiffLine, Part> {
  const parts = new Map<DiffLine, Part>()
  for (const { left, right } of sideBySide(lines)) {
    if (left?.kind !== 'removed' || right?.kind !== 'added') continue
    const [old, young] = differenceOf(left.text, right.text)
    if (old.to > old.from) parts.set(left, old)
    if (young.to > young.from) parts.set(right, young)
  }
  return parts
}

const NOTHING = [
  { from: 0, to: 0 },
  { from: 0, to: 0 }
] as const

function differenceOf(old: string, young: string): readonly [Part, Part] {
  const most = Math.min(old.length, young.length)
  let start = 0
  while (start < most && old[start] === young[start]) start++
  start = wordStart(old, young, start)
  let end = 0
  while (end < most - start && old[old.length - 1 - end] === young[young.length - 1 - end]) end++
  end = wordEnd(old, young, end)
  const common = inkOf(old.slice(0, start)) + inkOf(old.slice(old.length - end))
  if (common < LEAST_COMMON * Math.max(inkOf(old), inkOf(young))) return NOTHING
  return [
    { from: start, to: old.length - end },
    { from: start, to: young.length - end }
  ]
}

/** Characters other than spaces: a common indentation does not make lines similar. */
const inkOf = (text: string): number => text.replace(/\s+/g, '').length

const WORD = /[\w$]/
const HIGH = /[\ud800-\udbff]/
const LOW = /[\udc00-\udfff]/
const isWord = (sign: string | undefined): boolean => sign !== undefined && WORD.test(sign)

/** Moves the end of the common beginning to the start of a word, and out of the middle of a character. */
function wordStart(old: string, young: string, at: number): number {
  let start = at
  while (start > 0 && isWord(old[start - 1]) && (isWord(old[start]) || isWord(young[start]))) start--
  return start > 0 && HIGH.test(old[start - 1] ?? '') ? start - 1 : start
}

/** Does the same for the length of the common end. */
function wordEnd(old: string, young: string, length: number): number {
  let end = length
  const before = (text: string) => text[text.length - end - 1]
  while (end > 0 && isWord(old[old.length - end]) && (isWord(before(old)) || isWord(before(young)))) end--
  return end > 0 && LOW.test(old[old.length - end] ?? '') ? end - 1 : end
}

/** Puts marks around a part of the text in HTML of elements and escaped text. Each piece of text has a mark of its own. */
export function markedHtml(html: string, { from, to }: Part): string {
  let at = 0
  let marked = ''
  for (const [piece] of html.matchAll(/<[^>]*>|&[^;]*;|[^<&]+/g)) {
    if (piece.startsWith('<')) {
      marked += piece
      continue
    }
    const length = piece.startsWith('&') ? 1 : piece.length
    const [first, last] = [Math.max(from - at, 0), Math.min(to - at, length)]
    at += length
    if (first >= last) marked += piece
    else if (piece.startsWith('&')) marked += `<mark>${piece}</mark>`
    else marked += `${piece.slice(0, first)}<mark>${piece.slice(first, last)}</mark>${piece.slice(last)}`
  }
  return marked
}
