// Rows of a backup fitted into the appliance of today: owners may be gone by now, and what ran then runs no more.
import { type Condition, goesWith, type Link, ownersOf, restoringOf, type TableName } from '../../db/ownership.js'
import { marks, rows, type Value } from '../../db/sql.js'

export type Fields = ReadonlyMap<string, Value>

/** Table -> its rows, in the order in which they are put in. */
export type ProjectRows = ReadonlyMap<TableName, readonly Fields[]>

/** A row as it can be put in; null when its owner is gone, with whom it would have gone. */
export type Fit = (table: TableName, fields: Fields) => Fields | null

const AT_ONCE = 1000
const UNFINISHED: ReadonlySet<unknown> = new Set(['created', 'pending', 'running'])

/** Gives what fits rows in; it is called in the order of `found`. */
export async function fitter(found: ProjectRows): Promise<Fit> {
  const there = await ownersThere(found)
  const isGone = (fields: Fields, { to, column, when }: Link) => {
    const owner = fields.get(column) ?? null
    return owner !== null && holds(fields, when) && there.get(to)?.has(String(owner)) === false
  }
  return (table, fields) => {
    const gone = ownersOf(table).filter(each => isLooked(each) && isGone(fields, each))
    if (gone.some(goesWith)) {
      // Neither does what goes with this row come back.
      there.get(table)?.delete(String(fields.get('id')))
      return null
    }
    const empty = [...gone.map(({ column }) => column), ...(restoringOf(table)?.empty ?? [])]
    return new Map([...fields, ...ended(fields), ...empty.map(column => [column, null] as const)])
  }
}

/** What ran is canceled, as nobody runs it any more: builds, and what is as far as its builds are. */
function ended(fields: Fields): (readonly [string, Value])[] {
  if (!UNFINISHED.has(fields.get('status'))) return []
  return [['status', 'canceled'], ...(fields.has('finished_at') ? [['finished_at', new Date()] as const] : [])]
}

/** Numbers of owners that the rows name and that will be there: they are now, or come back as well. */
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

/** The project's own place is looked at beforehand, and what is kept is kept. */
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
