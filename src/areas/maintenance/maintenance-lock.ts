// One run of a task at a time, on however many machines: a row with a lease, renewed while the run lasts. A holder that
// died is known at once on its own machine, by the end of its lease everywhere.
import { createHash, randomBytes } from 'node:crypto'
import { execute, row, rows } from '../../db/sql.js'
import { AlreadyRunning } from '../../errors.js'
import { machine, startOf } from '../../queue/processes.js'

const LEASE_MS = 30_000

export interface TaskLock {
  /** Ends when the lease was lost, as after a long absence of the database: somebody else may run by then. */
  readonly signal: AbortSignal
  release(): Promise<void>
}

export interface LockRow {
  readonly task: string
  readonly holder: string
  readonly lease_until: Date
}

/** Fits the column, which is shorter than the name of a machine. */
const machineKey = () => createHash('sha256').update(machine()).digest('hex').slice(0, 16)

const leaseEnd = () => new Date(Date.now() + LEASE_MS)

/** Takes a task's lock. Throws AlreadyRunning while a process that lives holds it. */
export async function takeLock(task: string): Promise<TaskLock> {
  const holder = `${machineKey()}#${process.pid}#${startOf(process.pid) ?? 0}#${randomBytes(4).toString('hex')}`
  if (!(await take(task, holder))) throw new AlreadyRunning(`${task} runs already${await whoRuns(task)}`)
  const lost = new AbortController()
  const timer = setInterval(() => void renew(task, holder, lost).catch(() => undefined), LEASE_MS / 3)
  return {
    signal: lost.signal,
    release: async () => {
      clearInterval(timer)
      await execute('delete from maintenance_locks where task = ? and holder = ?', [task, holder])
    }
  }
}

async function take(task: string, holder: string): Promise<boolean> {
  const { affectedRows } = await execute(
    'insert ignore into maintenance_locks (task, holder, lease_until) values (?, ?, ?)',
    [task, holder, leaseEnd()]
  )
  if (affectedRows === 1) return true
  const held = await row<LockRow>('select task, holder, lease_until from maintenance_locks where task = ?', [task])
  if (!held) return take(task, holder)
  if (!isStale(held)) return false
  // Of several that find it stale one changes the row that all have seen.
  const taken = await execute(
    'update maintenance_locks set holder = ?, lease_until = ? where task = ? and holder = ? and lease_until = ?',
    [holder, leaseEnd(), task, held.holder, held.lease_until]
  )
  return taken.affectedRows === 1
}

async function renew(task: string, holder: string, lost: AbortController): Promise<void> {
  const { affectedRows } = await execute('update maintenance_locks set lease_until = ? where task = ? and holder = ?', [
    leaseEnd(),
    task,
    holder
  ])
  if (affectedRows === 0) lost.abort(new Error('the lock of this run was lost'))
}

/** Whether nobody who lives holds a lock. */
export function isStale({ holder, lease_until }: LockRow): boolean {
  if (lease_until < new Date()) return true
  const [where, pid, start] = holder.split('#')
  return where === machineKey() && startOf(Number(pid)) !== Number(start)
}

/** All locks there are. */
export const listLocks = (): Promise<LockRow[]> =>
  rows<LockRow>('select task, holder, lease_until from maintenance_locks order by task')

async function whoRuns(task: string): Promise<string> {
  const run = await row<{ hostname: string; pid: number; started_at: Date }>(
    "select hostname, pid, started_at from maintenance_runs where task = ? and state = 'running' order by id desc limit 1",
    [task]
  )
  return run ? `: process ${run.pid} on ${run.hostname}, since ${run.started_at.toISOString()}` : ''
}
