// A process that was busy with something else reads answers late. It once declared a healthy database lost.
import t from 'tap'
import { translate } from '../../../src/db/connect/failure.js'
import { watchLateness } from '../../../src/db/connect/lateness.js'
import { row } from '../../../src/db/connect/sql.js'
import { limitStatements, StatementTimeout, statementPatience } from '../../../src/db/connect/statement-limit.js'
import { Unavailable } from '../../../src/errors.js'
import { testDatabase } from '../../helpers/database.js'

await testDatabase()
limitStatements(1)

/** Milliseconds in which nothing else runs. */
const block = (time: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time)

t.test('a process that is on time blames the database', async t => {
  await row('select 1')
  // Longer than the time in which another answer shows that the database is there.
  await new Promise(resolve => setTimeout(resolve, 600))
  t.match(translate(new StatementTimeout()), { message: 'the database is not available' })
  await row('select 1')
})

t.test('a statement that was answered while the process was busy has its answer', async t => {
  const answer = row<{ n: number }>('select 1 as n from (select sleep(0.1)) as slow')
  await new Promise(resolve => setImmediate(resolve))
  block(2 * statementPatience())
  t.match(await answer, { n: 1 })
})

t.test('a wait for a connection that ended while the process was busy is no fault of the database', async t => {
  await new Promise(resolve => setTimeout(resolve, 600))
  const leave = watchLateness()
  block(600)
  const error = translate(Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' }))
  t.type(error, Unavailable)
  t.match(error, { message: 'the server is too busy' })
  leave()
})
