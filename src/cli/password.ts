import { readFile } from 'node:fs/promises'
import { BadParameters } from '../errors.js'

const LIMIT = 4096

/** The first line of standard input or of a file. Throws BadParameters where neither is named or it is empty. */
export async function readPassword({ stdin = false, file }: { stdin?: boolean; file?: string }): Promise<string> {
  if (stdin === (file !== undefined)) {
    const text = 'name one source of the password: --password-stdin or --password-file'
    throw new BadParameters(text, text)
  }
  const text = file === undefined ? await readStdin() : await readPasswordFile(file)
  const [password = ''] = text.split(/\r?\n/, 1)
  if (password === '') throw new BadParameters('password is empty', 'the password is empty')
  return password
}

async function readPasswordFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const text = `--password-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw new BadParameters(text, text)
  }
}

async function readStdin(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) {
    text += String(chunk)
    if (text.includes('\n') || text.length > LIMIT) break
  }
  return text
}
