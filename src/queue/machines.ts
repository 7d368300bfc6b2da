// The machines that share a database. Each has a row with a lease, which every process of it renews: when the lease has ended,
// nothing of the machine runs any more. The clock of the database decides when a lease ends.
import { randomBytes } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'
import { duplicateKey } from '../db/connect/failure.js'
import { clockSkew } from '../db/connect/server.js'
import { execute, row, rows } from '../db/connect/sql.js'
import { Misconfigured } from '../errors.js'
import { ifAlive } from '../lib/process-status.js'
import { version } from '../version.js'

/**
 * Identifies this boot of the kernel and the pid namespace: two containers are two machines. A pid refers to the same
 * process for two processes only when this value is equal.
 */
export const machine = (): string => {
  here ??= readMachine()
  return here
}

/** Cached, because neither value changes while this process runs. */
let here: string | undefined

function readMachine(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

let joined: Promise<void> | undefined
let renewals: NodeJS.Timeout | undefined

/** The time of the last renewal, and the end of the last time without one, in terms of `performance.now()`. */
let renewedAt = Number.NEGATIVE_INFINITY
let awayUntil = Number.NEGATIVE_INFINITY

forgetWithPool(() => {
  clearInterval(renewals)
  joined = undefined
  renewedAt = Number.NEGATIVE_INFINITY
  awayUntil = Number.NEGATIVE_INFINITY
})

const leaseMs = () => config().queue.lease * 1000

/** Whether this process has reached the database again so recently that other machines may not have done so yet. */
const isJustBack = () => performance.now() - awayUntil < leaseMs() / 2

/**
 * Gives this machine its row and renews the lease until the pool closes. Every process that changes repositories calls this
 * first: others undo what processes of an unknown machine left unfinished. After a time without the database, it waits for the
 * next renewal.
 */
export async function joinMachines(): Promise<void> {
  joined ??= startRenewing().catch(error => {
    joined = undefined
    throw error
  })
  await joined
  if (performance.now() - renewedAt > leaseMs() / 2) await claimRow()
}

async function startRenewing(): Promise<void> {
  await claimRow()
  clearInterval(renewals)
  // After a failure, such as a database that is away, the next turn tries again.
  renewals = setInterval(() => void claimRow().catch(() => undefined), leaseMs() / 4)
  renewals.unref()
}

/** Renews the row of this boot. Otherwise takes back a row that this machine had before, or adds one. */
async function claimRow(): Promise<void> {
  const now = performance.now()
  await claim()
  if (renewedAt !== Number.NEGATIVE_INFINITY && now - renewedAt > leaseMs()) awayUntil = now
  renewedAt = now
}

async function claim(): Promise<void> {
  if ((await renew()) || (await takeBack())) return
  const uid = randomBytes(16).toString('hex')
  const { affectedRows } = await execute(
    `insert ignore into machines (uid, name, boot, version, created_at, started_at, lease_until)
     values (?, ?, ?, ?, now(3), now(3), now(3) + interval ? second)`,
    [uid, hostname(), machine(), version, config().queue.lease]
  )
  // Without an added row, another process of this machine was faster.
  if (affectedRows === 1) noteUid(uid)
}

async function renew(): Promise<boolean> {
  const { affectedRows } = await execute(
    'update machines set name = ?, version = ?, swept = 0, lease_until = now(3) + interval ? second where boot = ?',
    [hostname(), version, config().queue.lease, machine()]
  )
  return affectedRows > 0
}

/**
 * Takes the row of an earlier boot, so that a machine keeps its id. Machines may share the folder of the file, as containers
 * with one volume do: the row of a machine that may live is never taken.
 */
async function takeBack(): Promise<boolean> {
  for (const uid of knownUids()) {
    try {
      const { affectedRows } = await execute(
        `update machines set boot = ?, name = ?, version = ?, swept = 0, started_at = now(3),
           lease_until = now(3) + interval ? second where uid = ? and lease_until < now(3) - interval ? second`,
        [machine(), hostname(), version, config().queue.lease, uid, config().queue.lease]
      )
      if (affectedRows > 0) return true
    } catch (error) {
      if (duplicateKey(error) === undefined) throw error
      return renew()
    }
  }
  return false
}

/** The ids that machines with this folder have had, oldest first. There is more than one after a restart within a lease. */
const uidFile = () => join(config().home, 'run', 'machines')
const MOST_UIDS = 100

const knownUids = (): string[] =>
  (ifAlive(() => readFileSync(uidFile(), 'latin1')) ?? '').split('\n').filter(line => /^[0-9a-f]{32}$/.test(line))

function noteUid(uid: string): void {
  if (knownUids().length >= MOST_UIDS) return
  mkdirSync(dirname(uidFile()), { recursive: true, mode: 0o700 })
  appendFileSync(uidFile(), `${uid}\n`, { mode: 0o600 })
}

/** What other machines can know about a machine whose lease they read. */
export interface Machines {
  /** Whether a process of the machine may run. */
  lives(boot: string): boolean
  /**
   * Whether a whole lease has passed since that of the machine ended. After a time in which this process itself did not reach the
   * database, it is false for half a lease: the others come back as well.
   */
  isOver(boot: string): boolean
}

/** Reads the leases of all machines. A machine without a row does not live: it is an earlier boot. */
export async function readMachines(): Promise<Machines> {
  const found = await rows<{ boot: string; lives: number; is_over: number }>(
    `select boot, lease_until >= now(3) as lives, lease_until < now(3) - interval ? second as is_over from machines`,
    [config().queue.lease]
  )
  const known = new Map(found.map(each => [each.boot, each]))
  return {
    lives: boot => known.get(boot)?.lives === 1,
    isOver: boot => !known.has(boot) || (known.get(boot)?.is_over === 1 && !isJustBack())
  }
}

/** Returns whether other machines may change repositories now. */
export async function othersLive(): Promise<boolean> {
  const other = await row(
    'select 1 from machines where boot <> ? and lease_until >= now(3) - interval ? second limit 1',
    [machine(), config().queue.lease]
  )
  return other !== undefined
}

/** Marks the machines that are over. Returns whether there were any, to one of the callers only. */
export async function markLost(): Promise<boolean> {
  if (isJustBack()) return false
  const { affectedRows } = await execute(
    'update machines set swept = 1 where swept = 0 and lease_until < now(3) - interval ? second',
    [config().queue.lease]
  )
  return affectedRows > 0
}

/**
 * Throws Misconfigured when the clocks of this machine and the database differ by more than a quarter of a lease: jobs would
 * begin early or late, and other machines would take them for lost.
 */
export async function requireClock(): Promise<void> {
  const skew = await clockSkew()
  if (Math.abs(skew) * 4 <= config().queue.lease * 1000) return
  throw new Misconfigured(
    `the clock of this machine is ${(Math.abs(skew) / 1000).toFixed(1)} s ${skew > 0 ? 'behind' : 'ahead of'} that of the database, and may differ by ${config().queue.lease / 4} s: set both with NTP`
  )
}
