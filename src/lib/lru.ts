// Caches that grow with their entries. With its option `max`, lru-cache takes the memory for all of them at once: 3 MB for
// 100,000 entries with a time to live.
import { LRUCache } from 'lru-cache'

interface Times {
  /** Milliseconds for which an entry counts. */
  readonly ttl?: number
  /** A changed entry ends when it would have ended before. */
  readonly noUpdateTTL?: boolean
}

/** Returns a cache that keeps the `most` entries that were used last. */
export const lruOf = <K extends string | number, V extends object | string | number | boolean>(
  most: number,
  times: Times = {}
): LRUCache<K, V> => new LRUCache({ ...times, maxSize: most, sizeCalculation: () => 1 })
