// A source gives the dashboard its records and makes its changes: the database of this machine, or an API.
import type { JobOverview } from '../../areas/jobs/job-overview.view.js'
import type { Job } from '../../areas/jobs/jobs.view.js'

export type { Job, JobOverview }

/** Every method throws Unavailable while the source does not answer. The dashboard then tries again. */
export interface JobSource {
  /** The name of the appliance, for the first line. */
  readonly name: string
  overview(): Promise<JobOverview>
  /** The newest 100 jobs, of all queues when `queue` is null. */
  jobs(queue: string | null): Promise<Job[]>
  /** Throws NotFound when the job does not exist any more. */
  job(id: number): Promise<Job>
  retry(id: number): Promise<void>
  discard(id: number): Promise<void>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
}
