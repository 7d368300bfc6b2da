import { PROSE_COLLATION } from '../connect/collations.js'
import { type Fragment, marks, type Value } from '../connect/sql.js'

/** The condition that is true for every row. */
export const ALL: Fragment = { sql: 'true', values: [] }

/** Joins conditions. Omits undefined ones, and returns ALL itself when nothing remains. */
export function and(...parts: readonly (Fragment | undefined)[]): Fragment {
  const [first = ALL, ...others] = parts.filter(part => part !== undefined).filter(part => part !== ALL)
  if (others.length === 0) return first
  const all = [first, ...others]
  return { sql: all.map(({ sql }) => sql).join(' and '), values: all.flatMap(({ values }) => values) }
}

/** Returns the condition that a column has this value, or undefined without a value. */
export const equals = (column: string, value: Value | undefined): Fragment | undefined =>
  value === undefined ? undefined : { sql: `${column} = ?`, values: [value] }

/** Returns the condition that a column has a lower value, or undefined without a value. */
export const below = (column: string, value: Value | undefined): Fragment | undefined =>
  value === undefined ? undefined : { sql: `${column} < ?`, values: [value] }

/** Returns the condition that a column has one of these values, or undefined for an empty list. */
export const isIn = (column: string, list: readonly Value[] = []): Fragment | undefined =>
  list.length === 0 ? undefined : { sql: `${column} in (${marks(list)})`, values: list }

/** Returns a text as a pattern of `like` that matches only this text. */
export const likeText = (text: string) => text.replace(/[\\%_]/g, '\\$&')

/**
 * Returns the condition that one of the columns contains a text, regardless of case and accents, with its values. Only
 * for searches by people.
 */
export function contains(columns: readonly string[], text: string): Fragment {
  const pattern = `%${likeText(text)}%`
  return {
    sql: `(${columns.map(column => `${column} collate ${PROSE_COLLATION} like ?`).join(' or ')})`,
    values: columns.map(() => pattern)
  }
}
