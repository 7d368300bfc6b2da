// Stores when each existing job failed last. The dashboard lists these failures, newest first.
import { execute, marks } from '../db/connect/sql.js'
import { plug } from '../lib/plug.js'
import { type JobName, type Jobs, jobs } from './jobs.js'

/** What areas do in the transaction in which their jobs die. */
export type DeadJobs = { readonly [Name in keyof Jobs]?: (payload: Jobs[Name]) => Promise<void> }

export const deadJobs = plug<DeadJobs>('deadJobs')

/** Tells the area of a job, if it wants to know, that the job has just died. */
export async function noteDead({
  name,
  payload
}: {
  readonly name: JobName
  readonly payload: unknown
}): Promise<void> {
  if (!jobs[name]?.showsDeath) return
  const end = (await deadJobs())[name as keyof Jobs] as ((payload: unknown) => Promise<void>) | undefined
  await end?.(payload)
}

/** Records that these jobs have just failed. */
export async function noteFailures(ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const now = new Date()
  await execute(
    `insert into job_failures (job_id, failed_at) values ${ids.map(() => '(?, ?)').join(', ')}
     on duplicate key update failed_at = values(failed_at)`,
    ids.flatMap(id => [id, now])
  )
}

/** Removes the stored failures of jobs that were removed. */
export async function forgetFailures(ids: readonly number[]): Promise<void> {
  await execute(`delete from job_failures where job_id in (${marks(ids)})`, ids)
}

/** Removes the stored failures of all jobs that no longer exist. */
export async function forgetFailuresWithoutJob(): Promise<void> {
  await execute('delete f from job_failures f left join jobs j on j.id = f.job_id where j.id is null')
}
