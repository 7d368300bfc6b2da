/**
 * Lets callers that ask for the same thing at the same time share one answer. Only for readers to whom a moment more or less
 * makes no difference, and outside of transactions: the question may have been put before the caller's own write.
 */
export function sharedAnswer<K, V>(ask: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const running = new Map<K, Promise<V>>()
  return key => {
    const known = running.get(key)
    if (known) return known
    const answer = ask(key).finally(() => running.delete(key))
    running.set(key, answer)
    return answer
  }
}
