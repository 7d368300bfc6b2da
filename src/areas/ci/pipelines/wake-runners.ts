import { config } from '../../../config.js'
import { row } from '../../../db/connect/sql.js'
import { afterCommit } from '../../../db/connect/transact.js'
import { enqueueAll } from '../../../queue/enqueue.js'

/** Adds one wake-up for each of these builds. A woken runner claims the next build in the queue, which may be a different one. */
export async function wakeRunners(builds: readonly number[]): Promise<void> {
  const wakeUps = builds.map(buildId => ({ buildId }))
  if (wakeUps.length === 0) return
  await enqueueAll('build.run', wakeUps)
  afterCommit(() => {
    made += 1
  })
}

let made = 0

/** Returns how often this process has made builds pending. */
export const madePending = (): number => made

/**
 * Wakes the built-in runner for another build of a project after one of its builds ended. While a project has its
 * maximum number of running builds, wake-ups find nothing.
 */
export async function wakeForRoom(pipelineId: number): Promise<void> {
  if (config().runner.project_limit === 0) return
  const next = await row<{ id: number | null }>(
    `select min(id) as id from builds
     where status = 'pending' and project_id = (select project_id from pipelines where id = ?)`,
    [pipelineId]
  )
  if (next && next.id !== null) await wakeRunners([next.id])
}
