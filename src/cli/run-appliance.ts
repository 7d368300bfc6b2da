// The frame of `gitstead up`: it starts the appliance, and ends it by a signal, by an order or by a fault.
import { prepareHome } from '../home.js'
import { log, logTo, nameProcess, titleProcess } from '../log.js'
import { startAppliance } from './appliance.js'
import { LogFile } from './log-file.js'
import { takeOrders } from './orders.js'

/**
 * Runs the appliance until it is told to stop. `configure` loads the configuration again. Throws Misconfigured when this
 * user cannot use the home, or when another appliance runs on it.
 */
export async function runAppliance(configure: () => void): Promise<void> {
  nameProcess('up')
  titleProcess()
  prepareHome()
  const stopping = deferred()
  const down = deferred()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stopping.resolve)
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

function deferred() {
  let resolve = () => {}
  let reject = (_error: unknown) => {}
  const promise = new Promise<void>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  // Nobody may wait yet when it is rejected.
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
