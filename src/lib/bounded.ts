import pLimit from 'p-limit'

/**
 * Processes all items, at most `limit` at the same time, and returns the results in the order of the items. Throws the
 * first failure, and then starts no more items.
 */
export function mapBounded<T, R>(items: Iterable<T>, limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const turns = pLimit(limit)
  return turns.map(items, async item => {
    try {
      return await work(item)
    } catch (error) {
      turns.clearQueue()
      throw error
    }
  })
}
