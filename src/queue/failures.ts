// When jobs failed last, for those that are still there: what the dashboard lists newest first.
import { execute, marks } from '../db/sql.js'

/** Writes down that jobs have just failed. */
export async function noteFailures(ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const now = new Date()
  await execute(
    `insert into job_failures (job_id, failed_at) values ${ids.map(() => '(?, ?)').join(', ')}
     on duplicate key update failed_at = values(failed_at)`,
    ids.flatMap(id => [id, now])
  )
}

/** Jobs that are gone have no failures. */
export async function forgetFailures(ids: readonly number[]): Promise<void> {
  await execute(`delete from job_failures where job_id in (${marks(ids)})`, ids)
}

/** The same for all that are gone. */
export async function forgetFailuresWithoutJob(): Promise<void> {
  await execute('delete f from job_failures f left join jobs j on j.id = f.job_id where j.id is null')
}
