// When a worker starts, it catches up on tasks that were due while no worker ran. It runs each task once, one after another.
import { nextDue, previousDue } from '../../../lib/cron.js'
import { enqueueTick } from '../../../queue/ticks.js'
import { lastRuns, maintainedSince } from './maintenance.queries.js'
import { tasks } from './maintenance-tasks.js'

/** When a worker starts, builds and hooks come first. */
const FIRST_MS = 60_000
const APART_MS = 30_000
/** A task that is due again within this time is not caught up. */
const SOON_MS = 3_600_000

/**
 * Enqueues the tasks that did not run when they were last due, and returns their names. It enqueues each task once, even if
 * several workers start. For a task that has never run, the time counts from the creation of the database.
 */
export async function catchUp(now: Date): Promise<string[]> {
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
