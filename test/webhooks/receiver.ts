// Listeners that act as receivers of hooks, both well-behaved and hostile.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import https from 'node:https'
import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'

export interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/** Starts an HTTP receiver; `answer` writes the answer after the request was read. Returns its port and all requests. */
export async function receiver(t: Test, answer: (response: ServerResponse, url: string) => void, tls?: Certificate) {
  const received: Received[] = []
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { method = '', url = '', headers } = request
    received.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
    answer(response, url)
  }
  const port = await listen(t, tls ? https.createServer(tls, listener) : http.createServer(listener))
  return { port, received }
}

/** Starts a TCP receiver, for answers that an HTTP server cannot send. Returns its port and the number of connections. */
export async function rawReceiver(t: Test, converse: (socket: Socket) => void) {
  const seen = { connections: 0 }
  const server = net.createServer(socket => {
    seen.connections++
    socket.on('error', () => {})
    converse(socket)
  })
  return { port: await listen(t, server), seen }
}

async function listen(t: Test, server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return (server.address() as AddressInfo).port
}

export interface Certificate {
  key: string
  cert: string
}

/** Makes a new self-signed certificate for localhost. */
export function selfSigned(folder: string): Certificate {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const subject = ['-subj', '/CN=localhost', '-addext', names]
  execFileSync('openssl', ['req', '-x509', ...options, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}
