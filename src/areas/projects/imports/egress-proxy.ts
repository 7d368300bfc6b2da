// The network access of an import. Git resolves names itself and follows redirects, so it cannot follow the address
// rules of hooks. Instead each of its connections passes through this proxy on the loopback interface, which checks the
// address that it connects to, and counts the bytes. It serves one import and ends with it.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { type Duplex, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createServer, request } from '../../../lib/node-http.js'
import { allowedRanges, checkedLookup, checkLiteral } from '../../../webhooks/target.js'

export interface GatewayLimits {
  /** Bytes that all connections together may receive. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

export interface Gateway {
  /** The URL of the proxy, with its password. */
  readonly proxy: string
  /** Opens a port for git://, which does not support proxies. Returns the port; it leads only to this host. */
  readonly forward: (host: string, port: number) => Promise<number>
  /** Opens a port whose connections `serve` answers. When it fails, its error is the problem of the gateway. */
  readonly door: (serve: (client: Socket) => Promise<unknown>) => Promise<number>
  /** Connects to a host if its address is permitted. */
  readonly reach: (host: string, port: number) => Promise<Socket>
  /** Returns a stream that counts what a server sends, and fails at the limit. */
  readonly counted: () => Transform
  /** Why the gateway refused or ended a connection; undefined when it did not. */
  readonly problem: () => Error | undefined
  readonly close: () => Promise<void>
}

/** The import has received more bytes than it may. */
export class ImportTooLarge extends Error {
  override name = 'ImportTooLarge'
}

/** Opens a gateway for one import. */
export async function openGateway({ maxBytes, signal }: GatewayLimits): Promise<Gateway> {
  const password = randomBytes(24).toString('hex')
  const expected = Buffer.from(`Basic ${Buffer.from(`import:${password}`).toString('base64')}`)
  const sockets = new Set<Duplex>()
  let problem: Error | undefined
  let left = maxBytes

  const fail = (error: unknown) => {
    problem ??= error instanceof Error ? error : new Error(String(error))
  }
  const keep = <T extends Duplex>(socket: T): T => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    return socket
  }
  const counted = () =>
    new Transform({
      transform: (chunk: Buffer, _, done) => {
        left -= chunk.length
        if (left >= 0) return done(null, chunk)
        const error = new ImportTooLarge(`the repository has more than ${maxBytes} bytes (imports.max_size)`)
        fail(error)
        done(error)
      }
    })
  const isKnown = ({ headers }: IncomingMessage) => {
    const received = Buffer.from(headers['proxy-authorization'] ?? '')
    return received.length === expected.length && timingSafeEqual(received, expected)
  }
  /** Connects to a host if its address is permitted. */
  const reach = (host: string, port: number): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const allow = allowedRanges()
      checkLiteral(host, allow)
      const socket = keep(connect({ host, port, lookup: checkedLookup(allow, signal), signal, allowHalfOpen: true }))
      socket.once('connect', () => resolve(socket))
      // The listener stays: an error after the connection must not end the process.
      socket.on('error', reject)
    })
  /**
   * Passes bytes in both directions. Both connections allow half-open ends: otherwise a server that has sent everything closes on
   * both sides, and the pipeline to it would destroy a client that has not read the rest yet.
   */
  const join = async (client: Duplex, server: Socket) => {
    await Promise.allSettled([pipeline(client, server), pipeline(server, counted(), client)])
  }

  const proxy = createServer((incoming, answer) => {
    passOn(incoming, answer).catch(error => {
      fail(error)
      if (!answer.headersSent) answer.writeHead(502)
      answer.end()
    })
  })
  proxy.on('connection', keep)
  proxy.on('connect', (incoming: IncomingMessage, client: Duplex) => {
    tunnel(incoming, client).catch(error => {
      fail(error)
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
    })
  })

  async function tunnel(incoming: IncomingMessage, client: Duplex): Promise<void> {
    client.on('error', () => {})
    if (!isKnown(incoming)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const { hostname, port } = new URL(`tcp://${incoming.url}`)
    const server = await reach(withoutBrackets(hostname), Number(port || 443))
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    await join(client, server)
  }

  async function passOn(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (!isKnown(incoming)) {
      answer.writeHead(407, { 'proxy-authenticate': 'Basic realm="import"' }).end()
      return
    }
    const url = new URL(incoming.url ?? '')
    if (url.protocol !== 'http:') throw new Error(`the proxy does not support ${url.protocol}`)
    const server = await reach(withoutBrackets(url.hostname), Number(url.port || 80))
    const {
      'proxy-authorization': _,
      'proxy-connection': __,
      connection: ___,
      expect: ____,
      ...headers
    } = incoming.headers
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const passed = request({
        createConnection: () => server,
        method: incoming.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...headers, host: url.host, connection: 'close' },
        signal
      })
      passed.once('response', resolve)
      passed.on('error', reject)
      pipeline(incoming, passed).catch(reject)
    })
    answer.writeHead(response.statusCode ?? 502, response.headers)
    await pipeline(response, counted(), answer)
  }

  const servers: Server[] = [proxy]
  const port = await listen(proxy)
  const door = async (serve: (client: Socket) => Promise<unknown>) => {
    const opened = createTcpServer({ allowHalfOpen: true }, client => {
      keep(client).on('error', () => {})
      serve(client).catch(error => {
        fail(error)
        client.destroy()
      })
    })
    servers.push(opened)
    return listen(opened)
  }
  return {
    proxy: `http://import:${password}@127.0.0.1:${port}`,
    problem: () => problem,
    door,
    reach: (host, to) => reach(withoutBrackets(host), to),
    counted,
    forward: (host, to) => door(async client => join(client, await reach(withoutBrackets(host), to))),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
    }
  }
}

const withoutBrackets = (host: string) => host.replace(/^\[(.*)\]$/, '$1')

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
