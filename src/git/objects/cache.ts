// Keeps parsed objects and other facts that never change, up to one limit of bytes. The key contains the repository as
// well as the id: an object that exists in one repository may not exist in another.
import { LRUCache } from 'lru-cache'
import { objectCacheSize } from './cache-sizes.js'

interface Entry {
  readonly value: unknown
  readonly size: number
}

let kept: LRUCache<string, Entry> | undefined
const underway = new Map<string, Promise<unknown>>()

function store(): LRUCache<string, Entry> {
  // One entry may take the whole cache: a folder of a million files (60 MB) is then read once, at the cost of all other entries.
  kept ??= new LRUCache({ maxSize: objectCacheSize(), sizeCalculation: entry => entry.size })
  return kept
}

/**
 * Returns the fact `key` of a repository. It is loaded once, even when many callers need it at the same time. `load` returns the
 * value and the bytes that it takes. It returns null for something that may exist later; the cache does not keep that.
 */
export async function remember<T>(
  repository: string,
  key: string,
  load: () => Promise<{ value: T; size: number } | null>
): Promise<T | null> {
  const full = `${repository}\0${key}`
  const entry = store().get(full)
  if (entry) return entry.value as T
  const already = underway.get(full)
  if (already) return (await already) as T | null
  const promise = load()
    .then(loaded => {
      if (loaded) keep(repository, key, loaded)
      return loaded === null ? null : loaded.value
    })
    .finally(() => underway.delete(full))
  underway.set(full, promise)
  return await promise
}

/** Returns whether `remember` would return the fact at once. */
export const isKept = (repository: string, key: string): boolean => store().has(`${repository}\0${key}`)

/** Keeps a fact that a caller knows without `remember`. `size` is the bytes that it takes. */
export function keep(repository: string, key: string, { value, size }: { value: unknown; size: number }): void {
  const full = `${repository}\0${key}`
  // Each entry also takes its key and about 200 bytes of overhead.
  store().set(full, { value, size: size + full.length + 200 })
}

/** Drops everything that the cache knows about a repository. */
export function forget(repository: string): void {
  const prefix = `${repository}\0`
  for (const key of store().keys()) if (key.startsWith(prefix)) store().delete(key)
}

/** Copies a buffer out of larger memory, such as Node's shared slab; otherwise the cached buffer would keep all of it. */
export function ownMemory(content: Buffer): Buffer {
  if (content.buffer.byteLength === content.length) return content
  const copy = Buffer.allocUnsafeSlow(content.length)
  content.copy(copy)
  return copy
}
