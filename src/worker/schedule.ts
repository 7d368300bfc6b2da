// node-cron fires when a task is due, and each minute for the schedules of pipelines and for mirrors. Every worker runs it, but only one of
// them enqueues the work.
import { schedule as cron } from 'node-cron'
import { startDueSchedules } from '../areas/ci/pipelines/schedules/schedules.js'
import { startDueMirrors } from '../areas/code/mirrors/mirror-runs.js'
import { catchUp } from '../areas/upkeep/maintenance/maintenance-catch-up.js'
import { tasks } from '../areas/upkeep/maintenance/maintenance-tasks.js'
import { config } from '../config.js'
import { databaseNow } from '../db/connect/server.js'
import { log } from '../log.js'
import { enqueueTick } from '../queue/ticks.js'

/** Starts the schedule and enqueues missed tasks. Returns a function that stops the schedule. */
export function startSchedule(): () => Promise<void> {
  const running = [
    ...tasks.map(({ name, schedule }) => cron(schedule, ({ date }) => tick(name, date), { timezone: 'UTC', name })),
    cron('* * * * *', ({ date }) => startPipelines(date), { timezone: 'UTC', name: 'pipelines' }),
    cron('* * * * *', startMirrors, { timezone: 'UTC', name: 'mirrors' })
  ]
  const begun = Promise.all([startPipelines(), startMirrors()])
  const caughtUp = databaseNow()
    .then(catchUp)
    .then(
      missed => missed.length > 0 && log().info({ tasks: missed }, 'missed tasks will run soon'),
      error => log().warn({ error: String(error) }, 'looking for missed tasks failed')
    )
  return async () => {
    await caughtUp
    await begun
    for (const task of running) await task.destroy()
  }
}

async function startPipelines(at?: Date): Promise<void> {
  try {
    const theirs = (await databaseNow()).getTime()
    // When the clock of the database is slightly behind, a tick comes before its minute there, and must not wait for the next one.
    const most = theirs + (config().queue.lease * 1000) / 4
    await startDueSchedules(new Date(Math.max(theirs, Math.min(at === undefined ? 0 : minuteOf(at), most))))
  } catch (error) {
    log().warn({ error: String(error) }, 'checking the schedules of pipelines failed')
  }
}

async function startMirrors(): Promise<void> {
  try {
    await startDueMirrors()
  } catch (error) {
    log().warn({ error: String(error) }, 'looking for mirrors that are due failed')
  }
}

const minuteOf = (at: Date) => Math.floor(at.getTime() / 60_000) * 60_000

async function tick(task: string, at: Date): Promise<void> {
  // The workers get a tick some milliseconds apart, but in the same minute.
  const due = new Date(minuteOf(at))
  try {
    await enqueueTick(task, due)
  } catch (error) {
    log().warn({ task, error: String(error) }, 'a scheduled task could not be enqueued')
  }
}
