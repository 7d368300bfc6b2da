// The token of a remote appliance: by file, standard input or the environment; a token on the command line can be read by
// everybody on the machine, and is taken for a quick look.
import { BadParameters } from '../../errors.js'
import { readFirstLine } from '../password.js'
import { tokenOfEnvironment } from './environment.js'

export interface TokenSource {
  readonly stdin?: boolean
  readonly file?: string
  readonly token?: string
}

/** The first line of what is named. Throws BadParameters where nothing or too much is named, or it is empty. */
export async function readToken(source: TokenSource): Promise<string> {
  const named = [source.stdin, source.file !== undefined, source.token !== undefined].filter(Boolean)
  if (named.length > 1) throw usage('name one source of the token: --token-file, --token-stdin or --token')
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
