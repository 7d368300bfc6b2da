// The end of a trace as plain text for mails: no colors, no control characters, and of limited size.
import { stripVTControlCharacters } from 'node:util'

const MOST_LINES = 30
const LONGEST_LINE = 500
/** Characters of the whole text. */
const LONGEST = 8000

/** Returns the last lines of a text. Of a line that a program has overwritten, it returns what a terminal shows in the end. */
export function lastLines(text: string): string {
  const lines = stripVTControlCharacters(text)
    .trimEnd()
    .split('\n')
    .slice(-MOST_LINES)
    .map(line => plain(line.trimEnd()))
  let [first, length] = [lines.length, 0]
  while (first > 0) {
    length += (lines[first - 1]?.length ?? 0) + 1
    if (length > LONGEST) break
    first--
  }
  return lines.slice(first).join('\n')
}

const plain = (line: string) =>
  line
    .slice(line.lastIndexOf('\r') + 1)
    .replace(/\t/g, '    ')
    .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '')
    .slice(0, LONGEST_LINE)
