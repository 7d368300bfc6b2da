// `gitstead server` and `gitstead worker` run the same processes that `gitstead up` forks.
import { pathToFileURL } from 'node:url'
import { config } from '../../config.js'
import { refuseOthers, requireHome } from '../../home.js'
import { moduleOf, type ProcessName } from './process-modules.js'

/** Turns this process into a server or a worker. Resolves when it has started; the process then keeps running. */
export async function becomeProcess(name: ProcessName): Promise<void> {
  const { home, host, port, database } = config()
  // The private database is in a home, so the home must exist. With an external database, this may be a new machine.
  if (database.url === null) requireHome()
  else refuseOthers()
  Object.assign(process.env, { GITSTEAD_HOME: home, GITSTEAD_HOST: host, GITSTEAD_PORT: String(port) })
  // Its modules are separate from those of the command, and read the configuration from the environment.
  await import(pathToFileURL(moduleOf(name)).href)
}
