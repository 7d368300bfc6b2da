// node-cron tells when a task is due; every worker hears it, and one of them enqueues it.
import { schedule as cron } from 'node-cron'
import { catchUp } from '../areas/maintenance/maintenance-catch-up.js'
import { tasks } from '../areas/maintenance/maintenance-tasks.js'
import { log } from '../log.js'
import { enqueueTick } from '../queue/ticks.js'

/** Begins the schedule, and enqueues what was missed; the result ends it. */
export function startSchedule(): () => Promise<void> {
  const running = tasks.map(({ name, schedule }) =>
    cron(schedule, ({ date }) => tick(name, date), { timezone: 'UTC', name })
  )
  const caughtUp = catchUp().then(
    missed => missed.length > 0 && log().info({ tasks: missed }, 'tasks were missed and run soon'),
    error => log().warn({ error: String(error) }, 'it could not be found out which tasks were missed')
  )
  return async () => {
    await caughtUp
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
