// Deliveries of events to system hooks, with real receivers that fail and recover.
import { deliver } from '../../../../src/areas/ground/hooks/deliver.js'
import { deliverEvent } from '../../../../src/areas/ground/hooks/deliveries.js'
import { findDelivery } from '../../../../src/areas/ground/hooks/deliveries.queries.js'
import { viewDeliveryDetails } from '../../../../src/areas/ground/hooks/deliveries.view.js'
import { createHook, deleteHook } from '../../../../src/areas/ground/hooks/hooks.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { promoteJobs } from '../../../../src/queue/claim.js'
import { jobStats } from '../../../../src/queue/metrics.js'
import { queuesOverview } from '../../../../src/queue/overview.js'
import type { SystemHookEvent } from '../../../../src/webhooks/events.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import t, { type Test } from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'
import { type Received, receiver } from '../../../webhooks/receiver.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })

const EVENT = { event_name: 'project_create', name: 'Ärger "quoted"', id: 7 } as const
const DAY = 86_400_000

t.beforeEach(async () => {
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'hook_attempts']) await execute(`delete from ${table}`)
})

const tellSystemHooks = (key: string, event: SystemHookEvent, payload: object) =>
  deliverEvent(key, { system: { event, payload: () => payload } })

/** Starts a receiver with a changeable answer, and adds a hook for it. */
async function hooked(t: Test, status = 200) {
  const state = { status }
  const { port, received } = await receiver(t, response => response.writeHead(state.status).end('answer'))
  const hook = await createHook({ url: `http://127.0.0.1:${port}/hook`, token: 'a secret' }, someOrigin)
  return { hook, state, received }
}

const deliveries = () =>
  rows<{ id: number; state: string; attempts: number }>('select id, state, attempts from hook_deliveries order by id')
const rest = (id: number) =>
  row<{ failures: number; resting_until: Date | null }>('select failures, resting_until from hooks where id = ?', [id])
const nextTry = async () =>
  (await row<{ run_at: Date }>("select min(run_at) as run_at from jobs where state = 'delayed'"))?.run_at ?? new Date(0)

/** Runs all delayed jobs as if their time had come. */
async function passTime(): Promise<void> {
  await execute("update jobs set run_at = ? where state = 'delayed'", [new Date()])
  await execute('update hooks set resting_until = ? where resting_until is not null', [new Date(Date.now() - 1)])
  await promoteJobs()
  await runJobs()
}

t.test('an event', async t => {
  t.test('is delivered byte for byte, with its headers', async t => {
    const { received } = await hooked(t)
    await tellSystemHooks('key', 'project_create', EVENT)
    await runJobs()
    const [request] = received as [Received]
    t.equal(request.body, JSON.stringify(EVENT))
    t.match(request.headers, {
      'x-gitstead-event': 'System Hook',
      'x-gitlab-event': 'System Hook',
      'x-gitstead-token': 'a secret',
      'webhook-id': /^key\.\d+$/
    })
    t.match(await deliveries(), [{ state: 'delivered', attempts: 1 }])
    const [attempt] = await rows<{ request_headers: string }>('select * from hook_attempts')
    t.match(attempt, { attempt: 1, status: 200, error: null, response_body: 'answer' })
    t.notMatch(attempt?.request_headers, /a secret/)
  })

  t.test('that is published twice, also at the same time, is delivered once to each hook', async t => {
    const [one, two] = [await hooked(t), await hooked(t)]
    await Promise.all([1, 2, 3].map(() => tellSystemHooks('key', 'project_create', EVENT)))
    await runJobs()
    await tellSystemHooks('key', 'project_create', EVENT)
    await runJobs()
    t.same([one.received.length, two.received.length], [1, 1])
  })

  t.test('is delivered to the hooks that subscribe to it', async t => {
    const { received } = await hooked(t)
    await tellSystemHooks('a', 'tag_push', EVENT)
    await runJobs()
    t.equal(received.length, 0)
    await tellSystemHooks('b', 'push', EVENT)
    await runJobs()
    t.equal(received.length, 1)
  })
})

