// Parsed objects and other facts that never change, kept within one limit of bytes. Keyed by repository as well as by id:
// that an object exists in one repository says nothing about another.
import { LRUCache } from 'lru-cache'
import { config } from '../config.js'

type Entry = { value: unknown; size: number }

let kept: LRUCache<string, Entry> | undefined
const underway = new Map<string, Promise<unknown>>()

function store(): LRUCache<string, Entry> {
  const maxSize = config().git.object_cache
  kept ??= new LRUCache({ maxSize, maxEntrySize: Math.ceil(maxSize / 8), sizeCalculation: entry => entry.size })
  return kept
}

/**
 * The fact `key` of a repository, loaded once even when many ask at the same time. `load` gives the value and the bytes
 * it takes, or null for what may still come to be, which is not kept.
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
      // Each entry costs its key and a little administration too.
      if (loaded) store().set(full, { value: loaded.value, size: loaded.size + full.length + 200 })
      return loaded === null ? null : loaded.value
    })
    .finally(() => underway.delete(full))
  underway.set(full, promise)
  return await promise
}

/** Drops all that is known of a repository. */
export function forget(repository: string): void {
  const prefix = `${repository}\0`
  for (const key of store().keys()) if (key.startsWith(prefix)) store().delete(key)
}
