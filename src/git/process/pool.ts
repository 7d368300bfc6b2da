// Keeps long-lived git processes for each repository. One such process answers many more questions than a new process
// for each question could: when the program is large, a fork blocks its event loop for 8 to 50 ms.
import { setTimeout as sleep } from 'node:timers/promises'
import { config } from '../../config.js'
import { Unavailable } from '../../errors.js'
import type { Spawned } from './run.js'

export interface Pooled {
  readonly isOpen: () => boolean
  /** The number of questions that wait for an answer. */
  readonly pending: () => number
  /** Ends the process after it has answered all pending questions. Settles when the process is gone. */
  readonly close: () => Promise<void>
}

interface Entry<Process> {
  readonly opening: Promise<Process>
  /** Set when the process has started. */
  process: Process | undefined
}

/** Milliseconds between two attempts to find room while all processes are busy. */
const TURN = 10

/**
 * Keeps at most `lanes` processes for one repository and `limit` in total. Above the limit, it ends the process that
 * has been idle longest. While all are busy, other repositories wait.
 */
export class ProcessPool<Process extends Pooled> {
  /** The key is the repository and the lane. The least recently used process comes first. */
  readonly #entries = new Map<string, Entry<Process>>()
  #waiting = 0

  constructor(
    private readonly options: { lanes: number; limit: () => number },
    private readonly open: (repository: string, gone: () => void) => Promise<Process>
  ) {}

  /**
   * Returns the process of the repository with the fewest waiting questions, or starts another process while all are
   * busy. Rejects when `open` rejects, and with Unavailable when too many callers wait for room.
   */
  of(repository: string): Promise<Process> {
    // Nothing is awaited before the choice; otherwise two concurrent callers would each start a process.
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
    const another = free !== undefined && (!best || best.pending > 0)
    if (free !== undefined && another && this.#hasRoom()) return this.#start(repository, free)
    if (!best) return this.#turn(repository)
    this.#entries.delete(best.key) // moves the entry to the end, because the map is in order of use
    this.#entries.set(best.key, best.entry)
    return best.entry.opening
  }

  /** Ends the processes of one repository, or of all repositories, and waits until they are gone. */
  async close(repository?: string): Promise<void> {
    const chosen = [...this.#entries].filter(([key]) => repository === undefined || key.startsWith(`${repository}\0`))
    await Promise.all(chosen.map(async ([, { opening }]) => (await opening.catch(() => undefined))?.close()))
  }

  #hasRoom(): boolean {
    const entries = [...this.#entries.values()]
    return entries.length < this.options.limit() || entries.some(({ process }) => process?.pending() === 0)
  }

  async #turn(repository: string): Promise<Process> {
    if (this.#waiting >= config().git.max_waiting) throw new Unavailable('Too many git operations are waiting')
    this.#waiting += 1
    await sleep(TURN)
    this.#waiting -= 1
    return await this.of(repository)
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
    const tooMany = Math.max(0, this.#entries.size - this.options.limit())
    for (const { process } of [...this.#entries.values()].slice(0, tooMany)) {
      if (process?.pending() === 0) void process.close()
    }
  }
}

/** Decides whether a child process keeps this program alive: a busy one does, an idle one does not. */
export function keepAlive(child: Spawned, yes: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    const handle = part as { ref?: () => void; unref?: () => void }
    if (yes) handle.ref?.()
    else handle.unref?.()
  }
}
