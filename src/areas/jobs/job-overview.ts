// One record with everything that the dashboard of background jobs shows: the API, `jobs top --json` and the terminal
// use it.
import { queuesOverview } from '../../queue/overview.js'
import { runningBuilds } from '../builds/running.queries.js'
import { type JobOverview, viewJobOverview } from './job-overview.view.js'

/** The current queues, processes, recent failures and running builds. */
export async function jobOverview(): Promise<JobOverview> {
  const [queues, builds] = await Promise.all([queuesOverview(), runningBuilds()])
  return viewJobOverview({ ...queues, builds, at: new Date() })
}
