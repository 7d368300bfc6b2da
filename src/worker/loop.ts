// One queue of one worker. It claims jobs in batches, runs up to `concurrency` jobs at the same time, and removes
// finished jobs in batches. Measured with jobs that do nothing: 7k jobs/s with a batch of 50, 1k one by one.
import { setTimeout as sleep } from 'node:timers/promises'
import { hasLostLease, mayClaim } from '../cluster/machines.js'
import { NotHere } from '../errors.js'
import { log } from '../log.js'
import {
  type ClaimedJob,
  claimJobs,
  failJob,
  finishJobs,
  handOverJob,
  releaseJobs,
  releaseUnknown
} from '../queue/claim.js'
import { jobs, type Queue } from '../queue/jobs.js'
import { withLimit } from './time-limit.js'

const BATCH = 50
const FAST_MS = 20
const RETRY_MS = 1000
/** A job that several machines have given away after so many tries fails. */
const MOST_GIVEN = 10
/** After a wake-up without a result, the loop looks again after this time: a statement that only reads may lock a row for a moment. */
const SECOND_LOOK_MS = 20
/** A job that may have ended its process has the loop to itself for this many milliseconds. */
const EXCLUSIVE_MS = 10_000

/** How a loop shares its slots among the lanes of its queue. */
export interface LaneOptions {
  /** The most slots that one lane takes. */
  readonly share: number
  /**
   * Milliseconds. A job that takes longer gives its slot to others, because it waits for a receiver that may never answer.
   * Until it ends, its lane gets no other slot. Null: jobs never give up their slots.
   */
  readonly slowAfter: number | null
  /** Maximum number of jobs that have given up their slots. */
  readonly mostSlow: number
  /** Whether the last job of the lane could not reach its target. Such a lane gets one slot. */
  isFailing(lane: number): boolean
}

export interface LoopOptions {
  readonly queue: Queue
  readonly processId: number
  readonly concurrency: number
  /** Milliseconds between polls when nothing wakes the loop. */
  readonly pollInterval: number
  /** Only for a queue with lanes. */
  readonly lanes?: LaneOptions
  run(job: ClaimedJob, signal: AbortSignal): Promise<void>
  /** Called when tries have ended; `failed` of them failed. */
  ended?(count: number, failed: number): void
}

interface Running {
  readonly controller: AbortController
  readonly lane: number
}

/** Claims and runs the jobs of one queue until `stop`. It looks for jobs after a wake-up or a poll. */
export class Loop {
  private buffer: ClaimedJob[] = []
  private running = new Map<number, Running>()
  /** The running jobs that have given up their slots. */
  private slow = new Set<number>()
  private done: number[] = []
  private claiming: Promise<void> | undefined
  private flushing: Promise<void> | undefined
  private again = false
  private woken = false
  private exclusive = false
  /** The lane of the last job that began. */
  private lastLane = 0
  private stopping = false
  /** True when the last claim failed, although it may have committed. */
  private doubt = false
  private timer: NodeJS.Timeout | undefined
  private flushTimer: NodeJS.Timeout | undefined
  /** The average milliseconds of a job. Decides whether to claim more jobs than can run at the same time. */
  private pace = FAST_MS
  private idle: (() => void) | undefined

  constructor(private readonly options: LoopOptions) {}

  /** Looks for work now, because something was enqueued. */
  wake(): void {
    this.again = true
    this.woken = true
    this.look()
  }

  /** Looks for work, because a poll found some. */
  poll(): void {
    if (!this.claiming) this.look()
  }

  /**
   * Takes no more jobs, gives back jobs that have not begun, and waits up to `grace` ms for running jobs. Then it
   * aborts them and waits for the same time again. Jobs that still run go back to the queue together with the process.
   */
  async stop(grace: number): Promise<void> {
    this.stopping = true
    clearTimeout(this.timer)
    // A running claim gives back the jobs that it gets. If it ended after the stop, nobody would give them back.
    await this.claiming
    const unbegun = this.buffer.splice(0).map(({ id }) => id)
    await releaseJobs(unbegun, this.options.processId).catch(() => undefined)
    if (!(await this.ended(grace))) {
      this.abort('the worker stops')
      await this.ended(grace)
    }
    await this.flush()
  }

