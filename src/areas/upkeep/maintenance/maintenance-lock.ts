// Allows only one run of a task at a time, on any number of machines. The lock is a row with a lease that the run renews. When
// the holder dies, its own machine knows at once; other machines know when the lease ends.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasEnded, isClockSteady, rowsWithClock } from '../../../cluster/clock.js'
import { joinMachines } from '../../../cluster/machines.js'
import { machineMark, runsHere } from '../../../cluster/this-machine.js'
import { outlasting } from '../../../db/connect/outlast.js'
import { execute, row, rows } from '../../../db/connect/sql.js'
import { AlreadyRunning, Unavailable } from '../../../errors.js'
import { startOf } from '../../../lib/process-status.js'

const LEASE_S = 30
const RENEW_MS = (LEASE_S * 1000) / 3

export interface TaskLock {
  /** Aborts when the lease is lost, for example because the database was unavailable for long: another process may run by then. */
  readonly signal: AbortSignal
  release(): Promise<void>
}

export interface LockRow {
  readonly task: string
  readonly holder: string
  readonly lease_until: Date
  readonly is_late: number
  /** The time of the database. */
  readonly now: Date
}

/** A hash of the name of the machine, because the column is shorter than such a name. */
const machineKey = () => machineMark(16)

const LEASE_END = `now(3) + interval ${LEASE_S} second`

/** Takes the lock of a task. Throws AlreadyRunning while a living process holds it. */
export async function takeLock(task: string): Promise<TaskLock> {
  await joinMachines()
  const holder = `${machineKey()}#${process.pid}#${startOf(process.pid) ?? 0}#${randomBytes(4).toString('hex')}`
  if (!(await outlasting(() => take(task, holder))))
    throw new AlreadyRunning(`${task} runs already${await whoRuns(task)}`)
  const lost = new AbortController()
  const timer = setInterval(() => void renew(task, holder, lost).catch(() => undefined), RENEW_MS)
  return {
    signal: lost.signal,
    release: async () => {
      clearInterval(timer)
      await outlasting(() => execute('delete from maintenance_locks where task = ? and holder = ?', [task, holder]))
    }
  }
}

/**
 * Runs work under the lock of a task, with a signal that aborts with `signal` or when the lock is lost. Throws AlreadyRunning
 * without waiting while a living process holds the lock.
 */
export async function underLock<T>(
  task: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const lock = await takeLock(task)
  try {
    return await work(AbortSignal.any([signal, lock.signal]))
  } finally {
    await lock.release()
  }
}

const SELECT = `select task, holder, lease_until, ${hasEnded('lease_until', LEASE_S)} as is_late, now(3) as now
  from maintenance_locks`

async function take(task: string, holder: string): Promise<boolean> {
  const { affectedRows } = await execute(
    `insert ignore into maintenance_locks (task, holder, lease_until) values (?, ?, ${LEASE_END})`,
    [task, holder]
  )
  if (affectedRows === 1) return true
  const [held] = await rowsWithClock<LockRow>(`${SELECT} where task = ?`, [task])
  if (!held) return take(task, holder)
  // The answer to an earlier statement was lost.
  if (held.holder === holder) return true
  if (!isStale(held)) return false
  // A process that has just started may have missed a jump of the clock. A holder that lives renews its lease in this time.
  if (!hasDiedHere(held) && performance.now() < LEASE_S * 1000) await sleep(RENEW_MS + 1000)
  // If several processes find the lock stale, only one of them changes the row that all have read.
  const taken = await execute(
    `update maintenance_locks set holder = ?, lease_until = ${LEASE_END} where task = ? and holder = ? and lease_until = ?`,
    [holder, task, held.holder, held.lease_until]
  )
  return taken.affectedRows === 1
}

async function renew(task: string, holder: string, lost: AbortController): Promise<void> {
  const { affectedRows } = await execute(
    `update maintenance_locks set lease_until = ${LEASE_END} where task = ? and holder = ?`,
    [task, holder]
  )
  if (affectedRows === 0) lost.abort(new Unavailable('the lock of this run was lost'))
}

/** Returns whether no living process holds a lock. */
export const isStale = (lock: LockRow): boolean =>
  (lock.is_late === 1 && isClockSteady(LEASE_S * 1000)) || hasDiedHere(lock)

/** Returns whether the holder of a lock was a process of this machine, and is gone. */
function hasDiedHere({ holder }: LockRow): boolean {
  const [where, pid, start] = holder.split('#')
  return where === machineKey() && !runsHere(Number(pid), Number(start))
}

/** All locks. */
export const listLocks = (): Promise<LockRow[]> => rows<LockRow>(`${SELECT} order by task`)

async function whoRuns(task: string): Promise<string> {
  const run = await row<{ hostname: string; pid: number; started_at: Date }>(
    "select hostname, pid, started_at from maintenance_runs where task = ? and state = 'running' order by id desc limit 1",
    [task]
  )
  return run ? `: process ${run.pid} on ${run.hostname}, since ${run.started_at.toISOString()}` : ''
}
