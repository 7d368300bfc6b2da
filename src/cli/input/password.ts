import { readFile } from 'node:fs/promises'
import { BadParameters } from '../../errors.js'

/** Reading stops after this many characters: secrets are shorter. */
const LIMIT = 4096

export interface SecretSource {
  readonly stdin?: boolean
  readonly file?: string
}

/**
 * Reads a password from the first line of standard input or of a file. Throws BadParameters when the line is empty, when
 * the file cannot be read, or when the flags do not name exactly one source.
 */
export const readPassword = (source: SecretSource) => readSecret('password', source)

/** Reads a secret of any kind, as `readPassword` does; its flags are --KIND-stdin and --KIND-file. */
export async function readSecret(kind: string, { stdin = false, file }: SecretSource): Promise<string> {
  if (stdin === (file !== undefined)) {
    const text = `give exactly one source of the ${kind}: --${kind}-stdin or --${kind}-file`
    throw new BadParameters(text, text)
  }
  const secret = await readFirstLine(kind, file)
  if (secret === '') throw new BadParameters(`${kind} is empty`, `the ${kind} is empty`)
  return secret
}

/** Returns the first line of `file`, or of standard input when `file` is undefined; '' when the source is empty. */
export async function readFirstLine(kind: string, file: string | undefined): Promise<string> {
  const text = file === undefined ? await readStdin() : await readSecretFile(kind, file)
  return text.split(/\r?\n/, 1)[0] ?? ''
}

async function readSecretFile(kind: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const text = `--${kind}-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`
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
