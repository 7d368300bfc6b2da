import { openConnection } from '../../../src/db/connect/connection.js'
import { row } from '../../../src/db/connect/sql.js'
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
