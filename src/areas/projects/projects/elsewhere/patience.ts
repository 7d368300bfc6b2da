// Long work with the files of a repository, which continues when the machine that owns them, or the database, stops in between.
import { setTimeout as sleep } from 'node:timers/promises'
import { OwnerAway } from '../../../../cluster/repository-elsewhere.js'
import { ownerNow } from '../../../../cluster/storages.js'
import { forgetWithPool } from '../../../../db/connect/connection.js'
import { outlasting } from '../../../../db/connect/outlast.js'
import { NotHere } from '../../../../errors.js'
import type { Original } from '../../../../git/repository/original.js'
import { log } from '../../../../log.js'
import type { StoredProject } from '../repositories.js'
import { withOriginal } from './originals.js'

/** Milliseconds. A machine starts again within this time, or another one takes over a storage that it reaches. */
const PATIENCE_MS = 300_000
const PAUSE_MS = 500
/** Milliseconds. Work that has lasted for longer was not waiting for the same machine as before. */
const PROGRESS_MS = 60_000
/** A machine that stops so often in one piece of work does not merely start again. */
const MOST_STOPS = 20

/** When the last wait for the owner of a storage ended without one, by `performance.now()`: the next projects there do not wait again. */
const gaveUp = new Map<string, number>()
forgetWithPool(() => gaveUp.clear())

/**
 * Works with the files of a project's repository. When a storage has no owner or gets another one, or the database is away, the work begins
 * again as soon as they answer, so a second run must continue what the first one left. Throws OwnerAway, or NotHere for another storage,
 * when none does in time.
 */
export async function withPatience<T>(
  project: StoredProject,
  work: (original: Original) => Promise<T>,
  signal: AbortSignal,
  patience = PATIENCE_MS
): Promise<T> {
  const { id, storage } = project
  const hasWaited = performance.now() - (gaveUp.get(storage) ?? Number.NEGATIVE_INFINITY) < PATIENCE_MS
  const away = () => {
    gaveUp.set(storage, performance.now())
    return new OwnerAway(`the machine of the storage ${storage} does not answer: start it, and try again`)
  }
  if (hasWaited && ownerNow(storage) === undefined) throw away()
  let awaySince = Number.NEGATIVE_INFINITY
  for (let stops = 0; ; ) {
    const began = performance.now()
    try {
      const result = await outlasting(() => withOriginal(project, work, signal), signal)
      gaveUp.delete(storage)
      return result
    } catch (error) {
      if (!(error instanceof OwnerAway || error instanceof NotHere) || signal.aborted) throw error
      if (stops === 0 || performance.now() - began > PROGRESS_MS) {
        log().warn({ project: id, storage, error: error.message }, 'waiting for the machine of a repository')
        awaySince = performance.now()
        stops += 1
      }
      const mayWait = stops > 1 || !hasWaited
      if (mayWait && performance.now() - awaySince <= patience && stops <= MOST_STOPS) {
        await sleep(PAUSE_MS, undefined, { signal })
        continue
      }
      throw error instanceof NotHere ? error : away()
    }
  }
}
