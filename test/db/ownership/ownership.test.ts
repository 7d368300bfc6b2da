// Compares src/db/ownership/ownership.ts with the schema of the migrations: removal, deletion of users, backup and restore ignore
// any table or column that is missing there.

import { execute, rows } from '../../../src/db/connect/sql.js'
import {
  encryptedColumns,
  goesWith,
  leftOutOfBackups,
  linksTo,
  ownersOf,
  tablesOf
} from '../../../src/db/ownership/owned-tables.js'
import { type Line, OWNERSHIP, TABLES, type TableName } from '../../../src/db/ownership/ownership.js'
import { testDatabase } from '../../helpers/database.js'
import { unknownToMake } from '../../helpers/owned-rows.js'
import t from '../../helpers/tap.js'

await testDatabase()

/** Tables of the migrations themselves. */
const NOT_OURS = new Set(['schema_migrations', 'schema_lock'])

interface Column {
  readonly of: string
  readonly name: string
  readonly nullable: 'YES' | 'NO'
}

interface Schema {
  readonly columns: readonly Column[]
  /** `TABLE: COLUMN, COLUMN` of each index. */
  readonly indexes: readonly string[]
}

async function readSchema(): Promise<Schema> {
  const columns = await rows<Column>(
    `select table_name as 'of', column_name as name, is_nullable as nullable from information_schema.columns
     where table_schema = database() order by table_name, ordinal_position`
  )
  const indexes = await rows<{ text: string }>(
    `select concat(table_name, ': ', group_concat(column_name order by seq_in_index separator ', ')) as text
     from information_schema.statistics where table_schema = database() group by table_name, index_name`
  )
  return {
    columns: columns.filter(({ of }) => !NOT_OURS.has(of)),
    indexes: indexes.map(({ text }) => text)
  }
}

/** Returns what a developer must change in `db/ownership/ownership.ts`, one message for each difference. */
async function differences(): Promise<string[]> {
  const { columns, indexes } = await readSchema()
  const tables = new Set(columns.map(({ of }) => of))
  const lines: { readonly [table: string]: Line } = OWNERSHIP
  return [
    ...[...tables].filter(name => !Object.hasOwn(lines, name)).map(name => `${name}: add its line`),
    ...TABLES.filter(name => !tables.has(name)).map(
      name => `${name}: remove its line, no migration creates this table`
    ),
    ...TABLES.flatMap(name => unknownColumns(name, columns)),
    ...columns.flatMap(column => undeclared(column, lines[column.of] ?? {})),
    ...TABLES.flatMap(name => unfitLinks(name, columns, indexes))
  ]
}

/** Returns all columns that a line contains. */
function namedColumns({ owners = [], others = [], encrypted = [], restore }: Line): string[] {
  const { only, empty = [] } = restore || {}
  const ofLinks = owners.flatMap(({ column, when }) => [column, ...(when ? [when[0]] : [])])
  return [...ofLinks, ...others, ...encrypted, ...empty, ...(only ? [only[0]] : [])]
}

function unknownColumns(table: TableName, columns: readonly Column[]): string[] {
  const real = columns.filter(({ of }) => of === table).map(({ name }) => name)
  const named = namedColumns(OWNERSHIP[table]).filter(name => !real.includes(name))
  return named.map(name => `${table}.${name}: there is no such column`)
}

/** Columns with these names contain the id of an owner, so `others` must not list them. */
const OWNER_ID = /^(user|author|creator|owner|project|namespace|group|pipeline|build|hook)_id$/

function undeclared({ of, name }: Column, { owners = [], others = [], encrypted = [] }: Partial<Line>): string[] {
  const found: string[] = []
  const isLink = owners.some(({ column }) => column === name)
  if (name.endsWith('_id') && !isLink && !(others.includes(name) && !OWNER_ID.test(name))) {
    found.push(`${of}.${name}: declare which table this id belongs to`)
  }
  if (/(^|_)encrypted$/.test(name) && !encrypted.includes(name)) found.push(`${of}.${name}: list it as encrypted`)
  return found
}

