import { enqueueAll } from '../../queue/enqueue.js'

/**
 * Adds one wake-up for each of these builds. A woken runner claims the next build in the queue, which may be another
 * one.
 */
export async function wakeRunners(builds: readonly number[]): Promise<void> {
  const wakeUps = builds.map(buildId => ({ buildId }))
  if (wakeUps.length > 0) await enqueueAll('build.run', wakeUps)
}
