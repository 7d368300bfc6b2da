// Holds migrations to the rule that the previous version of the program works on the new schema: they add tables and nullable
// columns or columns with a default. A migration that removes something waits for a version, and says so in its name:
// `NNNN-contract-MMMM-name`, where MMMM is the first migration whose programs can do without it.
import { migrations } from '../../../src/db/migrations/list.js'
import t from '../../helpers/tap.js'

/** Migrations up to this one come from a time when all machines stopped for an upgrade. */
const LAST_WITHOUT_RULE = 122

/** Migrations that change a column so that the previous version does not notice, with the reason. */
const WIDER: { readonly [name: string]: string } = {
  '0130-storages': 'a wider integer: the previous version writes and reads the values that it knows'
}

const CONTRACT = /^\d{4}-contract-(\d{4})-/

const REMOVES: readonly (readonly [pattern: RegExp, text: string])[] = [
  [/^\s*drop\s+table\b/i, 'drops a table'],
  [/^\s*truncate\b/i, 'empties a table'],
  [/^\s*rename\s+table\b|^\s*alter\s+table\s.*\brename\b(?!\s+(?:index|key)\b)/is, 'renames a table or a column'],
  [/^\s*alter\s+table\s.*\bdrop\s+(?!(?:index|key|foreign|constraint|check|primary|default)\b)/is, 'drops a column'],
  [/^\s*alter\s+table\s.*\b(?:modify|change)\b/is, 'changes a column']
]

/** Returns what the statements of a migration do that the previous version does not expect. */
function breaksIn(statements: readonly string[]): string[] {
  return statements
    .map(withoutComments)
    .flatMap(statement => [
      ...REMOVES.filter(([pattern]) => pattern.test(statement)).map(([, text]) => text),
      ...addedColumns(statement).flatMap(column =>
        /\bnot\s+null\b/i.test(column) && !/\b(?:default\b|auto_increment\b|as\s*\()/i.test(withoutTexts(column))
          ? [`adds a column without a default: ${column.split(/\s+/)[0]}`]
          : []
      )
    ])
}

const withoutTexts = (text: string) => text.replace(/'[^']*'/g, "''")

const withoutComments = (statement: string) => statement.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ')

/** Returns the definitions of the columns that an `alter table` adds. */
function addedColumns(statement: string): string[] {
  const changes = /^\s*alter\s+table\s+\S+\s+([\s\S]*)$/i.exec(statement)?.[1]
  if (changes === undefined) return []
  return topLevel(changes).flatMap(change => {
    const added =
      /^add\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?!(?:index|key|unique|fulltext|constraint|primary|foreign|check)\b)([\s\S]+)$/i
    return added.exec(change)?.[1] ?? []
  })
}

/** Splits at the commas that are not in parentheses or quotes. */
function topLevel(text: string): string[] {
  const parts = ['']
  let depth = 0
  let quoted = false
  for (const sign of text) {
    if (sign === "'") quoted = !quoted
    if (!quoted && sign === '(') depth += 1
    if (!quoted && sign === ')') depth -= 1
    if (sign === ',' && depth === 0 && !quoted) parts.push('')
    else parts[parts.length - 1] += sign
  }
  return parts.map(part => part.trim())
}

t.test('the previous version works on the schema that each migration makes', async t => {
  const names = migrations.map(({ name }) => name)
  for (const { name, up } of migrations) {
    if (Number(name.slice(0, 4)) <= LAST_WITHOUT_RULE) continue
    const needed = CONTRACT.exec(name)?.[1]
    if (needed === undefined) {
      const breaks = breaksIn(up).filter(text => text !== 'changes a column' || !(name in WIDER))
      t.same(breaks, [], `${name} only expands the schema (docs/develop/add-an-endpoint.md, If the data change)`)
      continue
    }
    const from = names.find(each => each.startsWith(`${needed}-`))
    t.ok(from !== undefined && from < name, `${name} names an earlier migration`)
  }
})

t.test('the rule finds what the previous version does not expect', async t => {
  const wrong: readonly (readonly [statement: string, text: string])[] = [
    ['drop table users', 'drops a table'],
    ['DROP TABLE if exists users', 'drops a table'],
    ['truncate users', 'empties a table'],
    ['rename table a to b', 'renames a table or a column'],
    ['alter table a rename to b', 'renames a table or a column'],
    ['alter table a rename column b to c', 'renames a table or a column'],
    ['alter table a add column x int null,\n drop column b', 'drops a column'],
    ['alter table a drop b', 'drops a column'],
    ['alter table a modify b int null', 'changes a column'],
    ['alter table a change column b c int', 'changes a column'],
    ['alter table a add column x int not null', 'adds a column without a default: x'],
    ['alter table a add x varchar(9) not null', 'adds a column without a default: x'],
    ["alter table a add column x enum('a,b', 'default') not null after y", 'adds a column without a default: x'],
    ['alter table a add column y int null, add column x int not null', 'adds a column without a default: x']
  ]
  for (const [statement, text] of wrong) t.same(breaksIn([statement]), [text], statement)
  for (const statement of [
    'create table if not exists x (a int not null, b int not null)',
    "alter table a add column x int not null default 0, add column y varchar(9) not null default ','",
    'alter table a add column x int null, add key a_x (x), add unique key a_y (x, y), drop key a_z',
    'alter table a drop index b, add constraint c foreign key (d) references e (f), alter column x drop default',
    'alter table a add column x int as (b + 1) stored not null, rename index y to z',
    '-- drop table x\ncreate index a_b on a (b)',
    "insert ignore into x (name) values ('drop table y')",
    'update a set modified = 1'
  ]) {
    t.same(breaksIn([statement]), [], statement)
  }
})
