// Finds locks that dead git processes left in the repositories of all projects.
import { setTimeout as sleep } from 'node:timers/promises'
import { rows } from '../../../db/connect/sql.js'
import { type HorizonOf, LEAST_AGE_MS, removeStaleLocks, staleLocks } from '../../../git/repository/stale-locks.js'
import { log } from '../../../log.js'
import { ofThisMachine, repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { lockHorizon } from '../refs/lock-horizon.js'
import { sampled } from './stored-repositories.js'

/** Returns the stale locks in the repositories of all projects, or of `sample` random ones. */
export const findStaleLocks = (sample?: number): Promise<string[]> => lookAt(sample, staleLocks)

/** A search of 40,000 repositories uses a processor for a second. These rests leave the processor to others. */
const WORK_MS = 20
const REST_MS = 80
/**
 * The search in the background leaves out projects without activity in the days before the last activity of all: only a process
 * that works in a repository leaves a lock there. The upkeep of a repository removes its stale locks, too.
 */
const ACTIVE_DAYS = 7

/**
 * Removes stale locks and returns their paths. With `signal` it works in the background: it first waits until the locks of
 * processes that have just been killed are old enough, looks only at projects with activity, rests often, and stops at the signal.
 */
export async function clearStaleLocks(sample?: number, signal?: AbortSignal): Promise<string[]> {
  if (signal) await sleep(LEAST_AGE_MS, undefined, { signal }).catch(() => undefined)
  const locks = await lookAt(sample, removeStaleLocks, signal)
  if (locks.length > 0)
    log().warn({ locks: locks.slice(0, 20), of: locks.length }, 'locks of dead processes were removed')
  return locks
}

async function someProjects(sample: number | undefined): Promise<StoredProject[]> {
  const ours = ofThisMachine('storage')
  return rows<StoredProject>(`select id, storage from projects where ${ours.sql} ${sampled(sample)}`, ours.values)
}

/** Projects with activity in the week before the last activity of all, newest first. */
export async function activeProjects(): Promise<StoredProject[]> {
  const newest = 'select max(last_activity_at) as at from projects where archived ='
  const found = await rows<{ at: Date | null }>(`${newest} 0 union all ${newest} 1`)
  const ours = ofThisMachine('storage')
  const last = Math.max(...found.map(({ at }) => at?.getTime() ?? 0))
  return rows<StoredProject>(
    // Without the hint, the database reads all projects when a tenth of them had activity.
    `select id, storage from projects force index (projects_activity)
     where archived in (0, 1) and last_activity_at >= ? and ${ours.sql} order by last_activity_at desc`,
    [new Date(last - ACTIVE_DAYS * 86_400_000), ...ours.values]
  )
}

/** Removes the stale locks of one repository. */
export const clearLocksOf = (project: StoredProject): Promise<string[]> =>
  removeStaleLocks(repositoryPath(project), () => lockHorizon(project.id))

async function lookAt(
  sample: number | undefined,
  look: (repository: string, horizon: HorizonOf) => Promise<string[]>,
  signal?: AbortSignal
): Promise<string[]> {
  const projects = signal ? await activeProjects() : await someProjects(sample)
  const found: string[] = []
  let rested = performance.now()
  for (const project of projects) {
    if (signal && performance.now() - rested > WORK_MS) {
      await sleep(REST_MS, undefined, { signal }).catch(() => undefined)
      rested = performance.now()
    }
    if (signal?.aborted) break
    found.push(...(await look(repositoryPath(project), () => lockHorizon(project.id))))
  }
  return found
}