  /** Aborts all jobs. The lease was lost, so the database refuses their writes anyway. */
  abort(reason: string): void {
    this.buffer = []
    for (const { controller } of this.running.values()) controller.abort(new Error(reason))
  }

  /** Waits at most this many milliseconds. Returns true when no job is running any more. */
  private async ended(milliseconds: number): Promise<boolean> {
    if (this.running.size === 0) return true
    let limit: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      this.idle = resolve
      limit = setTimeout(resolve, milliseconds)
    })
    clearTimeout(limit)
    return this.running.size === 0
  }

  private look(): void {
    if (this.claiming || this.stopping) return
    if (this.room() <= 0) {
      this.again = true
      return
    }
    clearTimeout(this.timer)
    this.claiming = this.claim().then(wait => {
      this.claiming = undefined
      this.begin()
      if (this.stopping) return
      if (this.again && this.room() > 0) this.look()
      else this.timer = setTimeout(() => this.look(), wait)
    })
  }

  /** Fills the buffer. Returns the milliseconds after which to look again when nothing wakes the loop. */
  private async claim(): Promise<number> {
    const { queue, processId, pollInterval } = this.options
    const room = this.room()
    const { woken } = this
    this.again = false
    this.woken = false
    // The lookout looks again soon.
    if (!mayClaim()) return pollInterval
    try {
      if (this.doubt) await releaseUnknown(queue, processId, id => this.holds(id))
      this.doubt = false
      const claimed = await this.claimAtMost(room)
      if (this.stopping) {
        const ids = claimed.map(({ id }) => id)
        await releaseJobs(ids, processId)
        return pollInterval
      }
      this.buffer.push(...claimed)
      // A lane may have had less than its share.
      const isPart = claimed.some(({ more }) => more) || (this.options.lanes && claimed.length > 0)
      if (claimed.length === room || isPart) this.again = true
      return woken && claimed.length === 0 ? Math.min(SECOND_LOOK_MS, pollInterval) : pollInterval
    } catch (error) {
      log().warn({ error: String(error), queue }, 'claiming jobs failed')
      this.again = false
      this.doubt = true
      return RETRY_MS
    }
  }

  private claimAtMost(room: number): Promise<ClaimedJob[]> {
    const { queue, processId, lanes } = this.options
    if (!lanes) return claimJobs(queue, processId, room)
    return claimJobs(queue, processId, room, { roomOf: lane => this.roomOf(lane, lanes), after: this.lastLane })
  }

  /** Returns how many more jobs of a lane may run. */
  private roomOf(lane: number, { share, mostSlow, isFailing }: LaneOptions): number {
    const ofLane = [...this.running].filter(([, job]) => job.lane === lane).map(([id]) => id)
    const failing = isFailing(lane)
    // Lanes that are known to fail leave half of these places to lanes that begin to fail.
    if (failing && this.slow.size >= mostSlow / 2) return 0
    const limit = failing || ofLane.some(id => this.slow.has(id)) ? 1 : share
    return limit - ofLane.length - this.buffer.filter(job => job.lane === lane).length
  }

  /** Returns the number of taken slots. */
  private taken(): number {
    return this.running.size - Math.min(this.slow.size, this.options.lanes?.mostSlow ?? 0)
  }

  private holds(id: number): boolean {
    return this.running.has(id) || this.done.includes(id) || this.buffer.some(job => job.id === id)
  }

  /** Returns how many jobs to claim: as many as can begin now, and more when the jobs are faster than a claim. */
  private room(): number {
    if (this.exclusive || this.buffer.some(({ suspect }) => suspect)) return 0
    const { queue, concurrency } = this.options
    // Only the jobs of this queue depend on nothing outside. A slow build or receiver must not keep other jobs waiting here.
    if (queue === 'default' && this.pace < FAST_MS) {
      // There are only two sizes, because the database prepares a statement for each size.
      if (this.buffer.length === 0) return BATCH
      return this.buffer.length <= BATCH / 2 ? BATCH / 2 : 0
    }
    return concurrency - this.taken() - this.buffer.length
  }

  private begin(): void {
    while (this.taken() < this.options.concurrency && !this.exclusive) {
      const [job] = this.buffer
      if (!job || hasLostLease()) return
      // The sandbox separates builds from each other, and other builds should not wait for hours.
      const exclusive = job.suspect && this.options.queue !== 'builds'
      if (exclusive && (this.running.size > 0 || this.done.length > 0)) return
      this.exclusive = exclusive
      this.buffer.shift()
      void this.perform(job)
    }
  }

  private async perform(job: ClaimedJob): Promise<void> {
    const controller = new AbortController()
    this.running.set(job.id, { controller, lane: job.lane })
    this.lastLane = job.lane
    const slowAfter = this.options.lanes?.slowAfter ?? null
    const slow = slowAfter === null ? undefined : setTimeout(() => this.giveUpSlot(job.id), slowAfter)
    const started = performance.now()
    const company = this.exclusive ? setTimeout(() => this.endExclusive(), EXCLUSIVE_MS) : undefined
    try {
      await withLimit(this.options.run(job, controller.signal), jobs[job.name]?.timeout ?? 60, controller)
      this.done.push(job.id)
    } catch (error) {
      await this.fail(job, error, controller.signal)
    }
    this.pace = this.pace * 0.9 + (performance.now() - started) * 0.1
    this.running.delete(job.id)
    this.slow.delete(job.id)
    clearTimeout(company)
    clearTimeout(slow)
    this.endExclusive()
    if (this.done.length >= BATCH || this.running.size === 0) void this.flush()
    else this.flushTimer ??= setTimeout(() => void this.flush(), FAST_MS)
    if (this.running.size === 0) this.idle?.()
  }

  private giveUpSlot(id: number): void {
    this.slow.add(id)
    this.begin()
    this.lookAgain()
  }

  /** A claim in progress may have left jobs of a lane behind, because the lane was full when the claim began. */
  private lookAgain(): void {
    this.again = true
    this.look()
  }

  private endExclusive(): void {
    this.exclusive = false
    this.begin()
    if (this.options.lanes) this.lookAgain()
    else if (this.again) this.look()
  }

  private async fail(job: ClaimedJob, error: unknown, signal: AbortSignal): Promise<void> {
    if (this.stopping && signal.aborted) {
      // The job did not cause this; the next worker starts it again.
      await releaseJobs([job.id], this.options.processId).catch(() => undefined)
      return
    }
    const there = error instanceof NotHere && job.attempt <= MOST_GIVEN ? error.storage : undefined
    if (there === undefined)
      log().warn({ job: job.id, name: job.name, attempt: job.attempt, error: describe(error) }, 'job failed')
    for (;;) {
      try {
        if (there !== undefined) return await handOverJob(job, this.options.processId, there)
        if (await failJob(job, this.options.processId, error)) this.options.ended?.(1, 1)
        return
      } catch {
        if (this.stopping) return
        await sleep(RETRY_MS)
      }
    }
  }

  /** Removes finished jobs, with one statement at a time. Never rejects. */
  private flush(): Promise<void> {
    clearTimeout(this.flushTimer)
    this.flushTimer = undefined
    if (this.done.length > 0) this.flushing ??= this.flushAll()
    return this.flushing ?? Promise.resolve()
  }

  /**
   * Removes finished jobs. While the database is unavailable it keeps the ids and tries again. A worker that stops
   * leaves the rest to the next worker.
   */
  private async flushAll(): Promise<void> {
    while (this.done.length > 0) {
      const ids = this.done.slice(0, 200)
      try {
        const finished = await finishJobs(ids, this.options.processId)
        this.done.splice(0, ids.length)
        this.options.ended?.(finished, 0)
      } catch {
        if (this.stopping) break
        await sleep(RETRY_MS)
      }
    }
    // This happens in the same turn as the last check of `done`. Otherwise a job that finishes in between would wait
    // for the next one.
    this.flushing = undefined
    this.begin()
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error))