t.test('a receiver that fails', async t => {
  t.test('gets the same delivery again later', async t => {
    const { state, received } = await hooked(t, 500)
    await tellSystemHooks('key', 'project_create', EVENT)
    await runJobs()
    t.match(await deliveries(), [{ state: 'pending', attempts: 1 }])
    t.ok((await nextTry()) > new Date())
    state.status = 204
    await passTime()
    t.match(await deliveries(), [{ state: 'delivered', attempts: 2 }])
    t.equal(received.length, 2)
    t.equal(received[0]?.headers['webhook-id'], received[1]?.headers['webhook-id'])
    t.match(await rows('select attempt, status from hook_attempts order by id'), [
      { attempt: 1, status: 500 },
      { attempt: 2, status: 204 }
    ])
  })

  t.test('loses the delivery after twelve attempts', async t => {
    const { hook, received } = await hooked(t, 500)
    await tellSystemHooks('key', 'project_create', EVENT)
    await runJobs()
    for (let count = 1; count < 12; count++) {
      t.match(await deliveries(), [{ state: 'pending', attempts: count }])
      await passTime()
    }
    t.match(await deliveries(), [{ state: 'dead', attempts: 12 }])
    t.same(await rows('select id from jobs'), [])
    t.equal(received.length, 12)
    t.match(await rest(hook.id), { failures: 12 })
  })

  t.test('gets no more requests for a finished delivery', async t => {
    const { received } = await hooked(t)
    await tellSystemHooks('key', 'project_create', EVENT)
    await runJobs()
    const [done] = await deliveries()
    await deliver(done?.id ?? 0)
    await deliver(999_999)
    t.equal(received.length, 1)
  })
})

t.test('a receiver that keeps failing', async t => {
  t.test('rests after five failures; then only one delivery at a time checks it', async t => {
    const { hook, received } = await hooked(t, 503)
    for (let count = 0; count < 20; count++) await tellSystemHooks(`k${count}`, 'project_create', EVENT)
    await runJobs()
    t.match(await rest(hook.id), { failures: 5, resting_until: Date })
    t.equal(received.length, 5)
    await passTime()
    t.equal(received.length, 6)
    t.equal((await rest(hook.id))?.failures, 6)
    t.equal((await deliveries()).filter(({ state }) => state === 'pending').length, 20)
  })

  t.test('does not rest longer because of attempts that ran at the same time', async t => {
    const held: (() => void)[] = []
    const { port } = await receiver(t, response => void held.push(() => response.writeHead(503).end()))
    const hook = await createHook({ url: `http://127.0.0.1:${port}/hook` }, someOrigin)
    for (let count = 0; count < 12; count++) await tellSystemHooks(`k${count}`, 'project_create', EVENT)
    const tries = (await deliveries()).map(({ id }) => deliver(id))
    await until('all tries to arrive', async () => held.length === 12)
    for (const answer of held) answer()
    await Promise.allSettled(tries)
    t.match(await rest(hook.id), { failures: 5 })
  })

  t.test('does not delay other receivers', async t => {
    const [away, well] = [await hooked(t, 503), await hooked(t)]
    for (let count = 0; count < 20; count++) await tellSystemHooks(`k${count}`, 'project_create', EVENT)
    await runJobs()
    t.equal(well.received.length, 20)
    t.ok(away.received.length < 20)
  })

  t.test('gets all pending deliveries as soon as it recovers', async t => {
    const { hook, state, received } = await hooked(t, 503)
    for (let count = 0; count < 20; count++) await tellSystemHooks(`k${count}`, 'project_create', EVENT)
    await runJobs()
    state.status = 200
    await execute("update jobs set run_at = ? where state = 'delayed'", [new Date(Date.now() + 3_600_000)])
    await execute('update hooks set resting_until = ?', [new Date(Date.now() - 1)])
    await execute("update jobs set run_at = ? where state = 'delayed' limit 1", [new Date()])
    await promoteJobs()
    await runJobs()
    await promoteJobs()
    await runJobs()
    t.match(await rest(hook.id), { failures: 0, resting_until: null })
    t.same(new Set((await deliveries()).map(({ state }) => state)), new Set(['delivered']))
    t.equal(new Set(received.slice(5).map(({ headers }) => headers['webhook-id'])).size, 20)
  })

  t.test('does not keep deliveries forever: they are dead after a day', async t => {
    const { received } = await hooked(t, 503)
    for (let count = 0; count < 8; count++) await tellSystemHooks(`k${count}`, 'project_create', EVENT)
    await runJobs()
    await execute('update hook_deliveries set created_at = ?', [new Date(Date.now() - DAY - 60_000)])
    await execute("update jobs set run_at = ? where state = 'delayed'", [new Date()])
    await promoteJobs()
    await runJobs()
    t.equal(received.length, 5)
    t.same(new Set((await deliveries()).map(({ state }) => state)), new Set(['dead']))
    t.same(await rows('select id from jobs'), [])
  })
})

