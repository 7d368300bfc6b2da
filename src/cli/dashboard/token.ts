// The token of a remote appliance: by file, standard input or the environment, never on the command line.
import { readFile } from 'node:fs/promises'
import { BadParameters } from '../../errors.js'
import { tokenOfEnvironment } from './environment.js'

const LIMIT = 4096

/** The first line of what is named. Throws BadParameters where nothing or too much is named, or it is empty. */
export async function readToken({ stdin = false, file }: { stdin?: boolean; file?: string }): Promise<string> {
  if (stdin && file !== undefined) throw usage('name one source of the token: --token-file or --token-stdin')
  const text = stdin ? await readStdin() : file === undefined ? tokenOfEnvironment() : await read(file)
  if (text === undefined) throw usage('--url needs a token: --token-file, --token-stdin or GITSTEAD_TOKEN')
  const token = text.split(/\r?\n/, 1)[0]?.trim() ?? ''
  if (token === '') throw usage('the token is empty')
  return token
}

const usage = (text: string) => new BadParameters(text, text)

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw usage(`--token-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`)
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
