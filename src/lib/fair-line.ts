/** A queue in which the clients take turns: a hundred waiters of one client delay another client by only one of them. */
export class FairLine<Waiter> {
  /** The client that is next comes first. The waiters of each client are in the order of their arrival. */
  readonly #clients = new Map<string, Set<Waiter>>()
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Returns how many waiters of a client are in the line. */
  lengthOf(client: string): number {
    return this.#clients.get(client)?.size ?? 0
  }

  add(client: string, waiter: Waiter): void {
    const own = this.#clients.get(client)
    if (own) own.add(waiter)
    else this.#clients.set(client, new Set([waiter]))
    this.#length++
  }

  /** Returns the first waiter of each client, in the order of their turns. */
  *heads(): Generator<Waiter> {
    for (const [waiter] of this.#clients.values()) if (waiter !== undefined) yield waiter
  }

  /** Returns all waiters. The waiters of one client are in the order of their arrival. */
  *[Symbol.iterator](): Generator<Waiter> {
    for (const own of this.#clients.values()) yield* own
  }

  /** Removes a waiter that gives up. Its client keeps its turn. Returns false when the waiter is not in the line. */
  remove(client: string, waiter: Waiter): boolean {
    const own = this.#clients.get(client)
    if (!own?.delete(waiter)) return false
    if (own.size === 0) this.#clients.delete(client)
    this.#length--
    return true
  }

  /** Removes a waiter whose turn has come. The next turn of its client comes after the turns of all others. */
  take(client: string, waiter: Waiter): void {
    const own = this.#clients.get(client)
    if (!this.remove(client, waiter) || !own?.size || this.#clients.size === 1) return
    this.#clients.delete(client)
    this.#clients.set(client, own)
  }
}
