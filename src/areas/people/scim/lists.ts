// Lists of SCIM (RFC 7644, 3.4.2). They count from 1, and may have fewer resources than the client asks for.
import { type Fragment, row, rows, type Value } from '../../../db/connect/sql.js'
import type { Chosen } from './attributes.js'
import { ScimFailure } from './failures.js'
import { type Columns, filterCondition } from './filter.js'

export interface ListQuery extends Chosen {
  readonly filter?: string
  readonly startIndex?: number
  readonly count?: number
  readonly sortBy?: string
  readonly sortOrder?: string
}

/** Resources in one answer. */
export const MOST_IN_LIST = 200

export interface Listed<Row> {
  readonly total: number
  readonly start: number
  readonly found: readonly Row[]
}

/** What a list reads. `where` leaves out what the directory does not see. */
export interface Source {
  readonly select: string
  readonly from: string
  readonly where: string
  /** The complete order without `sortBy`. */
  readonly order: string
  readonly columns: Columns
}

/** Returns a part of a list with two statements. Throws ScimFailure for a filter or an attribute to sort by that do not exist. */
export async function readList<Row>(source: Source, query: ListQuery): Promise<Listed<Row>> {
  const { select, from, order } = source
  const { sql, values } = conditions(source, query.filter)
  const start = Math.max(1, query.startIndex ?? 1)
  const count = Math.min(MOST_IN_LIST, Math.max(0, query.count ?? MOST_IN_LIST))
  const sorted = query.sortBy === undefined ? order : `${orderBy(source, query)}, ${order}`
  const [counted, found] = await Promise.all([
    row<{ total: number }>(`select count(*) as total from ${from} where ${sql}`, values),
    count === 0
      ? []
      : rows<Row>(
          `select ${select} from ${from} where ${sql} order by ${sorted} limit ${count} offset ${start - 1}`,
          values
        )
  ])
  return { total: counted?.total ?? 0, start, found }
}

function conditions({ where, columns }: Source, filter: string | undefined): { sql: string; values: Value[] } {
  const wanted: Fragment = filter === undefined ? { sql: 'true', values: [] } : filterCondition(filter, columns)
  return { sql: `${where} and ${wanted.sql}`, values: [...wanted.values] }
}

function orderBy({ columns: { columns } }: Source, { sortBy = '', sortOrder }: ListQuery): string {
  const name = sortBy.toLowerCase()
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (!column) throw new ScimFailure('invalidValue', 'the list cannot be sorted by this attribute')
  return `${column.sql} ${sortOrder === 'descending' ? 'desc' : 'asc'}`
}

export const LIST = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

/** Returns the body of a list. */
export const viewList = ({ total, start }: Listed<unknown>, resources: readonly object[]) => ({
  schemas: [LIST],
  totalResults: total,
  startIndex: start,
  itemsPerPage: resources.length,
  Resources: resources
})

/**
 * Returns how many of the resources of a list fit in an answer with so many entries in total, but at least one: a list of groups could
 * otherwise have millions of members.
 */
export function fitting(sizes: readonly number[], most: number): number {
  let sum = 0
  const at = sizes.findIndex(size => {
    sum += size
    return sum > most
  })
  return at === -1 ? sizes.length : Math.max(1, at)
}
