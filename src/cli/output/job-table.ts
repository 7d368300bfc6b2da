import type { JobRow } from '../../queue/administer.js'
import { type Column, table } from './table.js'

const LONGEST_PAYLOAD = 60

/** Long payloads are cut. */
export const JOB_COLUMNS: readonly Column<JobRow>[] = [
  ['ID', job => job.id],
  ['QUEUE', job => job.queue],
  ['NAME', job => job.name],
  ['STATE', job => job.state],
  ['TRIES', job => job.attempts],
  ['RUN AT', job => job.run_at],
  ['PAYLOAD', job => cut(job.payload)]
]

/** Returns a table of jobs for people. */
export const jobTable = (jobs: readonly JobRow[]): string => table(jobs, JOB_COLUMNS)

const cut = (text: string) => (text.length > LONGEST_PAYLOAD ? `${text.slice(0, LONGEST_PAYLOAD - 3)}...` : text)
