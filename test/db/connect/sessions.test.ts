import { config } from '../../../src/config.js'
import { openConnection } from '../../../src/db/connect/connection.js'
import { row } from '../../../src/db/connect/sql.js'
import { sessionLimits } from '../../../src/db/connect/statement-limit.js'
import { transact } from '../../../src/db/connect/transact.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

const LIMIT = 'select @@session.eq_range_index_dive_limit as most'

t.test('every connection estimates the rows of long lists from statistics', async t => {
  t.same(await row(LIMIT), { most: 9 })
  t.same(await transact(() => row(LIMIT)), { most: 9 })
  const connection = await openConnection()
  t.teardown(() => connection.destroy())
  t.match(await connection.promise().query(LIMIT), [[{ most: 9 }]])
})

t.test('the server knows all settings of a session', async t => {
  const connection = await openConnection()
  t.teardown(() => connection.destroy())
  await t.resolves(connection.promise().query(sessionLimits()))
})

t.test('every connection of the pools limits its statements, transactions and waits for locks', async t => {
  const limits = () =>
    row('select @@max_statement_time as time, @@idle_transaction_timeout as idle, @@innodb_lock_wait_timeout as wait')
  const { long_timeout } = config().database
  const wanted = { time: long_timeout, idle: 5, wait: Math.min(10, long_timeout - 1) }
  t.match(await limits(), wanted)
  t.match(await transact(limits), wanted)
})
