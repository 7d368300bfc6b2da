// Pipelines whose CI file includes URLs are planned by jobs of the queue for slow servers. In another queue, a few
// pushes could use all slots, and delay the hooks, mail and pipelines of everybody.
import { enqueue } from '../../../../queue/enqueue.js'
import type { Jobs } from '../../../../queue/jobs.js'
import { UrlsLater } from './include-files.js'

/** Plans a pipeline by `plan`. If it needs URLs, a job does it instead, and the result is undefined. */
export async function orInOtherJob<T>(
  plan: () => Promise<T>,
  projectId: number,
  payload: Jobs['pipeline.plan']
): Promise<T | undefined> {
  try {
    return await plan()
  } catch (error) {
    if (!(error instanceof UrlsLater)) throw error
    // A project takes no more slots than a slow receiver of hooks.
    await enqueue('pipeline.plan', payload, { lane: projectId })
    return undefined
  }
}
