// The proxy of an import, between real connections.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openGateway } from '../../../../src/areas/projects/imports/egress-proxy.js'
import { config, loadConfig } from '../../../../src/config.js'
import t from '../../../helpers/tap.js'

const STEP = 16_384
/** Milliseconds after which every buffer is full. */
const FULL_MS = 500

async function portOf(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns how many bytes the kernel takes for a connection whose other end reads nothing. */
async function capacity(): Promise<number> {
  const others: Socket[] = []
  const server = createServer({ pauseOnConnect: true }, other => void others.push(other))
  const socket = connect(await portOf(server), '127.0.0.1')
  let taken = 0
  socket.on('error', () => undefined)
  const write = () =>
    socket.write(Buffer.alloc(STEP), error => {
      if (error) return
      taken += STEP
      write()
    })
  write()
  await delay(FULL_MS)
  socket.destroy()
  for (const other of others) other.destroy()
  server.close()
  return taken
}

/** Begins to read when the buffers are full, and returns the number of bytes before the end. */
async function readLate(socket: Socket, size: number): Promise<number> {
  socket.write(String(size))
  await delay(FULL_MS)
  let bytes = 0
  for await (const chunk of socket as AsyncIterable<Buffer>) bytes += chunk.length
  return bytes
}

t.test('everything arrives from a server that closes its connection at once, however late it is read', async t => {
  const { home } = config()
  loadConfig({ home, hooks: { allow: ['127.0.0.0/8'] } })
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', size => socket.end(Buffer.alloc(Number(size.toString()))))
  })
  const port = await portOf(server)
  const gateway = await openGateway({ maxBytes: Number.MAX_SAFE_INTEGER, signal: new AbortController().signal })
  t.teardown(async () => {
    await gateway.close()
    server.close()
    loadConfig({ home })
  })

  const door = await gateway.forward('127.0.0.1', port)
  // With these sizes the last bytes wait in the proxy when the server is already closed.
  const least = await capacity()
  const sizes = Array.from({ length: 16 }, (_, at) => least + (at - 2) * STEP)
  t.strictSame(await Promise.all(sizes.map(size => readLate(connect(door, '127.0.0.1'), size))), sizes)
  t.equal(gateway.problem(), undefined)
})
