// One record with everything that the dashboard of background jobs shows: the API, `jobs top --json` and the terminal
// use it.
import { queuesOverview } from '../../queue/overview.js'
import { runningBuilds } from '../builds/running.queries.js'
import { failingHooks } from '../hooks/failing.queries.js'
import { type JobOverview, viewJobOverview } from './job-overview.view.js'

/** The current queues, processes, recent failures, running builds and failing hooks. */
export async function jobOverview(): Promise<JobOverview> {
  const [queues, builds, hooks] = await Promise.all([queuesOverview(), runningBuilds(), failingHooks()])
  return viewJobOverview({ ...queues, builds, hooks, at: new Date() })
}
