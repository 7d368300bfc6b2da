// Runs `gitstead up`: starts the appliance, and ends it after a signal, an order or a fault.
import { config } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import {
  isPrepared,
  makeFolders,
  ownerOfHome,
  prepareHome,
  problemOfHome,
  refuseOthers,
  stateOfHome
} from '../../home.js'
import { inheritedSockets, requireFreeAddress } from '../../listening.js'
import { log, logTo, nameProcess, titleProcess } from '../../log.js'
import { giveHome, userId } from '../../owner.js'
import { startAppliance } from './appliance.js'
import { refuseSecond, takeOrders } from './control-socket.js'
import { firstRunText } from './first-run.js'
import { LogFile } from './log-file.js'

/**
 * Runs the appliance until a signal or an order stops it. `configure` loads the configuration again. Throws Misconfigured
 * when this user cannot use the home, when another appliance runs on it, or when the address is not free; it has then
 * created nothing and started nothing. `user` is the user as whom root runs it.
 */
export async function runAppliance(configure: () => void, user?: string): Promise<void> {
  nameProcess('up')
  const sockets = inheritedSockets()
  if (user !== undefined) takeUser(user)
  refuseOthers()
  if (user !== undefined) requireUser(user)
  const { state } = stateOfHome()
  if (state === 'home') await refuseSecond()
  if (sockets.http === undefined) await requireFreeAddress()
  titleProcess()
  prepareHome()
  const stopping = Promise.withResolvers<void>()
  // It may be rejected before anything awaits it.
  stopping.promise.catch(() => undefined)
  const down = Promise.withResolvers<void>()
  // Do not pass the name of the signal on: while the parts still start, it would be taken for the URL.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.resolve())
  const endOrders = await takeOrders({
    stop: () => {
      stopping.resolve()
      return down.promise
    },
    restart: async () => {
      // An invalid configuration changes nothing: the appliance keeps running as before.
      configure()
      log().info('restarting the server and the worker')
      await appliance.restart().catch(error => {
        stopping.reject(error)
        throw error
      })
    }
  })
  const logFile = new LogFile()
  logTo(logFile)
  const appliance = startAppliance(logFile, sockets)
  // The log takes 20 ms to load, and the parts of the appliance load in the meantime.
  if (process.getuid?.() === 0 && user === undefined)
    log().warn('server, worker, git and database run as root: see --user in gitstead up --help')
  if (state === 'new') log().info({ home: config().home }, 'created a new home')
  try {
    const ready = await Promise.race([appliance.ready, stopping.promise])
    if (ready) {
      const { url, firstRun } = ready
      process.stdout.write(`ready ${url}\n`)
      // Without a terminal the link would end up in a file or a mail.
      if (firstRun && process.stdout.isTTY) process.stdout.write(firstRunText(url, firstRun))
      log().info({ url }, 'appliance ready')
    }
    await stopping.promise
    log().info('appliance stops')
  } finally {
    await appliance.stop()
    down.resolve()
    endOrders()
  }
}

/** Makes a new home belong to the user. Throws Misconfigured when an existing home belongs to somebody else. */
function takeUser(user: string): void {
  const { home } = config()
  const { state } = stateOfHome()
  if (state === 'new') {
    makeFolders(home)
    giveHome(home, user, isPrepared)
    return
  }
  if (problemOfHome() !== null || ownerOfHome() === userId(user)) return
  throw new Misconfigured(
    `${home} does not belong to ${user}: stop the appliance, run chown -R ${user}: ${home}, and start it again`
  )
}

/** Throws Misconfigured when root could not become the user. */
function requireUser(user: string): void {
  if (process.getuid?.() === userId(user)) return
  throw new Misconfigured(
    `user ${user} cannot read ${config().root} or reach ${config().home}: move the program or the home`
  )
}
