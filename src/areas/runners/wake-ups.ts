// The built-in runner is woken by jobs, one for each build that becomes pending. A job may be lost (discarded, or dead
// after its workers were killed again and again), and a build may become one of the built-in runner's later, as by a tag
// that was given to it: then there are more builds than wake-ups, and those that are missing are added.
import { row } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { countWaitingJobs } from '../../queue/metrics.js'
import { builtInRunner } from './built-in-runner.js'
import { countOverdueBuilds } from './waiting-builds.queries.js'

/** Longer than any hand-over between workers takes. */
const LOST_AFTER_MS = 60_000
/** Added at once: more than workers take until the next time. */
const MOST = 100

/** How many builds could have been taken a minute ago and have no wake-up that comes within a minute; 100 at the most. */
export async function countMissingWakeUps(now = new Date()): Promise<number> {
  const runner = await builtInRunner()
  if (!runner.active) return 0
  const builds = await countOverdueBuilds(runner, new Date(now.getTime() - LOST_AFTER_MS), MOST)
  if (builds === 0) return 0
  // Asked after the builds: a wake-up that came and went in between has moved its build on.
  const soon = new Date(now.getTime() + LOST_AFTER_MS)
  return Math.max(0, builds - (await countWaitingJobs('build.run', { until: soon, most: MOST })))
}

/** Adds the wake-ups that are missing; gives how many. Several workers that find the same ones missing add them once. */
export async function addMissingWakeUps(now = new Date()): Promise<number> {
  if ((await countMissingWakeUps(now)) === 0) return 0
  return transact(async () => {
    await row('select id from runners where built_in = 1 for update')
    const missing = await countMissingWakeUps(now)
    const wakeUps = Array.from({ length: missing }, () => ({}))
    await enqueueAll('build.run', wakeUps)
    return missing
  })
}
