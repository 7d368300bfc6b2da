/**
 * Maps items with up to `most` calls at once, and yields the results in the order of the items. Readers use it for lists that need a
 * request for each record, because every answer takes a round trip.
 */
export async function* ahead<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  most: number,
  map: (item: T) => Promise<R>
): AsyncGenerator<R> {
  const pending: Promise<R>[] = []
  for await (const item of items) {
    const result = map(item)
    // The failure is thrown when its turn comes. Until then nothing awaits it.
    result.catch(() => undefined)
    pending.push(result)
    if (pending.length >= most) yield await (pending.shift() as Promise<R>)
  }
  for (const result of pending) yield await result
}
