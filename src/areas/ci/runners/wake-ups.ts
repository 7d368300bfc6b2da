// Jobs wake the built-in runner, one job for each build that becomes pending. A job can be lost: somebody discards it, or it is
// dead because its workers were killed repeatedly. A build can also become eligible for the built-in runner later, for example
// when the runner gets a tag. Then there are more builds than wake-ups, and this file adds the missing ones.
import { databaseNow } from '../../../db/connect/server.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { listJobs } from '../../../queue/administer.js'
import type { Jobs } from '../../../queue/jobs.js'
import { countWaitingJobs } from '../../../queue/metrics.js'
import type { Task } from '../../../queue/task.js'
import { wakeRunners } from '../pipelines/wake-runners.js'
import { builtInRunner } from './built-in-runner.js'
import { noteRunnerChange } from './changes.js'
import { findOverdueBuilds } from './waiting-builds.queries.js'

/** Longer than any handover between workers. */
const LOST_AFTER_MS = 60_000
/** The maximum number of wake-ups that one run adds. Workers take fewer until the next run. */
const MOST = 100

/**
 * Counts builds that the built-in runner could have taken a minute ago and that have no wake-up due within a minute.
 * Returns at most 100.
 */
export async function countMissingWakeUps(at?: Date): Promise<number> {
  return (await missingWakeUps(at ?? (await databaseNow()))).length
}

/** Adds the missing wake-ups and returns their number. Concurrent calls add them only once. */
export async function addMissingWakeUps(at?: Date): Promise<number> {
  const now = at ?? (await databaseNow())
  if ((await countMissingWakeUps(now)) === 0) return 0
  return transact(async () => {
    await row('select id from runners where built_in = 1 for update')
    const missing = await missingWakeUps(now)
    await wakeRunners(missing)
    return missing.length
  })
}

/** Wakes all runners for the builds of a project that wait. Call it in the transaction of the change that lets them start. */
export async function wakeForProject(projectId: number): Promise<void> {
  const waiting = await rows<{ id: number }>(
    `select id from builds where status = 'pending' and project_id = ? order by id limit ${MOST}`,
    [projectId]
  )
  await wakeRunners(waiting.map(({ id }) => id))
  noteRunnerChange()
}

/** Returns a build for each missing wake-up: as many as are missing, among those that no job names. */
async function missingWakeUps(now: Date): Promise<number[]> {
  const runner = await builtInRunner()
  if (!runner.active) return []
  const [before, soon] = [new Date(now.getTime() - LOST_AFTER_MS), new Date(now.getTime() + LOST_AFTER_MS)]
  const builds = await findOverdueBuilds(runner, { before, soon }, MOST)
  if (builds.length === 0) return []
  // Wake-ups are counted after the builds: a wake-up that was added and used between the two counts has changed its build.
  const count = builds.length - (await countWaitingJobs('build.run', { until: soon, most: MOST }))
  if (count <= 0) return []
  const jobs = await listJobs({ name: 'build.run', limit: 1000 })
  const named = new Set(jobs.map(({ payload }) => (JSON.parse(payload) as Jobs['build.run']).buildId))
  const [unnamed, others] = [builds.filter(id => !named.has(id)), builds.filter(id => named.has(id))]
  return [...unnamed, ...others].slice(0, count)
}

export const abandonedBuilds: Task = {
  name: 'abandoned_builds',
  schedule: '41 * * * *',
  about: 'wakes the built-in runner for builds that wait or whose worker died, when no job does',
  run: async ({ dryRun, count }) => {
    count(dryRun ? await countMissingWakeUps() : await addMissingWakeUps())
    return undefined
  }
}
