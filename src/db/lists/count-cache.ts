// Caches the totals of long lists. A count of 50k rows takes 6 ms, a page of 20 takes 0.1 ms. Therefore totals from 1,000 on are
// cached until something changes that the audit records: memberships, visibility, projects, groups, users and settings. Other
// changes, such as a new build, appear in a cached total after at most 5 seconds. Small totals are counted at every call.
import { LRUCache } from 'lru-cache'
import { noteFreshness, noteRead } from '../../lib/request-scope.js'
import { forgetWithPool } from '../connect/connection.js'
import { written } from '../connect/scope.js'
import { type Fragment, row, type Value } from '../connect/sql.js'
import { afterCommit } from '../connect/transact.js'

const LARGE = 1000
/** Milliseconds for which this process does not check again whether another process has changed something. */
const FRESH_MS = 50

interface Total {
  readonly total: number
  /** The last change before the count; undefined when nobody has read it. */
  readonly change?: string
}

const KEEP_MS = 5000
const kept = new LRUCache<string, Total>({ max: 500, ttl: KEEP_MS })

interface Count {
  readonly total: Promise<number>
  readonly change: string | undefined
  readonly begun: number
  readonly written: number
}

/** The keys of totals that were large, and the running counts. */
const large = new LRUCache<string, true>({ max: 500 })
const counting = new Map<string, Count>()
/** Milliseconds after which a running count is known to count many rows, even when nobody has counted them before. */
const LONG_MS = 200
let looked: { readonly at: number; readonly change: Promise<string> } | undefined

forgetWithPool(() => {
  forgetTotals()
  large.clear()
})

/**
 * Returns the number of rows that `sql` (`select count(*) as total ...`) counts. A total from 1,000 on may be 50 ms
 * behind a change by another process. Concurrent requests for the same large total share one count: sixteen counts of a
 * million rows each took longer than a statement may.
 */
export async function countTotal(sql: string, values: readonly Value[]): Promise<number> {
  // Also for a total that is known.
  noteRead(sql)
  const key = keyOf({ sql, values })
  const known = kept.get(key)
  // Read before the count, so that a change between the two only causes another count.
  const change = known || large.has(key) ? await lastChange() : undefined
  if (known && known.change === change) {
    noteFreshness(Date.now() + kept.getRemainingTTL(key))
    return known.total
  }
  const running = counting.get(key)
  if (running && running.change === change && isShared(key, running)) {
    const until = Date.now() + KEEP_MS
    const total = await running.total
    if (total >= LARGE) noteFreshness(until)
    // It may be older than the version that the request has read, so it proves nothing.
    else noteRead('')
    return total
  }
  const total = count(sql, values)
  const mine = { total, change, begun: performance.now(), written: written.times }
  counting.set(key, mine)
  try {
    const counted = await total
    if (counted >= LARGE) {
      noteFreshness(Date.now() + KEEP_MS)
      large.set(key, true)
      kept.set(key, { total: counted, ...(change !== undefined && { change }) })
    } else large.delete(key)
    return counted
  } finally {
    if (counting.get(key) === mine) counting.delete(key)
  }
}

const keyOf = ({ sql, values }: Fragment) => `${sql}\n${JSON.stringify(values)}`

/** Returns whether the total of this statement was large at its last count: then `countTotal` usually sends no statement. */
export const isLargeTotal = (statement: Fragment): boolean => large.has(keyOf(statement))

/** Notes a total that another statement has counted. */
export function noteTotal(statement: Fragment, total: number): void {
  if (total >= LARGE) large.set(keyOf(statement), true)
}

const isShared = (key: string, running: Count) =>
  large.has(key) || running.written === written.times || performance.now() - running.begun > LONG_MS

async function count(sql: string, values: readonly Value[]): Promise<number> {
  const found = await row<{ total: number }>(sql, values)
  return Number(found?.total ?? 0)
}

/** Drops the totals of this process after the current transaction has committed, so that they are counted again. */
export const recountTotals = (): void => afterCommit(forgetTotals)

function forgetTotals(): void {
  looked = undefined
  kept.clear()
  counting.clear()
}

/** Returns the last change that the audit recorded. Changes of other processes may be up to 50 ms newer. */
export function lastChange(): Promise<string> {
  const now = performance.now()
  if (looked && now - looked.at < FRESH_MS) return looked.change
  const asked = { at: now, change: readChange() }
  looked = asked
  asked.change.catch(() => {
    if (looked === asked) looked = undefined
  })
  return asked.change
}

/**
 * A row of the audit gets its id before it is committed, so a later id may become visible first. The number of rows
 * among the last 100 ids shows when the earlier row becomes visible.
 */
async function readChange(): Promise<string> {
  const found = await row<{ last: number | null; seen: number }>(
    'select max(id) as last, count(*) as seen from audit_events where id > (select greatest(max(id), 100) - 100 from audit_events)'
  )
  return `${found?.last ?? 0} ${found?.seen ?? 0}`
}
