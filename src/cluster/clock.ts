// Leases and jobs use the clock of the database. Clocks may differ by minutes: that of this machine, and those of the nodes of a database
// cluster, so that the time of the database jumps when another node takes over. While proxies do not agree on the node, machines even use
// two clocks at once. This file notices both, and translates a time of this machine into a time of the database.

import { config } from '../config.js'
import { forgetWithPool } from '../db/connect/connection.js'
import { rows, type Value } from '../db/connect/sql.js'
import { log } from '../log.js'

/** Milliseconds. Less comes from clocks that are being adjusted. */
const JUMP_MS = 500
/** Seconds by which the clocks of several nodes may differ although all of them are used: one node reads what another one wrote. */
const APART_S = 1

/** Milliseconds by which the clock of the database is ahead of this one, when that matters; otherwise 0. */
let ahead = 0
/** By how many milliseconds the clock of the database is ahead of `performance.now()`: at least and at most. */
let offset: { readonly least: number; readonly most: number } | undefined
/** When this process noticed the last jump, or a lease of another clock, or may have missed one, in terms of `performance.now()`. */
let jumpedAt = Number.NEGATIVE_INFINITY

forgetWithPool(() => {
  ahead = 0
  offset = undefined
  jumpedAt = Number.NEGATIVE_INFINITY
})

/** Whether clocks differ by so much that a time of one of them is useless to the other. */
export const isWrong = (skew: number): boolean => Math.abs(skew) * 4 > config().queue.lease * 1000

/**
 * Notes that this process does not know whether the clock has jumped just before it started: others may still have leases of the clock
 * before, which they renew one after another.
 */
export function noteUnknownPast(): void {
  jumpedAt = performance.now()
}

/** Returns the rows of a SELECT whose column `now` is the time of the database, and notes this time. */
export async function rowsWithClock<T extends { readonly now: Date }>(
  sql: string,
  values: readonly Value[] = []
): Promise<T[]> {
  const began = performance.now()
  const found = await rows<T>(sql, values)
  if (found[0]) noteClock(found[0].now, began)
  return found
}

/** Notes the time of the database. `began` is the `performance.now()` just before the statement that returned it. */
function noteClock(theirs: Date, began: number): void {
  const time = theirs.getTime()
  const took = performance.now() - began
  const now = Date.now()
  const skew = time < now - took ? time - (now - took) : Math.max(0, time - now)
  // A small difference may come from the statement itself, and a time that nobody translated is easier to follow.
  ahead = isWrong(skew) ? skew : 0
  noteOffset({ least: time - began - took, most: time - began })
}

function noteOffset(found: { readonly least: number; readonly most: number }): void {
  const before = offset
  offset = found
  if (!before) return
  const jump = found.least > before.most ? found.least - before.most : Math.min(0, found.most - before.least)
  if (Math.abs(jump) < JUMP_MS) return
  jumpedAt = performance.now()
  const seconds = (jump / 1000).toFixed(1)
  log().warn({ seconds }, 'the clock of the database has jumped: are all nodes set with NTP?')
}

/** A lease of another machine, as this process has read it. */
export interface SeenLease {
  readonly key: string
  readonly end: Date
  /** Whether it has ended, as the database tells this process. */
  readonly ended: boolean
  /** Whether it may have ended long before this process looked for the first time. */
  readonly isOld: boolean
}

/**
 * The leases of one table that a process reads again and again. A lease that has ended although somebody has just renewed it was given by
 * another clock: that of a node of the database which other machines use now. The clock counts as not steady then.
 */
export class SeenLeases {
  #ends: ReadonlyMap<string, number> = new Map()

  note(leases: readonly SeenLease[]): void {
    const ended = leases.filter(({ ended }) => ended)
    const isForeign = ended.some(({ key, end }) => end.getTime() > (this.#ends.get(key) ?? Number.POSITIVE_INFINITY))
    // It may have ended just before the first look, or have been given by another clock.
    const mayBeForeign = ended.some(({ key, isOld }) => !isOld && !this.#ends.has(key))
    this.#ends = new Map(leases.map(({ key, end }) => [key, end.getTime()]))
    if (!isForeign && !mayBeForeign) return
    if (isForeign && isClockSteady(60_000))
      log().warn('other machines use a database with another clock: are all nodes set with NTP?')
    jumpedAt = performance.now()
  }
}

/**
 * Whether the clock of the database has not jumped for some milliseconds, as far as this process knows, and all machines use the same one.
 * Otherwise the leases of machines that live look as if they had ended, until these renew them: take nothing over that has a lease of
 * this length.
 */
export const isClockSteady = (milliseconds: number): boolean => performance.now() - jumpedAt >= milliseconds

/**
 * Returns the condition of SQL that a lease has not ended. A lease that ends later than any could was given by another clock, and does
 * not count: otherwise a machine that died with its node of the database would live on for as long as the clocks differ. By default the
 * row has the length of its lease in seconds, because the configuration of its machine may differ from ours.
 */
export const lives = (end: string, seconds: string | number = lengthOf(end)): string =>
  `${end} between now(3) and now(3) + interval ${seconds} + ${APART_S} second`

/** Returns the condition of SQL that a lease has ended, and that `passed` seconds more have passed; false without a lease. */
export const hasEnded = (end: string, seconds: string | number = lengthOf(end), passed = 0): string =>
  `${end} not between now(3) - interval ${passed} second and now(3) + interval ${seconds} + ${APART_S} second`

/** Rows of former versions have no length. */
function lengthOf(end: string): string {
  const [column, table] = end.split('.').reverse()
  if (column === undefined) throw new Error('a lease has a column')
  return `coalesce(${table === undefined ? '' : `${table}.`}lease_seconds, 1000000000)`
}

/** Returns a time in terms of the clock of the database. */
export const databaseTime = (time: Date): Date => (ahead === 0 ? time : new Date(time.getTime() + ahead))
