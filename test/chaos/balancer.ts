// A proxy in front of several servers, as haproxy is: it checks their readiness, gives each request to the next ready server, and tries
// another one only when it cannot connect. Each request has a connection of its own.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { until } from '../helpers/until.js'

const CHECK_MS = 100
/** Milliseconds that a request waits for a ready server. */
const PATIENCE = 20_000

interface Backend {
  readonly url: string
  ready: boolean
  out: boolean
  /** The requests that it has not answered yet. */
  requests: number
}

export class Balancer {
  /** Requests that broke off, or for which no server was ready. */
  readonly faults: string[] = []
  private readonly backends: Backend[] = []
  private readonly timer = setInterval(() => void this.check(), CHECK_MS)
  private next = 0

  private constructor(private readonly server: Server) {
    server.on('request', (incoming, outgoing) => void this.forward(incoming, outgoing))
  }

  static async start(): Promise<Balancer> {
    const server = createServer({ requestTimeout: 0 })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Balancer(server)
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  add(url: string): void {
    this.backends.push({ url, ready: true, out: false, requests: 0 })
  }

  uses = (url: string): boolean => this.backends.some(each => each.url === url && each.ready && !each.out)

  /** Gives a server no more requests, and waits until it has answered those that it has. */
  async takeOut(url: string): Promise<void> {
    const taken = this.backends.filter(each => each.url === url)
    for (const each of taken) each.out = true
    await until(`${url} has answered`, () => taken.every(({ requests }) => requests === 0))
  }

  bringBack(url: string): void {
    for (const each of this.backends) if (each.url === url) each.out = false
  }

  async stop(): Promise<void> {
    clearInterval(this.timer)
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }

  private async check(): Promise<void> {
    await Promise.all(
      this.backends.map(async each => {
        each.ready = await fetch(`${each.url}/-/readiness`, { signal: AbortSignal.timeout(5000) }).then(
          ({ ok }) => ok,
          () => false
        )
      })
    )
  }

  private choose(): Backend | undefined {
    const ready = this.backends.filter(each => each.ready && !each.out)
    this.next += 1
    return ready[this.next % Math.max(1, ready.length)]
  }

  private async forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const limit = Date.now() + PATIENCE
    for (;;) {
      const backend = this.choose()
      if (backend && (await this.send(backend, incoming, outgoing))) return
      if (Date.now() > limit) break
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    this.faults.push(`${incoming.method} ${incoming.url}: no server is ready`)
    outgoing.writeHead(503).end()
  }

  /** Returns false when the server refuses the connection. */
  private send(backend: Backend, incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    const { method, url, headers } = incoming
    backend.requests += 1
    return new Promise<boolean>(resolve => {
      const sent = request(`${backend.url}${url}`, {
        method,
        headers: { ...headers, connection: 'close' },
        agent: false
      })
      const broke = (error: Error) => {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') {
          backend.ready = false
          return resolve(false)
        }
        this.faults.push(`${method} ${url} of ${backend.url}: ${error}`)
        outgoing.destroy()
        resolve(true)
      }
      sent.once('error', broke)
      // Nothing of the body is lost when the connection is refused.
      sent.once('socket', socket => socket.once('connect', () => incoming.pipe(sent)))
      sent.once('response', answer => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.once('error', broke)
        answer.pipe(outgoing)
        outgoing.once('close', () => resolve(true))
      })
    }).finally(() => {
      backend.requests -= 1
    })
  }
}
