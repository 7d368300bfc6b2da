// Records that have told all that they had to tell. How long each is kept is a constant: a log that is kept for ever
// fills the disk, and one that a setting cuts short is missed when it is needed.
import { deadJobsBefore } from '../../queue/administer.js'
import { daysAgo, removeRows, type Task, type TaskContext } from '../../queue/task.js'
import { discardDead } from '../jobs/jobs.js'

/** A sysadmin's holiday, with some days to look into what happened. */
const JOB_DAYS = 30
/** Longer than any tick can be late: a tick's row only keeps a second worker from enqueuing it again. */
const TICK_DAYS = 2
/** Sparklines show minutes; a week is for comparing with the same day before. */
const MINUTE_DAYS = 7
const RUN_DAYS = 90
const AUDIT_DAYS = 365

export const oldJobs: Task = {
  name: 'old_jobs',
  schedule: '33 3 * * *',
  about: `removes jobs that died ${JOB_DAYS} days ago`,
  run: context => removeJobs(context, daysAgo(JOB_DAYS))
}

/** A dead job keeps the time of its last try. What waits for it goes with it: the delivery of a hook. */
async function removeJobs(context: TaskContext, before: Date): Promise<undefined> {
  if (context.dryRun) return removeRows(context, 'jobs', "state = 'dead' and run_at < ?", [before])
  for (let ids = await deadJobsBefore(before, 500); ids.length > 0; ids = await deadJobsBefore(before, 500)) {
    context.count(await discardDead(ids))
    context.signal.throwIfAborted()
  }
}

export const oldTicks: Task = {
  name: 'old_ticks',
  schedule: '47 3 * * *',
  about: `removes ticks of the schedule older than ${TICK_DAYS} days`,
  run: context => removeRows(context, 'schedule_ticks', 'due_at < ?', [daysAgo(TICK_DAYS)])
}

export const oldQueueMinutes: Task = {
  name: 'old_queue_minutes',
  schedule: '49 3 * * *',
  about: `removes the queues' figures by the minute older than ${MINUTE_DAYS} days`,
  run: context => removeRows(context, 'queue_minutes', 'minute < ?', [daysAgo(MINUTE_DAYS)])
}

export const oldRuns: Task = {
  name: 'old_runs',
  schedule: '51 3 * * *',
  about: `removes records of maintenance older than ${RUN_DAYS} days, but for each task's last`,
  // The last run of a task tells whether the next was missed.
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
