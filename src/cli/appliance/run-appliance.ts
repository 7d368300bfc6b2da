// The frame of `gitstead up`: it starts the appliance, and ends it by a signal, by an order or by a fault.
import { config } from '../../config.js'
import { prepareHome, refuseOthers, stateOfHome } from '../../home.js'
import { requireFreeAddress } from '../../listening.js'
import { log, logTo, nameProcess, titleProcess } from '../../log.js'
import { startAppliance } from './appliance.js'
import { refuseSecond, takeOrders } from './control-socket.js'
import { LogFile } from './log-file.js'

/**
 * Runs the appliance until it is told to stop. `configure` loads the configuration again. Throws Misconfigured when this
 * user cannot use the home, when another appliance runs on it, or when nothing can listen at the address; then it has made
 * nothing and started nothing.
 */
export async function runAppliance(configure: () => void): Promise<void> {
  nameProcess('up')
  refuseOthers()
  const { state } = stateOfHome()
  if (state === 'home') await refuseSecond()
  await requireFreeAddress()
  titleProcess()
  prepareHome()
  const stopping = Promise.withResolvers<void>()
  // Nobody may wait yet when it is rejected.
  stopping.promise.catch(() => undefined)
  const down = Promise.withResolvers<void>()
  // The listener gets the name of the signal, which would be taken for the URL while the parts still start.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stopping.resolve())
  const endOrders = await takeOrders({
    stop: () => {
      stopping.resolve()
      return down.promise
    },
    restart: async () => {
      // A wrong configuration changes nothing: the appliance goes on as it is.
      configure()
      log().info('the server and the worker start anew')
      await appliance.restart().catch(error => {
        stopping.reject(error)
        throw error
      })
    }
  })
  const logFile = new LogFile()
  logTo(logFile)
  if (state === 'new') log().info({ home: config().home }, 'made a new home')
  const appliance = startAppliance(logFile)
  try {
    const url = await Promise.race([appliance.ready, stopping.promise])
    if (url) {
      process.stdout.write(`ready ${url}\n`)
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
