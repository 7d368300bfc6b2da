// The name and version of the engine, and the limits that it supports.
import { config } from '../../config.js'
import { Misconfigured } from '../../errors.js'
import { address, ask } from './engine.js'
import { parseReference } from './images.js'

export interface EngineVersion {
  /** Such as `Docker 28.1.1` or `Podman Engine 4.3.1`. */
  readonly text: string
  /** The limits that the engine says it cannot enforce: `memory`, `processes`. */
  readonly lacks: readonly string[]
}

/** Returns the version. Throws EngineAway when the engine does not answer. */
export async function engineVersion(): Promise<EngineVersion> {
  const { Version, Components } = await ask<{
    readonly Version: string
    readonly Components?: readonly { readonly Name: string }[]
  }>({ method: 'GET', path: '/version' })
  const info = await ask<{ MemoryLimit?: boolean; PidsLimit?: boolean }>({ method: 'GET', path: '/info' })
  // Docker reports its name as `Engine`.
  const name = Components?.[0]?.Name ?? 'Engine'
  const limits = { memory: info.MemoryLimit, processes: info.PidsLimit }
  return {
    text: `${name === 'Engine' ? 'Docker' : name} ${Version}`,
    lacks: Object.entries(limits).flatMap(([limit, held]) => (held === true ? [] : [limit]))
  }
}

/** Throws Misconfigured when no engine could run builds with these settings. Contacts no engine. */
export function checkEngineSettings(): void {
  const { image } = config().runner.docker
  if (!parseReference(image)) throw new Misconfigured(`runner.docker.image: ${image} is not the name of an image`)
  address()
}

/** Throws EngineAway when the engine does not answer. */
export async function askForEngine(): Promise<void> {
  await ask({ method: 'GET', path: '/version' })
}
