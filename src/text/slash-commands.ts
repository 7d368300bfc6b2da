// Finds slash commands: lines such as `/close` or `/assign @user`, outside of code and quotes. The rules decide which of
// them apply; the others stay in the text.
import { passagesOf } from './markdown.js'

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
const LINES = /\r\n|\n|\r/

/** Returns the lines of a text that are commands with one of these names, in the order of the text. */
export function commandLines(text: string, names: ReadonlySet<string>): CommandLine[] {
  if (!ANY_COMMAND.test(text)) return []
  const lines = text.split(LINES)
  const found: CommandLine[] = []
  for (const passage of passagesOf(text)) {
    // The passage shows that it is text and not code; the line itself has the argument as it was written.
    for (const line of passage.lines ?? []) {
      const [, name, argument = ''] = COMMAND.exec(lines[line] ?? '') ?? []
      if (name && names.has(name) && found.length < MOST_COMMANDS) {
        found.push({ line, name, argument: argument.trim() })
      }
    }
  }
  return found
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
