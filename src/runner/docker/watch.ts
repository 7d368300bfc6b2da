// Watches the containers of a build: their disk space, and whether the engine still answers.
import { statfs } from 'node:fs/promises'
import { config } from '../../config.js'
import { Unavailable } from '../../errors.js'
import { poll } from '../poll.js'
import type { Run } from '../stages.js'
import { lookAt } from './containers.js'
import { ask, EngineRefused } from './engine.js'

/** Milliseconds. The engine walks through all files of a container for each check. */
const INTERVAL = 3000
/** The engine's disk must keep a fiftieth free, but at most this many bytes. */
const MOST_RESERVE = 536_870_912

/** Starts the watch of containers. Returns the function that ends it. */
export function watchContainers({ halt, trace }: Pick<Run, 'halt' | 'trace'>, ids: readonly string[]) {
  const limit = config().runner.disk_limit
  const end = (reason: 'disk_limit' | 'runner_system_failure', text: string, error?: unknown) => {
    if (!halt.reason) trace.line(`ERROR: ${text}; the build stops`)
    halt.now(reason, error)
  }
  const place = rootOfEngine()
  const look = async () => {
    if (halt.reason) return INTERVAL
    try {
      if (await isFull(await place)) {
        const error = new Unavailable('the disk of the container engine is nearly full')
        end('runner_system_failure', error.message, error)
      }
      if ((await sizeOf(ids, halt.signal)) > limit)
        end('disk_limit', `the files of the build take more than ${limit} bytes of the disk`)
    } catch (error) {
      // A container that ends at this moment cannot be measured.
      if (error instanceof EngineRefused || halt.signal.aborted) return INTERVAL
      end('runner_system_failure', error instanceof Error ? error.message : String(error), error)
    }
    return INTERVAL
  }
  return poll(look)
}

/** The bytes that the containers have written: into their own layers, and into the volumes of their images. */
async function sizeOf(ids: readonly string[], signal: AbortSignal): Promise<number> {
  let bytes = 0
  const volumes = new Set<string>()
  for (const id of ids) {
    const { SizeRw = 0, Mounts } = await lookAt(id, signal, { size: 'true' })
    bytes += SizeRw
    for (const { Type, Name } of Mounts ?? []) if (Type === 'volume' && Name) volumes.add(Name)
  }
  if (volumes.size === 0) return bytes
  const { Volumes } = await ask<{ Volumes: { Name: string; UsageData?: { Size?: number } | null }[] | null }>({
    method: 'GET',
    path: '/system/df',
    query: { type: 'volume' },
    signal
  })
  const own = (Volumes ?? []).filter(({ Name }) => volumes.has(Name))
  return own.reduce((sum, { UsageData }) => sum + Math.max(0, UsageData?.Size ?? 0), bytes)
}

/** The storage folder of an engine on this machine. */
async function rootOfEngine(): Promise<string | undefined> {
  if (!config().runner.docker.socket.startsWith('unix:')) return undefined
  const info = await ask<{ DockerRootDir?: string }>({ method: 'GET', path: '/info' }).catch(() => undefined)
  return info?.DockerRootDir
}

async function isFull(folder: string | undefined): Promise<boolean> {
  // The engine may run in a container itself, with other folders.
  const space = folder === undefined ? undefined : await statfs(folder).catch(() => undefined)
  return space !== undefined && space.bavail * space.bsize < Math.min(MOST_RESERVE, (space.blocks * space.bsize) / 50)
}
