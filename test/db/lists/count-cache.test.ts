// Totals of long lists are cached, but never older than a change that the audit has recorded.
import { audit } from '../../../src/areas/ground/audit/audit.js'
import { execute } from '../../../src/db/connect/sql.js'
import { transact } from '../../../src/db/connect/transact.js'
import { countTotal } from '../../../src/db/lists/paginate.js'
import { requestScope } from '../../../src/lib/request-scope.js'
import { testDatabase } from '../../helpers/database.js'
import { someOrigin } from '../../helpers/factory.js'
import { numbersTo } from '../../helpers/numbers.js'
import { countStatements } from '../../helpers/statements.js'
import t from '../../helpers/tap.js'

await testDatabase()
const JOBS = 'select count(*) as total from jobs where queue = ?'
const count = () => countTotal(JOBS, ['default'])
const fill = (most: number) =>
  execute(
    `insert into jobs (queue, name, payload, state, attempts, priority, run_at, created_at)
     select 'default', 'user.forget', '{}', 'delayed', 0, 100, '2099-01-01', now() from ${numbersTo(most)}`
  )
const removeOne = () => execute('delete from jobs order by id limit 1')
const entry = { action: 'some.change', target: { type: 'thing', id: 1, name: 'it' } }

t.test('a small total is counted at every call', async t => {
  await fill(3)
  t.equal(await count(), 3)
  await removeOne()
  t.equal(await count(), 2)
})

t.test('an answer with a small total that another request has counted is not kept', async t => {
  const reading = { statements: new Set<string>(), until: Infinity }
  await Promise.all([count(), requestScope.run({ request: '', client: '', reading }, count)])
  t.same([...reading.statements], [JOBS, ''], 'no version proves the empty statement')
})

t.test('a large total is kept until something changes', async t => {
  await fill(1998)
  const [first, second] = [await count(), await count()]
  t.same([first, second], [2000, 2000])
  await removeOne()
  t.equal(await count(), 2000, 'the audit has not recorded it')
  t.ok((await countStatements(count)) <= 1, 'at most one check for changes')
  await transact(async () => {
    await removeOne()
    await audit(someOrigin, entry)
  })
  t.equal(await count(), 1998)
})

t.test('a change by another process is seen, even one whose row was written first and committed last', async t => {
  await count()
  const insert = (id: string) =>
    execute(
      `insert into audit_events (id, created_at, actor_name, via, action, target_type, target_id, target_name, changes)
       values (${id}, now(), 'x', 'command', 'some.change', 'thing', '1', 'it', '{}')`
    )
  const eventually = async (total: number) => {
    let found = await count()
    for (let tries = 0; tries < 1000 && found !== total; tries++) {
      await new Promise(resolve => setTimeout(resolve, 5))
      found = await count()
    }
    return found
  }
  await insert('1000')
  await removeOne()
  t.equal(await eventually(1997), 1997)
  await removeOne()
  await insert('999')
  t.equal(await eventually(1996), 1996)
})

t.test('concurrent calls for the same large total share one count', async t => {
  await fill(2000)
  await transact(() => audit(someOrigin, entry))
  const found: number[] = []
  const statements = await countStatements(async () => {
    found.push(...(await Promise.all([1, 2, 3, 4, 5].map(count))))
  })
  t.equal(new Set(found).size, 1)
  t.ok(statements <= 2, `a check for changes and a count, not ${statements} statements`)
})
