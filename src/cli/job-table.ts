import type { JobRow } from '../queue/administer.js'
import { table } from './table.js'

const LONGEST_PAYLOAD = 60

/** A table of jobs for people. Long payloads are cut. */
export const jobTable = (jobs: readonly JobRow[]): string =>
  table(jobs, [
    ['ID', job => job.id],
    ['QUEUE', job => job.queue],
    ['NAME', job => job.name],
    ['STATE', job => job.state],
    ['TRIES', job => job.attempts],
    ['RUN AT', job => job.run_at],
    ['PAYLOAD', job => cut(job.payload)]
  ])

const cut = (text: string) => (text.length > LONGEST_PAYLOAD ? `${text.slice(0, LONGEST_PAYLOAD - 3)}...` : text)
