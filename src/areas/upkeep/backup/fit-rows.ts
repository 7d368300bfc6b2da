// Fits rows of a backup into the current appliance: their owners may no longer exist, and builds that ran then no longer run.

import { marks, rows, type Value } from '../../../db/connect/sql.js'
import { goesWith, ownersOf, restoringOf } from '../../../db/ownership/owned-tables.js'
import type { Condition, Link, TableName } from '../../../db/ownership/ownership.js'

export type Fields = ReadonlyMap<string, Value>

/** Table -> its rows. The order of the tables is the order in which they are inserted. */
export type ProjectRows = ReadonlyMap<TableName, readonly Fields[]>

/** Returns a row that can be inserted; null when its owner no longer exists and the row would have been deleted with the owner. */
export type Fit = (table: TableName, fields: Fields) => Fields | null

const AT_ONCE = 1000
const UNFINISHED: ReadonlySet<unknown> = new Set(['created', 'pending', 'running'])

/** Returns the function that fits rows. Call that function in the order of `found`. */
export async function fitter(found: ProjectRows): Promise<Fit> {
  const there = await ownersThere(found)
  const isGone = (fields: Fields, { to, column, when }: Link) => {
    const owner = fields.get(column) ?? null
    return owner !== null && holds(fields, when) && there.get(to)?.has(String(owner)) === false
  }
  return (table, fields) => {
    const gone = ownersOf(table).filter(each => isLooked(each) && isGone(fields, each))
    if (gone.some(goesWith)) {
      // The rows that belong to this row are not restored either.
      there.get(table)?.delete(String(fields.get('id')))
      return null
    }
    const empty = [...gone.map(({ column }) => column), ...(restoringOf(table)?.empty ?? [])]
    return new Map([...fields, ...ended(fields), ...empty.map(column => [column, null] as const)])
  }
}

/** Cancels unfinished builds, because nothing runs them any more, and pipelines, whose status follows from builds. */
function ended(fields: Fields): (readonly [string, Value])[] {
  if (!UNFINISHED.has(fields.get('status'))) return []
  return [['status', 'canceled'], ...(fields.has('finished_at') ? [['finished_at', new Date()] as const] : [])]
}

/** The ids of owners that the rows name and that will exist: they exist now, or they are restored as well. */
async function ownersThere(found: ProjectRows): Promise<ReadonlyMap<string, Set<string>>> {
  const named = new Map<TableName, Set<string>>()
  for (const [table, list] of found) {
    for (const { to, column, when } of ownersOf(table).filter(isLooked)) {
      const ids = named.get(to) ?? new Set()
      for (const fields of list) if (holds(fields, when)) ids.add(String(fields.get(column) ?? 0))
      named.set(to, ids)
    }
  }
  const there = new Map<string, Set<string>>()
  for (const [owner, ids] of named) {
    const back = idsOf(found.get(owner) ?? [])
    const others = [...ids].filter(id => !back.has(id))
    there.set(owner, new Set([...back, ...(await existing(owner, others))]))
  }
  return there
}

/** `placeOf` has already checked the owner of the project, and rows that are kept need no owner. */
const isLooked = ({ fate }: Link): boolean => fate !== 'kept' && fate !== 'removed'

async function existing(table: TableName, ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const some = ids.slice(at, at + AT_ONCE)
    const part = await rows<{ id: number }>(`select id from ${table} where id in (${marks(some)})`, some)
    found.push(...part.map(({ id }) => String(id)))
  }
  return found
}

export const holds = (fields: Fields, condition: Condition | undefined): boolean =>
  condition === undefined || fields.get(condition[0]) === condition[1]

export const idsOf = (list: readonly Fields[]): ReadonlySet<string> =>
  new Set(list.map(fields => String(fields.get('id'))))
