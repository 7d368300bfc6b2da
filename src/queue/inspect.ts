// Finds problems with jobs, for the people who look after the appliance.
import { row, rows } from '../db/sql.js'
import { listGone } from './processes.js'

/** Returns the ids of running jobs whose process is gone. Nobody works on them until a worker gives them back. */
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

/** Returns how many jobs were created in the future, by more than a minute, which is more than clocks may differ. */
export async function futureJobs(): Promise<number> {
  const found = await row<{ count: number }>('select count(*) as count from jobs where created_at > ?', [
    new Date(Date.now() + 60_000)
  ])
  return found?.count ?? 0
}
