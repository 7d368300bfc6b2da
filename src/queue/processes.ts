// Worker processes. A process renews a lease to show that it is alive. When a process is gone, its jobs return to the queue.
import { hostname } from 'node:os'
import { hasEnded, isClockSteady, rowsWithClock } from '../cluster/clock.js'
import { watchMachines } from '../cluster/machines.js'
import { machine, runsHere } from '../cluster/this-machine.js'
import { config } from '../config.js'
import { execute, marks, rows } from '../db/connect/sql.js'
import { transact } from '../db/connect/transact.js'
import { startOf } from '../lib/process-status.js'
import { noteDead, noteFailures } from './failures.js'
import { CRASHES, type JobName, type Queue } from './jobs.js'

export interface ProcessOptions {
  readonly queues: readonly Queue[]
  readonly concurrency: number
  readonly tag?: string
  readonly labels?: readonly string[]
}

/** Registers this process. The id is the fencing token of everything that the process claims. */
export async function registerProcess(options: ProcessOptions): Promise<number> {
  const { insertId } = await execute(
    `insert into job_processes (hostname, machine, pid, pid_started, tag, queues, labels, concurrency, started_at,
       lease_seconds, lease_until)
     values (?, ?, ?, ?, ?, ?, ?, ?, now(3), ?, now(3) + interval ? second)`,
    [
      hostname(),
      machine(),
      process.pid,
      startOf(process.pid) ?? 0,
      options.tag ?? 'gitstead',
      JSON.stringify(options.queues),
      JSON.stringify(options.labels ?? []),
      options.concurrency,
      config().queue.lease,
      config().queue.lease
    ]
  )
  return insertId
}

/** Renews the lease. Returns false when the process was declared gone; it must then claim no more jobs. */
export async function renewProcess(id: number): Promise<boolean> {
  const { affectedRows } = await execute(
    'update job_processes set lease_until = now(3) + interval ? second where id = ?',
    [config().queue.lease, id]
  )
  return affectedRows === 1
}

/** Removes this process. The jobs that it still holds become ready again. */
export async function unregisterProcess(id: number): Promise<void> {
  await buryProcess(id, () => true, false)
}

interface ProcessRow {
  readonly id: number
  readonly machine: string
  readonly pid: number
  readonly pid_started: number
  readonly is_late: number
  /** The time of the database. */
  readonly now: Date
  readonly processed: number
  readonly failed: number
}

const COLUMNS = `id, machine, pid, pid_started, ${hasEnded('lease_until')} as is_late, now(3) as now, processed, failed`

const readProcesses = () => rowsWithClock<ProcessRow>(`select ${COLUMNS} from job_processes`)

/**
 * Finds processes that are gone: their lease has ended, or, on this machine, their pid no longer runs. Puts their jobs
 * back; a job that has ended its third process becomes dead. Ignores `self`, because all leases have ended after the
 * machine was asleep. Returns the ids of the processes found, and 0 when jobs had an unknown process.
 */
export async function reapProcesses(self?: number): Promise<number[]> {
  const gone: number[] = []
  // A worker that has just registered may use a database with another clock.
  await watchMachines()
  for (const process of await readProcesses()) {
    if (process.id === self || !isGone(process)) continue
    if (await buryProcess(process.id, isGone, true)) gone.push(process.id)
  }
  if ((await freeOrphans()) > 0) gone.push(0)
  return gone
}

/** Returns the ids of all registered processes. */
export async function listProcesses(): Promise<number[]> {
  return (await rows<{ id: number }>('select id from job_processes')).map(({ id }) => id)
}

/** Returns the ids of processes that are gone but still registered. */
export async function listGone(): Promise<number[]> {
  return (await readProcesses()).filter(isGone).map(({ id }) => id)
}

function isGone({ machine: where, pid, pid_started, is_late }: ProcessRow): boolean {
  return (
    (is_late === 1 && isClockSteady(config().queue.lease * 1000)) ||
    (where === machine() && !runsHere(pid, pid_started))
  )
}

/**
 * Puts back running jobs whose process is unknown. Such a job exists when a claim commits just after its process was
 * declared gone. The first query takes no locks, because there are almost never such jobs.
 */
async function freeOrphans(): Promise<number> {
  const orphans = await rows<{ id: number; process_id: number }>(
    `select j.id, j.process_id from jobs j left join job_processes p on p.id = j.process_id
     where j.state = 'running' and p.id is null limit 1000`
  )
  for (const { id, process_id } of orphans) {
    await execute(
      `update jobs set state = 'ready', process_id = null, started_at = null, attempts = attempts - 1
       where id = ? and process_id = ? and state = 'running'`,
      [id, process_id]
    )
  }
  return orphans.length
}

/** Puts back all running jobs, as after a crash. In a restored copy, no process runs them. */
export async function freeAllJobs(): Promise<void> {
  await execute(
    `update jobs set state = 'ready', process_id = null, started_at = null, attempts = attempts - 1
     where state = 'running'`
  )
}

/** Removes a process and puts its jobs back, if `gone` is still true after its row is locked. */
async function buryProcess(id: number, gone: (process: ProcessRow) => boolean, crashed: boolean): Promise<boolean> {
  return transact(async () => {
    const [last] = await rows<ProcessRow>(`select ${COLUMNS} from job_processes where id = ? for update`, [id])
    if (!last || !gone(last)) return false
    const held = await rows<HeldJob>(
      "select id, name, payload, crashes from jobs where process_id = ? and state = 'running' for update",
      [id]
    )
    const dead = crashed ? held.filter(({ crashes }) => crashes + 1 >= CRASHES) : []
    const back = held.filter(job => !dead.includes(job))
    await giveBack(
      back.map(job => job.id),
      crashed
    )
    await bury(dead)
    await execute("update job_totals set value = value + ? where name = 'processed'", [last.processed])
    await execute("update job_totals set value = value + ? where name = 'failed'", [last.failed + dead.length])
    await execute('delete from job_processes where id = ?', [id])
    return true
  })
}

interface HeldJob {
  readonly id: number
  readonly name: JobName
  readonly payload: string
  readonly crashes: number
}

async function bury(dead: readonly HeldJob[]): Promise<void> {
  if (dead.length === 0) return
  const ids = dead.map(job => job.id)
  await execute(
    `update jobs set state = 'dead', process_id = null, crashes = crashes + 1,
       error = 'the process that ran this job died ${CRASHES} times before the job ended' where id in (${marks(ids)})`,
    ids
  )
  await noteFailures(ids)
  for (const { name, payload } of dead) await noteDead({ name, payload: JSON.parse(payload) })
}

async function giveBack(ids: readonly number[], crashed: boolean): Promise<void> {
  if (ids.length === 0) return
  await execute(
    `update jobs set state = 'ready', process_id = null, started_at = null, attempts = attempts - 1,
       crashes = crashes + ? where id in (${marks(ids)})`,
    [crashed ? 1 : 0, ...ids]
  )
}
