// The API that shows deliveries and redelivers them, with real receivers.
import { redeliverDead } from '../../../../src/areas/ground/hooks/redeliveries.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })

const app = await testApp(t)
const root = await app.make.admin()
const admin = app.as(root)
await app.runJobs()

/** Starts a receiver with a changeable answer, and adds a hook for it. */
async function hooked(t: Test, status = 200) {
  const state = { status }
  const { port, received } = await receiver(t, response =>
    response.writeHead(state.status, { 'x-answer': 'the token was a secret' }).end('the answer')
  )
  const url = `http://ada:hunter22@127.0.0.1:${port}/hook`
  const [{ id }] = (await admin.post('/hooks', { url, token: 'a secret' })).json()
  return { id, state, received, path: `/hooks/${id}/deliveries` }
}

t.beforeEach(async () => {
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'hook_attempts', 'audit_events'])
    await execute(`delete from ${table}`)
})

t.test('the list of deliveries', async t => {
  t.test('is paged, newest first, and filtered', async t => {
    const { id, path, state } = await hooked(t)
    await admin.get(`/hooks/${id}`)
    await admin.get(`/hooks/${id}`)
    await app.runJobs()
    state.status = 500
    await admin.get(`/hooks/${id}`)
    await app.runJobs()
    const res = await admin.get(path, { per_page: 2 })
    t.equal(res.statusCode, 200)
    t.match(res.headers, { 'x-total': '3', 'x-next-page': '2', link: /rel="next"/ })
    const [first, second] = res.json()
    t.ok(first.id > second.id)
    t.match(first, {
      hook_id: id,
      event: 'project_create',
      state: 'pending',
      attempts: 1,
      redelivery_of: null,
      created_at: String,
      finished_at: null,
      last_attempt: { status: 500, error: 'the receiver answered 500', duration_ms: Number, started_at: String }
    })
    t.match(second, { state: 'delivered', last_attempt: { status: 200, error: null }, finished_at: String })
    const count = async (query: object) => (await admin.get(path, { ...query })).json().length
    t.equal(await count({ page: 2, per_page: 2 }), 1)
    t.equal(await count({ state: 'delivered' }), 2)
    t.equal(await count({ state: 'dead' }), 0)
    t.equal(await count({ event: 'project_create', state: 'pending' }), 1)
    t.equal(await count({ event: 'push' }), 0)
  })

  t.test('shows a delivery without attempts, and none of another hook', async t => {
    const [one, two] = [await hooked(t), await hooked(t)]
    await admin.get(`/hooks/${one.id}`)
    t.match((await admin.get(one.path)).json(), [{ state: 'pending', attempts: 0, last_attempt: null }])
    t.same((await admin.get(two.path)).json(), [])
  })

  t.test('refuses an unknown state, event or hook', async t => {
    const { path } = await hooked(t)
    t.match((await admin.get(path, { state: 'lost' })).json(), { error: 'state does not have a valid value' })
    t.equal((await admin.get(path, { event: 'party' })).statusCode, 400)
    t.equal((await admin.get(path, { page: 'x' })).statusCode, 400)
    t.equal((await admin.get('/hooks/x/deliveries')).statusCode, 400)
    const res = await admin.get('/hooks/999999/deliveries')
    t.equal(res.statusCode, 404)
    t.equal(res.json().message, '404 System hook Not Found')
  })
})

t.test('one delivery contains its payload and all attempts, and no secret', async t => {
  const { id, path, state } = await hooked(t, 503)
  const sample = (await admin.get(`/hooks/${id}`)).json()
  await app.runJobs()
  state.status = 200
  await app.runJobs({ until: new Date(Date.now() + 3_600_000) })
  const [{ id: number }] = (await admin.get(path)).json()
  const res = await admin.get(`${path}/${number}`)
  t.equal(res.statusCode, 200)
  const found = res.json()
  t.same(found.payload, sample)
  t.match(found, { id: number, state: 'delivered', attempts: 2 })
  t.match(found.tries, [
    { attempt: 1, status: 503, error: 'the receiver answered 503', duration_ms: Number, started_at: String },
    { attempt: 2, status: 200, error: null, response_body: 'the answer', response_headers: { 'x-answer': String } }
  ])
  t.match(found.tries[1].request_headers, {
    'Content-Type': 'application/json',
    'X-Gitstead-Event': 'System Hook',
    'X-Gitlab-Token': '[redacted]',
    'X-Gitstead-Token': '[redacted]',
    Authorization: '[redacted]',
    'webhook-signature': '[redacted]',
    'webhook-id': /^test:/
  })
  t.notMatch(res.body, /a secret|hunter22/)
  t.equal((await admin.get(`${path}/999999`)).json().message, '404 Delivery Not Found')
  const other = await hooked(t)
  t.equal((await admin.get(`${other.path}/${number}`)).statusCode, 404)
  t.equal((await admin.post(`${other.path}/${number}/redeliver`)).statusCode, 404)
})

