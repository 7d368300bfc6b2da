// Finds problems with jobs, for the administrators of the appliance.
import { marks, row, rows } from '../db/connect/sql.js'
import { listGone } from './processes.js'

/** Returns the ids of running jobs whose process has ended. Nobody works on them until a worker puts them back. */
export async function lostJobs(): Promise<number[]> {
  const gone = new Set(await listGone())
  const running = await rows<{ id: number; process_id: number | null; known: number }>(
    `select j.id, j.process_id, p.id is not null as known from jobs j left join job_processes p on p.id = j.process_id
     where j.state = 'running'`
  )
  return running
    .filter(({ process_id, known }) => known === 0 || (process_id !== null && gone.has(process_id)))
    .map(({ id }) => id)
}

/** Returns the number of dead jobs for each job name. */
export async function deadJobs(): Promise<{ name: string; count: number }[]> {
  return rows("select name, count(*) as count from jobs where state = 'dead' group by name order by name")
}

/** After this number of tries, a failing job is more than bad luck: they take at least 14 s. */
export const FAILING_TRIES = 3

/**
 * Returns, for each name, the delayed jobs that have failed several times: their number, and the newest of them with
 * its error. Deliveries of hooks are omitted, because their hook shows more details.
 */
export async function failingJobs(): Promise<{ name: string; count: number; id: number; error: string }[]> {
  const found = await rows<{ name: string; count: number; id: number }>(
    `select name, count(*) as count, max(id) as id from jobs
     where state = 'delayed' and attempts >= ${FAILING_TRIES} and name <> 'hook.deliver' group by name order by name`
  )
  const errors = await rows<{ id: number; error: string | null }>(
    `select id, substring_index(error, '\\n', 1) as error from jobs where id in (${marks(found)})`,
    found.map(({ id }) => id)
  )
  return found.map(job => ({ ...job, error: errors.find(({ id }) => id === job.id)?.error ?? '' }))
}

/** Returns how many jobs were created in the future, by more than a minute, which is more than clocks may deviate. */
export async function futureJobs(): Promise<number> {
  const found = await row<{ count: number }>('select count(*) as count from jobs where created_at > ?', [
    new Date(Date.now() + 60_000)
  ])
  return found?.count ?? 0
}
