// Events are published once, in the transaction of the change, with the record as it was at that moment.
import { type PublishedEvent, publish, publishAll } from '../../../../src/areas/ground/activity/events.js'
import { personalProjects } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { createHook } from '../../../../src/areas/ground/hooks/hooks.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { handleEvent } from '../../../../src/product.js'
import { claimJobs } from '../../../../src/queue/claim.js'
import { registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const key = (id: number) => ({ id, key: 'ssh-ed25519 AAAA', username: 'ada', created_at: new Date(0) })
const payloads = async () =>
  (await rows<{ payload: string }>('select payload from hook_deliveries order by id')).map(
    ({ payload }) => JSON.parse(payload) as Record<string, unknown>
  )

t.beforeEach(async () => {
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'activity_events']) await execute(`delete from ${table}`)
})

t.test('an event is published only when its transaction commits', async t => {
  const failing = transact(async () => {
    await publish({ kind: 'key.added', key: key(1) })
    throw new Error('no')
  })
  await t.rejects(failing, { message: 'no' })
  t.same(await waitingEvents('key.added'), [])
  await transact(() => publish({ kind: 'key.added', key: key(2) }))
  t.match(await waitingEvents('key.added'), [{ key: { id: 2, created_at: '1970-01-01T00:00:00.000Z' } }])
})

t.test('each event has its own id', async t => {
  await publishAll([1, 2, 3].map(id => ({ kind: 'key.added', key: key(id) })))
  const jobs = await rows<{ payload: string }>('select payload from jobs')
  t.equal(new Set(jobs.map(({ payload }) => (JSON.parse(payload) as PublishedEvent).id)).size, 3)
})

t.test('a push runs before a mass of other events', async t => {
  await publishAll([1, 2, 3].map(id => ({ kind: 'key.added', key: key(id) })))
  await publishAll([
    { kind: 'key.removed', key: key(1) },
    { kind: 'ref.changed', refChangeId: 7 }
  ])
  const process = await registerProcess({ queues: ['default'], concurrency: 1 })
  const [first, second] = await claimJobs('default', process, 2)
  t.match(first?.payload, { event: { kind: 'ref.changed', refChangeId: 7 } })
  t.match(second?.payload, { event: { kind: 'key.added', key: { id: 1 } } })
  await unregisterProcess(process)
})

t.test('the event of a user contains no secret of the row', async t => {
  await factory.user({ username: 'told' })
  const [told] = (await waitingEvents('user.created')).filter(({ user }) => user.username === 'told')
  t.same(Object.keys(told?.user ?? {}).sort(), ['created_at', 'email', 'id', 'name', 'updated_at', 'username'])
})

t.test('an event that listeners receive twice has one delivery for each hook, and one row in the feed', async t => {
  for (const url of ['http://one.example.org/', 'http://two.example.org/']) await createHook({ url }, someOrigin)
  const project = await factory.project()
  const [found] = await rows<{ payload: string }>("select payload from jobs where payload like '%project.created%'")
  const told = JSON.parse(found?.payload ?? '') as PublishedEvent
  await Promise.all([1, 2, 3].map(() => handleEvent(told)))
  await handleEvent(told)
  t.match(await rows('select event_key, event from hook_deliveries'), [
    { event_key: told.id, event: 'project_create' },
    { event_key: told.id, event: 'project_create' }
  ])
  t.match(await rows('select happening_id, project_id, author_id, action, data from activity_events'), [
    { happening_id: told.id, project_id: project.id, author_id: project.owner.id, action: 'created', data: null }
  ])
})

t.test('the event of a removed record shows the record as it was', async t => {
  const project = await factory.project()
  await runJobs()
  await createHook({ url: 'http://one.example.org/' }, someOrigin)
  await removeProjects(await personalProjects(project.owner.id), someOrigin)
  await execute("update users set name = 'Another Name' where id = ?", [project.owner.id])
  await runJobs()
  t.match(await payloads(), [
    {
      event_name: 'project_destroy',
      project_id: project.id,
      path_with_namespace: project.path,
      owner_name: project.owner.name,
      owner_email: project.owner.email
    }
  ])
})
