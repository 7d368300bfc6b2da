// Sends single requests over a pool of connections that grows as needed: when answers are late, the next requests are still
// sent. An HTTP client of Node.js would take five times the processor time of this one.
import { connect, type Socket } from 'node:net'

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

const HEAD_END = Buffer.from('\r\n\r\n')
/** The end of a chunked body is `0` and two line ends; the bytes before it also end with a line end. */
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
/** The server limits the open requests of one address, and real load comes from many. */
const ADDRESSES = 32

interface Connection {
  readonly socket: Socket
  take: ((chunk: Buffer) => void) | undefined
  fail: ((error: Error) => void) | undefined
}

export class Client {
  readonly #port: number
  readonly #idle: Connection[] = []
  readonly #all = new Set<Connection>()
  #opened = 0

  constructor(port: number) {
    this.#port = port
  }

  /** The most connections that were open at once. */
  peak = 0

  /** Sends a whole request, as bytes on the wire. Rejects when the connection breaks. */
  async send(request: string | Buffer): Promise<Answer> {
    const connection = this.#idle.pop() ?? (await this.#open())
    return new Promise<Answer>((resolve, reject) => {
      connection.fail = reject
      connection.take = answerReader((answer, closes) => {
        connection.take = undefined
        connection.fail = undefined
        if (closes) connection.socket.destroy()
        else this.#idle.push(connection)
        resolve(answer)
      })
      connection.socket.write(request)
    })
  }

  close(): void {
    for (const { socket } of this.#all) socket.destroy()
  }

  #open(): Promise<Connection> {
    const localAddress = `127.0.0.${2 + (this.#opened++ % ADDRESSES)}`
    return new Promise((resolve, reject) => {
      const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress })
      const connection: Connection = { socket, take: undefined, fail: reject }
      this.#all.add(connection)
      this.peak = Math.max(this.peak, this.#all.size)
      socket.setNoDelay()
      socket.once('connect', () => resolve(connection))
      socket.on('data', chunk => connection.take?.(chunk as Buffer))
      socket.on('error', error => this.#drop(connection, error))
      socket.on('close', () => this.#drop(connection, new Error('the server closed a connection')))
    })
  }

  #drop(connection: Connection, error: Error): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at !== -1) this.#idle.splice(at, 1)
    connection.fail?.(error)
    connection.fail = undefined
  }
}

/** Collects one answer. A chunked body keeps its chunk headers: a reader of the body has to find its own marks. */
function answerReader(done: (answer: Answer, closes: boolean) => void): (chunk: Buffer) => void {
  const chunks: Buffer[] = []
  let length = 0
  let head: string | undefined
  let at = 0
  let end = 0
  return chunk => {
    chunks.push(chunk)
    length += chunk.length
    if (head === undefined) {
      const all = chunks.length === 1 ? chunk : Buffer.concat(chunks)
      const found = all.indexOf(HEAD_END)
      if (found === -1) return
      head = all.toString('latin1', 0, found)
      at = found + HEAD_END.length
      const size = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
      if (size !== undefined || /^HTTP\/1.1 (204|304)/.test(head)) end = at + Number(size ?? 0)
      else end = Number.POSITIVE_INFINITY
    }
    const ended = end === Number.POSITIVE_INFINITY ? endsInLastChunk(chunks) : length >= end
    if (!ended) return
    const body = Buffer.concat(chunks).subarray(at)
    done({ status: Number(head.slice(9, 12)), head, body }, /\r\nconnection: close/i.test(head))
  }
}

/** The last bytes may have come in several pieces. */
function endsInLastChunk(chunks: readonly Buffer[]): boolean {
  const last = chunks.at(-1)
  if (!last) return false
  const tail = last.length >= LAST_CHUNK.length ? last : Buffer.concat(chunks.slice(-3))
  return tail.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK)
}
