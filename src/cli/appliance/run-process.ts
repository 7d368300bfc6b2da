// `gitstead server` and `gitstead worker` run the same processes that `gitstead up` forks.
import { config } from '../../config.js'
import { refuseOthers, requireHome } from '../../home.js'

/** Turns this process into a server or a worker. Resolves when it has started; the process then keeps running. */
export async function becomeProcess(name: 'server' | 'worker'): Promise<void> {
  const { home, host, port, database } = config()
  // The private database is in a home, so the home must exist. With an external database, this may be a new machine.
  if (database.url === null) requireHome()
  else refuseOthers()
  Object.assign(process.env, { GITSTEAD_HOME: home, GITSTEAD_HOST: host, GITSTEAD_PORT: String(port) })
  await (name === 'server' ? import('../../server/process.js') : import('../../worker/process.js'))
}
