import { readFile, stat } from 'node:fs/promises'
import { BadParameters } from '../../errors.js'

/**
 * Returns the text of a file, or of standard input for `-`. Throws BadParameters when it cannot be read or is larger than
 * `limit` bytes.
 */
export async function readTextFile(flag: string, file: string, limit: number): Promise<string> {
  const text = file === '-' ? await readStdin(limit) : await readNamed(flag, file, limit)
  if (text.length > limit) throw refusal(`${flag} ${file} is larger than ${limit} bytes`)
  return text
}

async function readNamed(flag: string, file: string, limit: number): Promise<string> {
  try {
    // The size is checked first, so that a large file is never read.
    if ((await stat(file)).size > limit) throw refusal(`${flag} ${file} is larger than ${limit} bytes`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof BadParameters) throw error
    throw refusal(`${flag} ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

async function readStdin(limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > limit) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

const refusal = (text: string) => new BadParameters(text, text)
