// Passing events to listeners: a failing listener does not stop the others and runs again. Also jobs of older versions.
import { randomUUID } from 'node:crypto'
import type { PublishedEvent } from '../../src/areas/ground/activity/events.js'
import { type Listener, notifyListeners } from '../../src/areas/ground/activity/listeners.js'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { NotHere } from '../../src/errors.js'
import { handleEvent } from '../../src/product.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import { runJobs } from '../helpers/jobs.js'
import t from '../helpers/tap.js'

await testDatabase()

const CI = 'test:\n  script: [make]\n'
const told: PublishedEvent = {
  id: randomUUID(),
  at: new Date().toISOString(),
  event: { kind: 'ref.changed', refChangeId: 1 }
}
const count = async (table: string) =>
  Number((await row<{ count: number }>(`select count(*) as count from ${table}`))?.count)

t.beforeEach(async () => {
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'activity_events']) await execute(`delete from ${table}`)
})

t.test('all listeners receive an event, also when one throws or rejects', async t => {
  const heard: string[] = []
  const listener = (name: string, fails?: 'at once' | 'later'): Listener => ({
    name,
    on: {
      'ref.changed': ({ id }) => {
        heard.push(`${name} ${id}`)
        if (fails === 'at once') throw new Error('deaf')
        return fails ? Promise.reject(new TypeError('asleep')) : Promise.resolve()
      }
    }
  })
  const all = [listener('one'), listener('two', 'at once'), listener('three', 'later'), listener('four')]
  await t.rejects(notifyListeners(all, told), { message: /^two: Error: deaf.*\nthree: TypeError: asleep/s })
  t.same(
    heard,
    all.map(({ name }) => `${name} ${told.id}`)
  )
  await t.resolves(notifyListeners([listener('one')], told))
})

t.test('an event whose repository belongs to another machine goes there, unless something else fails, too', async t => {
  const failing = (name: string, error: Error): Listener => ({
    name,
    on: { 'ref.changed': () => Promise.reject(error) }
  })
  const there = new NotHere('beta')
  await t.rejects(notifyListeners([failing('one', there), failing('two', new NotHere('beta'))], told), there)
  await t.rejects(notifyListeners([failing('one', there), failing('two', new Error('deaf'))], told), {
    message: /^one: NotHere: .*\ntwo: Error: deaf/s
  })
})

t.test('an event of a newer version does not count as done', async t => {
  const strange = { ...told, event: { kind: 'moon.landed' } } as unknown as PublishedEvent
  await t.rejects(handleEvent(strange), { message: 'nobody listens to moon.landed' })
})

t.test('a job with a failed listener runs again, and the other listeners have no second effect', async t => {
  const project = await factory.project()
  await runJobs()
  await execute('delete from activity_events')
  await createHook({ url: 'http://127.0.0.1:1/' }, someOrigin)
  await factory.file(project, '.gitstead-ci.yml', CI)
  await execute('rename table activity_events to activity_events_away')
  try {
    await runJobs()
  } finally {
    await execute('rename table activity_events_away to activity_events')
  }
  t.match(await rows("select state, error from jobs where name = 'event.published'"), [
    { state: 'delayed', error: /^Error: activity: .*activity_events/ }
  ])
  t.same([await count('hook_deliveries'), await count('pipelines'), await count('activity_events')], [1, 1, 0])
  await runJobs({ until: new Date(Date.now() + 5_000) })
  t.same(await rows("select id from jobs where name = 'event.published'"), [])
  t.same([await count('hook_deliveries'), await count('pipelines'), await count('activity_events')], [1, 1, 1])
})

t.test('jobs of an older version run, with the keys of that version', async t => {
  const project = await factory.project()
  await factory.file(project, '.gitstead-ci.yml', CI)
  await execute('delete from jobs')
  await createHook({ url: 'http://127.0.0.1:1/' }, someOrigin)
  const change = await row<{ id: number }>('select id from ref_changes where project_id = ?', [project.id])
  const body = { event_name: 'user_create', name: 'Ada' }
  const enqueue = (name: string, payload: object) =>
    execute(
      `insert into jobs (queue, name, payload, state, run_at, created_at)
       values ('default', ?, ?, 'ready', utc_timestamp(3), utc_timestamp(3))`,
      [name, JSON.stringify(payload)]
    )
  for (let time = 0; time < 2; time++) {
    await enqueue('event.emitted', { key: 'user_create:7', event: 'user_create', payload: body })
    await enqueue('ref.changed', { refChangeId: change?.id })
  }
  await runJobs()
  const deliveries = await rows<{ event_key: string; event: string; payload: string }>(
    'select event_key, event, payload from hook_deliveries order by event desc'
  )
  t.match(deliveries, [
    { event_key: 'user_create:7', event: 'user_create', payload: JSON.stringify(body) },
    { event_key: `ref_change:${change?.id}`, event: 'push' }
  ])
  t.equal(deliveries.length, 2)
  t.equal((await rows('select id from pipelines where project_id = ?', [project.id])).length, 1)
  t.same(await rows("select id from jobs where queue = 'default'"), [])

  await execute('delete from activity_events')
  const happening = { kind: 'ref.changed', refChangeId: change?.id }
  await enqueue('happening.told', { id: randomUUID(), at: new Date().toISOString(), happening })
  await runJobs()
  t.equal(await count('activity_events'), 1)
  t.same(await rows("select id from jobs where queue = 'default'"), [])
})
