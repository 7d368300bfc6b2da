// A cache of limited size that spends little on each entry: no links, no timer and no record of its size. When the young
// entries take half of the limit, or after a while, they become the old ones, and the previous old ones are dropped. An old
// entry that is used again becomes young.

interface Limits<V> {
  /** Returns the maximum size of all entries. */
  readonly most: () => number
  readonly sizeOf: (value: V) => number
  /** Milliseconds: an entry that nobody uses is dropped after this time, at the latest after twice this time. */
  readonly idle: number
}

export class TwoGenerations<V extends object> {
  #young = new Map<number, V>()
  #old = new Map<number, V>()
  #size = 0
  #timer: NodeJS.Timeout | undefined

  constructor(private readonly limits: Limits<V>) {}

  get(key: number): V | undefined {
    const found = this.#young.get(key)
    if (found) return found
    const old = this.#old.get(key)
    if (old) this.set(key, old)
    return old
  }

  set(key: number, value: V): void {
    this.#young.set(key, value)
    this.#size += this.limits.sizeOf(value)
    if (this.#size > this.limits.most() / 2) this.#age()
    this.#timer ??= setInterval(() => this.#age(), this.limits.idle).unref()
  }

  #age(): void {
    if (this.#young.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
    }
    this.#old = this.#young
    this.#young = new Map()
    this.#size = 0
  }
}
