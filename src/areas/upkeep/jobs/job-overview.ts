// One record with everything that the dashboard of background jobs shows. The API, `jobs top --json` and the terminal use it.
import { paced } from '../../../lib/paced.js'
import { queuesOverview } from '../../../queue/overview.js'
import { runningBuilds } from '../../ci/builds/running.queries.js'
import { failingHooks } from '../../ground/hooks/failing.queries.js'
import { mailQueue } from '../../reach/mail/mail-queue.queries.js'
import { type JobOverview, viewJobOverview } from './job-overview.view.js'

/** Counting many mails takes long, and the dashboard polls every second. */
const readMailQueue = paced(mailQueue, { share: 0.02, least: 0 })

/** The current queues, processes, recent failures, running builds, failing hooks and pending mails. */
export async function jobOverview(): Promise<JobOverview> {
  const [queues, builds, hooks, mail] = await Promise.all([
    queuesOverview(),
    runningBuilds(),
    failingHooks(),
    readMailQueue()
  ])
  return viewJobOverview({ ...queues, builds, hooks, mail, at: new Date() })
}
