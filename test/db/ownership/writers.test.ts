// Each table is written by one folder, the `writer` of its line in src/db/ownership/ownership.ts. This test finds the
// writes in the text of the sources: SQL statements, changes of models, and calls with the name of a table. Code of
// other folders calls a function of the writer instead.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TARGET_TABLES } from '../../../src/areas/planning/participation/targets.js'
import { root } from '../../../src/config.js'
import { OWNERSHIP, TABLES, type TableName } from '../../../src/db/ownership/ownership.js'
import t from '../../helpers/tap.js'

/** Code that may write every table, with the reason. */
const GENERIC: { readonly [start: string]: string } = {
  'db/migrations/': 'creates and changes the tables',
  'db/schema/': 'writes the tables of the migrations, which have no line',
  'db/embedded/': 'writes the accounts of the embedded database',
  'db/ownership/owned-rows': 'removes the rows of an owner, as ownership.ts specifies',
  'db/snapshot/load': 'fills an empty database from a backup',
  'areas/upkeep/backup/project-rows': 'restores a project table by table, as ownership.ts specifies',
  'areas/upkeep/project-archives/loading': 'inserts all records of an archive before anybody sees their project'
}

/** Functions that write the table that their caller passes. The call counts as the write. */
const HELPERS: { readonly [name: string]: string } = {
  removeRows: 'queue/task',
  deleteRows: 'db/ownership/owned-rows',
  deleteWhole: 'db/ownership/owned-rows',
  noteLastUse: 'db/connect/last-use'
}

/** Locks rows of any table for its caller, and writes only their column `held`. */
const LOCK = 'db/connect/lock-row'

/** Statements that get the name of the table from a constant. */
const CONSTANTS: { readonly [expression: string]: readonly string[] } = { TARGET_TABLES: Object.values(TARGET_TABLES) }

interface Source {
  /** The path below src, without its extension. */
  readonly name: string
  readonly text: string
}

const folder = join(root, 'src')
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => /^(areas|access|queue|cluster|db)\/.*\.ts$/.test(path))
  .map(path => ({ name: path.replace(/\.ts$/, ''), text: readFileSync(join(folder, path), 'utf8') }))

const MODELS = sources
  .map(({ text }) => /class (?<model>\w+) extends Model.*tableName: '(?<table>\w+)'/s.exec(text)?.groups)
  .flatMap(({ model = '', table = '' } = {}) => (model ? [{ model, table }] : []))

