// How much memory the caches of objects may take. They take it as objects are read: an idle appliance stays small. With 200
// busy repositories and 64 MiB, most reads unpacked their objects again.
import { config } from '../../config.js'
import { MACHINE_MEMORY } from '../../lib/machine-memory.js'

const MIB = 2 ** 20
const LEAST = 64 * MIB
const MOST = 256 * MIB
/** The share of the machine's memory. */
const PART = 1 / 64

/** Returns the bytes for parsed objects and other facts. */
export function objectCacheSize(memory = MACHINE_MEMORY): number {
  const wanted = Math.min(Math.max(memory * PART, LEAST), MOST)
  return config().git.object_cache ?? Math.floor(wanted / MIB) * MIB
}

/** Returns the bytes for blocks of packs. */
export const blockCacheSize = (): number => objectCacheSize() / 2

/** Returns the bytes for objects on which other objects are based. */
export const baseCacheSize = (): number => objectCacheSize() / 4
