// Reads the token for a remote appliance from a file, from standard input or from the environment. For quick use, it also
// accepts a token on the command line, although everybody on the machine can read it there.
import { BadParameters } from '../../errors.js'
import { readFirstLine } from '../input/password.js'
import { tokenOfEnvironment } from './environment.js'

export interface TokenSource {
  readonly stdin?: boolean
  readonly file?: string
  readonly token?: string
}

/**
 * Returns the token from its source: the first line, without surrounding spaces. Throws BadParameters when there is no
 * source or more than one, or when the token is empty.
 */
export async function readToken(source: TokenSource): Promise<string> {
  const named = [source.stdin, source.file !== undefined, source.token !== undefined].filter(Boolean)
  if (named.length > 1) throw usage('use only one of --token-file, --token-stdin and --token')
  const text = await textOf(source)
  if (text === undefined) throw usage('--url needs a token: --token-file, --token-stdin, --token or GITSTEAD_TOKEN')
  const token = text.split(/\r?\n/, 1)[0]?.trim() ?? ''
  if (token === '') throw usage('the token is empty')
  return token
}

const usage = (text: string) => new BadParameters(text, text)

async function textOf({ stdin, file, token }: TokenSource): Promise<string | undefined> {
  if (stdin || file !== undefined) return readFirstLine('token', file)
  return token ?? tokenOfEnvironment()
}
