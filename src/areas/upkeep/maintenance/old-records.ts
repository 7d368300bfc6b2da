// Removes old records. How long they are kept is a constant, not a setting: a log that is kept forever fills the disk, and a log
// that a setting has cut short is missing when somebody needs it.
import { scheduleOrigin } from '../../../access/actor.js'
import { deadJobsBefore } from '../../../queue/administer.js'
import { countRows, daysAgo, removeRows, type Task, type TaskContext } from '../../../queue/task.js'
import { discardDead } from '../jobs/jobs.js'

/** Long enough for the vacation of a sysadmin and some days to find out what happened. */
const JOB_DAYS = 30
const RUN_DAYS = 90

export const oldJobs: Task = {
  name: 'old_jobs',
  schedule: '33 3 * * *',
  about: `removes jobs that died ${JOB_DAYS} days ago`,
  run: context => removeJobs(context, daysAgo(JOB_DAYS))
}

/** `run_at` of a dead job is the time of its last try. A hook delivery or a build that waits for the job is canceled with it. */
async function removeJobs(context: TaskContext, before: Date): Promise<undefined> {
  if (context.dryRun) return countRows(context, 'jobs', "state = 'dead' and run_at < ?", [before])
  for (let ids = await deadJobsBefore(before, 500); ids.length > 0; ids = await deadJobsBefore(before, 500)) {
    context.count(await discardDead(ids, scheduleOrigin()))
    context.signal.throwIfAborted()
  }
}

export const oldRuns: Task = {
  name: 'old_runs',
  schedule: '51 3 * * *',
  about: `removes records of maintenance runs older than ${RUN_DAYS} days, except the last one of each task`,
  // The last run of a task shows whether a later one was missed.
  run: context =>
    removeRows(
      context,
      'maintenance_runs',
      `started_at < ? and state <> 'running' and id not in
         (select id from (select max(id) as id from maintenance_runs where dry_run = 0 group by task) as newest)`,
      [daysAgo(RUN_DAYS)]
    )
}
