// What the server answers to other machines of the appliance, over connections that both sides keep open: git commands of SSH
// clients, and questions about repositories.
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { answerQuestions } from '../areas/code/repository/answers.js'
import { PASSED_ON, passedOnFor, VALID_MS } from '../cluster/peers.js'
import { askedRepository, REPOSITORIES, type StoredElsewhere } from '../cluster/repository-elsewhere.js'
import { holds } from '../cluster/storages.js'
import { drained } from '../lib/drained.js'
import { lruOf } from '../lib/lru.js'
import { log } from '../log.js'
import { askedElsewhere, ELSEWHERE } from './ssh/elsewhere.js'
import { meetMachine } from './ssh/gateway.js'

/** Whether a request asks for a connection of this kind. Any other wish to upgrade is ignored, as HTTP allows. */
export const wantsConnection = ({ url, headers }: IncomingMessage): boolean =>
  [ELSEWHERE, REPOSITORIES].some(({ path, protocol }) => url?.startsWith(path) === true && headers.upgrade === protocol)

/** The signatures of requests that were answered: nobody who has seen one on the network may repeat it. */
const answered = lruOf<string, true>(100_000, { ttl: 2 * VALID_MS })

function isNew(request: IncomingMessage): boolean {
  if (passedOnFor(request) === undefined) return false
  const header = String(request.headers[PASSED_ON])
  const isFirst = !answered.has(header)
  answered.set(header, true)
  return isFirst
}

/** Connections about repositories that may be open at once: each takes one file at most. */
const MOST_ASKING = 100

/**
 * Answers the SSH commands that other machines pass on, as those of an OpenSSH server on this machine, and their questions. Returns a
 * function that ends the connections of the questions: the other machines have not changed anything, and can ask again.
 */
export function answerMachines(server: Server): () => void {
  const asking = new Set<Socket>()
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    const { url = '' } = request
    const repository = askedRepository(url)
    if (!isNew(request)) return refuse(socket, '403 Forbidden')
    if (repository && !holds(repository.storage)) return refuse(socket, '421 Misdirected Request')
    if (repository && asking.size >= MOST_ASKING) return refuse(socket, '503 Service Unavailable')
    const { protocol } = repository ? REPOSITORIES : ELSEWHERE
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    if (repository) asking.add(socket)
    socket.once('close', () => asking.delete(socket))
    const meeting = repository ? answerOne(socket, repository) : meetMachine(socket, askedElsewhere(url))
    meeting.catch(error => {
      if (!socket.destroyed) log().error({ error }, 'a command of another machine failed')
      socket.destroy()
    })
  })
  return () => {
    for (const socket of asking) socket.destroy()
  }
}

const refuse = (socket: Socket, status: string): void =>
  void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`)

/** Milliseconds between two questions, or for one piece of an answer. */
const IDLE_MS = 600_000

async function answerOne(socket: Socket, repository: StoredElsewhere): Promise<void> {
  const leaving = new AbortController()
  socket.once('close', () => leaving.abort(new Error('the other machine has left')))
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  try {
    await answerQuestions(repository, {
      input: socket.iterator({ destroyOnReturn: false }),
      write: chunk => writeTo(socket, chunk, leaving.signal),
      signal: leaving.signal
    })
  } finally {
    socket.destroy()
  }
}

async function writeTo(socket: Socket, chunk: Buffer, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  if (!socket.write(chunk)) await drained(socket)
}
