// A byte on a unix socket tells workers of this machine that there is work: 3 ms instead of a poll's half interval.
// Polling stays as the fallback, so nothing here may fail loudly.
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { socketPath } from '../home.js'
import { QUEUES, type Queue } from './jobs.js'

const PREFIX = 'wake-'
/** The time of a change to a folder has the grain of the kernel's clock: a list that is hardly younger may miss one. */
const GRAIN_MS = 50
/** Bytes kept for a worker that does not read: it has been told, and polls when it goes on. */
const UNREAD = 1024

const connections = new Map<string, Socket>()
let listed: { changed: number; paths: string[] } = { changed: 0, paths: [] }

/** Tells every worker of this machine that `queue` has a job. */
export function wake(queue: Queue): void {
  const byte = Buffer.from([QUEUES.indexOf(queue)])
  for (const path of workerSockets()) {
    const socket = connectionTo(path)
    if (socket.writableLength < UNREAD) socket.write(byte)
  }
}

/**
 * Listens for wake-ups of this process; the result ends it. The socket gets its name when it listens: until then whoever
 * connects is refused, and would take it for one that a killed worker left.
 */
export function listenForWake(id: number, onWake: (queue: Queue) => void): Promise<() => void> {
  const path = socketPath(`${PREFIX}${id}.sock`)
  const unnamed = socketPath(`new-${id}.sock`)
  rmSync(unnamed, { force: true })
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
    server.listen(unnamed, () => {
      renameSync(unnamed, path)
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
  listed = { changed: 0, paths: [] }
}

/** Lists them anew when the folder has changed, so that a worker that has just begun hears of the next job. */
function workerSockets(): string[] {
  const folder = dirname(socketPath('any'))
  try {
    const changed = statSync(folder).mtimeMs
    if (changed === listed.changed) return listed.paths
    const paths = readdirSync(folder)
      .filter(name => name.startsWith(PREFIX))
      .map(name => join(folder, name))
    listed = { changed: Date.now() - changed > GRAIN_MS ? changed : 0, paths }
  } catch {
    // No folder, no workers on this machine.
    listed = { changed: 0, paths: [] }
  }
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
  socket.on('close', () => {
    if (connections.get(path) === socket) connections.delete(path)
  })
  connections.set(path, socket)
  return socket
}
