// A text of several kilobytes, from a file or standard input.
import { createReadStream } from 'node:fs'
import { BadParameters } from '../errors.js'

/** More than any text that a command reads so. */
const LIMIT = 65_536

/** All of `file`, or of standard input without one. Throws BadParameters where there is nothing to read it from. */
export async function readText(what: string, file: string | undefined): Promise<string> {
  if (file === undefined && process.stdin.isTTY) {
    throw problem(`give the ${what} on standard input, or name a file by --file`)
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
