// Reads a text of several kilobytes from a file or from standard input.
import { createReadStream } from 'node:fs'
import { BadParameters } from '../../errors.js'

/** Maximum characters. Every text that a command reads this way is shorter. */
const LIMIT = 65_536

/**
 * Returns the whole text of `file`, or of standard input when `file` is undefined. Throws BadParameters when the text is
 * empty or too long, when the file cannot be read, or when standard input is a terminal.
 */
export async function readText(what: string, file: string | undefined): Promise<string> {
  if (file === undefined && process.stdin.isTTY) {
    throw problem(`give the ${what} on standard input, or name its file with --file`)
  }
  let text = ''
  try {
    for await (const chunk of file === undefined ? process.stdin : createReadStream(file)) {
      text += String(chunk)
      if (text.length > LIMIT) throw problem(`the ${what} is longer than ${LIMIT} characters`)
    }
  } catch (error) {
    if (error instanceof BadParameters || file === undefined) throw error
    throw problem(`--file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (text.trim() === '') throw problem(`the ${what} is empty`)
  return text
}

const problem = (text: string) => new BadParameters(text, text)
