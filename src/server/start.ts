// One HTTP server process.
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { settleRegularly } from '../areas/code/refs/recovery.js'
import { useGitStarter } from '../areas/code/repository/git-starter.js'
import { joinRepositories } from '../areas/code/repository/owned-storages.js'
import { requireKey } from '../areas/ground/settings/encryption-key.js'
import { writeUsesRegularly } from '../areas/people/credentials/last-use.js'
import { requireLocalAdmin } from '../areas/people/users/last-admin.js'
import { FIRST_LINK_HOURS, firstLink } from '../areas/reach/accounts/first-administrator.js'
import { maySignUp } from '../areas/reach/accounts/sign-ups.js'
import { joinMachines, leaveMachines, requireClock } from '../cluster/machines.js'
import { ownStorages } from '../cluster/storages.js'
import { config, publicUrl, servesAt, takeAddress } from '../config.js'
import { closeDatabase } from '../db/connect/connection.js'
import { watchReplica } from '../db/connect/replica-looks.js'
import { requireSchema } from '../db/schema/migrate.js'
import { Misconfigured } from '../errors.js'
import { closeGitProcesses } from '../git/repository/processes.js'
import { prepareHome } from '../home.js'
import type { FirstRun, Ready } from '../lib/ready.js'
import { inheritedSockets, isEveryAddress, listenProblem, patiently } from '../listening.js'
import { log } from '../log.js'
import { closeWake } from '../queue/wake.js'
import { revision, version } from '../version.js'
import { allowedRanges } from '../webhooks/target.js'
import { buildApp } from './app.js'
import { forgetAddress, noteAddress } from './instance.js'
import { prepareToLeave } from './leave.js'
import { answerMachines } from './machine-requests.js'
import { startGateway } from './ssh/gateway.js'
import { startSsh } from './ssh/start.js'

const IDLE_MS = 100
const SETTLE_MS = 60_000

export interface Server extends Ready {
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
  if (!config().identity.passwords.local) await requireLocalAdmin()
  await joinMachines('server')
  await joinRepositories()
  const app = await buildApp()
  const sockets = inheritedSockets()
  const leave = prepareToLeave(app.server, sockets.http !== undefined)
  const error = await patiently(() => listen(app, sockets.http))
  if (error) {
    await app.close()
    throw new Misconfigured(listenProblem(error, config().host, config().port))
  }
  app.server.keepAliveTimeout = 65_000
  const endQuestions = answerMachines(app.server)
  await ownStorages()
  const bound = (app.server.address() as AddressInfo).port
  if (sockets.http !== undefined) takeAddress({ host: (app.server.address() as AddressInfo).address, port: bound })
  const { host } = config()
  servesAt(bound)
  const ssh = await startSsh(sockets.ssh).catch(async error => {
    await app.close()
    throw error
  })
  const gateway = await startGateway()
  noteAddress(bound, ssh?.port)
  const stopWritingUses = writeUsesRegularly()
  const stopWatching = watchReplica()
  const stopSettling = settleRegularly(SETTLE_MS)
  log().info({ host, port: bound, version, revision }, 'server ready')
  if (config().url === null && isEveryAddress(host))
    log().warn(
      { url: publicUrl() },
      'links show this URL, which nobody can open: set url in config.yaml to the address that users type'
    )
  const firstRun = await firstRunOf()
  return {
    port: bound,
    ...(firstRun && { firstRun }),
    stop: async () => {
      const sshStopped = ssh?.stop()
      await leave()
      endQuestions()
      // A connection that was busy when the close began stays open after it becomes idle, and would block the close.
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_MS)
      await app.close()
      clearInterval(idle)
      await Promise.all([sshStopped, gateway.stop()])
      await stopWritingUses()
      await stopWatching()
      await stopSettling()
      forgetAddress()
      closeWake()
      await closeGitProcesses()
      await leaveMachines().catch(() => undefined)
      await closeDatabase()
    }
  }
}

/** Not specified: with an administrator, the first run is over. */
async function firstRunOf(): Promise<FirstRun | null> {
  const link = await firstLink()
  if (link === null) return null
  log().info({ command: 'gitstead users first-link' }, 'there is no administrator yet: the command makes the first one')
  return { link: link.url, hours: FIRST_LINK_HOURS, signUp: await maySignUp() }
}

async function listen(app: FastifyInstance, inherited: number | undefined): Promise<NodeJS.ErrnoException | null> {
  const { host, port } = config()
  try {
    // With a socket, Node.js ignores host and port.
    await app.listen(inherited === undefined ? { host, port } : { ...{ fd: inherited }, host: '127.0.0.1' })
    return null
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}
