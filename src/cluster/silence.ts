// Ends requests to a machine that has died or left the network. Nothing says that it did: connections to it stay open. Git may work for
// minutes without a byte, so the silence of one request proves nothing. While a machine is silent, others ask for its health.
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { forgetWithPool } from '../db/connect/connection.js'
import { Unavailable } from '../errors.js'
import { log } from '../log.js'

const LOOK_MS = 500
/**
 * Looks without a sign of life. A late look counts once, because this process may have stood still itself. Where a third of all packets
 * gets lost, an answer arrives after one of so many questions.
 */
const MOST_LOOKS = 10
/** The same for a machine that nothing has been heard of since it was silent for so long. */
const LOOKS_AT_LOST = 3

/** A machine gives no sign of life. Nobody knows whether it has done what a request asks for. */
export class PeerSilent extends Unavailable {
  constructor() {
    super('the machine of this repository does not answer')
  }
}

interface Waiting {
  socket: Socket | undefined
  /** The bytes that had come at the last look. */
  read: number
  end(error: PeerSilent): void
}

interface Peer {
  readonly waiting: Set<Waiting>
  /** Open questions about its health. */
  readonly asked: Set<ClientRequest>
  /** Looks since the last sign of life. */
  silent: number
  isLost: boolean
  readonly ask: () => ClientRequest
}

/** By address. */
const peers = new Map<string, Peer>()
let timer: NodeJS.Timeout | undefined

forgetWithPool(() => {
  clearInterval(timer)
  timer = undefined
  for (const peer of peers.values()) hear(peer)
  peers.clear()
})

/**
 * Destroys a request, or the connection that it has become, with PeerSilent when its machine gives no sign of life. `ask` begins a request
 * for the health of the machine on a new connection.
 */
export function endWhenSilent(address: string, request: ClientRequest, ask: () => ClientRequest): void {
  const peer = peers.get(address) ?? { waiting: new Set(), asked: new Set(), silent: 0, isLost: false, ask }
  peers.set(address, peer)
  if (peer.waiting.size === 0) peer.silent = peer.isLost ? MOST_LOOKS - LOOKS_AT_LOST : 0
  const waiting: Waiting = { socket: undefined, read: 0, end: error => void request.destroy(error) }
  peer.waiting.add(waiting)
  const leave = () => {
    peer.waiting.delete(waiting)
    if (peer.waiting.size === 0) stopAsking(peer)
  }
  request.once('close', leave)
  request.once('socket', socket => {
    waiting.socket = socket
    waiting.read = socket.bytesRead
  })
  if (request.hasHeader('upgrade')) {
    request.once('upgrade', (_answer, socket: Socket) => {
      request.off('close', leave)
      socket.once('close', leave)
      waiting.end = error => void socket.destroy(error)
    })
  }
  timer ??= setInterval(look, LOOK_MS).unref()
}

function look(): void {
  let isUsed = false
  for (const [address, peer] of peers) {
    if (peer.waiting.size === 0) continue
    isUsed = true
    // Bytes that wait in a full buffer are not counted: then the question is answered.
    if (hasRead(peer)) hear(peer)
    else if (++peer.silent < MOST_LOOKS) askForHealth(peer)
    else lose(address, peer)
  }
  if (isUsed) return
  clearInterval(timer)
  timer = undefined
}

function hasRead({ waiting }: Peer): boolean {
  let hasRead = false
  for (const one of waiting) {
    const read = one.socket?.bytesRead ?? 0
    hasRead ||= read > one.read
    one.read = read
  }
  return hasRead
}

/** A new question each time: in a network that loses packets, the first one may wait for long. */
function askForHealth(peer: Peer): void {
  const request = peer.ask()
  peer.asked.add(request)
  request.once('close', () => peer.asked.delete(request))
  request.once('response', answer => {
    answer.resume()
    hear(peer)
  })
  request.once('error', ({ code }: NodeJS.ErrnoException) => {
    // Its kernel refuses, as the server is about to stop or to start: it also ends the connections of a process that has died.
    // A question that this process has given up fails in the same way.
    if (peer.asked.has(request) && (code === 'ECONNREFUSED' || code === 'ECONNRESET')) hear(peer)
  })
  request.end()
}

function hear(peer: Peer): void {
  peer.silent = 0
  peer.isLost = false
  stopAsking(peer)
}

function stopAsking({ asked }: Peer): void {
  const open = [...asked]
  asked.clear()
  for (const request of open) request.destroy()
}

function lose(address: string, peer: Peer): void {
  log().warn({ address, requests: peer.waiting.size }, 'another machine gives no sign of life')
  peer.isLost = true
  for (const { end } of [...peer.waiting]) end(new PeerSilent())
}
