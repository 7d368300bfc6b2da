import type { IncomingMessage } from 'node:http'
import { BadParameters, Unavailable } from '../../errors.js'
import { requireFolder } from '../../home.js'
import { exitCodeOfStatus, headOf, heldBody, streamBody } from '../api/answer.js'
import { bodyOf, queryOf, textField, typedField } from '../api/fields.js'
import { writePages } from '../api/pages.js'
import type { Body } from '../api/request.js'
import { ask, fileBody } from '../api/request.js'
import { givenToken, withTokenOf } from '../api/signed-in.js'
import { findServer } from '../appliance/read-status.js'
import { BaseCommand, type FlagsOf } from '../framework/base.js'
import { endedBySignals } from '../framework/signals.js'
import { Args, Flags } from '../oclif.js'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
/** The fields of these methods are query parameters. */
const BODILESS: readonly string[] = ['GET', 'HEAD', 'DELETE']
/** Headers that the command sets itself. */
const OWN = /^(private-token|authorization|host|content-length|transfer-encoding|connection|expect)$/i

export default class Api extends BaseCommand {
  static override summary = 'Call the REST API with a token, and print the response'
  static override description =
    `Calls the running appliance of the home, or the one at --url. The token comes from --token-file, --token-stdin or
GITSTEAD_TOKEN. Users with access to the home can use --as USER instead: the command then creates a token for the call,
revokes it afterwards, and records both in the audit. PATH is relative to /api/v3. Fields become query parameters for GET,
HEAD and DELETE and with --input, otherwise a JSON body. The exit code is 0 for 2xx and 304, 2 for 400, 405, 413, 415 and
422, 3 for 404, 4 for 409, 5 for 429, 502, 503 and 504, and 1 for all other statuses. The response body is streamed. With
--json: {status, headers, body}, at most 16 MiB; with --paginate {status, body}.`
  static override examples = [
    '<%= config.bin %> api GET version --as root',
    '<%= config.bin %> api GET projects/ada%2Fengine --token-file ./token',
    "<%= config.bin %> api POST projects/42/issues -f title='It leaks' -F confidential=true",
    '<%= config.bin %> api GET users -f search=ada --paginate --as root',
    '<%= config.bin %> api PUT projects/42 --input change.json --url https://git.example.org'
  ]
  static override args = {
    method: Args.string({ required: true, options: METHODS, description: 'the HTTP method' }),
    path: Args.string({ required: true, description: 'the path below /api/v3, with an optional query' })
  }
  static override flags = {
    'raw-field': Flags.string({
      char: 'f',
      multiple: true,
      description: 'add a text field: NAME=TEXT, or NAME[]=TEXT for a list'
    }),
    field: Flags.string({
      char: 'F',
      multiple: true,
      description:
        'add a typed field: NAME=VALUE, where true, false, null and whole numbers keep their type, and @FILE reads a file'
    }),
    header: Flags.string({ char: 'H', multiple: true, description: "add a request header: 'NAME: VALUE'" }),
    input: Flags.string({ description: 'send the content of a file as the body; - reads standard input' }),
    include: Flags.boolean({ char: 'i', description: 'also print the status and the headers of the response' }),
    paginate: Flags.boolean({ description: 'print all pages of a list as one list', exclusive: ['include', 'input'] }),
    'max-pages': Flags.integer({
      default: 1000,
      min: 1,
      max: 100_000,
      description: 'maximum number of pages for --paginate'
    }),
    'max-bytes': Flags.integer({ default: 1_073_741_824, min: 1, description: 'maximum size of the response' }),
    timeout: Flags.integer({
      default: 60,
      min: 1,
      max: 3600,
      description: 'give up after this many seconds without data'
    }),
    url: Flags.string({ description: 'call the appliance at this URL', exclusive: ['as'] }),
    'token-file': Flags.file({ description: 'read the token from the first line of a file', exclusive: ['as'] }),
    'token-stdin': Flags.boolean({
      description: 'read the token from the first line of standard input',
      exclusive: ['as', 'token-file']
    }),
    as: Flags.string({ description: 'call as this user: username, mail address or number' })
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(Api)
    this.configure(flags)
    const base = await this.base(flags.url)
    const call = await this.prepare(base, args.method, args.path, flags)
    return endedBySignals(
      signal => this.signedIn(flags, token => call(token, signal)),
      'the appliance may have completed the request'
    )
  }

