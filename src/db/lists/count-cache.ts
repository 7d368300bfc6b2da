// Caches the totals of long lists. A count of 50k rows takes 6 ms, a page of 20 takes 0.1 ms. Therefore totals from 1,000 on are
// cached until something changes that the audit records: memberships, visibility, projects, groups, users and settings. Other
// changes, such as a new build, appear in a cached total after at most 5 seconds. Small totals are counted at every call.
//
// New tokens, addresses and projects are frequent, and each of them made the next list count all projects again: 34 ms for 100,000.
// Totals of projects, builds and pipelines therefore ignore the events that cannot change them, and `countProjects` counts only new
// projects again.
import { LRUCache } from 'lru-cache'
import { noteFreshness, noteRead } from '../../lib/request-scope.js'
import { forgetWithPool } from '../connect/connection.js'
import { written } from '../connect/scope.js'
import { type Fragment, row, rows, type Value } from '../connect/sql.js'
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
let looked: { readonly at: number; readonly change: Promise<Change> } | undefined

/** The last change that the audit recorded, and the last one that may have changed or removed such rows, except for new ones. */
interface Change {
  readonly any: string
  readonly projects: string
  readonly builds: string
}

/** The rows up to an id. */
interface OldRows {
  readonly upTo: number
  readonly total: number
  /** By `Date.now()`. */
  readonly until: number
}

/** The promises of counts of old rows, each with the change before it. */
const old = new LRUCache<string, { readonly change: string; readonly found: Promise<OldRows> }>({
  max: 50,
  ttl: KEEP_MS
})

/** A table of which new rows are counted again, and old ones only after a change. */
interface Growing {
  readonly table: string
  readonly alias: string
  readonly change: 'projects' | 'builds'
  /** Transactions may still add rows with ids that are this much lower than the highest one. */
  readonly young: number
}

const PROJECTS: Growing = { table: 'projects', alias: 'p', change: 'projects', young: 200 }
/** One pipeline may have hundreds of builds. */
export const BUILDS: Growing = { table: 'builds', alias: 'b', change: 'builds', young: 1000 }
export const PIPELINES: Growing = { table: 'pipelines', alias: 'l', change: 'builds', young: 200 }

/** Events that do not change the rows of existing projects, or of builds and pipelines. All others may, also those added later. */
const HARMLESS = {
  projects:
    /^(build|email|key|label|milestone|note|pipeline|session|token|trigger|variable)\.|^(project\.create|user\.update)$/,
  builds: /^(email|key|label|milestone|note|session|token|trigger|variable)\.|^(project\.create|user\.update)$/
}
/** Counts of rows that only the second list concerns. */
const OF_BUILDS = /^select count\(\*\) as total from (builds b|pipelines l) where (?!.*\b(select|join)\b)/s