t.test('the removal of a hook cancels its pending deliveries', async t => {
  const { hook, received } = await hooked(t, 500)
  await tellSystemHooks('key', 'project_create', EVENT)
  await runJobs()
  await deleteHook(hook.id, someOrigin)
  t.match(await deliveries(), [{ state: 'canceled' }], 'at once, and not when its job runs')
  await passTime()
  t.equal(received.length, 1)
  t.match(await deliveries(), [{ state: 'canceled' }])
})

t.test('deliveries that cannot be sent any more are canceled', async t => {
  const [well, gone] = [await hooked(t, 500), await hooked(t)]
  await tellSystemHooks('old', 'project_create', EVENT)
  await execute('delete from hooks where id = ?', [gone.hook.id])
  await execute('delete from jobs')
  await tellSystemHooks('new', 'project_create', EVENT)
  await execute('update hook_deliveries set created_at = ?', [new Date(Date.now() - 4 * DAY)])
  t.match(await runTask('old_deliveries', {}, someOrigin), { state: 'done', report: { forsaken: 2 } })
  t.match(await rows('select hook_id, event_key, state from hook_deliveries order by id'), [
    { hook_id: well.hook.id, event_key: 'old', state: 'canceled' },
    { hook_id: gone.hook.id, event_key: 'old', state: 'canceled' },
    { hook_id: well.hook.id, event_key: 'new', state: 'pending' }
  ])
})

t.test('a failed attempt is a failed job, which says why', async t => {
  const { hook } = await hooked(t, 500)
  await execute("update job_totals set value = 0 where name = 'failed'")
  await tellSystemHooks('key', 'project_create', EVENT)
  await runJobs()
  t.match(await jobStats(), { failed: 1, enqueued: 1 })
  const [delivery] = await deliveries()
  t.match((await queuesOverview()).failures, [
    {
      name: 'hook.deliver',
      state: 'delayed',
      attempts: 1,
      error: `hook ${hook.id}, delivery ${delivery?.id}: the receiver answered 500`
    }
  ])
})

t.test('a stored payload that an earlier version cut is shown as text', async t => {
  const { hook } = await hooked(t)
  await tellSystemHooks('key', 'project_create', EVENT)
  await execute('update hook_deliveries set payload = ?', ['{"event_name":"push","mess'])
  const [delivery] = await deliveries()
  const found = await findDelivery(delivery?.id ?? 0, hook.id)
  t.match(viewDeliveryDetails(found, []), { payload: '{"event_name":"push","mess' })
})

t.test('a refused connection counts as a failure', async t => {
  const hook = await createHook({ url: 'http://127.0.0.1:1/hook' }, someOrigin)
  await tellSystemHooks('key', 'project_create', EVENT)
  await runJobs()
  t.match(await rows('select status, error from hook_attempts'), [
    { status: null, error: 'the connection was refused' }
  ])
  t.match(await rest(hook.id), { failures: 1, resting_until: null })
})

t.test('old deliveries are removed with their attempts; pending ones stay', async t => {
  const { state } = await hooked(t)
  await tellSystemHooks('done', 'project_create', EVENT)
  await runJobs()
  state.status = 500
  await tellSystemHooks('waiting', 'project_create', EVENT)
  await runJobs()
  await execute('update hook_deliveries set created_at = ?', [new Date(Date.now() - 40 * DAY)])
  t.match(await runTask('old_deliveries', {}, someOrigin), { state: 'done', count: 1 })
  t.match(await deliveries(), [{ state: 'pending' }])
  t.equal((await rows('select id from hook_attempts')).length, 1)
})
