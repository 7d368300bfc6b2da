// Computes how many terminal columns a text takes. `plainText` first removes the characters that make this uncertain.

/** Control and format characters move the cursor, colour the screen or reverse the direction of the text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
/** These modify the character before them, and terminals then disagree on its width. */
const MODIFIERS = /[\u20d0-\u20ff\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0100}-\u{e01ef}]/gu
const ZERO = /^[\p{Mn}\p{Me}]$/u
const EMOJI = /^\p{Emoji_Presentation}$/u
/** East Asian wide and fullwidth characters. */
const WIDE: readonly (readonly [first: number, last: number])[] = [
  [0x1100, 0x115f],
  [0x2329, 0x232a],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd]
]

/** Returns one line of text that is harmless to a terminal: each dangerous character becomes a question mark. */
export function plainText(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.normalize('NFC').replace(MODIFIERS, '').replace(UNSAFE, '?')
}

/** Returns the number of columns that a plain text takes. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length
  let width = 0
  for (const character of text) width += widthOf(character)
  return width
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (ZERO.test(character)) return 0
  // One half of a flag.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return 1
  const wide = EMOJI.test(character) || WIDE.some(([first, last]) => code >= first && code <= last)
  return wide ? 2 : 1
}

/**
 * Returns the text cut to `width` columns; `…` at the end shows that something is missing. It cuts between two words. Only
 * a word that is longer than the width is cut itself.
 */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return ''
  if (displayWidth(text) <= width) return text
  let fits = ''
  let used = 0
  for (const character of text) {
    const more = widthOf(character)
    if (used + more > width - 1) break
    fits += character
    used += more
  }
  return `${fits.slice(0, wordEnd(text, fits.length))}…`
}

/** A cut after a space must leave this part of the width. Otherwise it may also come after another sign. */
const LEAST_LEFT = 1 / 3

/** Returns where to cut, at most at `end`: at a space, else before or after a sign, else at `end` itself. */
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

/** Whether a cut before this index would leave letters or digits on both sides. */
const inWord = (text: string, at: number) => isLetter(text[at - 1]) && isLetter(text[at])
const isLetter = (unit = ' ') => unit > '\u007f' || /[A-Za-z0-9]/.test(unit)

/** Returns the text in exactly `width` columns, aligned to the left, or to the right when `right` is set. */
export function fitTo(text: string, width: number, right = false): string {
  const cut = cutTo(text, width)
  const space = ' '.repeat(Math.max(0, width - displayWidth(cut)))
  return right ? space + cut : cut + space
}

/** Returns the text in lines of at most `width` columns. A line breaks at a space; only a longer word is broken itself. */
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

/** Returns how much of the text is on its first line. */
function endOfLine(text: string, width: number): number {
  let end = 0
  let used = 0
  for (const character of text) {
    used += widthOf(character)
    if (used > width) {
      const space = text.lastIndexOf(' ', end)
      // The spaces that indent a line are not between two words.
      return text.slice(0, Math.max(0, space)).trim() === '' ? Math.max(end, 1) : space
    }
    end += character.length
  }
  return end
}
