// What every queue did in each of the last minutes. Workers count in memory, where a job ends, and write with their
// heartbeats: nothing on the way of a job.
import { execute, rows } from '../db/sql.js'
import { QUEUES, type Queue } from './jobs.js'

const MINUTE = 60_000
/** Minutes that are shown. */
export const MINUTES = 60

interface Count {
  readonly minute: number
  readonly queue: Queue
  processed: number
  failed: number
  /** What is in the database already. */
  written: number
}

/** One process's counts. What could not be written is written with the next heartbeat, and never counted twice. */
export class Tally {
  private readonly counts = new Map<string, Count>()

  constructor(private readonly processId: number) {}

  /** Notes tries that have ended, and how many of them failed. */
  add(queue: Queue, processed: number, failed: number, now = Date.now()): void {
    if (processed === 0) return
    const minute = Math.floor(now / MINUTE) * MINUTE
    const key = `${minute} ${queue}`
    const count = this.counts.get(key) ?? { minute, queue, processed: 0, failed: 0, written: 0 }
    count.processed += processed
    count.failed += failed
    this.counts.set(key, count)
  }

  /** Writes whole counts and not what was added to them: to repeat it after a lost answer is harmless. */
  async write(now = Date.now()): Promise<void> {
    const due = [...this.counts.values()].filter(({ processed, written }) => processed > written)
    if (due.length > 0) {
      const told = due.map(({ processed }) => processed)
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
      for (const [at, count] of due.entries()) count.written = told[at] ?? 0
    }
    this.forget(now)
  }

  /** Minutes that are over and written. The last one is kept for a clock that is set back a little. */
  private forget(now: number): void {
    for (const [key, { minute, processed, written }] of this.counts) {
      if (minute < now - 2 * MINUTE && processed === written) this.counts.delete(key)
    }
  }
}

export interface QueueMinute {
  minute: Date
  processed: number
  failed: number
}

/** What each queue did in the last hour: every minute, oldest first, the last one still under way. */
export async function queueMinutes(now = Date.now()): Promise<Record<Queue, QueueMinute[]>> {
  const last = Math.floor(now / MINUTE) * MINUTE
  const first = last - (MINUTES - 1) * MINUTE
  // A sum is a decimal, which the driver gives as text.
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
  /** Tries that ended, a minute. */
  processed: number
  failed: number
}

/** A minute's worth of the current minute and the one before: whole minutes alone would be told late. */
export function ratesOf(minutes: readonly QueueMinute[], now = Date.now()): Rates {
  const recent = minutes.slice(-2)
  const span = (MINUTE + (now % MINUTE)) / MINUTE
  const rate = (of: 'processed' | 'failed') => recent.reduce((sum, minute) => sum + minute[of], 0) / span
  return { processed: rate('processed'), failed: rate('failed') }
}