/** The forms of statements. Of joined tables, only the first one may be written. */
const STATEMENTS: readonly RegExp[] = [
  /\b(?:insert|replace)\s+(?:ignore\s+)?into\s+(?<table>[^\s(]+)/g,
  /\bdelete\s+from\s+(?<table>[^\s'"`]+)/g,
  /\bdelete\s+(?<row>\w+)\s+from\s+(?<table>\w+)\s+\k<row>\b/g,
  /\bdelete\s+(?<table>\w+),\s+\w+\s+from\s+\k<table>\b/g,
  /\bdelete\s+(?<row>\w+),\s+(?<table>\w+)\s+from\s+\k<row>\b/g,
  /(?<!\b(?:for|key)\s+)\bupdate\s+(?:ignore\s+)?(?<table>\S+)\s+set\b/g,
  /\bupdate\s+(?<table>\w+)\s+(?<row>\w+)\s+join\b(?=[^`]*\bset\s+\k<row>\.)(?![^`]*,\s*(?!\k<row>\.)\w+\.\w+ = )/g,
  /\btruncate\s+(?:table\s+)?(?<table>\w+)/g
]

interface Statement {
  readonly at: number
  readonly table: string
}

const statementsOf = (text: string): readonly Statement[] =>
  STATEMENTS.flatMap(form => [...text.matchAll(form)]).flatMap(({ index: at, groups: { table = '' } = {} }) =>
    tablesNamed(table).map(named => ({ at, table: named }))
  )

function tablesNamed(text: string): readonly string[] {
  const constant = /^\$\{(\w+)/.exec(text)?.[1] ?? ''
  return CONSTANTS[constant] ?? [text]
}

/** Returns the beginnings of the literals that look like a statement, but whose table is unclear. */
function unclear(text: string, statements: readonly Statement[]): readonly string[] {
  return [...text.matchAll(/['"`]\s*\b(?=(?:insert|replace|delete|update|truncate)\s+[\w$])[^'"`\n]*/g)]
    .filter(({ index, 0: found }) => {
      const at = index + found.search(/[a-z]/)
      return !statements.some(each => each.at === at && Object.hasOwn(OWNERSHIP, each.table))
    })
    .map(([found]) => `? ${found}`)
}

const CHANGE =
  /(await\s+)?\b(\w+)\??\.(?:(create)|bulkCreate|upsert|findOrCreate|update|destroy|save|increment|decrement)\(/g

/** Finds `Model.create(...)`, and `record.update(...)` where `record` has the name or the type of a model. */
const changesOfModels = (text: string): readonly string[] =>
  [...text.matchAll(CHANGE)].flatMap(([change, awaited, record = '', create]) => {
    const known = MODELS.find(
      ({ model }) =>
        record.toLowerCase() === model.toLowerCase() ||
        new RegExp(String.raw`\b${record}(?:: | = await )${model}\b`).test(text)
    )
    if (known) return [known.table]
    return awaited && !create ? [`? ${change}`] : []
  })

function callsOfHelpers({ name, text }: Source): readonly string[] {
  // Upkeep removes users, groups and projects together with the rows of all tables that they own.
  const helpers = Object.keys(HELPERS).filter(helper => helper !== 'deleteRows' || !name.startsWith('areas/upkeep/'))
  const call = new RegExp(String.raw`\b(?:${helpers.join('|')})\((?:\w+,\s*)?'(\w+)'`, 'g')
  return [...text.matchAll(call)].map(([, table = '']) => table)
}

/** Returns the tables that a source writes, and texts with a question mark where the table is unclear. */
function writtenBy({ name, text: raw }: Source): readonly string[] {
  const text = raw.replace(/\/\*\*?\s.*?\*\//gs, '').replace(/^\s*\/\/.*$/gm, '')
  const statements = statementsOf(text)
  const isHelper = name === LOCK || Object.values(HELPERS).includes(name)
  return [
    ...statements.map(({ table }) => table).filter(table => Object.hasOwn(OWNERSHIP, table)),
    ...(isHelper ? [] : unclear(text, statements)),
    ...changesOfModels(text),
    ...callsOfHelpers({ name, text })
  ]
}

/** Returns the folder that can be a writer: an area, or a folder below another layer. */
const folderOf = (name: string): string =>
  name.startsWith('areas/') ? name.split('/').slice(1, 3).join('/') : dirname(name)

const wingOf = (table: TableName): string => OWNERSHIP[table].writer.split('/', 1)[0] ?? ''

interface Write {
  readonly table: string
  readonly file: string
}

const writesOf = (all: readonly Source[]): readonly Write[] =>
  all
    .filter(({ name }) => !Object.keys(GENERIC).some(start => name.startsWith(start)))
    .flatMap(source => [...new Set(writtenBy(source))].map(table => ({ table, file: source.name })))

/** Returns what a developer must change, one message for each difference. */
function differences(writes: readonly Write[]): readonly string[] {
  const unread = writes.filter(({ table }) => table.startsWith('?'))
  return [
    ...unread.map(({ table, file }) => `${file}: name the table in ${table.slice(2)}`),
    ...TABLES.flatMap(table => ofTable(table, writes))
  ]
}

function ofTable(table: TableName, writes: readonly Write[]): readonly string[] {
  const { writer } = OWNERSHIP[table]
  const files = writes.filter(each => each.table === table).map(({ file }) => file)
  const folders = new Set(files.map(folderOf))
  const foreign = files.filter(file => `${folderOf(file)}/`.startsWith(`${writer}/`) === false)
  if (foreign.length > 0)
    return foreign.map(file => `${table}: ${file} writes it, call a function of ${writer} instead`)
  const [only] = folders
  if (only === undefined) return [`${table}: nothing writes it`]
  return folders.size === 1 && only !== writer ? [`${table}: only ${only} writes it, make that the writer`] : []
}

t.test('each table is written by the folder that ownership.ts specifies', async t => {
  t.ok(sources.length > 500, 'the sources are found')
  t.same(differences(writesOf(sources)), [])
})

t.test('the README of each wing lists its tables', async t => {
  const wings = new Set(TABLES.map(wingOf).filter(wing => existsSync(join(folder, 'areas', wing))))
  t.equal(wings.size, 9)
  for (const wing of wings) {
    const text = readFileSync(join(folder, 'areas', wing, 'README.md'), 'utf8')
    const line = /^- \*\*Tables\*\*: (.*)$/m.exec(text)?.[1] ?? ''
    const listed = [...line.matchAll(/`(\w+)`/g)].map(([, table]) => table)
    t.same(listed.toSorted(), TABLES.filter(table => wingOf(table) === wing).toSorted(), wing)
  }
})

const found = (text: string) => writtenBy({ name: 'areas/pets/dogs/dogs', text })

t.test('the test finds all forms of writes', async t => {
  const forms: readonly (readonly [text: string, ...tables: string[]])[] = [
    ["execute('insert into emails (id) values (?)', [id])", 'emails'],
    ['execute(`insert ignore into emails (id)\n select id from users`)', 'emails'],
    ["execute('replace into emails values (?)', [id])", 'emails'],
    ['execute(`update emails\n set email = ? where id = ?`)', 'emails'],
    ["execute('update emails e join users u on u.id = e.user_id set e.email = u.email')", 'emails'],
    ["execute('delete from emails where id = ?')", 'emails'],
    ["execute('delete emails, todos from emails left join todos on todos.user_id = emails.id')", 'emails', 'todos'],
    ["execute('delete e from emails e join users u on u.id = e.user_id')", 'emails'],
    ["execute('truncate table emails')", 'emails'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a source
    ['execute(`update ${TARGET_TABLES[type]} set iid = 1`)', 'issues', 'merge_requests'],
    ["removeRows(context, 'emails', 'id < ?', [1])", 'emails'],
    ["deleteRows('emails', ids)", 'emails'],
    ['await User.create(values)', 'users'],
    ['await user.update({ name })', 'users'],
    ['async function rename (someone: User) { await someone.update({ name }) }', 'users'],
    ['const account = await User.findByPk(id)\nawait account?.destroy()', 'users'],
    ['rows("select id from emails where id = ? for update")'],
    ["const key = 'update:emails set'"],
    ['// insert into emails\n/** Runs `delete from emails`. */\nrows()']
  ]
  for (const [text, ...tables] of forms) t.same(found(text), tables, text)
})

t.test('the test reports writes that hide their table', async t => {
  const hidden = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a source
    'execute(`update ${table} set name = ?`)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a source
    'execute(`delete ${rest}`)',
    "execute('insert into pets (id) values (1)')",
    "execute('update emails e, users u set u.email = e.email')",
    "execute('update emails e join users u on u.id = e.user_id set e.email = ?, u.email = ?')",
    "execute('update emails e join users u on u.id = e.user_id set u.email = e.email')",
    "execute('delete u from emails e join users u on u.id = e.user_id')",
    'await something.update({ name })'
  ]
  for (const text of hidden) t.match(found(text), [/^\? /], text)
})

t.test('the test reports a foreign writer, a writer that is too broad, and a table that nobody writes', async t => {
  const others = writesOf(sources).filter(({ table }) => !['boards', 'issues', 'todos'].includes(table))
  const writes = [
    { table: 'todos', file: 'areas/reach/todos/todos' },
    { table: 'todos', file: 'areas/planning/boards/boards' },
    { table: 'issues', file: 'areas/planning/issues/issues' }
  ]
  t.same(differences([...others, ...writes]).toSorted(), [
    'boards: nothing writes it',
    'issues: only planning/issues writes it, make that the writer',
    'todos: areas/planning/boards/boards writes it, call a function of reach/todos instead'
  ])
})
