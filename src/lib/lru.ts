// Caches that grow with their entries. With its option `max`, lru-cache allocates the memory for all entries at once: 3
// MB for 100,000 entries with a time to live.
import { LRUCache } from 'lru-cache'

interface Times {
  /** Milliseconds for which an entry is valid. */
  readonly ttl?: number
  /** A changed entry keeps its original end. */
  readonly noUpdateTTL?: boolean
}

/** Returns a cache that keeps the `most` entries that were used last. */
export const lruOf = <K extends string | number, V extends object | string | number | boolean>(
  most: number,
  times: Times = {}
): LRUCache<K, V> => new LRUCache({ ...times, maxSize: most, sizeCalculation: () => 1 })