function unfitLinks(table: TableName, columns: readonly Column[], indexes: readonly string[]): string[] {
  return ownersOf(table).flatMap(({ column, fate, when }) => {
    const nullable = columns.some(each => each.of === table && each.name === column && each.nullable === 'YES')
    const found = [...(when ? [`${when[0]}, ${column}`] : []), column].some(start =>
      indexes.some(index => `${index},`.startsWith(`${table}: ${start},`))
    )
    return [
      ...((fate === 'nulled' || fate === 'forgotten') && !nullable ? [`${table}.${column}: cannot be null`] : []),
      ...(fate !== 'kept' && fate !== 'removed' && !found
        ? [`${table}.${column}: has no index, so each removal of an owner reads the whole table`]
        : [])
    ]
  })
}

t.test('every table has a line, and every line agrees with the schema', async t => {
  t.same(await differences(), [])
  t.same(unknownToMake(), [], 'add a line to MAKE in test/helpers/owned-rows.ts')
})

t.test('the test finds a table without a line', async t => {
  await execute('create table pets (id int unsigned primary key, user_id int unsigned, chip_encrypted varbinary(255))')
  t.teardown(() => execute('drop table if exists pets'))
  t.same(await differences(), [
    'pets: add its line',
    'pets.user_id: declare which table this id belongs to',
    'pets.chip_encrypted: list it as encrypted'
  ])
})

t.test('the test finds a column that is missing in its line', async t => {
  await execute('alter table emails add project_id int unsigned null, add encrypted varbinary(255) null')
  t.teardown(() => execute('alter table emails drop column project_id, drop column encrypted'))
  t.same(await differences(), [
    'emails.project_id: declare which table this id belongs to',
    'emails.encrypted: list it as encrypted'
  ])
})

t.test('the test finds a line that contradicts the schema', async t => {
  await execute('alter table projects modify creator_id int unsigned not null, drop index projects_creator')
  await execute('alter table projects drop column optimise_at')
  t.teardown(async () => {
    await execute('alter table projects modify creator_id int unsigned null, add key projects_creator (creator_id)')
    await execute('alter table projects add optimise_at datetime(3) null')
  })
  t.same(await differences(), [
    'projects.optimise_at: there is no such column',
    'projects.creator_id: cannot be null',
    'projects.creator_id: has no index, so each removal of an owner reads the whole table'
  ])
})

t.test('owners, and tables with encrypted or forgotten columns, have an id', async t => {
  const { columns } = await readSchema()
  const numbered = new Set(columns.filter(({ name }) => name === 'id').map(({ of }) => of))
  const owners = TABLES.flatMap(table => ownersOf(table).map(({ to }) => to))
  const forgotten = TABLES.filter(table => ownersOf(table).some(({ fate }) => fate === 'forgotten'))
  const needed = [...owners, ...forgotten, ...encryptedColumns().map(([table]) => table)]
  t.same(
    needed.filter(table => !numbered.has(table)),
    []
  )
})

t.test('rows are deleted before their owners', async t => {
  for (const owner of TABLES) {
    const order = linksTo(owner).map(({ table }) => table)
    for (const [at, table] of order.entries()) {
      const early = ownersOf(table).filter(link => goesWith(link) && order.slice(0, at).includes(link.to))
      t.same(early, [], `${owner}: ${table}`)
    }
  }
  const ofProject = tablesOf('projects')
  t.ok(ofProject.indexOf('pipelines') < ofProject.indexOf('builds'))
  t.equal(ofProject[0], 'projects')
})

/** Owners whose removal ends with a job that calls `eraseOwned`. */
const WITH_JOB: readonly TableName[] = ['projects', 'users']

t.test('a later job can still find its rows', async t => {
  for (const table of TABLES) {
    for (const { to, fate } of ownersOf(table)) {
      if (WITH_JOB.includes(to)) continue
      t.not(fate, 'forgotten', `${table}: no job forgets ${to}`)
      if (fate !== 'erased') continue
      const owners = ownersOf(to).filter(goesWith)
      t.ok(
        owners.length > 0 && owners.every(each => each.fate === 'erased'),
        `${table}: ${to} is removed at once, and these rows later`
      )
    }
  }
})

t.test('backups omit only the tables of current work, sessions and words of texts', async t => {
  t.same(leftOutOfBackups(), [
    'content_versions',
    'database_marks',
    'doctor_marks',
    'issue_words',
    'job_processes',
    'machines',
    'maintenance_locks',
    'merge_request_words',
    'old_repositories',
    'password_attempts',
    'repository_checks',
    'schedule_ticks',
    'sent_forms',
    'sessions',
    'storages'
  ])
})
