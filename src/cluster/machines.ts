// The machines that share a database. Each has a row with a lease, which every process of it renews: when the lease has ended,
// nothing of the machine runs any more. The clock of the database decides when a lease ends.
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism, hostname, loadavg } from 'node:os'
import { dirname, join } from 'node:path'
import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'
import { duplicateKey } from '../db/connect/failure.js'
import { clockSkew } from '../db/connect/server.js'
import { execute, marks, row, rows } from '../db/connect/sql.js'
import { Misconfigured } from '../errors.js'
import { MACHINE_MEMORY } from '../lib/machine-memory.js'
import { ifAlive } from '../lib/process-status.js'
import { log } from '../log.js'
import { fullVersion } from '../version.js'
import { hasEnded, isClockSteady, isWrong, lives, noteUnknownPast, rowsWithClock, SeenLeases } from './clock.js'
import { machine, ownerOf, runsHere } from './this-machine.js'

/** The processes that clients and jobs need. A machine lives as long as any process renews its lease, but serves only with these. */
export type ProcessKind = 'server' | 'worker'

let joined: Promise<void> | undefined
let renewals: NodeJS.Timeout | undefined
/** What this process is; both in tests. A command is neither. */
const kinds = new Set<ProcessKind>()
/** The row of this machine, as it was at the last renewal. */
let own: { readonly uid: string; readonly drained: boolean } | undefined

let others = new SeenLeases()

/** The time of the last renewal, and the end of the last time without one, in terms of `performance.now()`. */
let renewedAt = Number.NEGATIVE_INFINITY
let awayUntil = Number.NEGATIVE_INFINITY

forgetWithPool(() => {
  clearInterval(renewals)
  joined = undefined
  kinds.clear()
  own = undefined
  others = new SeenLeases()
  renewedAt = Number.NEGATIVE_INFINITY
  awayUntil = Number.NEGATIVE_INFINITY
})

const leaseMs = () => config().queue.lease * 1000

/**
 * Whether this process has reached the database again so recently that other machines may not have done so yet, or another node of it
 * with another clock.
 */
const isJustBack = () => performance.now() - awayUntil < leaseMs() / 2 || !isClockSteady(leaseMs())

/**
 * Gives this machine its row and renews the lease until the pool closes. Every process that changes repositories calls this
 * first: others undo what processes of an unknown machine left unfinished. After a time without the database, it waits for the
 * next renewal. A server or worker says so with `kind`.
 */
export async function joinMachines(kind?: ProcessKind): Promise<void> {
  const isNews = kind !== undefined && !kinds.has(kind)
  if (kind) kinds.add(kind)
  joined ??= startRenewing().catch(error => {
    joined = undefined
    throw error
  })
  await joined
  if (isNews || performance.now() - renewedAt > leaseMs() / 2) await claimRow()
  // A worker takes jobs and builds over as soon as it has started.
  if (isNews && kind === 'worker' && (await othersLive())) noteUnknownPast()
}

/** Returns the id of this machine in the table. It stays the same until a boot that follows within a lease. Call it after joinMachines. */
export function machineUid(): string {
  if (!own) throw new Error('this process has not joined the machines')
  return own.uid
}

/**
 * The ids that machines with this home have had, oldest first. There is more than one after a boot within a lease, and when
 * containers share the home.
 */
export const knownUids = (): string[] =>
  (ifAlive(() => readFileSync(uidFile(), 'latin1')) ?? '').split('\n').filter(line => /^[0-9a-f]{32}$/.test(line))

/** Whether a sysadmin has drained this machine: it begins no work, and others take over what it owns. */
export const isDrained = (): boolean => own?.drained === true

/**
 * Whether this process has joined the machines, but has not renewed the lease for so long that others may take over what this machine
 * does. It must begin nothing until it has renewed.
 */
export const hasLostLease = (): boolean => joined !== undefined && performance.now() - renewedAt >= leaseMs()

/**
 * Reads whether this machine is drained, for a check of a load balancer, which should not wait for the next renewal. Throws
 * Unavailable when the database does not answer.
 */
export async function lookWhetherDrained(): Promise<boolean> {
  const found = await row<{ drained: number }>(
    'select max(drained_at is not null) as drained from machines where boot = ?',
    [machine()]
  )
  const drained = found?.drained === 1
  if (own) own = { ...own, drained }
  return drained
}

