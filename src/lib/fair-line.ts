/** A line of waiters in which the clients take turns: somebody who brings a hundred delays another client by one of them. */
export class FairLine<Waiter> {
  /** Whoever is first here is next. */
  readonly #waiters = new Map<string, Waiter[]>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns how many a client has in the line. */
  lengthOf(client: string): number {
    return this.#waiters.get(client)?.length ?? 0
  }

  add(client: string, waiter: Waiter): void {
    const own = this.#waiters.get(client)
    if (own) own.push(waiter)
    else this.#waiters.set(client, [waiter])
    this.#length++
  }

  /** Returns who is next, or undefined. */
  get next(): Waiter | undefined {
    const [first] = this.#waiters.values()
    return first?.[0]
  }

  /** Removes who is next, and returns it; undefined when nobody waits. */
  take(): Waiter | undefined {
    const [first] = this.#waiters
    if (!first) return
    const [client, own] = first
    const taken = own.shift()
    this.#waiters.delete(client)
    if (own.length > 0) this.#waiters.set(client, own)
    this.#length--
    return taken
  }
}
