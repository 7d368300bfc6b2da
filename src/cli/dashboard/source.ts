// A source gives the dashboard its records and makes its changes: the database of this machine, or an API.

import type { WatchedBuild, WatchedBuildDetails } from '../../areas/upkeep/jobs/dashboard-builds.view.js'
import type { JobOverview } from '../../areas/upkeep/jobs/job-overview.view.js'
import type { FoundJobs, Job } from '../../areas/upkeep/jobs/jobs.view.js'

export type { FoundJobs, Job, JobOverview, WatchedBuild, WatchedBuildDetails }

export interface JobQuestion {
  /** What the jobs contain; empty finds all. */
  readonly text: string
  /** Only jobs of this queue; null for all queues. */
  readonly queue: string | null
  readonly oldest: boolean
  /** Go on after the job with this id; null begins. */
  readonly past: number | null
}

/** Every method throws Unavailable while the source does not answer. The dashboard then tries again. */
export interface JobSource {
  /** The name of the appliance, for the first line. */
  readonly name: string
  overview(): Promise<JobOverview>
  /** One bounded step of a search among all jobs. */
  jobs(question: JobQuestion): Promise<FoundJobs>
  /** Throws NotFound when the job does not exist any more. */
  job(id: number): Promise<Job>
  /** The builds that run or wait, and the newest ones. */
  builds(): Promise<WatchedBuild[]>
  /** Throws NotFound when the build does not exist any more. */
  build(id: number): Promise<WatchedBuildDetails>
  /** These return how many records they have changed. Others are not in a state for it, or do not exist any more. */
  retry(jobs: readonly number[]): Promise<number>
  discard(jobs: readonly number[]): Promise<number>
  cancelBuilds(builds: readonly number[]): Promise<number>
  retryBuilds(builds: readonly number[]): Promise<number>
  pause(queue: string): Promise<void>
  resume(queue: string): Promise<void>
}
