// The entry for an OpenSSH server on this machine: `gitstead ssh authorized-keys` and `gitstead ssh serve` connect here,
// through a socket in the private folder of the home, so that their clients share all limits with the others.
import { createServer, type Server, type Socket } from 'node:net'
import { findLogin } from '../../areas/projects/ssh/logins.js'
import { socketPath } from '../../home.js'
import { addressOf } from '../../lib/address.js'
import { frame } from '../../lib/frames.js'
import { listenUnix } from '../../lib/listen-unix.js'
import { log } from '../../log.js'
import { runCommand } from './session.js'

/** Commands of OpenSSH that may run at once. */
const MOST = 500
/** The most bytes of the first line. */
const LONGEST_LINE = 16 * 1024
/** Milliseconds that the first line may take. */
const PATIENCE = 10_000
/** The most bytes of one frame. Answers come in pieces of at most 256 KiB. */
const PIECE = 256 * 1024

interface Asked {
  readonly want: 'key' | 'serve'
  readonly fingerprint: string
  readonly command: string
  readonly protocol: string | undefined
  readonly address: string
}

export interface Gateway {
  stop(): Promise<void>
}

export async function startGateway(): Promise<Gateway> {
  const clients = new Set<Socket>()
  const server: Server = createServer({ allowHalfOpen: true }, socket => {
    clients.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => clients.delete(socket))
    void meet(socket).catch(error => {
      log().error({ error }, 'a command of OpenSSH failed')
      socket.destroy()
    })
  })
  server.maxConnections = MOST
  await listenUnix(server, socketPath('ssh.sock'), socketPath(`ssh-${process.pid}.sock`))
  return {
    stop: async () => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      const limit = setTimeout(() => {
        for (const socket of clients) socket.destroy()
      }, PATIENCE)
      await closed
      clearTimeout(limit)
    }
  }
}

async function meet(socket: Socket): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), PATIENCE)
  const chunks = socket.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]()
  const first = await firstLine(chunks)
  clearTimeout(timer)
  const asked = first && readAsked(first.line)
  if (!first || !asked) return void socket.destroy()
  if (asked.want === 'key') {
    const login = await findLogin(asked.fingerprint)
    socket.end(frame('o', login?.publicKey ?? ''))
    return
  }
  await serve(socket, asked, after(first.rest, chunks))
}

/** Runs the command that another machine passes on, in the words of `askedElsewhere`. Ends the connection when it cannot read them. */
export async function meetMachine(socket: Socket, words: string): Promise<void> {
  const asked = readAsked(words)
  if (asked?.want !== 'serve') return void socket.destroy()
  await serve(socket, asked, socket.iterator({ destroyOnReturn: false }), true)
}

async function serve(socket: Socket, asked: Asked, input: AsyncIterable<Buffer>, isPassedOn = false): Promise<void> {
  const leaving = new AbortController()
  socket.once('close', () => leaving.abort(new Error('the client has left')))
  const code = await runCommand(asked.fingerprint, asked.command, {
    input,
    write: chunk => writeAll(socket, chunk, leaving.signal),
    say: line => void socket.write(frame('e', `${line}\n`)),
    protocol: asked.protocol,
    address: asked.address,
    signal: leaving.signal,
    cut: () => socket.destroy(),
    isPassedOn
  })
  if (!socket.destroyed) socket.end(frame('x', String(code)))
}

async function firstLine(chunks: AsyncIterator<Buffer>): Promise<{ line: string; rest: Buffer } | null> {
  for (let seen: Buffer = Buffer.alloc(0); seen.length <= LONGEST_LINE; ) {
    const { done, value } = await chunks.next()
    if (done) return null
    seen = Buffer.concat([seen, value])
    const end = seen.indexOf(10)
    if (end !== -1) return { line: seen.toString('utf8', 0, end), rest: seen.subarray(end + 1) }
  }
  return null
}

function readAsked(line: string): Asked | null {
  try {
    const { want, fingerprint, command, protocol, address } = JSON.parse(line) as Record<string, unknown>
    if ((want !== 'key' && want !== 'serve') || typeof fingerprint !== 'string') return null
    return {
      want,
      fingerprint,
      command: typeof command === 'string' ? command : '',
      protocol: typeof protocol === 'string' ? protocol.slice(0, 256) : undefined,
      address: addressOf(String(address)) ?? ''
    }
  } catch {
    return null
  }
}

async function* after(rest: Buffer, chunks: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (rest.length > 0) yield rest
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
}

async function writeAll(socket: Socket, chunk: Buffer, signal: AbortSignal): Promise<void> {
  for (let at = 0; at < chunk.length; at += PIECE) {
    signal.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const leave = () => reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      socket.write(frame('o', chunk.subarray(at, at + PIECE)), () => {
        signal.removeEventListener('abort', leave)
        resolve()
      })
    })
  }
}
