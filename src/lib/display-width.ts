// Fits texts into columns of a terminal. `plainText` first removes the characters whose width differs between terminals.
import stringWidth from 'string-width'

/** Control and format characters move the cursor, colour the screen or reverse the direction of the text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
/** These modify the character before them, and terminals disagree on the resulting width. */
const MODIFIERS = /[\u20d0-\u20ff\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0100}-\u{e01ef}]/gu
const characters = new Intl.Segmenter()
/** Each character of such a text takes one column. */
const PLAIN = /^[ -~]*$/

/** Returns one line of text that is harmless to a terminal: each dangerous character becomes a question mark. */
export function plainText(text: string): string {
  return PLAIN.test(text) ? text : text.normalize('NFC').replace(MODIFIERS, '').replace(UNSAFE, '?')
}

/**
 * Returns the text cut to `width` columns; `…` at the end shows that something is missing. It cuts between two words. Only
 * a word that is longer than the width is itself cut.
 */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return ''
  if (stringWidth(text) <= width) return text
  return `${text.slice(0, wordEnd(text, fitting(text, width - 1)))}…`
}

/** Returns the length of the longest beginning of a text that takes at most `width` columns. */
function fitting(text: string, width: number): number {
  if (PLAIN.test(text)) return Math.min(text.length, width)
  let used = 0
  for (const { index, segment } of characters.segment(text)) {
    used += stringWidth(segment)
    if (used > width) return index
  }
  return text.length
}

/** A cut at a space must leave at least this share of the width. Otherwise the cut may also be next to another sign. */
const LEAST_LEFT = 1 / 3

/** Returns where to cut, at most at `end`: at a space, otherwise before or after a sign, otherwise at `end` itself. */
function wordEnd(text: string, end: number): number {
  if (!inWord(text, end)) return trimmed(text, end)
  const space = text.lastIndexOf(' ', end)
  if (space >= end * LEAST_LEFT) return trimmed(text, space)
  let at = end
  while (at > 0 && inWord(text, at)) at -= 1
  return at === 0 ? end : trimmed(text, at)
}

function trimmed(text: string, end: number): number {
  return text.slice(0, end).trimEnd().length
}

/** Returns whether a cut before this index would have letters or digits on both sides. */
const inWord = (text: string, at: number) => isLetter(text[at - 1]) && isLetter(text[at])
const isLetter = (unit = ' ') => unit > '\u007f' || /[A-Za-z0-9]/.test(unit)

/** Returns the text in exactly `width` columns, aligned to the left, or to the right when `right` is set. */
export function fitTo(text: string, width: number, right = false): string {
  const cut = cutTo(text, width)
  const space = ' '.repeat(Math.max(0, width - stringWidth(cut)))
  return right ? space + cut : cut + space
}

/** Returns the text in lines of at most `width` columns. A line breaks at a space; only a longer word is itself broken. */
export function breakLines(text: string, width: number): string[] {
  const lines: string[] = []
  let rest = text
  for (;;) {
    const end = endOfLine(rest, width)
    lines.push(rest.slice(0, end))
    if (end === rest.length) return lines
    rest = rest.slice(end).replace(/^ /, '')
  }
}

/** Returns the length of the first line. */
function endOfLine(text: string, width: number): number {
  const end = fitting(text, width)
  if (end === text.length) return end
  const space = text.lastIndexOf(' ', end)
  // The spaces that indent a line are not between two words.
  return text.slice(0, Math.max(0, space)).trim() === '' ? Math.max(end, 1) : space
}
