// Counts the jobs of every queue in each of the last minutes. Workers count in memory when a job ends, and write the
// counts together with their heartbeats, so that counting does not slow a job down.
import { execute, rows } from '../db/connect/sql.js'
import { QUEUES, type Queue } from './jobs.js'

const MINUTE = 60_000
/** Milliseconds after which the totals of a process include a finished try. */
const TOTALS_MS = 500
/** Number of minutes that are shown. */
const MINUTES = 60

/** The counts of one queue in one minute. They increase when a try ends. */
interface Count {
  readonly minute: number
  readonly queue: Queue
  processed: number
  failed: number
  /** The part of `processed` that is already in the database. */
  written: number
}

/** The counts of one process. When a write fails, the next heartbeat writes the counts again, and nothing is counted twice. */
export class Tally {
  private readonly counts = new Map<string, Count>()
  private readonly totals = { processed: 0, failed: 0, written: 0 }
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly processId: number) {}

  /** Adds finished tries; `failed` of them failed. */
  add(queue: Queue, processed: number, failed: number, now = Date.now()): void {
    if (processed === 0) return
    this.totals.processed += processed
    this.totals.failed += failed
    this.timer ??= setTimeout(() => void this.writeTotals().catch(() => undefined), TOTALS_MS).unref()
    const minute = Math.floor(now / MINUTE) * MINUTE
    const key = `${minute} ${queue}`
    const count = this.counts.get(key) ?? { minute, queue, processed: 0, failed: 0, written: 0 }
    count.processed += processed
    count.failed += failed
    this.counts.set(key, count)
  }

  /** Writes the whole counts and not the increments, so it is harmless to repeat the write after its answer was lost. */
  async write(now = Date.now()): Promise<void> {
    await this.writeTotals()
    const due = [...this.counts.values()].filter(({ processed, written }) => processed > written)
    if (due.length > 0) {
      const sent = due.map(({ processed }) => processed)
      await execute(
        `insert into queue_minutes (minute, queue, process_id, processed, failed)
         values ${due.map(() => '(?, ?, ?, ?, ?)').join(', ')}
         on duplicate key update processed = values(processed), failed = values(failed)`,
        due.flatMap(({ minute, queue, processed, failed }) => [
          new Date(minute),
          queue,
          this.processId,
          processed,
          failed
        ])
      )
      for (const [at, count] of due.entries()) count.written = sent[at] ?? 0
    }
    this.forget(now)
  }

  /** One statement for all tries of half a second, instead of one for each batch of jobs. */
  private async writeTotals(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const { processed, failed, written } = this.totals
    if (processed === written) return
    await execute('update job_processes set processed = ?, failed = ? where id = ?', [
      processed,
      failed,
      this.processId
    ])
    this.totals.written = processed
  }

  /** Drops minutes that are over and written. It keeps the last minute, because the clock may be set back a little. */
  private forget(now: number): void {
    for (const [key, { minute, processed, written }] of this.counts) {
      if (minute < now - 2 * MINUTE && processed === written) this.counts.delete(key)
    }
  }
}

export interface QueueMinute {
  readonly minute: Date
  readonly processed: number
  readonly failed: number
}

/** Returns the counts of each queue for every minute of the last hour, oldest first. The last minute is not over yet. */
export async function queueMinutes(now = Date.now()): Promise<Record<Queue, QueueMinute[]>> {
  const last = Math.floor(now / MINUTE) * MINUTE
  const first = last - (MINUTES - 1) * MINUTE
  // The driver returns a sum as text, because it is a decimal.
  const found = await rows<{ minute: Date; queue: string; processed: string; failed: string }>(
    `select minute, queue, sum(processed) as processed, sum(failed) as failed from queue_minutes
     where minute >= ? group by minute, queue`,
    [new Date(first)]
  )
  const known = new Map(found.map(({ minute, queue, ...counts }) => [`${minute.getTime()} ${queue}`, counts]))
  const minutesOf = (queue: Queue) =>
    Array.from({ length: MINUTES }, (_, at) => {
      const minute = first + at * MINUTE
      const counts = known.get(`${minute} ${queue}`)
      return {
        minute: new Date(minute),
        processed: Number(counts?.processed ?? 0),
        failed: Number(counts?.failed ?? 0)
      }
    })
  return Object.fromEntries(QUEUES.map(queue => [queue, minutesOf(queue)])) as Record<Queue, QueueMinute[]>
}

export interface Rates {
  /** Finished tries per minute. */
  readonly processed: number
  readonly failed: number
}

/** Returns the rate per minute over the current minute and the one before. A rate over whole minutes only would be delayed. */
export function ratesOf(minutes: readonly QueueMinute[], now = Date.now()): Rates {
  const recent = minutes.slice(-2)
  const span = (MINUTE + (now % MINUTE)) / MINUTE
  const rate = (of: 'processed' | 'failed') => recent.reduce((sum, minute) => sum + minute[of], 0) / span
  return { processed: rate('processed'), failed: rate('failed') }
}
