// Where the dashboard's records come from, and who does what it is told: this machine's database, or an API.
import type { JobOverview } from '../../areas/jobs/job-overview.view.js'
import type { Job } from '../../areas/jobs/jobs.view.js'

export type { Job, JobOverview }

/** All of them throw Unavailable while the source is away, which is waited for. */
export interface JobSource {
  /** What is watched, for the first line. */
  readonly name: string
  overview(): Promise<JobOverview>
  /** The newest 100 jobs, of one queue where it is named. */
  jobs(queue: string | null): Promise<Job[]>
  /** Throws NotFound for one that is gone. */
  job(id: number): Promise<Job>
  retry(id: number): Promise<void>
  discard(id: number): Promise<void>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
}
