import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import { isDatabaseAway } from '../../../src/db/connect/failure.js'
import { execute, insertedIds, marks, row, rows } from '../../../src/db/connect/sql.js'
import { afterCommit, transact } from '../../../src/db/connect/transact.js'
import { Hook } from '../../../src/db/models/index.js'
import { testDatabase } from '../../helpers/database.js'
import { numbersTo } from '../../helpers/numbers.js'
import t from '../../helpers/tap.js'
import { until } from '../../helpers/until.js'

const { databaseUrl } = await testDatabase()
await execute('create table things (id int not null primary key, value int not null)')
t.beforeEach(async () => {
  await execute('delete from things')
  await execute('insert into things (id, value) values (1, 0), (2, 0)')
})

const values = async () =>
  (await rows<{ value: number }>('select value from things order by id')).map(({ value }) => value)
const add = (id: number) => execute('update things set value = value + 1 where id = ?', [id])
const connectionId = async () => (await row<{ id: number }>('select connection_id() as id'))?.id

t.test('a transaction writes everything or nothing', async t => {
  await transact(async () => {
    await add(1)
    await add(2)
  })
  t.same(await values(), [1, 1])
  const failing = transact(async () => {
    await add(1)
    throw new RangeError('no')
  })
  await t.rejects(failing, RangeError)
  t.same(await values(), [1, 1])
})

t.test('all statements and models of a transaction use one connection', async t => {
  await transact(async () => {
    const first = await connectionId()
    const all = await Promise.all([connectionId(), connectionId(), transact(connectionId)])
    t.same(all, [first, first, first])
    await Hook.create({ url: 'http://x.example', tokenEncrypted: null })
    t.equal((await rows('select id from hooks')).length, 1, 'a statement sees the row that a model wrote')
    const [other] = await transactElsewhere(() => rows('select id from hooks'))
    t.equal(other, undefined, 'nobody else sees it')
  })
})

/** Runs `fn` as if no transaction were open around it. */
async function transactElsewhere<T>(fn: () => Promise<T>): Promise<T> {
  const { scopes } = await import('../../../src/db/connect/scope.js')
  return scopes.exit(fn)
}

t.test('the ids of rows that are inserted together are known, even on a server that counts in steps', async t => {
  await execute('create table counted (id int not null auto_increment primary key, value int not null)')
  for (const step of [1, 3]) {
    await transact(async () => {
      await execute(`set session auto_increment_increment = ${step}`)
      const { insertId } = await execute('insert into counted (value) values (7), (8), (9)')
      const ids = await insertedIds(insertId, 3)
      t.same(
        await rows(`select id from counted where id in (${marks(ids)}) order by value`, ids),
        ids.map(id => ({ id }))
      )
      t.same(await insertedIds(insertId, 1), [insertId])
      await execute('set session auto_increment_increment = 1')
    })
  }
})

t.test('an inner transaction joins the outer one', async t => {
  const failing = transact(async () => {
    await transact(() => add(1))
    throw new Error('the outer one fails')
  })
  await t.rejects(failing)
  t.same(await values(), [0, 0])
  const events: string[] = []
  await transact(async () => {
    await transact(async () => afterCommit(() => events.push('after')))
    events.push('inner has ended')
  })
  t.same(events, ['inner has ended', 'after'])
})

t.test('parallel transactions do not mix', async t => {
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      transact(async () => {
        const own = await connectionId()
        await add(1)
        t.equal(await connectionId(), own)
        if (at % 2) throw new Error('every second one fails')
      }).catch(() => undefined)
    )
  )
  t.same(await values(), [10, 0])
})

t.test('a transaction immediately sees the commits of others', async t => {
  await transact(async () => {
    t.same(await values(), [0, 0])
    await transactElsewhere(() => add(2))
    t.same(await values(), [0, 1])
  })
  // MySQL and MariaDB have different names for this variable.
  const level = async () =>
    (await row<{ Value: string }>("show variables where variable_name in ('tx_isolation', 'transaction_isolation')"))
      ?.Value
  t.same([await level(), await transact(level)], ['READ-COMMITTED', 'READ-COMMITTED'])
})

