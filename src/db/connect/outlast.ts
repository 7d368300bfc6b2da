import { setTimeout as sleep } from 'node:timers/promises'
import { isDatabaseUnavailable } from './failure.js'

/** Milliseconds. A cluster has another node that takes writes within a few seconds, and a single database starts again. */
const PATIENCE_MS = 120_000
const PAUSE_MS = 500

/**
 * Runs work of a command or a job again while the database is away: what failed may have been done, so the work must be safe to run twice.
 * Do not use it for requests, whose clients repeat them. Throws Unavailable after two minutes.
 */
export async function outlasting<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  let awaySince: number | undefined
  for (;;) {
    const began = performance.now()
    try {
      return await work()
    } catch (error) {
      if (!isDatabaseUnavailable(error) || signal?.aborted) throw error
      const now = performance.now()
      // Work that has lasted for longer was not waiting for the same failure as before.
      if (awaySince === undefined || now - began > PATIENCE_MS / 2) awaySince = now
      if (now - awaySince > PATIENCE_MS) throw error
      await sleep(PAUSE_MS, undefined, signal && { signal })
    }
  }
}
