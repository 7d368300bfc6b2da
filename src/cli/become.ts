// `gitstead server` and `gitstead worker` are the very processes that `gitstead up` forks.
import { config } from '../config.js'

/** Goes on as a server or worker; resolves when it has started, and the process lives on. */
export async function becomeProcess(name: 'server' | 'worker'): Promise<void> {
  const { home, host, port } = config()
  Object.assign(process.env, { GITSTEAD_HOME: home, GITSTEAD_HOST: host, GITSTEAD_PORT: String(port) })
  await (name === 'server' ? import('../server/process.js') : import('../worker/process.js'))
}
