// How much memory the caches of objects may take. They take it as objects are read: an idle appliance stays small. With 200
// busy repositories and 64 MiB, most reads unpacked their objects again.
import { config } from '../../config.js'
import { MACHINE_MEMORY, shareOf } from '../../lib/machine-memory.js'

const MIB = 2 ** 20
const SHARE = { part: 1 / 64, least: 64 * MIB, most: 256 * MIB }

/** Returns the bytes for parsed objects and other facts. */
export const objectCacheSize = (memory = MACHINE_MEMORY): number => config().git.object_cache ?? shareOf(memory, SHARE)

/** Returns the bytes for blocks of packs. */
export const blockCacheSize = (): number => objectCacheSize() / 2

/** Returns the bytes for objects on which other objects are based. */
export const baseCacheSize = (): number => objectCacheSize() / 4
