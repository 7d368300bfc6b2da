// Lets git reach a server over SSH without an SSH client of the machine. Git speaks git:// to a port of the loopback interface, whose
// conversation is the same as that of SSH after the first line. The connection to the server passes through the gateway, so the
// address rules of imports apply, and the private key is on no disk and in no process list.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Client, ClientChannel, ExecOptions } from 'ssh2'
import type { Gateway } from '../../projects/imports/egress-proxy.js'
import { clean, MirrorProblem } from './mirror-problem.js'

export interface SshServer {
  readonly host: string
  readonly port: number
  readonly username: string
  /** As the server gets it. */
  readonly path: string
  readonly privateKey: string
  /** The fingerprint that a person has confirmed; null for none. */
  readonly hostKey: string | null
}

/** Milliseconds for the first line of git, and for the login. */
const LOGIN_MS = 20_000
/** Milliseconds: a server that sends nothing for so long is given up. */
const IDLE_MS = 300_000
/** Bytes of the first line of git, and of what a server says in its defence. */
const LONGEST_LINE = 4096
const LONGEST_ANSWER = 65_536

/** The fingerprint of a host key, as `ssh-keygen -l` shows it. */
const fingerprintOf = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`

/**
 * Opens a door to a server. Returns the URL for git. Other programs of this machine can reach the port, too, but they do not know
 * the path of the URL. `seen` hears the fingerprint of the key that the server shows.
 */
export async function openSshDoor(gateway: Gateway, server: SshServer, seen: (key: string) => void): Promise<string> {
  const word = Buffer.from(`/${randomBytes(24).toString('hex')}`)
  const port = await gateway.door(async client => {
    const { service, path, version } = await readRequest(client)
    const known = Buffer.from(path)
    if (known.length !== word.length || !timingSafeEqual(known, word)) return client.destroy()
    return converse(gateway, server, client, { service, version, seen })
  })
  return `git://127.0.0.1:${port}${word.toString()}`
}

interface Request {
  readonly service: string
  readonly path: string
  /** The version of the protocol, such as `version=2`; undefined for the oldest. */
  readonly version: string | undefined
}

/** Reads the first line of git:// and puts the rest back. */
async function readRequest(client: Socket): Promise<Request> {
  client.setTimeout(LOGIN_MS, () => client.destroy())
  let read = Buffer.alloc(0)
  for await (const chunk of client.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    read = Buffer.concat([read, chunk])
    if (read.length < 4) continue
    const length = Number.parseInt(read.subarray(0, 4).toString('latin1'), 16)
    if (!(length > 4 && length <= LONGEST_LINE)) break
    if (read.length < length) continue
    client.setTimeout(0)
    if (read.length > length) client.unshift(read.subarray(length))
    const [line = '', , , ...more] = read.subarray(4, length).toString().split('\0')
    const [, service = '', path = ''] = /^(git-(?:upload|receive)-pack) (.*)$/.exec(line) ?? []
    return { service, path, version: more.find(part => part.startsWith('version=')) }
  }
  return { service: '', path: '', version: undefined }
}

interface Conversation extends Pick<Request, 'service' | 'version'> {
  readonly seen: (key: string) => void
}

function converse(
  gateway: Gateway,
  server: SshServer,
  client: Socket,
  { service, version, seen }: Conversation
): Promise<void> {
  return connected(gateway, server, seen, connection => {
    client.once('close', () => connection.end())
    return run(connection, client, { command: `${service} ${quoted(server.path)}`, version, gateway })
  })
}

