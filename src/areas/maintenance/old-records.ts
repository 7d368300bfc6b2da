// Removes old records. The time to keep them is a constant, not a setting: a log that is kept for ever fills the disk,
// and a log that a setting has cut short is missing when somebody needs it.
import { scheduleOrigin } from '../../access/actor.js'
import { deadJobsBefore } from '../../queue/administer.js'
import { daysAgo, removeRows, type Task, type TaskContext } from '../../queue/task.js'
import { discardDead } from '../jobs/jobs.js'

/** Long enough for a sysadmin's holiday and some days to find out what happened. */
const JOB_DAYS = 30
/** Longer than any tick can be late: the row of a tick only prevents that a second worker enqueues it again. */
const TICK_DAYS = 2
/** Sparklines show minutes; a week allows a comparison with the same day of the last week. */
const MINUTE_DAYS = 7
const RUN_DAYS = 90
const AUDIT_DAYS = 365

export const oldJobs: Task = {
  name: 'old_jobs',
  schedule: '33 3 * * *',
  about: `removes jobs that died ${JOB_DAYS} days ago`,
  run: context => removeJobs(context, daysAgo(JOB_DAYS))
}

/** `run_at` of a dead job is the time of its last try. A hook delivery or a build that waits for the job is canceled with it. */
async function removeJobs(context: TaskContext, before: Date): Promise<undefined> {
  if (context.dryRun) return removeRows(context, 'jobs', "state = 'dead' and run_at < ?", [before])
  for (let ids = await deadJobsBefore(before, 500); ids.length > 0; ids = await deadJobsBefore(before, 500)) {
    context.count(await discardDead(ids, scheduleOrigin()))
    context.signal.throwIfAborted()
  }
}

export const oldTicks: Task = {
  name: 'old_ticks',
  schedule: '47 3 * * *',
  about: `removes ticks of the schedule older than ${TICK_DAYS} days`,
  run: context => removeRows(context, 'schedule_ticks', 'due_at < ?', [daysAgo(TICK_DAYS)])
}

export const oldPasswordAttempts: Task = {
  name: 'old_password_attempts',
  schedule: '48 3 * * *',
  about: 'removes counts of wrong passwords that no longer count',
  run: context => removeRows(context, 'password_attempts', 'until_at < ?', [new Date()])
}

export const oldQueueMinutes: Task = {
  name: 'old_queue_minutes',
  schedule: '49 3 * * *',
  about: `removes the queues' figures for each minute that are older than ${MINUTE_DAYS} days`,
  run: context => removeRows(context, 'queue_minutes', 'minute < ?', [daysAgo(MINUTE_DAYS)])
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

export const oldAuditEvents: Task = {
  name: 'old_audit_events',
  schedule: '53 3 * * *',
  about: `removes audit events older than ${AUDIT_DAYS} days`,
  run: context => removeRows(context, 'audit_events', 'created_at < ?', [daysAgo(AUDIT_DAYS)])
}
