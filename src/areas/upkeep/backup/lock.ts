// Allows only one backup at a time. A backup also holds the locks of the maintenance tasks that remove files which it needs.
import { setTimeout as sleep } from 'node:timers/promises'
import { AlreadyRunning } from '../../../errors.js'
import { takeLock } from '../maintenance/maintenance-lock.js'

const OWN = 'backup'
/**
 * These tasks remove objects that no ref reaches, files of builds and of LFS whose rows the snapshot has, and copies of repositories that
 * moved.
 */
const AT_REST = ['repository_upkeep', 'expired_artifacts', 'lfs_objects', 'old_builds', 'old_repositories'] as const
/** Longer than a run of these tasks takes. */
const PATIENCE_MS = 1_800_000

type TaskLock = Awaited<ReturnType<typeof takeLock>>

/**
 * Runs `work` as the only backup, after waiting for such a task that is already running. The signal aborts when a lock is lost,
 * and when `ending` does. Throws AlreadyRunning while another backup runs, and when a task runs for longer than half an hour.
 */
export async function asOnlyBackup<T>(work: (signal: AbortSignal) => Promise<T>, ending?: AbortSignal): Promise<T> {
  const locks: TaskLock[] = [await takeOwn()]
  const given = ending ? [ending] : []
  try {
    for (const task of AT_REST) locks.push(await takeWhenFree(task, ending))
    return await work(AbortSignal.any([...given, ...locks.map(({ signal }) => signal)]))
  } finally {
    // If the database does not respond, the leases expire.
    await Promise.allSettled(locks.map(lock => lock.release()))
  }
}

async function takeOwn(): Promise<TaskLock> {
  try {
    return await takeLock(OWN)
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error
    throw new AlreadyRunning('another backup is being written: wait until it ends')
  }
}

async function takeWhenFree(task: string, ending?: AbortSignal): Promise<TaskLock> {
  for (const end = Date.now() + PATIENCE_MS; ; ) {
    try {
      return await takeLock(task)
    } catch (error) {
      if (!(error instanceof AlreadyRunning) || Date.now() > end) throw error
    }
    ending?.throwIfAborted()
    await sleep(500)
  }
}
