// How much memory the caches of objects may take. They take it as objects are read: an idle appliance stays small. With 200
// busy repositories and 64 MiB, most reads unpacked their objects again.
import { config } from '../../config.js'
import { MACHINE_MEMORY, shareOf } from '../../lib/machine-memory.js'

const MIB = 2 ** 20
const SHARE = { part: 1 / 64, least: 64 * MIB, most: 256 * MIB }

let limit = Number.POSITIVE_INFINITY

/** Limits the bytes for parsed objects in this process, before it reads anything. */
export function limitObjectCaches(most: number): void {
  limit = most
}

/** Returns the bytes for parsed objects and other facts. */
export const objectCacheSize = (memory = MACHINE_MEMORY): number =>
  Math.min(config().git.object_cache ?? shareOf(memory, SHARE), limit)

/** Returns the bytes for blocks of packs. */
export const blockCacheSize = (): number => objectCacheSize() / 2

/** Returns the bytes for objects on which other objects are based. */
export const baseCacheSize = (): number => objectCacheSize() / 4
