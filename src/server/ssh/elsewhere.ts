// Runs the git command of an SSH client on the machine that owns the storage of the repository.
import type { Socket } from 'node:net'
import { askPeer } from '../../cluster/peers.js'
import { drained } from '../../lib/drained.js'
import { framesOf } from '../../lib/frames.js'
import type { Exchange } from './exchange.js'

/** Where a server takes the SSH commands that other machines pass on, and the protocol to which the connection changes. */
export const ELSEWHERE = { path: '/-/machines/ssh/', protocol: 'gitstead-ssh' } as const

interface AskedElsewhere {
  readonly fingerprint: string
  readonly command: string
}

/** The command is part of the URL, so that the signature of the request includes it. */
const urlFor = (asked: AskedElsewhere, { protocol, address }: Exchange): string =>
  ELSEWHERE.path + Buffer.from(JSON.stringify({ ...asked, want: 'serve', protocol, address })).toString('base64url')

/** Returns what a URL asks for. */
export const askedElsewhere = (url: string): string =>
  Buffer.from(url.slice(ELSEWHERE.path.length), 'base64url').toString()

/** The most bytes of one frame. Answers come in pieces of at most 256 KiB. */
const MOST_FRAME = 512 * 1024
const FAILED = 128

/** Runs the command of an SSH client on another machine. Returns the exit code. */
export async function runElsewhere(address: string, asked: AskedElsewhere, exchange: Exchange): Promise<number> {
  const socket = await connect(address, urlFor(asked, exchange), exchange)
  socket.on('error', () => socket.destroy())
  feed(exchange.input, socket).catch(() => socket.destroy())
  let code = FAILED
  for await (const { kind, content } of framesOf(socket.iterator({ destroyOnReturn: false }), MOST_FRAME)) {
    if (kind === 'x') code = Number(content.toString())
    else if (kind === 'e') exchange.say(content.toString().replace(/\n$/, ''))
    else await exchange.write(content)
  }
  socket.destroy()
  return code
}

async function connect(address: string, url: string, { signal, address: client }: Exchange): Promise<Socket> {
  const headers = { connection: 'Upgrade', upgrade: ELSEWHERE.protocol }
  const request = askPeer(address, { method: 'GET', url, headers, client, signal })
  request.end()
  return new Promise((resolve, reject) => {
    request.once('upgrade', (_answer, socket: Socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    request.once('response', ({ statusCode }) => reject(new Error(`another machine answered ${statusCode}`)))
    request.once('error', reject)
  })
}

async function feed(input: AsyncIterable<Buffer>, socket: Socket): Promise<void> {
  for await (const chunk of input) {
    if (!socket.write(chunk)) await drained(socket)
    // The other machine is gone: what the client still sends has no reader.
    if (socket.destroyed) return
  }
  socket.end()
}
