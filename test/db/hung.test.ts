// A database that stops without closing its connections, such as one on a disk that hangs or in a machine that is paused.
import { readFileSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import t from 'tap'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { limitStatements } from '../../src/db/connect/statement-limit.js'
import { transact } from '../../src/db/connect/transact.js'
import { Hook } from '../../src/db/models/index.js'
import { Unavailable } from '../../src/errors.js'
import { processStatus } from '../../src/lib/process-status.js'
import { testApp } from '../helpers/app.js'
import { testDatabase } from '../helpers/database.js'
import { until } from '../helpers/until.js'

// This file stops its database, so it needs a separate one.
delete process.env.GITSTEAD_TEST_SERVER
process.env.GITSTEAD_METRICS_ALLOW = '127.0.0.1'
const { databaseUrl } = await testDatabase()

/** Seconds for statements that must succeed. On a busy machine, any of them may take more than half a second. */
const AMPLE = 60
limitStatements(AMPLE)

t.test('a database that hangs counts as away', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const file = await row<{ path: string }>('select @@pid_file as path')
  const pid = Number(readFileSync(file?.path ?? '', 'utf8'))
  const signal = (name: NodeJS.Signals) => process.kill(pid, name)
  t.teardown(() => signal('SIGCONT'))

  signal('SIGSTOP')
  limitStatements(0.5)
  // More requests than the pool has connections, so that some of them wait.
  const asked = await Promise.all(Array.from({ length: 20 }, () => app.as(user).get('/projects')))
  for (const { statusCode } of asked) t.equal(statusCode, 503)
  const messages = new Set(asked.map(answer => answer.json().message))
  t.ok(messages.has('503 Service Unavailable - the database is not available'))
  // If this process was late as well, a request that has not got a connection does not know the cause.
  messages.delete('503 Service Unavailable - the server is too busy')
  t.equal(messages.size, 1)
  t.equal((await app.as(user).post('/projects', { name: 'x' })).statusCode, 503)
  t.equal((await app.nobody.get('/-/readiness')).statusCode, 503)
  const metrics = await app.nobody.get('/-/metrics')
  t.match(metrics.body, /^gitstead_database_up 0$/m)
  await t.rejects(
    transact(() => Hook.count()),
    Unavailable,
    'models fail as well'
  )

  signal('SIGCONT')
  limitStatements(AMPLE)
  await until('the API is back', async () => (await app.as(user).get('/projects')).statusCode === 200)
  t.equal((await app.nobody.get('/-/readiness')).statusCode, 200)
})

t.test('a database that hangs counts as away while this process is busy, too', async t => {
  const file = await row<{ path: string }>('select @@pid_file as path')
  const pid = Number(readFileSync(file?.path ?? '', 'utf8'))
  t.teardown(() => {
    process.kill(pid, 'SIGCONT')
    limitStatements(AMPLE)
  })
  process.kill(pid, 'SIGSTOP')
  limitStatements(0.5)
  const asked = row('select sleep(0.3)').catch(error => error)
  await new Promise(resolve => setImmediate(resolve))
  const busy = setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400), 500)
  t.teardown(() => clearInterval(busy))
  t.match(await asked, { message: 'the database is not available' })
})

t.test('a transaction whose database hangs ends', async t => {
  const file = await row<{ path: string }>('select @@pid_file as path')
  const pid = Number(readFileSync(file?.path ?? '', 'utf8'))
  const writing = transact(async () => {
    await execute("insert into schema_lock (id, holder, expires_at) values (7, '', now())")
    process.kill(pid, 'SIGSTOP')
    // Each thread stops separately, and the thread of this connection may be the last.
    await until('the server has stopped', () => processStatus(pid)?.state === 'T')
    limitStatements(0.5)
    await execute("update schema_lock set holder = 'x' where id = 7")
  })
  await t.rejects(writing, Unavailable)
  process.kill(pid, 'SIGCONT')
  limitStatements(AMPLE)
  await until('nothing was written', async () => {
    const found = await row('select id from schema_lock where id = 7').catch(() => 'away')
    return found === undefined
  })
})

t.test('a statement that takes too long is ended, on the server as well', async t => {
  limitStatements(0.5)
  // The server learns the limit with each connection.
  await closeDatabase()
  const columns = ['a', 'b', 'c', 'd'].map(name => `information_schema.columns ${name}`)
  await t.rejects(row(`select count(*) as slow from ${columns.join(', ')}`), Unavailable)
  limitStatements(AMPLE)
  await until('the server has ended it', async () => {
    const running = await row<{ n: number }>(
      "select count(*) as n from information_schema.processlist where info like 'select count(*) as slow%'"
    )
    return Number(running?.n) === 0
  })
})

t.test('a row that another client has locked does not count as a hung database', async t => {
  await execute("insert into schema_lock (id, holder, expires_at) values (8, '', now())")
  const url = new URL(databaseUrl)
  const other = await createConnection({
    socketPath: url.searchParams.get('socket') ?? '',
    user: 'root',
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1)
  })
  await other.query('start transaction')
  await other.query('select * from schema_lock where id = 8 for update')
  limitStatements(3)
  await closeDatabase()
  await t.rejects(execute("update schema_lock set holder = 'x' where id = 8"), { message: 'the database is busy' })
  await other.end()
})
