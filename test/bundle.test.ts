// Joins modules of the product and files of packages, as the build does.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RowDataPacket } from 'mysql2'
import type * as oclif from '../src/cli/oclif.js'
import { root } from '../src/config.js'
import { address } from '../src/db/connect/connection.js'
import type * as driver from '../src/db/connect/driver.js'
import type * as orm from '../src/db/connect/orm.js'
import { sourceStack } from '../src/lib/source-stack.js'
import { testDatabase } from './helpers/database.js'
import t from './helpers/tap.js'

const { joinModules, joinPackages } = (await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href)) as {
  joinModules(to: string, entries: { [name: string]: string }): Promise<void>
  joinPackages(to: string): Promise<void>
}

t.test('a module of a bundle knows its place and does what it does otherwise', async t => {
  const folder = join(t.testdir(), 'bundle')
  await joinModules(folder, { config: 'config.js' })
  const joined = (await import(pathToFileURL(join(folder, 'config/main.js')).href)) as { root: string }
  t.equal(joined.root, root)
})

t.test('stack traces of a bundle lead to the sources', async t => {
  const folder = join(t.testdir(), 'bundle')
  await joinModules(folder, { plan: 'ci/plan.js' })
  const file = join(folder, 'plan/main.js')
  const lines = readFileSync(file, 'utf8').split('\n')
  const at = lines.findIndex(line => line.includes('function planPipeline('))
  t.not(at, -1)
  const place = `${pathToFileURL(file).href}:${at + 1}:${(lines[at]?.indexOf('function planPipeline(') ?? 0) + 1}`
  const found = /^at x \((.+\/src\/ci\/plan\.ts):(\d+):\d+\)$/.exec(sourceStack(`at x (${place})`))
  const source = readFileSync(found?.[1] ?? '', 'utf8').split('\n')
  t.match(source[Number(found?.[2]) - 1], 'function planPipeline(')
})

t.test('each command has a file, which uses the same oclif as the parser', async t => {
  const folder = join(t.testdir(), 'bundle')
  await joinModules(folder, { commands: 'cli/commands' })
  const modules = readdirSync(join(root, 'dist/src/cli/commands'), { recursive: true, encoding: 'utf8' })
  const names = modules.filter(name => name.endsWith('.js')).map(name => name.slice(0, -3))
  for (const name of names) {
    t.ok(existsSync(join(folder, 'commands', `${name.replaceAll('/', '.')}.js`)), name)
    t.notOk(existsSync(join(root, 'dist/src/cli/commands', name)), `${name} is no topic`)
  }
  const { Command } = (await import(pathToFileURL(join(root, 'dist/src/cli/oclif.js')).href)) as typeof oclif
  const joined = (await import(pathToFileURL(join(folder, 'commands/users.list.js')).href)) as { default: object }
  t.ok(Object.prototype.isPrototypeOf.call(Command, joined.default))
})

t.test('packages whose files are joined do what they do otherwise', async t => {
  const folder = t.testdir({
    'package.json': JSON.stringify({ name: 'x', version: '1.0.0', type: 'module', oclif: { bin: 'x' } })
  })
  await joinPackages(folder)
  const load = <T>(path: string) => import(pathToFileURL(join(folder, 'src', path)).href) as Promise<T>

  await t.test('the driver of the database', async t => {
    const { mysql } = await load<typeof driver>('db/connect/driver.js')
    await testDatabase()
    const connection = mysql.createConnection(address())
    const ask = async (sql: string) => (await connection.promise().query<RowDataPacket[]>(sql))[0]
    t.same(await ask("select 'ä🐱' as text"), [{ text: 'ä🐱' }])
    // Errors have their names from a table, and such texts are read by tables of encodings.
    await t.rejects(ask('select'), { code: 'ER_PARSE_ERROR' })
    await ask('set character_set_results = cp1251')
    t.same(await ask("select 'да' as text"), [{ text: 'да' }])
    await connection.promise().end()
    const encrypted = mysql.createConnection({ ...address(), ssl: { rejectUnauthorized: false } })
    await t.rejects(encrypted.promise().query('select 1'), { code: 'HANDSHAKE_NO_SSL_SUPPORT' })
  })

  await t.test('models', async t => {
    const { mysql } = await load<typeof driver>('db/connect/driver.js')
    const { DataTypes, Model, Sequelize } = await load<typeof orm>('db/connect/orm.js')
    const { socketPath = '', user = '', password, database = '' } = address()
    const sequelize = new Sequelize(database, user, password, {
      dialect: 'mysql',
      dialectModule: mysql,
      dialectOptions: { socketPath },
      timezone: '+00:00',
      logging: false
    })
    class Thing extends Model {}
    Thing.init(
      { at: DataTypes.DATE(3), address: { type: DataTypes.STRING, validate: { isEmail: true } } },
      { sequelize }
    )
    await Thing.sync()
    const at = new Date('2026-03-29T01:30:00.123Z')
    const { id } = (await Thing.create({ at, address: 'a@example.org' })).get() as { id: number }
    t.same((await Thing.findByPk(id))?.get('at'), at)
    await t.rejects(Thing.create({ at, address: 'x' }), { name: 'SequelizeValidationError' })
    await sequelize.close()
  })

  await t.test('the parser of commands', async t => {
    const { Command, Flags } = await load<typeof oclif>('cli/oclif.js')
    class Count extends Command {
      static override flags = { to: Flags.integer() }
      async run() {
        return (await this.parse(Count)).flags.to
      }
    }
    t.equal(await Count.run(['--to', '3'], { root: folder }), 3)
    await t.rejects(Count.run(['--to', 'x'], { root: folder }), /Expected an integer/)
    // oclif has set it for the failed command.
    process.exitCode = undefined
  })

  const packages = JSON.parse(readFileSync(join(folder, 'src/joined.json'), 'utf8')) as string[]
  for (const name of ['@oclif/core', 'mysql2', 'long', 'sequelize', 'validator'])
    t.ok(packages.includes(`node_modules/${name}`), name)
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: { [path: string]: { readonly dev?: boolean } }
  }
  for (const path of packages) t.ok(locked[path] && !locked[path]?.dev, `an installation has ${path}`)
})
