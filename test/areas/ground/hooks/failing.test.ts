// The health of receivers for the dashboard: what fails, since when, and when the next attempt is due.
import { failingHooks } from '../../../../src/areas/ground/hooks/failing.queries.js'
import { createHook } from '../../../../src/areas/ground/hooks/hooks.js'
import { laneOf } from '../../../../src/areas/ground/hooks/targets.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const AT = Date.parse('2026-11-21T12:00:00Z')
const at = (seconds: number) => new Date(AT + seconds * 1000)
const URL = 'https://user:secret@receiver.example.org/in?token=secret'

t.beforeEach(async () => {
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'hook_attempts']) await execute(`delete from ${table}`)
})

let keys = 0
/** Adds a delivery that was tried at some seconds; the last try got the status 503. */
async function delivery(hookId: number, state: string, tries: number[]): Promise<void> {
  const { insertId } = await execute(
    `insert into hook_deliveries (hook_id, event_key, event, payload, state, attempts, created_at)
     values (?, ?, 'push', '{}', ?, ?, ?)`,
    [hookId, `key${keys++}`, state, tries.length, at(0)]
  )
  for (const [index, seconds] of tries.entries()) {
    await execute(
      `insert into hook_attempts (delivery_id, attempt, started_at, duration_ms, status, error, request_headers,
         response_headers, response_body) values (?, ?, ?, 1, 503, 'answered 503', '{}', '{}', '')`,
      [insertId, index + 1, at(seconds)]
    )
  }
}

const nextTry = (seconds: number) =>
  execute(
    `insert into jobs (queue, name, payload, state, lane, run_at, created_at)
     values ('hooks', 'hook.deliver', '{}', 'delayed', ?, ?, ?)`,
    [laneOf(URL), at(seconds), at(0)]
  )

t.test('a hook without failures is not listed', async t => {
  await createHook({ url: URL }, someOrigin)
  t.same(await failingHooks(), [])
})

t.test('a hook fails since the first attempt at the oldest delivery after the last success', async t => {
  const { id } = await createHook({ url: URL }, someOrigin)
  await delivery(id, 'dead', [1])
  await delivery(id, 'delivered', [10])
  await delivery(id, 'dead', [20, 25])
  await delivery(id, 'pending', [30])
  await delivery(id, 'pending', [])
  await nextTry(60)
  await nextTry(90)
  await execute('update hooks set failures = 3 where id = ?', [id])
  t.match(await failingHooks(), [
    {
      id,
      url: URL,
      project: null,
      failures: 3,
      since: at(20),
      next_try_at: at(60),
      pending: 2,
      dead: 2,
      event: 'push',
      status: 503
    }
  ])
})

t.test('a resting hook is tried when its rest ends', async t => {
  const { id } = await createHook({ url: URL }, someOrigin)
  await delivery(id, 'pending', [5])
  await nextTry(60)
  await execute('update hooks set failures = 6, resting_until = ? where id = ?', [at(80), id])
  t.match(await failingHooks(), [{ since: at(5), next_try_at: at(80), error: 'answered 503' }])
})

t.test('a hook whose deliveries are gone is still listed', async t => {
  const { id } = await createHook({ url: URL }, someOrigin)
  await execute('update hooks set failures = 1 where id = ?', [id])
  t.match(await failingHooks(), [{ id, since: null, next_try_at: null, pending: 0, dead: 0, error: null }])
})

t.test('at most 20 hooks are listed, the worst first', async t => {
  for (let each = 1; each <= 22; each++) {
    const { id } = await createHook({ url: URL }, someOrigin)
    await execute('update hooks set failures = ? where id = ?', [each, id])
  }
  const found = await failingHooks()
  t.equal(found.length, 20)
  t.equal(found[0]?.failures, 22)
})
