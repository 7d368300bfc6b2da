// The clients of an appliance: a REST client, a git client, a receiver of hooks.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import yauzl from 'yauzl'

const run = promisify(execFile)

export const gitEnvironment = {
  PATH: process.env.PATH ?? '',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.org'
}

interface GitOutcome {
  readonly ok: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Milliseconds. Only a fault takes this long: on a busy machine, a push of 1 GB takes minutes. */
const GIT_MS = 900_000

/** Runs a stock git client. A refusal is a result, not an error. */
export async function tryGit(cwd: string, args: readonly string[], extra: Record<string, string> = {}) {
  try {
    const options = { cwd, env: { ...gitEnvironment, ...extra }, maxBuffer: 1 << 28, timeout: GIT_MS }
    const { stdout, stderr } = await run('git', [...args], options)
    return { ok: true, stdout: stdout.trim(), stderr } satisfies GitOutcome
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return { ok: false, stdout: stdout.trim(), stderr: stderr || String(error) } satisfies GitOutcome
  }
}

/** Runs a stock git client that must succeed; returns its stdout. */
export async function git(cwd: string, args: readonly string[], extra: Record<string, string> = {}): Promise<string> {
  const { ok, stdout, stderr } = await tryGit(cwd, args, extra)
  if (!ok) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The URL for a git client, with a username and a token or password. */
export function remoteUrl(url: string, path: string, user: string, secret: string): string {
  const remote = new URL(`${url}/${path}.git`)
  remote.username = user
  remote.password = encodeURIComponent(secret)
  return remote.href
}

export interface ApiAnswer<T> {
  readonly status: number
  readonly headers: Headers
  readonly bytes: Buffer
  /** Undefined when the answer is not JSON. */
  readonly json: T
}

/** Calls the REST API with a private token. Rejects when there is no answer. */
export async function askApi<T = Record<string, unknown>>(
  { url, token = '' }: { url: string; token?: string },
  method: string,
  path: string,
  body?: unknown
): Promise<ApiAnswer<T>> {
  const response = await fetch(`${url}/api/v3${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { 'private-token': token }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' })
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(60_000)
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  const json = (isJson ? JSON.parse(bytes.toString()) : undefined) as T
  return { status: response.status, headers: response.headers, bytes, json }
}

/** The fields of a hook's payload that the tests use. */
interface HookBody {
  readonly event_name: string
  readonly ref: string
  readonly before: string
  readonly after: string
  readonly checkout_sha: string | null
  readonly user_name: string
  readonly project_id: number
  readonly path_with_namespace?: string
}

export interface Hook {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: HookBody
}

/** A receiver of hooks at its own port. Tests can close it for a while and open it again. */
export class Receiver {
  readonly hooks: Hook[] = []
  /** The status of its answers. */
  status = 200
  port = 0
  #server: Server | undefined

  async open(): Promise<void> {
    if (this.#server) return
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      try {
        for await (const chunk of request) chunks.push(chunk)
      } catch {
        return // the sender was killed
      }
      const text = Buffer.concat(chunks).toString()
      this.hooks.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) as HookBody })
      response.writeHead(this.status).end('received')
    })
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    this.port = (server.address() as AddressInfo).port
    this.#server = server
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
}

/** Tries again and again until there is a result. Throws after `seconds`, with the text of `describe`. */
export async function eventually<T>(
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  describe: () => string | Promise<string> = () => 'it did not happen',
  seconds = 180
): Promise<T> {
  const limit = Date.now() + seconds * 1000
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    if (Date.now() > limit) throw new Error(await describe())
    await sleep(50)
  }
}

/** The files of a zip archive. */
export function unzip(archive: Buffer): Promise<Map<string, string>> {
  return new Promise((resolve, reject) => {
    const files = new Map<string, string>()
    yauzl.fromBuffer(archive, { lazyEntries: true }, (error, zip) => {
      if (error) return reject(error)
      zip.on('error', reject)
      zip.on('end', () => resolve(files))
      zip.on('entry', entry => {
        zip.openReadStream(entry, async (fault, stream) => {
          if (fault) return reject(fault)
          const chunks: Buffer[] = []
          for await (const chunk of stream) chunks.push(chunk as Buffer)
          files.set(entry.fileName, Buffer.concat(chunks).toString())
          zip.readEntry()
        })
      })
      zip.readEntry()
    })
  })
}