/** Whether a worker of this machine may claim work. */
export const mayClaim = (): boolean => !isDrained() && !hasLostLease()

async function startRenewing(): Promise<void> {
  await claimRow()
  clearInterval(renewals)
  // After a failure, such as a database that is away, the next turn tries again.
  renewals = setInterval(() => void claimRow().catch(() => undefined), leaseMs() / 4)
  renewals.unref()
}

/** Renews the row of this machine. Otherwise takes back a row that it had before, or adds one. */
async function claimRow(): Promise<void> {
  const now = performance.now()
  if (!(await renew())) {
    await ((await takeBack()) || addRow())
    await renew()
  }
  const found = (await watchMachines()).find(({ boot }) => boot === machine())
  if (!found) return
  own = { uid: found.uid, drained: found.drained === 1 }
  if (renewedAt !== Number.NEGATIVE_INFINITY && now - renewedAt > leaseMs()) awayUntil = now
  renewedAt = now
  await forgetFormer(found.uid)
}

interface WatchedRow {
  readonly uid: string
  readonly boot: string
  readonly drained: number
  readonly lease_until: Date
  readonly has_ended: number
  readonly is_old: number
  /** The time of the database. */
  readonly now: Date
}

/** Reads the leases of all machines, so that this process notices when others use a database with another clock. */
export async function watchMachines(): Promise<readonly WatchedRow[]> {
  const found = await rowsWithClock<WatchedRow>(
    `select uid, boot, drained_at is not null as drained, lease_until, ${hasEnded('lease_until')} as has_ended,
       swept = 1 or address is null as is_old, now(3) as now from machines`
  )
  const former = new Set(knownUids())
  others.note(
    found
      .filter(({ boot }) => boot !== machine())
      .map(row => ({
        key: row.boot,
        end: row.lease_until,
        ended: row.has_ended === 1,
        isOld: row.is_old === 1 || former.has(row.uid)
      }))
  )
  return found
}

/** Removes the rows of earlier boots of this home, which a boot within a lease leaves, when their locks have been looked for. */
async function forgetFormer(uid: string): Promise<void> {
  const former = knownUids().filter(known => known !== uid)
  if (former.length === 0 || isJustBack()) return
  await execute(
    `delete from machines where uid in (${marks(former)}) and swept = 1 and lease_until < now(3) - interval ? second`,
    [...former, config().queue.lease]
  )
}

async function addRow(): Promise<void> {
  const uid = randomBytes(16).toString('hex')
  const { affectedRows } = await execute(
    `insert ignore into machines (uid, name, boot, version, created_at, started_at, lease_until)
     values (?, ?, ?, ?, now(3), now(3), now(3) + interval ? second)`,
    [uid, hostname(), machine(), fullVersion, config().queue.lease]
  )
  // Without an added row, another process of this machine was faster.
  if (affectedRows === 1) noteUid(uid)
}

async function renew(): Promise<boolean> {
  const { lease } = config().queue
  const end = 'now(3) + interval ? second'
  const { affectedRows } = await execute(
    `update machines set name = ?, version = ?, address = ?, processors = ?, memory = ?, load_average = ?, lease_seconds = ?,
       clock_offset = greatest(-2000000000, least(2000000000, timestampdiff(microsecond, now(3), ?) div 1000)), swept = 0,
       lease_until = ${end}${[...kinds].map(kind => `, ${kind}_until = ${end}`).join('')} where boot = ?`,
    [
      ...[
        hostname(),
        fullVersion,
        config().cluster.address,
        availableParallelism(),
        MACHINE_MEMORY,
        loadavg()[0] ?? 0,
        lease
      ],
      ...[new Date(), lease, ...[...kinds].map(() => lease), machine()]
    ]
  )
  return affectedRows > 0
}

/**
 * Notes that this server or worker ends in order, so that others see it at once. Another process of its kind on this machine, such as
 * a server that takes over its socket, has renewed later, and stays.
 */
export async function leaveMachines(): Promise<void> {
  clearInterval(renewals)
  const left = config().queue.lease - Math.floor((performance.now() - renewedAt) / 1000)
  for (const kind of kinds) {
    await execute(
      `update machines set ${kind}_until = now(3) where boot = ? and ${kind}_until <= now(3) + interval ? second`,
      [machine(), left]
    )
  }
}

