// Looks for jobs for which nobody woke a loop: jobs of other machines, delayed jobs that are due, and jobs whose process died before
// it could wake a worker.
import { log } from '../log.js'
import { lookForWork, promoteJobs } from '../queue/claim.js'
import type { Queue } from '../queue/jobs.js'

export interface LookoutOptions {
  readonly loops: ReadonlyMap<Queue, { wake(): void; poll(): void }>
  /** Milliseconds between two looks while there is work. */
  readonly least: number
  /** The same while there is none, reached step by step. A delayed job that is due earlier is found when it is due. */
  readonly most: number
}

export class Lookout {
  private pause: number
  private timer: NodeJS.Timeout | undefined
  /** The time of the next look. */
  private due = 0
  /** The running look. */
  looking: Promise<void> | undefined
  private stopped = false

  constructor(private readonly options: LookoutOptions) {
    this.pause = options.least
    this.lookIn(options.least)
  }

  /** Looks again after the short pause, because somebody works or has added a delayed job. */
  soon(): void {
    const { least } = this.options
    this.pause = least
    if (!this.looking && this.due - performance.now() > least) this.lookIn(least)
  }

  /** Waits for the running look. */
  async stop(): Promise<void> {
    this.stopped = true
    clearTimeout(this.timer)
    await this.looking
  }

  private lookIn(milliseconds: number): void {
    clearTimeout(this.timer)
    if (this.stopped) return
    this.due = performance.now() + milliseconds
    this.timer = setTimeout(() => {
      this.looking = this.look()
        .catch(error => {
          log().warn({ error: String(error) }, 'polling failed')
          return this.options.least
        })
        .then(wait => {
          this.looking = undefined
          this.lookIn(Math.min(wait, this.pause))
        })
    }, milliseconds)
  }

  /** Returns the milliseconds until the next look. */
  private async look(): Promise<number> {
    const { loops, least, most } = this.options
    this.pause = Math.min(this.pause * 2, most)
    const { due, ready } = await lookForWork([...loops.keys()])
    for (const queue of ready) loops.get(queue)?.poll()
    if (due === null || due > 0) return Math.max(least, Math.min(due ?? most, this.pause))
    if ((await promoteJobs()) > 0) for (const loop of loops.values()) loop.wake()
    this.pause = least
    return least
  }
}