t.test('a redelivery', async t => {
  t.test('is a new delivery of the same event and payload, with an audit event', async t => {
    const { id, path, received } = await hooked(t)
    await admin.get(`/hooks/${id}`)
    await app.runJobs()
    const [{ id: number }] = (await admin.get(path)).json()
    const res = await admin.post(`${path}/${number}/redeliver`)
    t.equal(res.statusCode, 201)
    t.match(res.json(), { hook_id: id, event: 'project_create', state: 'pending', attempts: 0, redelivery_of: number })
    t.not(res.json().id, number)
    await app.runJobs()
    t.equal(received.length, 2)
    t.equal(received[1]?.body, received[0]?.body)
    t.not(received[1]?.headers['webhook-id'], received[0]?.headers['webhook-id'], 'so a receiver does not drop it')
    const event = await row<{ target_name: string; changes: string }>(
      "select * from audit_events where action = 'hook.redeliver'"
    )
    t.match(event, { actor_name: root.username, target_type: 'hook', target_id: String(id) })
    t.same(JSON.parse(event?.changes ?? ''), { delivery: { before: number, after: res.json().id } })
    t.notMatch(event?.target_name, /hunter22/)
  })

  t.test('is sent at once to a resting hook, and the pending deliveries follow it', async t => {
    const { id, path, state, received } = await hooked(t, 503)
    for (let count = 0; count < 12; count++) await app.make.user()
    await app.runJobs()
    t.equal(received.length, 5, 'the hook rests')
    const [{ id: number }] = (await admin.get(path)).json()
    state.status = 200
    t.equal((await admin.post(`${path}/${number}/redeliver`)).statusCode, 201)
    await app.runJobs()
    t.ok(received.length > 5)
    t.match(await row('select failures, resting_until from hooks where id = ?', [id]), {
      failures: 0,
      resting_until: null
    })
    await app.runJobs({ until: new Date() })
    const states = (await admin.get(path, { per_page: 100 })).json().map((each: { state: string }) => each.state)
    t.same(new Set(states), new Set(['delivered']))
  })

  t.test('of many to a hook that still fails: the first failures make the others wait', async t => {
    const { id, path, received } = await hooked(t, 503)
    for (let count = 0; count < 30; count++) await app.make.user()
    await app.runJobs()
    t.equal(received.length, 5)
    await execute("update hook_deliveries set state = 'dead', finished_at = ? where hook_id = ?", [new Date(), id])
    const made = await redeliverDead(id, someOrigin)
    t.equal(made.length, 30)
    t.same(await redeliverDead(id, someOrigin), [], 'what was repeated is not repeated again')
    await app.runJobs()
    t.equal(received.length, 6)
    t.match(await row('select failures from hooks where id = ?', [id]), { failures: 6 })
    await execute("update hook_deliveries set state = 'dead' where id = ?", [made[0] ?? 0])
    t.equal((await redeliverDead(id, someOrigin)).length, 1, 'but a repetition that was lost is')
    t.equal((await admin.get(path, { state: 'dead', per_page: 1 })).headers['x-total'], '31')
    t.match(await rows("select changes from audit_events where action = 'hook.redeliver' order by id"), [
      { changes: '{"dead_deliveries":{"after":30}}' },
      { changes: '{"dead_deliveries":{"after":1}}' }
    ])
  })

  t.test('of a removed hook is not found', async t => {
    const { id, path } = await hooked(t)
    await admin.get(`/hooks/${id}`)
    const [{ id: number }] = (await admin.get(path)).json()
    await admin.delete(`/hooks/${id}`)
    t.equal((await admin.post(`${path}/${number}/redeliver`)).statusCode, 404)
    t.same((await rows("select id from audit_events where action = 'hook.redeliver'")).length, 0)
  })
})

t.test('a password in the URL of a hook is not recorded', async t => {
  const { id } = await hooked(t)
  await admin.delete(`/hooks/${id}`)
  const events = await rows<{ action: string }>('select * from audit_events order by id')
  t.match(events, [{ action: 'hook.create' }, { action: 'hook.delete' }])
  t.notMatch(JSON.stringify(events), /hunter22|a secret/)
})
