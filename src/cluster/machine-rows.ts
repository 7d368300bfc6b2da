// The rows of all machines, for sysadmins. The clock of the database decides about every lease.
import { config } from '../config.js'
import { execute, row, rows } from '../db/connect/sql.js'
import { hasEnded, lives } from './clock.js'

export interface MachineRow {
  readonly uid: string
  readonly name: string
  readonly address: string | null
  readonly version: string
  readonly processors: number | null
  /** Bytes. */
  readonly memory: number | null
  readonly load_average: number | null
  /** Milliseconds by which its clock is ahead of that of the database. */
  readonly clock_offset: number | null
  readonly started_at: Date
  readonly drained_at: Date | null
  readonly lease_until: Date
  readonly has_server: number
  readonly has_worker: number
  readonly lives: number
  /** Whether nothing of it runs any more: its lease has ended for as long as a lease. */
  readonly is_over: number
  /** Whether each of its servers and workers has renewed since the machine was drained, and so begins no more work. */
  readonly knows: number
  /** The number of jobs that its workers hold. Each running build is one. */
  readonly jobs: number
  /** The storages of repositories that it owns, with commas; null for none. */
  readonly storages: string | null
  /** Those of them that another machine has asked for, or still may: it does so soon after the drain, if it reaches the folder. */
  readonly leaving_storages: string | null
}

/** Seconds after a drain in which the other machines ask for the storages that they reach. */
const OFFERED_S = 10

/** Returns all machines, oldest first. */
export async function listMachines(): Promise<MachineRow[]> {
  const { lease } = config().queue
  const knows = (kind: string) =>
    `(${kind}_until is null or ${kind}_until < now(3) or ${kind}_until >= drained_at + interval ? second)`
  const storages = (where: string) =>
    `(select group_concat(s.name order by s.name separator ', ') from storages s
       where s.owner = machines.uid and ${lives('s.lease_until')} and ${where})`
  const found = await rows<MachineRow>(
    `select uid, name, address, version, processors, memory, load_average, clock_offset, started_at, drained_at, lease_until,
       coalesce(${lives('server_until')}, 0) as has_server, coalesce(${lives('worker_until')}, 0) as has_worker,
       ${lives('lease_until')} as lives, ${hasEnded('lease_until', undefined, lease)} as is_over,
       drained_at is not null and ${knows('server')} and ${knows('worker')} as knows,
       (select count(*) from job_processes p join jobs j on j.process_id = p.id and j.state = 'running'
         where p.machine = machines.boot) as jobs,
       ${storages('true')} as storages,
       ${storages('(s.wanted <> s.owner or drained_at > now(3) - interval ? second)')} as leaving_storages
     from machines order by id limit 10000`,
    [lease, lease, OFFERED_S]
  )
  return found.map(each => ({ ...each, memory: each.memory === null ? null : Number(each.memory) }))
}

/** Returns how many machines live. */
export async function countMachines(): Promise<number> {
  const alive = lives('lease_until')
  return (await row<{ count: number }>(`select count(*) as count from machines where ${alive}`))?.count ?? 0
}

/** Drains a machine, or ends that. Returns false when nothing changed. */
export async function drainRow(uid: string, drained: boolean): Promise<boolean> {
  const { affectedRows } = await execute(
    drained
      ? 'update machines set drained_at = now(3) where uid = ? and drained_at is null'
      : 'update machines set drained_at = null where uid = ? and drained_at is not null',
    [uid]
  )
  return affectedRows > 0
}

/** Removes the row of a machine of which nothing runs any more. Returns false when it may run. */
export async function deleteRow(uid: string): Promise<boolean> {
  const { lease } = config().queue
  const { affectedRows } = await execute(
    `delete from machines where uid = ? and ${hasEnded('lease_until', undefined, lease)}`,
    [uid]
  )
  return affectedRows > 0
}
