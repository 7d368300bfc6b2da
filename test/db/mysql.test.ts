// Checks requirements of MySQL that MariaDB does not have, because the tests run on MariaDB. Each rule is for an error
// that occurred with MySQL 9.7.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../src/config.js'
import { migrations } from '../../src/db/migrations/list.js'
import t from '../helpers/tap.js'

/**
 * Words that MySQL 9.7 reserves and MariaDB 10.11 does not. A column with such a name needs backticks, unless its table
 * is named before it.
 */
const RESERVED =
  'cube|cume_dist|dense_rank|empty|external|first_value|function|get|grouping|groups|io_after_gtids|io_before_gtids|json_table|lag|last_value|lateral|lead|library|nth_value|ntile|of|optimizer_costs|percent_rank|qualify|rank|row_number|stored|system|tablesample|virtual|window'

const folder = join(root, 'src')
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.tsx?$/.test(path))
  .map(path => ({ path, text: readFileSync(join(folder, path), 'utf8') }))

/** Returns the places in the sources that match the pattern. */
const places = (pattern: RegExp) =>
  sources.flatMap(({ path, text }) => [...text.matchAll(pattern)].map(([found]) => `${path}: ${found}`))

t.test('no column has a reserved word as its name', async t => {
  const pattern = new RegExp(
    `^\\s*(?:add column )?(${RESERVED})\\s+(?:\\w*int|\\w*char|\\w*text|boolean|datetime|\\w*binary|\\w*blob)\\b.*`,
    'gim'
  )
  t.same(
    migrations.flatMap(({ up, down }) => [...up, ...down].flatMap(statement => statement.match(pattern) ?? [])),
    []
  )
})

t.test('no result has a reserved word as its name', async t => {
  t.same(places(new RegExp(`\\) as (?:${RESERVED})\\b|\\w as (?:${RESERVED}) from\\b`, 'g')), [])
})

t.test('no function is used that MySQL has removed', async t => {
  t.same(places(/\b(?:md5|sha1?)\((?:\?|'|[\w.]+\)|concat|if\()/gi), [])
})

/** The arguments of a function need no names. */
function withoutArguments(columns: string): string {
  const shorter = columns.replace(/\([^()]*\)/g, '...')
  return shorter === columns ? columns : withoutArguments(shorter)
}

t.test('columns of information_schema get names, because MySQL returns them in capitals', async t => {
  const selects = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/select\s((?:(?!\bselect\b|;).)*?)\sfrom\s+information_schema\./gis)].map(([, columns = '']) => ({
      path,
      columns
    }))
  )
  t.ok(selects.length > 5)
  const unnamed = selects.flatMap(({ path, columns }) =>
    withoutArguments(columns)
      .split(',')
      .filter(column => /^\s*[a-z]\w*\s*$/i.test(column))
      .map(column => `${path}: ${column.trim()}`)
  )
  t.same(unnamed, [])
})

t.test('no statement uses the tables of numbers that only MariaDB has', async t => {
  t.same(places(/\bseq_\d+_to_/g), [])
})
