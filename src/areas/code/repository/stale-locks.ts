// Finds locks that dead git processes left in the repositories of all projects.
import { setTimeout as sleep } from 'node:timers/promises'
import { rows } from '../../../db/connect/sql.js'
import { type HorizonOf, LEAST_AGE_MS, removeStaleLocks, staleLocks } from '../../../git/repository/stale-locks.js'
import { log } from '../../../log.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'
import { lockHorizon } from '../refs/lock-horizon.js'
import { sampled } from './stored-repositories.js'

/** Returns the stale locks in the repositories of all projects, or of `sample` random ones. */
export const findStaleLocks = (sample?: number): Promise<string[]> => lookAt(sample, staleLocks)

/** With 100,000 projects, the search used half a processor for more than 40 s. These rests leave the processor to others. */
const WORK_MS = 20
const REST_MS = 80

/**
 * Removes stale locks and returns their paths. With `signal` it works in the background: it first waits until the locks of
 * processes that have just been killed are old enough, rests often, and stops at the signal.
 */
export async function clearStaleLocks(sample?: number, signal?: AbortSignal): Promise<string[]> {
  if (signal) await sleep(LEAST_AGE_MS, undefined, { signal }).catch(() => undefined)
  const locks = await lookAt(sample, removeStaleLocks, signal)
  if (locks.length > 0)
    log().warn({ locks: locks.slice(0, 20), of: locks.length }, 'locks of dead processes were removed')
  return locks
}

async function lookAt(
  sample: number | undefined,
  look: (repository: string, horizon: HorizonOf) => Promise<string[]>,
  signal?: AbortSignal
): Promise<string[]> {
  const projects = await rows<StoredProject>(`select id, storage from projects ${sampled(sample)}`)
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
