// Finds slash commands: lines such as `/close` or `/assign @user`, outside of code and quotes. The rules decide which of
// them apply; the others stay in the text. The parser of Markdown reads short texts; long ones are read line by line, because
// the parser would take too long.
import { LONGEST_READ, passagesOf, SHORT_TEXT } from './markdown.js'

export interface CommandLine {
  /** The number of the line in the text, from 0. */
  readonly line: number
  readonly name: string
  /** What follows the name, without spaces around it. */
  readonly argument: string
}

/** How many commands of one text are read. */
export const MOST_COMMANDS = 100

const COMMAND = /^\/([a-z_]{1,30})(?:[ \t]([^\n]*))?$/
const ANY_COMMAND = /^\/[a-z_]/m
/** The beginning of a fenced block, in a list too, or its end. */
const FENCE = /^[\s>*+-]*(`{3,}|~{3,})(.*)$/
const QUOTE_OR_HTML = /^\s*[<>]/
const LINES = /\r\n|\n|\r/

/** Returns the lines of a text that are commands with one of these names, or with any, in the order of the text. */
export function commandLines(text: string, names?: ReadonlySet<string>): CommandLine[] {
  if (!ANY_COMMAND.test(text)) return []
  const lines = text.split(LINES)
  const found: CommandLine[] = []
  // The passage shows that it is text and not code; the line itself has the argument as it was written.
  for (const line of text.length <= SHORT_TEXT
    ? parsedLines(text)
    : plainLines(text.slice(0, LONGEST_READ).split(LINES))) {
    const [, name, argument = ''] = COMMAND.exec(lines[line] ?? '') ?? []
    if (name && (!names || names.has(name))) found.push({ line, name, argument: argument.trim() })
    if (found.length === MOST_COMMANDS) break
  }
  return found
}

const parsedLines = (text: string): number[] => passagesOf(text).flatMap(({ lines }) => lines ?? [])

/**
 * Yields the lines that are neither in a fenced block nor in a paragraph that begins as a quote or as HTML. Where this is
 * simpler than the parser, a line is no command and stays in the text.
 */
function* plainLines(lines: readonly string[]): Generator<number> {
  let fence = ''
  let isSkipped = false
  for (const [at, line] of lines.entries()) {
    const [, mark = '', rest = ''] = FENCE.exec(line) ?? []
    if (fence !== '') {
      if (mark.startsWith(fence) && rest.trim() === '') fence = ''
    } else if (mark !== '' && !(mark.startsWith('`') && rest.includes('`'))) {
      fence = mark
      isSkipped = false
    } else if (line.trim() === '') isSkipped = false
    else {
      isSkipped ||= QUOTE_OR_HTML.test(line)
      if (!isSkipped) yield at
    }
  }
}

/** Returns the text without some of its lines, and without the empty space that they leave at both ends. */
export function withoutLines(text: string, taken: readonly { readonly line: number }[]): string {
  if (taken.length === 0) return text
  const gone = new Set(taken.map(({ line }) => line))
  return text
    .split(LINES)
    .filter((_, line) => !gone.has(line))
    .join('\n')
    .trim()
}
