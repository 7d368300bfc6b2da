// The private database of a home: it is created once, locked, killed, and started again.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../../src/config.js'
import { closeDatabase } from '../../../src/db/connect/connection.js'
import { execute, row, rows } from '../../../src/db/connect/sql.js'
import { transact } from '../../../src/db/connect/transact.js'
import {
  cacheSize,
  databaseSocket,
  type EmbeddedDatabase,
  embeddedState,
  startEmbedded
} from '../../../src/db/embedded/embedded.js'
import { shortenLog } from '../../../src/db/embedded/log.js'
import { migrateUp } from '../../../src/db/schema/migrate.js'
import { until } from '../../helpers/until.js'

delete process.env.GITSTEAD_DATABASE_URL
process.env.GITSTEAD_LOG_LEVEL ??= 'silent'

/** Creates a home for one test. The databases that the test starts are stopped afterwards. */
function newHome(t: Test) {
  const home = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
  process.env.GITSTEAD_HOME = home
  loadConfig({})
  const started: EmbeddedDatabase[] = []
  t.teardown(async () => {
    await closeDatabase()
    for (const database of started) await database.stop()
    rmSync(home, { recursive: true, force: true })
  })
  return {
    home,
    start: async () => {
      const database = await startEmbedded()
      started.push(database)
      return database
    }
  }
}

t.test('a large log of the database becomes an older file', async t => {
  const { home, start } = newHome(t)
  const log = join(home, 'run/mysql.log')
  mkdirSync(join(home, 'run'))
  writeFileSync(log, 'a'.repeat(5_000_000))
  const database = await start()
  const size = (path: string) => statSync(path).size
  t.ok(size(log) < 100_000)
  t.ok(size(`${log}.1`) >= 5_000_000)
  writeFileSync(log, 'b'.repeat(5_000_000), { flag: 'a' })
  shortenLog()
  t.match(readFileSync(`${log}.1`, 'latin1').slice(-10), 'b'.repeat(10))
  t.ok(size(`${log}.2`) >= 5_000_000)
  await database.stop()
  t.match(readFileSync(log, 'utf8'), /Shutdown complete/, 'MariaDB writes to the same file')
  t.ok(size(log) < 100_000)
})

t.test('a killed database is reported as Unavailable, and returns with all acknowledged writes', async t => {
  const { start } = newHome(t)
  const first = await start()
  await migrateUp()
  await execute('create table written (id int not null primary key)')
  let answered = 0
  let failures = 0
  let stopping = false
  const writing = (async () => {
    for (let id = 1; !stopping; id++) {
      try {
        await (id % 2 ? execute('insert into written (id) values (?)', [id]) : transact(() => insert(id)))
        answered += 1
      } catch (error) {
        if ((error as Error).name !== 'Unavailable') throw error
        failures += 1
        await new Promise(resolve => setTimeout(resolve, 20))
      }
    }
  })()
  await until('it writes', () => answered > 50)
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  await until('it fails', () => failures > 3)
  await t.rejects(rows('select 1 from written'), { name: 'Unavailable' })
  await t.rejects(
    transact(() => rows('select 1 from written')),
    { name: 'Unavailable' }
  )
  await start()
  const before = answered
  await until('it writes again on its own', () => answered > before + 50)
  stopping = true
  await writing
  const kept = await row<{ count: number }>('select count(*) as count from written')
  t.ok((kept?.count ?? 0) >= answered, `${kept?.count} of ${answered}`)
})

const insert = (id: number) => execute('insert into written (id) values (?)', [id])

t.test('a second start waits until the first database ends', async t => {
  const { start } = newHome(t)
  const first = await start()
  let second: EmbeddedDatabase | undefined
  const starting = start().then(database => {
    second = database
  })
  t.match(await embeddedState(), { up: true, transient: false, owner: process.pid })
  t.equal(second, undefined)
  await first.stop()
  await starting
  t.not(second?.pid, first.pid)
  t.match(await embeddedState(), { up: true })
})

t.test('two first starts at the same time create one database', async t => {
  const { home } = newHome(t)
  const module = new URL('../embedded-process.js', import.meta.url)
  const children = [1, 2, 3].map(() => fork(module))
  const ends = await Promise.all(children.map(child => ended(child)))
  t.same(ends, [0, 0, 0])
  t.same(
    readdirSync(home).filter(name => name.startsWith('mysql')),
    ['mysql']
  )
})

async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}

t.test('a stale socket, a stale note and a half-created database do no harm', async t => {
  const { home, start } = newHome(t)
  mkdirSync(join(home, 'run'), { recursive: true })
  mkdirSync(join(home, 'mysql.new-999999/mysql'), { recursive: true })
  writeFileSync(join(home, 'run/mysql.sock'), '')
  writeFileSync(join(home, 'run/database.json'), '{"owner":')
  t.match(await embeddedState(), { up: false, owner: null })
  const first = await start()
  t.notOk(existsSync(join(home, 'mysql.new-999999')))
  process.kill(first.pid, 'SIGKILL')
  await first.ended
  t.ok(existsSync(databaseSocket()), 'a killed server leaves its socket')
  t.match(await embeddedState(), { up: false })
  await start()
  t.same(await rows('select 1 as one'), [{ one: 1 }])
})

t.test('the database ends with the process that started it, even when that process is killed', async t => {
  newHome(t)
  const child = fork(new URL('../embedded-process.js', import.meta.url), ['stay'])
  const [{ pid }] = (await once(child, 'message')) as [{ pid: number }]
  child.kill('SIGKILL')
  await once(child, 'exit')
  await until('the database has ended', () => !existsSync(`/proc/${pid}`))
  t.match(await embeddedState(), { up: false })
})

t.test('a home whose database program no longer starts names the package', async t => {
  const { start } = newHome(t)
  await (await start()).stop()
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const folder = t.testdir()
  writeFileSync(join(folder, 'mariadbd'), '#!/bin/sh\nexit 127\n', { mode: 0o755 })
  process.env.PATH = `${folder}:${PATH}`
  await t.rejects(start(), { message: /mariadbd cannot be started: install the Debian package/ })
})

t.test('the memory for tables depends on the memory of the machine, unless it is configured', async t => {
  const { start } = newHome(t)
  const [mebibyte, gibibyte] = [2 ** 20, 2 ** 30]
  t.equal(cacheSize(gibibyte), 64 * mebibyte)
  t.equal(cacheSize(8 * gibibyte), 256 * mebibyte)
  t.equal(cacheSize(64 * gibibyte), 512 * mebibyte)
  loadConfig({ database: { cache: 96 * mebibyte } })
  t.equal(cacheSize(gibibyte), 96 * mebibyte)
  await start()
  const found = await row<{ size: number }>('select @@innodb_buffer_pool_size as size')
  t.equal(Number(found?.size), 96 * mebibyte)
})
