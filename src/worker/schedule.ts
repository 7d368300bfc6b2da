// node-cron tells when a task is due; every worker hears it, and one of them enqueues it.
import { schedule as cron } from 'node-cron'
import { log } from '../log.js'
import { enqueueTick } from '../queue/ticks.js'
import { tasks } from './tasks.js'

/** Begins the schedule; the result ends it. */
export function startSchedule(): () => Promise<void> {
  const running = Object.entries(tasks).map(([name, { schedule }]) =>
    cron(schedule, ({ date }) => tick(name, date), { timezone: 'UTC', name })
  )
  return async () => {
    for (const task of running) await task.destroy()
  }
}

async function tick(task: string, at: Date): Promise<void> {
  // Workers hear a tick some milliseconds apart: the minute is what they have in common.
  const due = new Date(Math.floor(at.getTime() / 60_000) * 60_000)
  try {
    await enqueueTick(task, due)
  } catch (error) {
    log().warn({ task, error: String(error) }, 'a scheduled task could not be enqueued')
  }
}
