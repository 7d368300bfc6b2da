// A byte on a unix socket wakes the workers of this machine when there is work. It takes 3 ms; polling takes half its
// interval on average. Workers still poll as a fallback, so an error here must never reach the caller.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { socketPath } from '../home.js'
import { listenUnix } from '../lib/listen-unix.js'
import { QUEUES, type Queue } from './jobs.js'

/** What a byte says: a queue has a job, or a worker should look soon, because a job was delayed, hastened or given back. */
export type WakeUp = Queue | 'delayed'
const WAKE_UPS: readonly WakeUp[] = [...QUEUES, 'delayed']

const PREFIX = 'wake-'
/** The kernel sets modification times in steps of this size, so a list read within one step may miss a change. */
const GRAIN_MS = 50
/** Maximum unread bytes for a worker. A worker with this many has enough wake-ups, and also polls when it continues. */
const UNREAD = 1024

const connections = new Map<string, Socket>()
let listed: { changed: number; paths: string[] } = { changed: 0, paths: [] }

/** Notifies every worker of this machine. */
export function wake(what: WakeUp): void {
  const byte = Buffer.from([WAKE_UPS.indexOf(what)])
  for (const path of workerSockets()) {
    const socket = connectionTo(path)
    if (socket.writableLength < UNREAD) socket.write(byte)
  }
}

/**
 * Listens for wake-ups of this process. Returns a function that stops listening. The socket gets its final name only
 * when it listens: a client would delete a socket that refuses connections, as that of a killed worker.
 */
export async function listenForWake(id: number, onWake: (what: WakeUp) => void): Promise<() => void> {
  const path = socketPath(`${PREFIX}${id}.sock`)
  const clients = new Set<Socket>()
  const server: Server = createServer(client => {
    clients.add(client)
    client.on('data', bytes => {
      for (const byte of new Set(bytes as Buffer)) {
        const what = WAKE_UPS[byte]
        if (what) onWake(what)
      }
    })
    client.on('error', () => client.destroy())
    client.on('close', () => clients.delete(client))
  })
  await listenUnix(server, path, socketPath(`new-${id}.sock`))
  return () => {
    server.close()
    for (const client of clients) client.destroy()
    rmSync(path, { force: true })
  }
}

/** Closes the connections of this process to workers. */
export function closeWake(): void {
  for (const socket of connections.values()) socket.destroy()
  connections.clear()
  listed = { changed: 0, paths: [] }
}

/** Reads the folder again when it has changed, so that a worker that has just started receives the next wake-up. */
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
    // Without the folder there are no workers on this machine.
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
    // A socket on which no process listens belonged to a killed worker.
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') rmSync(path, { force: true })
  })
  socket.on('close', () => {
    if (connections.get(path) === socket) connections.delete(path)
  })
  connections.set(path, socket)
  return socket
}