/**
 * Takes the row of an earlier boot, so that a machine keeps its id. Machines may share the folder of the file, as containers
 * with one volume do: the row of a machine that may live is never taken.
 */
async function takeBack(): Promise<boolean> {
  const known = knownUids()
  if (known.length === 0) return false
  try {
    const { affectedRows } = await execute(
      `update machines set boot = ?, started_at = now(3), lease_until = now(3) + interval ? second
       where uid in (${marks(known)}) and lease_until < now(3) - interval ? second order by id limit 1`,
      [machine(), config().queue.lease, ...known, config().queue.lease]
    )
    return affectedRows > 0
  } catch (error) {
    if (duplicateKey(error) === undefined) throw error
    // Another process of this machine was faster.
    return true
  }
}

/** More than one line after a boot within a lease. */
const uidFile = () => join(config().home, 'run', 'machines')
const MOST_UIDS = 100

function noteUid(uid: string): void {
  mkdirSync(dirname(uidFile()), { recursive: true, mode: 0o700 })
  appendFileSync(uidFile(), `${uid}\n`, { mode: 0o600 })
  if (knownUids().length <= MOST_UIDS) return
  const newest = [...knownUids().slice(-MOST_UIDS), ''].join('\n')
  const next = `${uidFile()}.${process.pid}`
  writeFileSync(next, newest, { mode: 0o600 })
  renameSync(next, uidFile())
}

/** What other machines can know about a machine whose lease they read. */
export interface Machines {
  /** Whether a process of the machine may run. */
  lives(boot: string): boolean
  /** Whether the process of an owner (processName) may run: on this machine its pid decides, elsewhere the lease of its machine. */
  mayRun(owner: string): boolean
  /**
   * Whether a whole lease has passed since that of the machine ended. After a time in which this process itself did not reach the
   * database, it is false for half a lease: the others come back as well.
   */
  isOver(boot: string): boolean
}

/** Reads the leases of all machines. A machine without a row does not live: it is an earlier boot. */
export async function readMachines(): Promise<Machines> {
  const { lease } = config().queue
  const found = await rows<{ boot: string; lives: number; is_over: number }>(
    `select boot, ${lives('lease_until')} as lives, ${hasEnded('lease_until', undefined, lease)} as is_over from machines`
  )
  const known = new Map(found.map(each => [each.boot, each]))
  const mayLive = (boot: string) => known.get(boot)?.lives === 1
  return {
    lives: mayLive,
    mayRun: owner => {
      const { machine: where, pid, start } = ownerOf(owner)
      return where === machine() ? runsHere(pid, start) : mayLive(where)
    },
    isOver: boot => !known.has(boot) || (known.get(boot)?.is_over === 1 && !isJustBack())
  }
}

/** Returns whether other machines may change repositories now. */
export async function othersLive(): Promise<boolean> {
  if (isJustBack()) return true
  const { lease } = config().queue
  const other = await row(
    `select 1 from machines where boot <> ? and not (${hasEnded('lease_until', undefined, lease)}) limit 1`,
    [machine()]
  )
  return other !== undefined
}

/** Marks the machines that are over. Returns whether there were any, to one of the callers only. */
export async function markLost(): Promise<boolean> {
  if (isJustBack()) return false
  const { lease } = config().queue
  const { affectedRows } = await execute(
    `update machines set swept = 1 where swept = 0 and ${hasEnded('lease_until', undefined, lease)}`
  )
  return affectedRows > 0
}

/** Minutes. A clock that is further off is set to another time zone or has never been set: logins and certificates would fail, too. */
const LARGEST_SKEW = 10

/**
 * Warns when the clocks of this machine and the database differ by more than a quarter of a lease. Leases and jobs work anyway, because
 * they use that of the database. Throws Misconfigured beyond ten minutes.
 */
export async function requireClock(): Promise<void> {
  const skew = await clockSkew()
  if (!isWrong(skew)) return
  const found = `the clock of this machine is ${(Math.abs(skew) / 1000).toFixed(1)} s ${skew > 0 ? 'behind' : 'ahead of'} that of the database`
  if (Math.abs(skew) > LARGEST_SKEW * 60_000)
    throw new Misconfigured(`${found}, and may differ by ${LARGEST_SKEW} minutes: set both with NTP`)
  log().warn(`${found}: set both with NTP`)
}
