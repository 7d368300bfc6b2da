// A receiver that accepts connections and never answers took all slots for deliveries, and all other receivers waited for
// its time limit, ten seconds for every ten events.
import type { Socket } from 'node:net'
import { addDelivery } from '../../../../src/areas/ground/hooks/deliveries.js'
import { createHook } from '../../../../src/areas/ground/hooks/hooks.js'
import { hookLanes, laneOf } from '../../../../src/areas/ground/hooks/targets.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { perform } from '../../../../src/worker/handlers.js'
import { Loop } from '../../../../src/worker/loop.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'
import { rawReceiver, receiver } from '../../../webhooks/receiver.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
process.env.GITSTEAD_HOOKS_TIMEOUT = '600'
loadConfig({ port: 0 })

const SLOTS = 4
const HOUR = 3_600_000

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_processes', 'hooks', 'hook_deliveries', 'hook_attempts']) {
    await execute(`delete from ${table}`)
  }
})

/** Starts a loop over the deliveries, as the worker does. */
async function deliveries(t: Test) {
  const processId = await registerProcess({ queues: ['hooks'], concurrency: SLOTS })
  const run = perform
  const loop = new Loop({
    queue: 'hooks',
    processId,
    concurrency: SLOTS,
    pollInterval: HOUR,
    lanes: { ...hookLanes(SLOTS), slowAfter: 50 },
    run: (job, signal) => run(job, { signal, processId })
  })
  t.teardown(() => loop.stop(10_000))
  return loop
}

/** Starts a receiver that accepts connections, reads, and never answers until it hangs up on all. */
async function dead(t: Test) {
  const sockets = new Set<Socket>()
  const { port, seen } = await rawReceiver(t, socket => {
    sockets.add(socket)
    socket.resume()
    socket.on('close', () => sockets.delete(socket))
  })
  const hangUp = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { port, seen, open: () => sockets.size, hangUp }
}

const hookFor = (port: number, path = '') => createHook({ url: `http://127.0.0.1:${port}/${path}` }, someOrigin)

async function send(hook: { id: number; url: string }, count: number, key = 'k') {
  for (let at = 0; at < count; at++) await addDelivery(hook, { key: `${key}${at}`, event: 'push', body: '{}' })
}

/** Leaves nothing to do for the loop. A claim that is under way may still open a connection. */
async function endTries(hangUps: readonly (() => void)[]): Promise<void> {
  await execute("delete from jobs where state = 'ready'")
  await until('all tries ended', async () => {
    for (const hangUp of hangUps) hangUp()
    return (await rows("select id from jobs where state = 'running'")).length === 0
  })
}

const attempts = async () => (await rows('select id from hook_attempts')).length

t.test('a dead receiver gets half of the slots, and then one', async t => {
  const { port, seen, open, hangUp } = await dead(t)
  const well = await receiver(t, response => response.end())
  await send(await hookFor(port), 20)
  await send(await hookFor(well.port), 10)
  const loop = await deliveries(t)
  loop.wake()
  await until('the other receiver has everything', () => well.received.length === 10)
  t.equal(seen.connections, SLOTS / 2, 'although no try has ended')
  await until('the slots of the dead one are free', async () => (await attempts()) === 10)

  await until('both are open', () => open() === SLOTS / 2)
  hangUp()
  await until('both tries ended', async () => (await attempts()) === 12)
  await until('it is tried again', () => open() > 0)
  t.equal(open(), 1, 'no other request')
  await endTries([hangUp])
})

t.test('dead receivers that together take all slots delay others only until they are slow', async t => {
  const all = [await dead(t), await dead(t), await dead(t)]
  const well = await receiver(t, response => response.end())
  for (const { port } of all) await send(await hookFor(port), 5)
  await send(await hookFor(well.port), 3)
  const loop = await deliveries(t)
  loop.wake()
  await until('the other receiver has everything', () => well.received.length === 3)
  t.equal(await rows('select 1 from hook_attempts where status is null').then(({ length }) => length), 0)
  await until('all have their tries', () => all.every(({ open }) => open() > 0))
  t.ok(all.every(({ open }) => open() <= SLOTS / 2))
  await endTries(all.map(({ hangUp }) => hangUp))
})

t.test('hooks with the same receiver share its slots', async t => {
  const { port, seen, hangUp } = await dead(t)
  const well = await receiver(t, response => response.end())
  for (const path of ['a', 'b', 'c', 'd']) await send(await hookFor(port, path), 1)
  const last = await hookFor(well.port)
  await send(last, 1)
  const loop = await deliveries(t)
  loop.wake()
  await until('the other receiver has its event', () => well.received.length === 1)
  t.ok(seen.connections <= SLOTS / 2)
  await endTries([hangUp])
})

t.test('one receiver that answers gets all its events, however many slots it may take', async t => {
  const { port, received } = await receiver(t, response => response.end())
  await send(await hookFor(port), 60)
  const loop = await deliveries(t)
  loop.wake()
  await until('it has everything', () => received.length === 60)
  t.equal(received.length, 60)
})

t.test('a lane is a host and port', async t => {
  t.equal(laneOf('http://u:p@example.org/a?b'), laneOf('http://example.org/c'))
  t.not(laneOf('http://example.org/'), laneOf('http://example.org:81/'))
  t.not(laneOf('http://example.org/'), laneOf('http://example.com/'))
})
