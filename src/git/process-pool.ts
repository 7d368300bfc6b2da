// Long-lived git processes by repository, for work that one process does much faster than a process each: the fork of a
// large program alone holds up its event loop for 8 to 50 ms.
import type { Spawned } from './run.js'

export interface Pooled {
  isOpen: () => boolean
  /** How many wait for it. */
  pending: () => number
  /** Ends it after what it was asked; settles when it is gone. */
  close: () => Promise<void>
}

interface Entry<Process> {
  readonly opening: Promise<Process>
  /** Once it is open. */
  process: Process | undefined
}

/** At most `lanes` processes for one repository and `limit` in all; beyond that the one unused for longest ends. */
export class ProcessPool<Process extends Pooled> {
  /** By repository and lane, the one unused for longest first. */
  readonly #entries = new Map<string, Entry<Process>>()

  constructor(
    private readonly options: { lanes: number; limit: number },
    private readonly open: (repository: string, gone: () => void) => Promise<Process>
  ) {}

  /** The repository's process that the fewest wait for; another one while all are busy. Rejects as `open` does. */
  of(repository: string): Promise<Process> {
    // Nothing is awaited before the choice: two that ask at once would each start one.
    let best: { key: string; entry: Entry<Process>; pending: number } | undefined
    let free: string | undefined
    for (let lane = 0; lane < this.options.lanes; lane++) {
      const key = `${repository}\0${lane}`
      const entry = this.#entries.get(key)
      const usable = entry && (entry.process?.isOpen() ?? true)
      const pending = entry?.process?.pending() ?? 0
      if (!usable) free ??= key
      else if (!best || pending < best.pending) best = { key, entry, pending }
    }
    if (free !== undefined && (!best || best.pending > 0)) return this.#start(repository, free)
    if (!best) throw new Error('a pool without lanes')
    this.#entries.delete(best.key) // to the end: the map is in order of use
    this.#entries.set(best.key, best.entry)
    return best.entry.opening
  }

  /** Ends the processes of one repository or all, and waits until they have gone. */
  async close(repository?: string): Promise<void> {
    const chosen = [...this.#entries].filter(([key]) => repository === undefined || key.startsWith(`${repository}\0`))
    await Promise.all(chosen.map(async ([, { opening }]) => (await opening.catch(() => undefined))?.close()))
  }

  #start(repository: string, key: string): Promise<Process> {
    const forget = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key)
    }
    const opening = this.open(repository, forget)
    const entry: Entry<Process> = { opening, process: undefined }
    this.#entries.set(key, entry)
    opening.then(process => {
      entry.process = process
    }, forget)
    this.#makeRoom()
    return opening
  }

  #makeRoom(): void {
    const tooMany = Math.max(0, this.#entries.size - this.options.limit)
    for (const { process } of [...this.#entries.values()].slice(0, tooMany)) {
      if (process?.pending() === 0) void process.close()
    }
  }
}

/** Whether a process keeps the program alive: one that is waited for does, an idle one does not. */
export function keepAlive(child: Spawned, yes: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    const handle = part as { ref?: () => void; unref?: () => void }
    if (yes) handle.ref?.()
    else handle.unref?.()
  }
}