t.test('after a deadlock, transactions are retried until both succeed', async t => {
  let tries = 0
  let arrived = 0
  const both = (first: number, second: number) =>
    transact(async () => {
      tries += 1
      await add(first)
      arrived += 1
      // Each transaction holds its first row before either requests its second.
      if (arrived <= 2) await until('both have begun', () => arrived >= 2)
      await add(second)
    })
  await Promise.all([both(1, 2), both(2, 1)])
  t.same(await values(), [2, 2])
  t.ok(tries > 2, 'one of them was rolled back')
})

/** Another program that has changed row 2, and many others: the database ends the transaction that has changed fewer rows. */
async function otherProgram() {
  const url = new URL(databaseUrl)
  const other = await createConnection({
    socketPath: url.searchParams.get('socket') ?? '',
    user: 'root',
    password: decodeURIComponent(url.password),
    database: url.pathname.slice(1)
  })
  await other.query('begin')
  await other.query('update things set value = 10 where id = 2')
  await other.query(`insert into things (id, value) select 99 + seq, 0 from ${numbersTo(901)}`)
  return other
}

const oneWaits = () =>
  until('a transaction waits', async () => {
    // The server updates this information only when nobody has read it for 100 ms.
    await pause(250)
    return (await transactElsewhere(waiting)) > 0
  })

t.test('a transaction is retried after a deadlock with another program', async t => {
  const other = await otherProgram()
  let tries = 0
  const ours = transact(async () => {
    tries += 1
    await add(1)
    if (tries === 1) void other.query('update things set value = 10 where id = 1').then(() => other.query('commit'))
    if (tries === 1) await oneWaits()
    await add(2)
  })
  await ours
  t.equal(tries, 2)
  t.match(await values(), { 0: 11, 1: 11 })
  await other.end()
})

t.test('a statement outside of transactions is retried, too', async t => {
  const other = await otherProgram()
  const ours = execute('update things set value = value + 1 where id in (1, 2) order by id')
  await oneWaits()
  await other.query('update things set value = 10 where id = 1')
  await other.query('commit')
  t.equal((await ours).affectedRows, 2)
  t.match(await values(), { 0: 11, 1: 11 })
  await other.end()
})

async function waiting(): Promise<number> {
  return (await rows("select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")).length
}

t.test('a statement after the end of its transaction is refused and changes nothing', async t => {
  let late: Promise<unknown> = Promise.resolve()
  await transact(async () => {
    await add(1)
    late = new Promise(resolve => setTimeout(resolve, 20)).then(() => add(2))
    late.catch(() => undefined)
  })
  await t.rejects(late, /after the end of its transaction/)
  t.same(await values(), [1, 0])
})

t.test('a killed connection is reported as Unavailable, and the next one works', async t => {
  const failing = transact(async () => {
    const id = await connectionId()
    await add(1)
    await transactElsewhere(() => execute(`kill ${Number(id)}`).catch(() => undefined))
    await add(2)
  })
  await t.rejects(failing, { name: 'Unavailable' })
  t.same(await values(), [0, 0])
  await transact(() => add(1))
  t.same(await values(), [1, 0])
})

t.test('a transaction whose machine has vanished ends, and others change its rows', async t => {
  let [holds, done] = [false, false]
  const vanished = transact(async () => {
    await add(1)
    holds = true
    await until('another transaction has changed the row', () => done)
    await add(2)
  })
  vanished.catch(() => undefined)
  await until('a transaction holds the row', () => holds)
  await transact(() => add(1))
  done = true
  await t.rejects(vanished, { name: 'Unavailable' })
  t.same(await values(), [1, 0])
})

t.test('lists of any length do not increase the number of prepared statements', async t => {
  for (let length = 0; length < 300; length++) {
    const ids = Array.from({ length }, (_, at) => at)
    await rows(`select id from things where id in (${marks(ids)})`, ids)
    await transact(() => rows(`select value from things where id in (${marks(ids)})`, ids))
  }
  const counted = await row<{ Value: string }>("show global status like 'Prepared_stmt_count'")
  t.ok(Number(counted?.Value) < 2000, `${counted?.Value} statements`)
})

t.test('other errors are not treated as errors of the database', async t => {
  t.equal(isDatabaseAway(Object.assign(new Error('no file'), { code: 'ENOENT', syscall: 'open' })), false)
  t.equal(isDatabaseAway(Object.assign(new Error('no socket'), { code: 'ENOENT', syscall: 'connect' })), true)
  t.equal(isDatabaseAway(new TypeError('a mistake')), false)
  t.equal(isDatabaseAway(undefined), false)
  await t.rejects(rows('select nothing from things'), /Unknown column/)
})
