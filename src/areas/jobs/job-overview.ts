// All that the dashboard of background jobs shows, in one record: the API's, `jobs top --json` and the terminal's.
import { queuesOverview } from '../../queue/overview.js'
import { runningBuilds } from '../builds/running.queries.js'
import { type JobOverview, viewJobOverview } from './job-overview.view.js'

/** Queues, processes, recent failures and running builds as they are now. */
export async function jobOverview(): Promise<JobOverview> {
  const [queues, builds] = await Promise.all([queuesOverview(), runningBuilds()])
  return viewJobOverview({ ...queues, builds, at: new Date() })
}
