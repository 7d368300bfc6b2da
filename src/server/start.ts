// One HTTP server process.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { settleRegularly } from '../areas/code/refs/recovery.js'
import { useGitStarter } from '../areas/code/repository/git-starter.js'
import { requireKey } from '../areas/ground/settings/encryption-key.js'
import { writeUsesRegularly } from '../areas/people/credentials/last-use.js'
import { config, publicUrl, servesAt } from '../config.js'
import { closeDatabase } from '../db/connect/connection.js'
import { requireSchema } from '../db/schema/migrate.js'
import { Misconfigured } from '../errors.js'
import { closeGitProcesses } from '../git/repository/processes.js'
import { prepareHome } from '../home.js'
import { isEveryAddress, listenProblem, patiently } from '../listening.js'
import { log } from '../log.js'
import { joinMachines, requireClock } from '../queue/machines.js'
import { closeWake } from '../queue/wake.js'
import { allowedRanges } from '../webhooks/target.js'
import { buildApp } from './app.js'
import { forgetAddress, noteAddress } from './instance.js'
import { startGateway } from './ssh/gateway.js'
import { startSsh } from './ssh/start.js'

const IDLE_MS = 100
const SETTLE_MS = 60_000

export interface Server {
  readonly port: number
  stop(): Promise<void>
}

/** Starts listening. Throws Misconfigured when the port is in use or this user may not open it. */
export async function startServer(): Promise<Server> {
  prepareHome()
  useGitStarter()
  allowedRanges()
  await requireSchema()
  await requireKey({ makes: true })
  await requireClock()
  await joinMachines()
  const app = await buildApp()
  const { host, port } = config()
  const error = await patiently(() => listen(app))
  if (error) {
    await app.close()
    throw new Misconfigured(listenProblem(error, host, port))
  }
  app.server.keepAliveTimeout = 65_000
  const bound = (app.server.address() as AddressInfo).port
  servesAt(bound)
  const ssh = await startSsh().catch(async error => {
    await app.close()
    throw error
  })
  const gateway = await startGateway()
  noteAddress(bound, ssh?.port)
  const stopWritingUses = writeUsesRegularly()
  const stopSettling = settleRegularly(SETTLE_MS)
  log().info({ host, port: bound }, 'server ready')
  if (config().url === null && isEveryAddress(host))
    log().warn(
      { url: publicUrl() },
      'links show this URL, which nobody can open: set url in config.yaml to the address that users type'
    )
  return {
    port: bound,
    stop: async () => {
      const sshStopped = ssh?.stop()
      // A connection that was busy when the close began stays open after it becomes idle, and would block the close.
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MS)
      await app.close()
      clearInterval(idle)
      await Promise.all([sshStopped, gateway.stop()])
      await stopWritingUses()
      await stopSettling()
      forgetAddress()
      closeWake()
      await closeGitProcesses()
      await closeDatabase()
    }
  }
}

async function listen(app: FastifyInstance): Promise<NodeJS.ErrnoException | null> {
  const { host, port } = config()
  try {
    await app.listen({ host, port })
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
