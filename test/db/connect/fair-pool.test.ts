// No client may take all connections of a pool.
import { config } from '../../../src/config.js'
import { openConnection } from '../../../src/db/connect/connection.js'
import { execute, row } from '../../../src/db/connect/sql.js'
import { limitStatements } from '../../../src/db/connect/statement-limit.js'
import { transact } from '../../../src/db/connect/transact.js'
import { TooManyRequests } from '../../../src/errors.js'
import { requestScope } from '../../../src/lib/request-scope.js'
import { testDatabase } from '../../helpers/database.js'
import t from '../../helpers/tap.js'

await testDatabase()

const as = <T>(client: string, work: () => Promise<T>) => requestScope.run({ request: client, client }, work)
const slow = (seconds: number) => row('select sleep(?) as slept', [seconds])
const half = config().database.pool / 2

t.test('slow statements of one client leave connections to others', async t => {
  await execute('create table held (id int not null primary key)')
  await execute('insert into held (id) values (1)')
  const holder = await openConnection()
  t.teardown(() => holder.destroy())
  const ask = (sql: string) =>
    new Promise<void>((resolve, reject) => holder.query(sql, e => (e ? reject(e) : resolve())))
  const kinds = {
    statements: (work: () => Promise<unknown>) => work(),
    transactions: (work: () => Promise<unknown>) => transact(work)
  }
  for (const [kind, run] of Object.entries(kinds)) {
    const ended: string[] = []
    await ask('begin')
    await ask('select id from held for update')
    const many = Array.from({ length: 2 * config().database.pool }, () =>
      as('192.0.2.1', () => run(() => row('select id from held lock in share mode'))).then(() => ended.push('slow'))
    )
    await as('192.0.2.2', () => run(() => row('select 1'))).then(() => ended.push('other'))
    t.strictSame(ended, ['other'], kind)
    await ask('commit')
    await Promise.all(many)
  }
})

t.test('work without a client, such as a job, may take all connections', async t => {
  const running = Array.from({ length: config().database.pool }, () => slow(1))
  const found = await row<{ n: number }>('select 1 as n')
  t.match(found, { n: 1 })
  await Promise.all(running)
})

t.test('a client whose turn does not come gets the reason, and the database does not count as away', async t => {
  limitStatements(2)
  t.teardown(() => limitStatements(config().database.long_timeout))
  await as('192.0.2.2', () => row('select 1'))
  const held = Array.from({ length: half }, () => as('192.0.2.1', () => slow(1.6)))
  // Longer than the limit, and than the same time again, which a statement gets when this process is late.
  const late = await as('192.0.2.1', () => slow(4)).catch((error: unknown) => error)
  t.type(late, TooManyRequests, 'although it began after the others')
  t.match(late, { message: /other requests from this address/ })
  await Promise.all(held)
  const again = Array.from({ length: half + 1 }, () => as('192.0.2.1', () => row('select 1 as n')))
  for (const found of await Promise.all(again)) t.match(found, { n: 1 }, 'all places are free again')
})