forgetWithPool(() => {
  forgetTotals()
  large.clear()
  old.clear()
  seen = { ids: new Set(), projects: seen.projects + 1, builds: seen.builds + 1 }
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
  const changes = known || large.has(key) ? await lastChanges() : undefined
  const change = changes && changeOf(changes, sql)
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

const changeOf = ({ builds, any }: Change, sql: string) => (OF_BUILDS.test(sql) ? builds : any)

/** Returns the last change that may have changed what such a statement counts. Changes of other processes may be 50 ms newer. */
export const changeFor = async (sql: string): Promise<string> => changeOf(await lastChanges(), sql)

/** Returns the last change of projects that was not only the creation of one. */
export const changeOfProjects = async (): Promise<string> => (await lastChanges()).projects

/**
 * Returns the number of projects `p` that meet a condition, which may depend only on their own columns, except for the time of their
 * last activity. As in `countTotal`, a large total may be 50 ms behind a change by another process, but not behind new projects.
 */
export const countProjects = (condition: Fragment): Promise<number> => countGrowing(PROJECTS, condition)

/** Does the same for the rows of a table that meet a condition, by the alias of the table. */
export async function countGrowing(growing: Growing, condition: Fragment): Promise<number> {
  const parts = await partsOf(growing, condition)
  if (parts) return parts.with(await count(parts.young.sql, parts.young.values))
  const { sql, values } = wholeOf(growing, condition)
  return countTotal(sql, values)
}

/** A large total, of which the old rows have been counted. */
interface Parts {
  /** The statement that counts the young rows. */
  readonly young: Fragment
  /** Returns the total with the number of young rows. */
  with(young: number): number
}

/** Returns the parts of what `countProjects` returns, so that another statement may count the young rows; undefined for a small total. */
export const partsOfProjects = (condition: Fragment): Promise<Parts | undefined> => partsOf(PROJECTS, condition)

const wholeOf = ({ table, alias }: Growing, { sql, values }: Fragment): Fragment => ({
  sql: `select count(*) as total from ${table} ${alias} where (${sql})`,
  values
})

async function partsOf(growing: Growing, condition: Fragment): Promise<Parts | undefined> {
  const whole = wholeOf(growing, condition)
  const key = keyOf(whole)
  if (!large.has(key)) return undefined
  const change = (await lastChanges())[growing.change]
  let known = old.get(key)
  if (known?.change !== change) {
    known = { change, found: countOld(growing, whole) }
    old.set(key, known)
    // The next request tries again.
    known.found.catch(() => old.delete(key))
  }
  const { upTo, total, until } = await known.found
  noteFreshness(until)
  return {
    young: { sql: `${whole.sql} and ${growing.alias}.id > ?`, values: [...whole.values, upTo] },
    with: young => {
      if (total + young < LARGE) large.delete(key)
      return total + young
    }
  }
}

async function countOld({ table, alias, young }: Growing, { sql, values }: Fragment): Promise<OldRows> {
  const until = Date.now() + KEEP_MS
  const highest = await row<{ id: number }>(`select id from ${table} order by id desc limit 1`)
  const upTo = (highest?.id ?? 0) - young
  return { upTo, total: await count(`${sql} and ${alias}.id <= ?`, [...values, upTo]), until }
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

/** Makes this process look for changes again after the current transaction, which the audit has recorded, has committed. */
export const noticeChange = (): void =>
  afterCommit(() => {
    looked = undefined
    counting.clear()
  })

function forgetTotals(): void {
  looked = undefined
  kept.clear()
  counting.clear()
}

/** Returns the last change that the audit recorded. Changes of other processes may be up to 50 ms newer. */
export const lastChange = async (): Promise<string> => (await lastChanges()).any

function lastChanges(): Promise<Change> {
  const now = performance.now()
  if (looked && now - looked.at < FRESH_MS) return looked.change
  const asked = { at: now, change: readChange() }
  looked = asked
  asked.change.catch(() => {
    if (looked === asked) looked = undefined
  })
  return asked.change
}

interface Seen {
  /** Of the events of the last look. */
  readonly ids: ReadonlySet<number>
  /** How often a look has found a new event that is not harmless. */
  readonly projects: number
  readonly builds: number
}

let seen: Seen = { ids: new Set(), projects: 0, builds: 0 }

/**
 * A row of the audit gets its id before it is committed, so a later id may become visible first. The number of rows
 * among the last 100 ids shows when the earlier row becomes visible.
 */
async function readChange(): Promise<Change> {
  const found = await rows<{ id: number; action: string }>(
    'select id, action from audit_events where id > (select greatest(max(id), 100) - 100 from audit_events) order by id'
  )
  const added = found.filter(({ id }) => !seen.ids.has(id))
  // Without a common event, more may have happened between the two looks than this one shows.
  const isGap = added.length === found.length
  const harmful = (harmless: RegExp) => (isGap || added.some(({ action }) => !harmless.test(action)) ? 1 : 0)
  seen = {
    ids: new Set(found.map(({ id }) => id)),
    projects: seen.projects + harmful(HARMLESS.projects),
    builds: seen.builds + harmful(HARMLESS.builds)
  }
  const any = `${found.at(-1)?.id ?? 0} ${found.length}`
  return { any, projects: String(seen.projects), builds: String(seen.builds) }
}
