// A source provides the records of the dashboard and makes its changes. It is the database of this machine, or an API.

import type { WatchedBuild, WatchedBuildDetails } from '../../areas/upkeep/jobs/dashboard-builds.view.js'
import type { JobOverview } from '../../areas/upkeep/jobs/job-overview.view.js'
import type { FoundJobs, Job } from '../../areas/upkeep/jobs/jobs.view.js'

export type { FoundJobs, Job, JobOverview, WatchedBuild, WatchedBuildDetails }

export interface JobQuestion {
  /** The text that the jobs contain; empty finds all jobs. */
  readonly text: string
  /** Only jobs of this queue; null for all queues. */
  readonly queue: string | null
  readonly oldest: boolean
  /** Continue after the job with this id; null starts at the beginning. */
  readonly past: number | null
}

/** Every method throws Unavailable while the source does not answer. The dashboard then retries. */
export interface JobSource {
  /** The name of the appliance, for the first line. */
  readonly name: string
  overview(): Promise<JobOverview>
  /** Makes one limited step of a search in all jobs. */
  jobs(question: JobQuestion): Promise<FoundJobs>
  /** Throws NotFound when the job no longer exists. */
  job(id: number): Promise<Job>
  /** Returns the running and waiting builds, and the newest ones. */
  builds(): Promise<WatchedBuild[]>
  /** Throws NotFound when the build no longer exists. */
  build(id: number): Promise<WatchedBuildDetails>
  /** Return how many records they changed. The state of the others does not allow it, or they no longer exist. */
  retry(jobs: readonly number[]): Promise<number>
  discard(jobs: readonly number[]): Promise<number>
  cancelBuilds(builds: readonly number[]): Promise<number>
  retryBuilds(builds: readonly number[]): Promise<number>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
}
