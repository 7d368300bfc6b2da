// Time tracking of issues and merge requests ("Time stats"): an estimate, and the sum of what was logged.

import { execute, row } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { moved } from '../../../db/lists/keyset-cache.js'
import { Invalid, NotFound } from '../../../errors.js'
import { LONGEST_WORK, parseWork } from '../../../lib/work-time.js'
import { TARGET_TABLES, type Target } from './targets.js'

export interface TimeStatsRow {
  readonly time_estimate: number
  readonly total_time_spent: number
}

/** The time after a change, and the effect of the change itself: others may change the time at the same moment. */
export interface TimeChange extends TimeStatsRow {
  readonly changes: { readonly time_estimate?: number; readonly time_spent?: number }
}

/** Reads a duration as seconds. Decided: a wrong duration is an error of the attribute. Throws Invalid. */
export function readDuration(text: string): number {
  const seconds = parseWork(text)
  if (seconds === undefined) throw new Invalid('duration', 'is not a duration')
  return seconds
}

/** Sets the estimate, in seconds; 0 removes it. Throws NotFound or Invalid. */
export async function setEstimate(target: Target, seconds: number): Promise<TimeChange> {
  if (seconds < 0) throw new Invalid('duration', 'must not be negative')
  return transact(async () => {
    const { time_estimate: before, total_time_spent: spent } = await hold(target)
    await execute(
      `update ${TARGET_TABLES[target.type]} set time_estimate = ?, updated_at = greatest(updated_at, ?) where id = ?`,
      [seconds, new Date(), target.id],
      target.projectId
    )
    moved(target.type)
    const changes = seconds === before ? {} : { time_estimate: seconds }
    return { time_estimate: seconds, total_time_spent: spent, changes }
  })
}

/** Logs time that a user has spent; negative seconds subtract some. Throws NotFound, and Invalid for a total below zero. */
export async function addSpentTime(target: Target, seconds: number, userId: number | null): Promise<TimeChange> {
  return transact(async () => {
    const { time_estimate: estimate, total_time_spent: before } = await hold(target)
    const spent = before + seconds
    if (spent < 0) throw new Invalid('time_spent', 'Time to subtract exceeds the total time spent')
    if (spent > LONGEST_WORK) throw new Invalid('time_spent', 'is too long')
    await log(target, seconds, userId)
    await execute(
      `update ${TARGET_TABLES[target.type]} set total_time_spent = ?, updated_at = greatest(updated_at, ?) where id = ?`,
      [spent, new Date(), target.id],
      target.projectId
    )
    moved(target.type)
    return { time_estimate: estimate, total_time_spent: spent, changes: seconds === 0 ? {} : { time_spent: seconds } }
  })
}

/** Removes all time that was logged. Throws NotFound. */
export async function resetSpentTime(target: Target, userId: number | null): Promise<TimeChange> {
  return transact(async () => {
    const held = await hold(target)
    const { total_time_spent: before } = held
    return before === 0 ? { ...held, changes: {} } : addSpentTime(target, -before, userId)
  })
}

async function log({ type, id }: Target, seconds: number, userId: number | null): Promise<void> {
  await execute(
    'insert into timelogs (target_type, target_id, user_id, time_spent, created_at) values (?, ?, ?, ?, ?)',
    [type, id, userId, seconds, new Date()]
  )
}

/** Locks the row of the target. */
async function hold({ type, id }: Target): Promise<TimeStatsRow> {
  const found = await row<TimeStatsRow>(
    `select time_estimate, total_time_spent from ${TARGET_TABLES[type]} where id = ? for update`,
    [id]
  )
  if (!found) throw new NotFound()
  return found
}
