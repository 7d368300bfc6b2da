// Filters of SCIM (RFC 7644, 3.4.2.2), as conditions of SQL. Texts never become part of a statement: only the columns of a table
// below do.
import { type Filter, parse } from 'scim2-parse-filter'
import type { Fragment, Value } from '../../../db/connect/sql.js'
import { parseMoment } from '../../../lib/moment.js'
import { ScimFailure } from './failures.js'

/** How an attribute is compared. `text` ignores case; `exact` does not. */
type Kind = 'text' | 'exact' | 'flag' | 'moment' | 'number'

interface Column {
  readonly sql: string
  readonly kind: Kind
}

export interface Columns {
  /** Attributes in lower case. */
  readonly columns: Readonly<Record<string, Column>>
  /** Attributes that are several rows of another table: returns the condition that one of them has this value. */
  readonly rows?: Readonly<Record<string, (value: string) => Fragment>>
}

type Comparison = Extract<Filter, { compValue: unknown }>

const LONGEST = 2048
const DEEPEST = 10
const MOST_TERMS = 50

const invalid = (detail: string) => new ScimFailure('invalidFilter', detail)

/**
 * Parses a filter. Throws ScimFailure. The parser needs a time that doubles with each line break inside a text, and calls itself for
 * each bracket, so such filters are refused before.
 */
export function parseFilter(text: string): Filter {
  if (text.length > LONGEST) throw invalid(`a filter has at most ${LONGEST} characters`)
  if (/\p{Cc}/u.test(text)) throw invalid('a filter is one line')
  if (depthOf(text) > DEEPEST) throw invalid(`a filter has at most ${DEEPEST} brackets inside each other`)
  if ((text.match(/\b(and|or|not)\b/gi)?.length ?? 0) > MOST_TERMS)
    throw invalid(`a filter has at most ${MOST_TERMS} parts`)
  try {
    return parse(text)
  } catch {
    throw invalid('the filter cannot be parsed')
  }
}

/** Each `not` calls the parser again, as a bracket does. */
function depthOf(text: string): number {
  let [depth, deepest] = [0, 0]
  for (const [mark] of text.replace(/"(?:[^"\\]|\\.)*"/g, '""').matchAll(/[()[\]]|\bnot\b(?! *\()/gi)) {
    depth += mark === ')' || mark === ']' ? -1 : 1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}

/** Returns the condition of a filter. Throws ScimFailure for attributes and comparisons that do not exist. */
export function filterCondition(text: string, columns: Columns): Fragment {
  return conditionOf(parseFilter(text), columns, '')
}

function conditionOf(filter: Filter, columns: Columns, above: string): Fragment {
  switch (filter.op) {
    case 'and':
    case 'or':
      return joined(
        filter.filters.map(part => conditionOf(part, columns, above)),
        filter.op
      )
    case 'not': {
      const inner = conditionOf(filter.filter, columns, above)
      return { sql: `not coalesce(${inner.sql}, false)`, values: inner.values }
    }
    case '[]':
      if (above !== '') throw invalid(`${filter.attrPath} is inside of another attribute`)
      return conditionOf(filter.valFilter, columns, `${attributeName(filter.attrPath)}.`)
    default:
      return comparison(filter, columns, above + attributeName(filter.attrPath))
  }
}

const joined = (parts: readonly Fragment[], operator: 'and' | 'or'): Fragment => ({
  sql: `(${parts.map(({ sql }) => sql).join(` ${operator} `)})`,
  values: parts.flatMap(({ values }) => values)
})

/** Returns an attribute in lower case, without the schema before it. */
export const attributeName = (path: string): string =>
  path.toLowerCase().replace(/^urn:ietf:params:scim:schemas:core:2\.0:(user|group):/, '')

function comparison(filter: Comparison | { op: 'pr' }, { columns, rows = {} }: Columns, name: string): Fragment {
  if (Object.hasOwn(rows, name) && filter.op === 'eq')
    return (rows[name] as (value: string) => Fragment)(String(filter.compValue))
  const column = Object.hasOwn(columns, name) ? columns[name] : undefined
  if (!column) throw invalid(`no filter can use ${name.slice(0, 100)}`)
  if (filter.op === 'pr') return { sql: `${column.sql} is not null`, values: [] }
  if (filter.compValue === null) return ofNull(filter, column)
  return compared(filter, column, asValue(filter.compValue, column))
}

function ofNull({ op }: Comparison, { sql }: Column): Fragment {
  if (op === 'eq') return { sql: `${sql} is null`, values: [] }
  if (op === 'ne') return { sql: `${sql} is not null`, values: [] }
  throw invalid(`null cannot be compared by ${op}`)
}

function asValue(value: string | number | boolean, { kind }: Column): Value {
  const text = String(value)
  // A number that no row has, so that the answer is an empty list.
  if (kind === 'number') return /^\d{1,10}$/.test(text) ? Number(text) : 0
  if (kind === 'flag') {
    if (!/^(true|false)$/i.test(text)) throw invalid('the value must be true or false')
    return text.toLowerCase() === 'true' ? 1 : 0
  }
  if (kind !== 'moment') return text
  const moment = parseMoment(text)
  if (!moment) throw invalid('the value must be a date and time')
  return moment
}

const ORDERS = { gt: '>', ge: '>=', lt: '<', le: '<=' } as const

function compared({ op }: Comparison, { sql, kind }: Column, value: Value): Fragment {
  const isText = kind === 'text' || kind === 'exact'
  const mark = kind === 'text' ? 'lower(?)' : '?'
  switch (op) {
    case 'eq':
      return { sql: `${sql} = ${mark}`, values: [value] }
    case 'ne':
      return { sql: `not coalesce(${sql} = ${mark}, false)`, values: [value] }
    case 'co':
    case 'sw':
    case 'ew':
      if (!isText) throw invalid(`${op} compares only texts`)
      return { sql: partOf[op](sql, mark), values: op === 'ew' ? [value, value] : [value] }
    default:
      if (kind === 'flag') throw invalid(`${op} does not compare true and false`)
      return { sql: `${sql} ${ORDERS[op]} ${mark}`, values: [value] }
  }
}

const partOf = {
  co: (sql: string, mark: string) => `locate(${mark}, ${sql}) > 0`,
  sw: (sql: string, mark: string) => `locate(${mark}, ${sql}) = 1`,
  ew: (sql: string, mark: string) => `right(${sql}, char_length(${mark})) = ${mark}`
}
