// What the server answers to other machines of the appliance: git commands of SSH clients, over a connection that both sides
// keep open.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { LRUCache } from 'lru-cache'
import { PASSED_ON, passedOnFor, VALID_MS } from '../cluster/peers.js'
import { log } from '../log.js'
import { askedElsewhere, ELSEWHERE } from './ssh/elsewhere.js'
import { meetMachine } from './ssh/gateway.js'

/** Whether a request asks for a connection of this kind. Any other wish to upgrade is ignored, as HTTP allows. */
export const wantsConnection = ({ url, headers }: IncomingMessage): boolean =>
  url?.startsWith(ELSEWHERE.path) === true && headers.upgrade === ELSEWHERE.protocol

/** The signatures of requests that were answered: nobody who has seen one on the network may repeat it. */
const answered = new LRUCache<string, true>({ max: 100_000, ttl: 2 * VALID_MS })

function isNew(request: IncomingMessage): boolean {
  if (passedOnFor(request) === undefined) return false
  const header = String(request.headers[PASSED_ON])
  const isFirst = !answered.has(header)
  answered.set(header, true)
  return isFirst
}

/** Answers the SSH commands that other machines pass on, as those of an OpenSSH server on this machine. */
export function answerMachines(server: Server): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    if (!isNew(request)) return void socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${ELSEWHERE.protocol}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    meetMachine(socket, askedElsewhere(request.url ?? '')).catch(error => {
      log().error({ error }, 'a command of another machine failed')
      socket.destroy()
    })
  })
}
