// Upgrades homes that earlier versions made: all that was in them is still there, and answers as before. Also restores their backups.
// make-home-process.ts makes such a home.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RowDataPacket } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { root } from '../../src/config.js'
import { fullVersion } from '../../src/version.js'
import { connectTo, dropDatabase, makeDatabase, startTestServer } from '../helpers/database-server.js'
import { type Appliance, gitstead, processesOf, startAppliance } from '../scenarios/appliance.js'
import { askApi, eventually, git, remoteUrl, unzip } from '../scenarios/client.js'
import { ADDRESS, type Facts } from './facts.js'

const HOMES = join(root, 'test/upgrade/homes')

const given = process.env.GITSTEAD_TEST_SERVER
const own = given === undefined ? await startTestServer() : undefined
t.teardown(() => own?.stop())
const server = new URL(given ?? own?.url ?? '')
let made = 0

/** Makes a database with the statements of a dump, which is empty without one. Returns its URL. */
async function newDatabase(t: Test, dump?: string): Promise<string> {
  const name = `upgrade_${process.pid}_${++made}`
  await makeDatabase(server, name, dump)
  t.teardown(() => dropDatabase(server, name))
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

interface Fixture {
  readonly name: string
  readonly folder: string
  readonly home: string
  readonly facts: Facts
}

function unpack(t: Test, name: string): Fixture {
  const folder = mkdtempSync(join(tmpdir(), 'gitstead-old-'))
  t.teardown(() => {
    for (const home of ['home', 'restored'].map(name => join(folder, name)))
      for (const pid of processesOf(home)) process.kill(pid, 'SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  execFileSync('tar', [
    '--extract',
    '--gzip',
    `--file=${join(HOMES, `${name}.tar.gz`)}`,
    '--no-same-owner',
    '-C',
    folder
  ])
  const facts = JSON.parse(readFileSync(join(folder, 'facts.json'), 'utf8')) as Facts
  chmodSync(join(folder, 'home'), 0o700)
  return { name, folder, home: join(folder, 'home'), facts }
}

const environmentOf = (database: string) => ({
  GITSTEAD_DATABASE_URL: database,
  ...ADDRESS,
  GITSTEAD_LOG_LEVEL: 'warn'
})

/** What this version answers differently, by the name of the fixture. All other fields that the earlier version has answered are as before. */
const CHANGED: { readonly [fixture: string]: readonly (readonly [field: RegExp, why: string])[] } = {
  foundation: [[/ssh_url_to_repo$/, 'the version had no server for SSH, and so no port']],
  'before-wings': [[/lfs_enabled$/, 'the version had no LFS']]
}

/** Returns where an answer differs from an earlier one. Fields that are new do not count. */
function differences(before: unknown, after: unknown, field = ''): string[] {
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((each, at) => differences(each, after[at], `${field}[${at}]`))
  if (isObject(before) && isObject(after))
    return Object.entries(before).flatMap(([name, value]) => differences(value, after[name], `${field}.${name}`))
  return JSON.stringify(before) === JSON.stringify(after)
    ? []
    : [`${JSON.stringify(before)} -> ${JSON.stringify(after)} of ${field}`]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Checks everything that the fixture knows. */
async function checkAll(t: Test, { url }: Appliance, { name, folder, facts }: Fixture): Promise<void> {
  const { tokens, password } = facts
  const asRoot = { url, token: tokens.root }
  const found: string[] = []
  for (const [path, before] of Object.entries(facts.answers)) {
    const { status, json } = await askApi<unknown>(asRoot, 'GET', path)
    found.push(...(status === 200 ? differences(before, json, path) : [`${status} of ${path}`]))
  }
  const changed = CHANGED[name] ?? []
  t.same(
    found.filter(text => !changed.some(([field]) => field.test(text))),
    [],
    'every answer is as before'
  )
  for (const [id, trace] of Object.entries(facts.traces)) {
    t.equal((await askApi(asRoot, 'GET', `/projects/1/builds/${id}/trace`)).bytes.toString(), trace)
    const { bytes } = await askApi(asRoot, 'GET', `/projects/1/builds/${id}/artifacts`)
    t.equal((await unzip(bytes)).get('out/file')?.toString(), 'kept\n')
  }
  for (const login of ['root', 'ada@example.org'])
    t.equal((await askApi({ url }, 'POST', '/session', { login, password })).status, 201, `${login} signs in`)
  t.equal((await askApi({ url }, 'POST', '/session', { login: 'root', password: 'another' })).status, 401)
  for (const token of [tokens.ada, tokens.personal].filter(each => each !== null))
    t.match((await askApi({ url, token }, 'GET', '/user')).json, { username: 'ada' })
  const trigger = { token: tokens.trigger, ref: 'master' }
  if (tokens.trigger !== null)
    t.equal((await askApi({ url }, 'POST', '/projects/1/trigger/builds', trigger)).status, 201, 'the trigger works')

  const remote = remoteUrl(url, 'root/demo', 'root', password)
  t.same((await git(folder, ['ls-remote', remote])).split('\n'), facts.refs)
  const clone = mkdtempSync(join(folder, 'clone-'))
  await git(clone, ['clone', '--quiet', remoteUrl(url, 'root/demo', 'root', tokens.root), '.'])
  await git(clone, ['fsck', '--full'])
  writeFileSync(join(clone, 'new.txt'), 'new\n')
  await git(clone, ['add', '.'])
  await git(clone, ['commit', '--quiet', '-m', 'Add new.txt'])
  await git(clone, ['push', '--quiet', remote, 'HEAD:refs/heads/new'])
  await eventually(
    async () => {
      const { json } = await askApi<{ id: number; ref: string; status: string }[]>(asRoot, 'GET', '/projects/1/builds')
      const built = json.find(({ ref, status }) => ref === 'new' && status === 'success')
      if (built === undefined) return false
      const { bytes } = await askApi(asRoot, 'GET', `/projects/1/builds/${built.id}/trace`)
      t.match(bytes.toString(), `Running with Gitstead ${fullVersion} on`)
      return true
    },
    () => 'the push has no build'
  )
}

/** The faults that doctor finds, except for the address and the receivers of hooks, where nothing answers, and backups. */
async function faults(home: string, environment: Record<string, string>): Promise<unknown[]> {
  const { stdout } = await gitstead(['doctor', '--home', home, '--all', '--json', '--skip', 'url,hooks,backups'], {
    environment
  })
  const { checks } = JSON.parse(stdout) as { checks: { ok: boolean }[] }
  return checks.filter(({ ok }) => !ok)
}

/**
 * What makes the tables of a database. Undone migrations may leave columns and indexes in another order, and most tables keep their exact
 * collation.
 */
async function tablesOf(database: string): Promise<Record<string, string[]>> {
  const schema = new URL(database).pathname.slice(1)
  const connection = await connectTo(server)
  const [tables] = await connection.query<RowDataPacket[]>(
    'select table_name as name from information_schema.tables where table_schema = ? order by name',
    [schema]
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const [rows] = await connection.query<RowDataPacket[]>(`show create table ${schema}.${name}`)
    const text = String(rows[0]?.['Create Table']).replace(
      / AUTO_INCREMENT=\d+| (CHARACTER SET \w+ )?COLLATE[ =]\w+/g,
      ''
    )
    found[name] = text.split(/,?\n/).sort()
  }
  await connection.end()
  return found
}

async function change(database: string, statement: string): Promise<void> {
  const connection = await connectTo(server)
  await connection.query(`use ${new URL(database).pathname.slice(1)}`)
  await connection.query(statement)
  await connection.end()
}

/** The migrations that a database has. */
async function migrationsOf(database: string): Promise<string[]> {
  const connection = await connectTo(server)
  const [found] = await connection.query<RowDataPacket[]>(
    `select name from ${new URL(database).pathname.slice(1)}.schema_migrations order by name`
  )
  await connection.end()
  return found.map(({ name }) => String(name))
}

for (const name of readdirSync(HOMES).map(file => file.replace('.tar.gz', ''))) {
  t.test(`the home ${name} is upgraded`, async t => {
    const fixture = unpack(t, name)
    const { home } = fixture
    const database = await newDatabase(t, join(fixture.folder, 'database.sql'))
    const environment = environmentOf(database)
    const names = () => migrationsOf(database)
    const run = (...args: string[]) => gitstead([...args, '--home', home], { environment })
    const before = await names()
    // A sysadmin has moved the database by a dump, which does not contain its collation. Doctor would find tables with a wrong one.
    await change(database, 'alter database collate utf8mb4_unicode_ci')
    // A migration fails in the middle of the upgrade: its cause is removed, and the next try continues.
    await change(database, 'rename table identities to away')
    const failed = await run('db', 'migrate')
    t.equal(failed.code, 1)
    const [, stopped = ''] = /^gitstead: Migration (\S+) [^\n]*identities[^\n]*\n$/.exec(failed.stderr) ?? []
    t.not(stopped, '', `one line says which and why: ${failed.stderr}`)
    t.notOk((await names()).includes(stopped))
    t.match((await run('db', 'status')).stdout, stopped)
    t.equal((await run('users', 'list')).code, 1, 'other commands refuse the schema')
    await change(database, 'rename table away to identities')
    const appliance = await startAppliance({ home, environment })
    const after = await names()
    t.ok(after.length > before.length)
    await checkAll(t, appliance, fixture)
    t.same(await faults(home, environment), [])
    t.equal(await appliance.stop(), 0)

    const steps = String(after.length - before.length)
    t.match((await run('db', 'rollback', '--steps', '1', '--dry-run')).stdout, `would undo ${after.at(-1)}`)
    const back = await run('db', 'rollback', '--steps', steps, '--yes')
    t.equal(back.code, 0, back.stderr)
    t.same(await names(), before)
    t.same(await tablesOf(database), await tablesOf(await newDatabase(t, join(fixture.folder, 'database.sql'))))
    const again = await run('db', 'migrate')
    t.equal(again.code, 0, again.stderr)
    t.same(await names(), after)
  })

  t.test(`the backup of ${name} is restored`, async t => {
    const fixture = unpack(t, name)
    const backups = join(fixture.folder, 'backups')
    const restored = join(fixture.folder, 'restored')
    const environment = environmentOf(await newDatabase(t))
    const args = ['restore', 'latest', '--to', backups, '--into', restored]
    const ended = await gitstead(args, { environment })
    t.equal(ended.code, 0, ended.stderr)
    const appliance = await startAppliance({ home: restored, environment })
    await checkAll(t, appliance, fixture)
    t.same(await faults(restored, environment), [])
    t.equal(await appliance.stop(), 0)
  })
}
