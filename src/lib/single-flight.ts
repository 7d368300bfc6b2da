/** The maximum number of keys that share one search. */
const MOST = 64

interface Waiting<Found> {
  readonly use: (found: Found | undefined) => void
  readonly fail: (error: unknown) => void
}

/**
 * Returns a function that finds one record. Calls that arrive before this process handles its next input share one
 * `search`, which begins after all of them. Thus each caller sees all changes that were made before its call.
 */
export function sharing<Key, Found>(
  search: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Found>>
): (key: Key) => Promise<Found | undefined> {
  let waiting = new Map<Key, Waiting<Found>[]>()
  const begin = () => {
    const served = waiting
    if (served.size === 0) return
    waiting = new Map()
    search([...served.keys()]).then(
      found => {
        for (const [key, calls] of served) for (const { use } of calls) use(found.get(key))
      },
      error => {
        for (const calls of served.values()) for (const { fail } of calls) fail(error)
      }
    )
  }
  return key =>
    new Promise((use, fail) => {
      const calls = waiting.get(key)
      if (calls) {
        calls.push({ use, fail })
        return
      }
      if (waiting.size === 0) setImmediate(begin)
      waiting.set(key, [{ use, fail }])
      if (waiting.size === MOST) begin()
    })
}