/** Logs in, and ends the connection after the work. */
async function connected<T>(
  gateway: Gateway,
  { host, port, username, privateKey, hostKey }: SshServer,
  seen: (key: string) => void,
  work: (connection: Client) => Promise<T>
): Promise<T> {
  // Loaded only here: it takes memory, and few appliances have such mirrors.
  const { default: ssh2 } = await import('ssh2')
  const socket = await gateway.reach(host, port)
  socket.setTimeout(IDLE_MS, () => socket.destroy(new Error(`it sent nothing for ${IDLE_MS / 1000} s`)))
  const connection = new ssh2.Client()
  let refused: MirrorProblem | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once('ready', resolve)
      // The listener stays: an error after the login must not end the process.
      connection.on('error', reject)
      connection.once('close', () => reject(new Error('it closed the connection')))
      connection.connect({
        sock: socket,
        username,
        privateKey,
        readyTimeout: LOGIN_MS,
        hostVerifier: (key: Buffer) => {
          const shown = fingerprintOf(key)
          seen(shown)
          refused = wrongKey(hostKey, shown)
          return refused === undefined
        }
      })
    })
    return await work(connection)
  } catch (error) {
    throw refused ?? problemOfSsh(error)
  } finally {
    connection.end()
  }
}

/** Returns what a server answers to a command with the path of the repository; null when it does not know the command. */
export const askOverSsh = (
  gateway: Gateway,
  server: SshServer,
  { command, word, seen }: { readonly command: string; readonly word: string; readonly seen: (key: string) => void }
): Promise<string | null> =>
  connected(gateway, server, seen, async connection => {
    const channel = await open(connection, `${command} ${quoted(server.path)} ${word}`, {})
    let code: number | null = 0
    channel.once('exit', (status: number | null) => {
      code = status
    })
    channel.stderr.resume()
    let answer = ''
    for await (const chunk of channel as AsyncIterable<Buffer>) {
      answer += chunk.toString()
      if (answer.length > LONGEST_ANSWER) throw new Error('its answer is too long')
    }
    return code === 0 ? answer : null
  })

const open = (connection: Client, command: string, options: ExecOptions): Promise<ClientChannel> =>
  new Promise((resolve, reject) => {
    connection.exec(command, options, (error, opened) => (error ? reject(error) : resolve(opened)))
  })

function wrongKey(confirmed: string | null, shown: string): MirrorProblem | undefined {
  if (confirmed === shown) return undefined
  if (confirmed === null) {
    return new MirrorProblem('host_key_unconfirmed', `nobody has confirmed the host key of the server yet: ${shown}`)
  }
  const text = `the host key of the server has changed from ${confirmed} to ${shown}: somebody may be between you and the server`
  return new MirrorProblem('host_key_changed', text)
}

interface Command {
  readonly command: string
  readonly version: string | undefined
  readonly gateway: Gateway
}

async function run(connection: Client, client: Socket, { command, version, gateway }: Command): Promise<void> {
  const environment = version === undefined ? {} : { env: { GIT_PROTOCOL: version } }
  const channel = await open(connection, command, environment)
  let said = ''
  let code: number | null = 0
  channel.stderr.on('data', (chunk: Buffer) => {
    if (said.length < LONGEST_LINE) said += chunk.toString()
  })
  channel.once('exit', (status: number | null) => {
    code = status
  })
  const [, received] = await Promise.allSettled([
    pipeline(client, channel),
    pipeline(channel, gateway.counted(), client)
  ])
  if (code !== 0 && said !== '') throw refusalOf(said)
  // Git ends the connection as soon as it has everything; what it left unread is no problem.
  if (received.status === 'rejected' && !client.destroyed) throw received.reason
}

/** The path for the shell of the server. */
const quoted = (path: string): string => `'${path.replace(/['!]/g, character => `'\\${character}'`)}'`

function refusalOf(said: string): MirrorProblem {
  const text = clean(said, [])
  const missing = /not found|does not exist|does not appear/i.test(text)
  const denied = /denied|not allowed|forbidden|no access/i.test(text)
  return new MirrorProblem(missing ? 'not_found' : denied ? 'login_refused' : 'git_failed', `the server says: ${text}`)
}

function problemOfSsh(error: unknown): unknown {
  if ((error as { level?: string }).level !== 'client-authentication') return error
  return new MirrorProblem('login_refused', 'the server does not accept the public key of this mirror: add it there')
}
