// What was due while no worker ran is done once after the next start, and not all at once.
import { nextDue, previousDue } from '../../lib/cron.js'
import { enqueueTick } from '../../queue/ticks.js'
import { lastRuns, maintainedSince } from './maintenance.queries.js'
import { tasks } from './maintenance-tasks.js'

/** A worker that starts has builds and hooks to look after first. */
const FIRST_MS = 60_000
const APART_MS = 30_000
/** A task that comes by itself so soon is not worth a run before. */
const SOON_MS = 3_600_000

/**
 * Enqueues the tasks whose last time has passed without a run, once however many workers start; gives their names. A
 * task that has never run counts from when the database was made.
 */
export async function catchUp(now = new Date()): Promise<string[]> {
  const [last, since] = [await lastRuns(), await maintainedSince()]
  const caught: string[] = []
  for (const { name, schedule } of tasks) {
    const due = previousDue(schedule, now)
    const known = last.get(name)?.started_at ?? since
    if (!known || known >= due || nextDue(schedule, now).getTime() - now.getTime() <= SOON_MS) continue
    const runAt = new Date(now.getTime() + FIRST_MS + caught.length * APART_MS)
    if (await enqueueTick(name, due, { runAt })) caught.push(name)
  }
  return caught
}
