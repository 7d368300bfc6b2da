// A byte on a unix socket tells workers of this machine that there is work: 3 ms instead of a poll's half interval.
// Polling stays as the fallback, so nothing here may fail loudly.
import { readdirSync, rmSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { socketPath } from '../home.js'
import { QUEUES, type Queue } from './jobs.js'

const PREFIX = 'wake-'
const LIST_AGE = 1000
/** Bytes kept for a worker that does not read: it has been told, and polls when it goes on. */
const UNREAD = 1024

const connections = new Map<string, Socket>()
let listed: { at: number; paths: string[] } = { at: 0, paths: [] }

/** Tells every worker of this machine that `queue` has a job. */
export function wake(queue: Queue): void {
  const byte = Buffer.from([QUEUES.indexOf(queue)])
  for (const path of workerSockets()) {
    const socket = connectionTo(path)
    if (socket.writableLength < UNREAD) socket.write(byte)
  }
}

/** Listens for wake-ups of this process; the result ends it. */
export function listenForWake(id: number, onWake: (queue: Queue) => void): Promise<() => void> {
  const path = socketPath(`${PREFIX}${id}.sock`)
  rmSync(path, { force: true })
  const clients = new Set<Socket>()
  const server: Server = createServer(client => {
    clients.add(client)
    client.on('data', bytes => {
      for (const byte of new Set(bytes)) {
        const queue = QUEUES[byte]
        if (queue) onWake(queue)
      }
    })
    client.on('error', () => client.destroy())
    client.on('close', () => clients.delete(client))
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      resolve(() => {
        server.close()
        for (const client of clients) client.destroy()
        rmSync(path, { force: true })
      })
    })
  })
}

/** Ends this process's connections to workers. */
export function closeWake(): void {
  for (const socket of connections.values()) socket.destroy()
  connections.clear()
  listed = { at: 0, paths: [] }
}

function workerSockets(): string[] {
  const now = Date.now()
  if (now - listed.at < LIST_AGE) return listed.paths
  let paths: string[] = []
  try {
    const folder = dirname(socketPath('any'))
    paths = readdirSync(folder)
      .filter(name => name.startsWith(PREFIX))
      .map(name => join(folder, name))
  } catch {
    // No folder, no workers on this machine.
  }
  listed = { at: now, paths }
  return listed.paths
}

function connectionTo(path: string): Socket {
  const known = connections.get(path)
  if (known && !known.destroyed) return known
  const socket = createConnection(path)
  socket.unref()
  socket.on('error', error => {
    // A socket nobody listens on is left by a worker that was killed.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') rmSync(path, { force: true })
  })
  socket.on('close', () => connections.delete(path))
  connections.set(path, socket)
  return socket
}
