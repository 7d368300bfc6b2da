// One HTTP server process.
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { config } from '../config.js'
import { closeDatabase } from '../db/connection.js'
import { requireSchema } from '../db/migrate.js'
import { Misconfigured } from '../errors.js'
import { closeGitProcesses } from '../git/processes.js'
import { prepareHome } from '../home.js'
import { log } from '../log.js'
import { closeWake } from '../queue/wake.js'
import { allowedRanges } from '../webhooks/target.js'
import { buildApp } from './app.js'
import { collectWhenIdle } from './idle-memory.js'

const IDLE_MS = 100

export interface Server {
  readonly port: number
  stop(): Promise<void>
}

/** Starts listening. Throws Misconfigured when the port is in use or this user may not open it. */
export async function startServer(): Promise<Server> {
  prepareHome()
  allowedRanges()
  await requireSchema()
  const app = await buildApp()
  const { host, port } = config()
  try {
    await listen(app)
  } catch (error) {
    await app.close()
    throw new Misconfigured(listenProblem(error as NodeJS.ErrnoException, host, port))
  }
  app.server.keepAliveTimeout = 65_000
  const bound = (app.server.address() as AddressInfo).port
  noteAddress(bound)
  const stopCollecting = collectWhenIdle()
  log().info({ host, port: bound }, 'server ready')
  return {
    port: bound,
    stop: async () => {
      stopCollecting()
      // A connection that was busy when the close began stays open after it becomes idle, and would block the close.
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MS)
      await app.close()
      clearInterval(idle)
      closeWake()
      await closeGitProcesses()
      await closeDatabase()
    }
  }
}

/** Writes the address to a file, so that `gitstead status` finds a server whose port came from a flag. */
function noteAddress(port: number): void {
  writeFileSync(join(config().home, 'run/server.json'), JSON.stringify({ host: config().host, port, pid: process.pid }))
}

/** Listens, with several tries: a server that was just killed may hold the port for another moment. */
async function listen(app: FastifyInstance): Promise<void> {
  const { host, port } = config()
  for (let attempt = 1; ; attempt++) {
    try {
      await app.listen({ host, port })
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === 5) throw error
    }
    await sleep(attempt * 100)
  }
}

function listenProblem({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  if (code === 'EADDRINUSE')
    return `port ${port} of ${host} is already in use: stop the program that uses it, or set --port`
  if (code === 'EACCES') return `port ${port} of ${host} needs more rights: set --port to a number above 1023`
  if (code === 'EADDRNOTAVAIL') return `${host} is not an address of this machine: set --host`
  return `cannot listen on ${host}:${port}: ${message}`
}