  private async base(url: string | undefined): Promise<string> {
    if (url !== undefined) return (await import('../appliance/remote-address.js')).remoteBase(url)
    const server = await findServer()
    if (server.up) return server.url
    requireFolder()
    throw new Unavailable('the appliance is not running: start it with gitstead up, or use --url')
  }

  private async signedIn<T>({ as, ...flags }: FlagsOf<typeof Api>, work: (token: string) => Promise<T>): Promise<T> {
    return as === undefined ? work(await givenToken(flags)) : withTokenOf(as, work)
  }

  /** Reads all files of the command line before it sends anything. */
  private async prepare(base: string, method: string, path: string, flags: FlagsOf<typeof Api>) {
    const { input, paginate } = flags
    if (paginate && method !== 'GET') throw wrong('--paginate works only with GET')
    if (input === '-' && flags['token-stdin']) throw wrong('standard input cannot be both the token and the body')
    const fields = (flags['raw-field'] ?? []).map(textField)
    for (const given of flags.field ?? []) fields.push(await typedField(given))
    const url = addressOf(base, path)
    const inQuery = BODILESS.includes(method) || input !== undefined
    if (inQuery) for (const [name, value] of queryOf(fields)) url.searchParams.append(name, value)
    const { 'content-type': type = 'application/json', ...headers } = headersOf(flags.header ?? [])
    const body = await bodyFor()
    const silence = flags.timeout * 1000
    return (token: string, signal: AbortSignal) => {
      const send = (to: URL) =>
        ask({ method, url: to, headers: { ...headers, 'private-token': token }, body, silence, signal })
      return this.answer(`${method} ${path}`, url, send, flags)
    }

    async function bodyFor(): Promise<Body | undefined> {
      if (input !== undefined) return fileBody(input, type)
      if (inQuery || fields.length === 0) return undefined
      const content = JSON.stringify(bodyOf(fields))
      return { type, length: Buffer.byteLength(content), content }
    }
  }

  private async answer(
    said: string,
    url: URL,
    send: (url: URL) => Promise<IncomingMessage>,
    flags: FlagsOf<typeof Api>
  ): Promise<unknown> {
    const json = this.jsonEnabled()
    const answer = flags.paginate ? await this.pages(url, send, flags['max-pages'], json) : await send(url)
    if (!answer) return undefined
    const { statusCode = 0, statusMessage = '' } = answer
    process.exitCode = exitCodeOfStatus(statusCode) || undefined
    if (json) return { status: statusCode, headers: answer.headers, body: await heldBody(answer) }
    if (flags.include) process.stdout.write(headOf(answer))
    await streamBody(answer, flags['max-bytes'])
    if (process.exitCode) this.logToStderr(`gitstead: ${said}: ${statusCode} ${statusMessage}`)
    return undefined
  }

  private async pages(url: URL, ask: (url: URL) => Promise<IncomingMessage>, most: number, json: boolean) {
    return writePages({ url, ask, most, frame: json ? ['{"status":200,"body":', '}'] : ['', ''] })
  }
}

/** Returns the URL below the API. Throws BadParameters when the path leaves the API: the token is only for the API. */
function addressOf(base: string, path: string): URL {
  const below = new URL(`${base}/api/v3/`)
  const rest = path.replace(/^\/+/, '').replace(/^api\/v3\//, '')
  const text = `${below.href}${rest}`
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path))
    throw wrong('give only the path below /api/v3; name the appliance with --url')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || url.origin !== below.origin || !url.pathname.startsWith(below.pathname) || url.hash !== '')
    throw wrong('the path must stay below /api/v3 and have no fragment (write # as %23)')
  return url
}

function headersOf(given: readonly string[]): { readonly [name: string]: string } {
  const pairs = given.map(text => {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9a-z-]+):[ \t]*([\x20-\x7e]*)$/i.exec(text) ?? []
    if (name === '') throw wrong(`a header must be 'NAME: VALUE' (it is ${JSON.stringify(text)})`)
    if (OWN.test(name)) throw wrong(`the command sets the header ${name} itself`)
    return [name.toLowerCase(), value] as const
  })
  return Object.fromEntries(pairs)
}

const wrong = (text: string) => new BadParameters(text, text)
