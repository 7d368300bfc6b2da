// How many columns of a terminal a text takes. What would make that unsure is taken out of texts first.

/** Control and format characters move the cursor, colour the screen or turn text round. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu
/** They change the look of the character before, and terminals disagree on its width then. */
const MODIFIERS = /[\u20d0-\u20ff\ufe00-\ufe0f\u{1f3fb}-\u{1f3ff}\u{e0100}-\u{e01ef}]/gu
const ZERO = /^[\p{Mn}\p{Me}]$/u
const EMOJI = /^\p{Emoji_Presentation}$/u
/** East Asian wide and fullwidth. */
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

/** A text of one line that cannot do anything to a terminal: what could is a question mark. */
export function plainText(text: string): string {
  return /^[ -~]*$/.test(text) ? text : text.normalize('NFC').replace(MODIFIERS, '').replace(UNSAFE, '?')
}

/** Columns that a plain text takes. */
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
  // Half of a flag.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return 1
  const wide = EMOJI.test(character) || WIDE.some(([first, last]) => code >= first && code <= last)
  return wide ? 2 : 1
}

/** The text cut to so many columns; `…` tells that something is missing. */
export function cutTo(text: string, width: number): string {
  if (width <= 0) return ''
  if (displayWidth(text) <= width) return text
  let cut = ''
  let used = 0
  for (const character of text) {
    const more = widthOf(character)
    if (used + more > width - 1) break
    cut += character
    used += more
  }
  return `${cut}…`
}

/** The text in exactly so many columns, to the left or to the right. */
export function fitTo(text: string, width: number, right = false): string {
  const cut = cutTo(text, width)
  const space = ' '.repeat(Math.max(0, width - displayWidth(cut)))
  return right ? space + cut : cut + space
}

/** The text in lines of at most so many columns, broken anywhere. */
export function breakLines(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const character of text) {
    const more = widthOf(character)
    if (used + more > width) {
      lines.push(line)
      line = ''
      used = 0
    }
    line += character
    used += more
  }
  return [...lines, line]
}
