// The load generator: each socket sends a request, waits for the answer, and sends the next one. It uses no HTTP client: at
// 50 us per request, a client would take the core that the database needs.
import { connect, type Socket } from 'node:net'
import { percentile } from './figure.js'
import type { Burst, BurstResult } from './load.js'

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

process.on('message', (what: Burst) => {
  send(what).then(
    result => process.send?.(result),
    error => process.send?.({ error: String(error) })
  )
})
process.on('disconnect', () => process.exit(0))

async function send({ port, requests, connections, milliseconds, most = Infinity }: Burst): Promise<BurstResult> {
  const wire = requests.map(request => Buffer.from(request))
  const latencies: number[] = []
  const failures: number[] = []
  let next = 0
  const started = performance.now()
  const end = started + milliseconds

  const client = (socket: Socket) =>
    new Promise<void>((resolve, reject) => {
      let sent = 0
      const ask = () => {
        sent = performance.now()
        if (sent >= end || next >= most) return socket.end(() => resolve())
        socket.write(wire[next++ % wire.length] ?? '')
      }
      const take = answerReader(status => {
        latencies.push(performance.now() - sent)
        if (status < 200 || status > 299) failures.push(status)
        ask()
      })
      socket.on('data', take)
      socket.on('error', reject)
      socket.on('end', () => reject(new Error('the server closed a connection')))
      ask()
    })

  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  await Promise.all(sockets.map(client))
  const seconds = (performance.now() - started) / 1000
  for (const socket of sockets) socket.destroy()
  return {
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p90: percentile(latencies, 0.9),
    p99: percentile(latencies, 0.99),
    count: latencies.length,
    failures
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setNoDelay()
    socket.once('error', reject)
  })
}

/** Returns a function that takes the chunks of answers, and calls `done` with the status when an answer is complete. */
function answerReader(done: (status: number) => void): (chunk: Buffer) => void {
  let head: Buffer = Buffer.alloc(0)
  let status = 0
  let missing = 0
  let chunked = false
  const complete = () => {
    head = Buffer.alloc(0)
    const ended = status
    status = 0
    done(ended)
  }
  return chunk => {
    if (status === 0) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk])
      const at = head.indexOf(HEAD_END)
      if (at === -1) return
      const text = head.toString('latin1', 0, at)
      status = Number(text.slice(9, 12))
      chunked = /\r\ntransfer-encoding: chunked/i.test(text)
      missing = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? 0) - (head.length - at - HEAD_END.length)
      if (chunked ? head.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) : missing <= 0) complete()
      return
    }
    missing -= chunk.length
    if (chunked ? chunk.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK) : missing <= 0) complete()
  }
}
