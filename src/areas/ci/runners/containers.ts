// The containers of builds that the Docker executor runs: their owner, and the removal of those that no worker uses any more.
import type { CiImage } from '../../../ci/config-types.js'
import { config } from '../../../config.js'
import { log } from '../../../log.js'
import { listProcesses } from '../../../queue/processes.js'
import { removeLeftovers } from '../../../runner/docker/leftovers.js'
import { askForEngine, checkEngineSettings } from '../../../runner/docker/version.js'
import type { ContainerWish } from '../../../runner/job.js'
import { signature } from '../../../secrets.js'

/** Milliseconds between two log messages about an unavailable engine. */
const LOG_EVERY_MS = 60_000
let loggedAt = 0

const isDocker = () => config().runner.executor === 'docker'

/** Labels contain this to identify the appliance of a container, on each of its machines. */
const instance = () => signature('containers', 'instance').subarray(0, 8).toString('hex')

export const containerOwner = (worker: number) => ({ instance: instance(), worker })

export function containerOf(image: CiImage): ContainerWish {
  return typeof image === 'string' ? { name: image, alias: null, entrypoint: null, command: null } : image
}

/**
 * Throws Unavailable when builds need an engine that does not respond. Decided: builds wait then, as they wait for a
 * worker: an engine that is upgraded or starts after the worker must fail none of them.
 */
export async function requireEngine(): Promise<void> {
  if (!isDocker()) return
  try {
    await askForEngine()
  } catch (error) {
    if (Date.now() - loggedAt > LOG_EVERY_MS)
      log().warn({ error: String(error) }, 'builds wait for the container engine')
    loggedAt = Date.now()
    throw error
  }
}

/** Throws Misconfigured when builds need an engine and the settings cannot describe one. */
export function checkEngine(): void {
  if (isDocker()) checkEngineSettings()
}

/** Removes the containers and networks of builds that no worker runs any more. */
export async function removeStaleContainers(worker: number): Promise<void> {
  if (!isDocker()) return
  const running = new Set(await listProcesses())
  const count = await removeLeftovers(containerOwner(worker), other => !running.has(other))
  if (count > 0) log().info({ count }, 'containers and networks of killed builds were removed')
}
