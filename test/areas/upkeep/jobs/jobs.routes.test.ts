// The API of jobs, and the record of the dashboard.
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { pausedQueues } from '../../../../src/queue/administer.js'
import { enqueue } from '../../../../src/queue/enqueue.js'
import { testApp } from '../../../helpers/app.js'
import { eventJob } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline } from '../../ci/builds/make-builds.js'
import { makeRunner } from '../../ci/runners/make-runners.js'

const app = await testApp(t)
const admin = await app.make.admin()
const as = app.as(admin)
const stateOf = async (id: number) =>
  (await row<{ state: string }>('select state from jobs where id = ?', [id]))?.state ?? 'gone'
const lastAudit = () =>
  row<{ action: string; actor_id: number; target_id: string }>(
    'select action, actor_id, target_id from audit_events order by id desc limit 1'
  )

async function deadJob(key = 'a'): Promise<number> {
  const id = await enqueue('event.published', eventJob(key))
  await execute("update jobs set state = 'dead', error = 'Error: no', attempts = 12 where id = ?", [id])
  await execute('insert into job_failures (job_id, failed_at) values (?, ?)', [id, new Date()])
  return id
}

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_failures', 'paused_queues']) await execute(`delete from ${table}`)
})

t.test('GET /bgjobs/overview returns the whole record of the dashboard', async t => {
  const project = await app.make.project()
  const [build] = await makePipeline(project, 'job:\n  script: [make]\n')
  if (!build) throw new Error('no build')
  await beginBuild(build)
  await execute('delete from jobs')
  const id = await deadJob()
  const res = await as.get('/bgjobs/overview')
  t.equal(res.statusCode, 200)
  const found = res.json()
  t.same(Object.keys(found), ['at', 'queues', 'processes', 'failures', 'builds', 'hooks', 'mail', 'totals'])
  t.match(found.queues[0], { name: 'default', paused: false, ready: 0, dead: 1, latency: 0, processed_per_minute: 0 })
  t.equal(found.queues[0].minutes.length, 60)
  t.match(found.failures, [{ id, name: 'event.published', error: 'Error: no', payload: { id: 'a' }, state: 'dead' }])
  t.match(found.builds, [
    { id: build.id, project: project.path, name: 'job', ref: 'master', hostname: null, runner: null }
  ])
  const { id: outside } = await makeRunner()
  await execute('update builds set runner_id = ? where id = ?', [outside, build.id])
  t.match((await as.get('/bgjobs/overview')).json().builds, [{ id: build.id, runner: 'a runner' }])
  t.match((await as.get(`/bgjobs/builds/${build.id}`)).json(), { status: 'running', runner: 'a runner' })
  t.match(found.totals, { dead: 1, ready: 0 })
})

t.test('GET /bgjobs/jobs lists and pages them, newest first', async t => {
  const ids = [await deadJob('a'), await deadJob('b'), await deadJob('c')]
  await enqueue('hook.deliver', { deliveryId: 7 })
  const dead = await as.get('/bgjobs/jobs', { state: 'dead', queue: 'default', per_page: 2 })
  t.equal(dead.statusCode, 200)
  t.same(
    dead.json().map(({ id }: { id: number }) => id),
    [ids[2], ids[1]]
  )
  t.match(dead.json()[0], { queue: 'default', state: 'dead', payload: { id: 'c' }, attempts: 12, error: 'Error: no' })
  t.equal(dead.headers['x-total'], '3')
  t.match((await as.get('/bgjobs/jobs', { queue: 'hooks' })).json(), [{ payload: { deliveryId: 7 }, state: 'ready' }])
})

t.test('GET /bgjobs/search searches all jobs for a text, and returns where to continue', async t => {
  const id = await deadJob('Needle')
  for (let each = 0; each < 100; each++) await deadJob(`hay${each}`)
  t.match((await as.get('/bgjobs/search', { text: 'needle' })).json(), { jobs: [{ id, state: 'dead' }], next: null })
  const page = (await as.get('/bgjobs/search', { queue: 'default', state: 'dead' })).json()
  t.equal(page.jobs.length, 100)
  const rest = (await as.get('/bgjobs/search', { past: page.next })).json()
  t.match(rest, { jobs: [{ id }], next: null })
  t.match((await as.get('/bgjobs/search', { oldest: true })).json().jobs[0], { id })
  t.equal((await as.get('/bgjobs/search', { text: 'x'.repeat(201) })).statusCode, 400)
  t.equal((await as.get('/bgjobs/search', { queue: 'nowhere' })).statusCode, 400)
})

t.test('builds of all projects are listed, shown with the end of their trace, canceled and retried', async t => {
  const project = await app.make.project()
  const [one, two] = await makePipeline(project, 'one:\n  script: [make]\ntwo:\n  script: [make]\n')
  if (!one || !two) throw new Error('no builds')
  await endBuild(one, { status: 'failed', trace: `${'x'.repeat(70_000)}\n${'line\n'.repeat(10)}äend\n` })
  const list = (await as.get('/bgjobs/builds')).json()
  t.match(list.slice(0, 2), [
    { id: two.id, status: 'pending', project: project.path },
    { id: one.id, status: 'failed', name: 'one' }
  ])
  const shown = (await as.get(`/bgjobs/builds/${one.id}`)).json()
  t.match(shown, { id: one.id, trace: { size: 70_057, tail: `${'line\n'.repeat(10)}äend\n` } })
  t.equal((await as.get('/bgjobs/builds/999999')).statusCode, 404)

  t.match((await as.post(`/bgjobs/builds/${two.id}/cancel`)).json(), { id: two.id })
  t.match(await lastAudit(), { action: 'build.cancel', actor_id: admin.id, target_id: String(two.id) })
  t.equal((await as.post(`/bgjobs/builds/${two.id}/cancel`)).statusCode, 409, 'it has ended')
  const retried = await as.post(`/bgjobs/builds/${one.id}/retry`)
  t.equal(retried.statusCode, 201)
  t.match(retried.json(), { id: one.id, retried_as: Number })
  t.equal((await as.post(`/bgjobs/builds/${retried.json().retried_as}/retry`)).statusCode, 403, 'it has not ended')
})

t.test('GET /bgjobs/jobs refuses an unknown state or queue', async t => {
  t.equal((await as.get('/bgjobs/jobs', { state: 'tired' })).statusCode, 400)
  const { statusCode, body } = await as.get('/bgjobs/jobs', { queue: 'nowhere' })
  t.equal(statusCode, 400)
  t.match(body, /is not one of default/)
})

t.test('GET /bgjobs/jobs/:id', async t => {
  const id = await deadJob()
  t.match((await as.get(`/bgjobs/jobs/${id}`)).json(), { id, error: 'Error: no', payload: { id: 'a', event: {} } })
  const missing = await as.get('/bgjobs/jobs/999999')
  t.equal(missing.statusCode, 404)
  t.same(missing.json(), { message: '404 Job Not Found' })
})

t.test('POST /bgjobs/jobs/:id/retry makes the job ready, and writes to the audit log', async t => {
  const id = await deadJob()
  const res = await as.post(`/bgjobs/jobs/${id}/retry`)
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id, state: 'ready', attempts: 0 })
  t.equal(await stateOf(id), 'ready')
  t.match(await lastAudit(), { action: 'job.retry', actor_id: admin.id, target_id: String(id) })
  t.equal((await as.post(`/bgjobs/jobs/${id}/retry`)).statusCode, 404, 'a ready job cannot be retried')
})

t.test('DELETE /bgjobs/jobs/:id discards the job unless it is running', async t => {
  const id = await deadJob()
  const res = await as.delete(`/bgjobs/jobs/${id}`)
  t.equal(res.statusCode, 200)
  t.match(res.json(), { id, state: 'dead' })
  t.equal(await stateOf(id), 'gone')
  t.match(await lastAudit(), { action: 'job.discard', target_id: String(id) })
  const running = await deadJob()
  await execute("update jobs set state = 'running' where id = ?", [running])
  t.equal((await as.delete(`/bgjobs/jobs/${running}`)).statusCode, 404)
  t.equal(await stateOf(running), 'running')
})

t.test('POST /bgjobs/queues/:queue/pause and resume', async t => {
  const paused = await as.post('/bgjobs/queues/hooks/pause')
  t.equal(paused.statusCode, 201)
  t.same(paused.json(), { queue: 'hooks', paused: true })
  t.same(await pausedQueues(), ['hooks'])
  t.match(await lastAudit(), { action: 'queue.pause', target_id: 'hooks' })
  t.same((await as.post('/bgjobs/queues/hooks/resume')).json(), { queue: 'hooks', paused: false })
  t.same(await pausedQueues(), [])
  t.equal((await as.post('/bgjobs/queues/nowhere/pause')).statusCode, 400)
})

t.test('a request without the right changes nothing', async t => {
  const user = app.as(await app.make.user())
  const id = await deadJob()
  const before = await rows('select id from audit_events')
  for (const res of [
    await user.post(`/bgjobs/jobs/${id}/retry`),
    await user.delete(`/bgjobs/jobs/${id}`),
    await user.post('/bgjobs/queues/hooks/pause')
  ]) {
    t.equal(res.statusCode, 403)
  }
  t.equal(await stateOf(id), 'dead')
  t.same(await pausedQueues(), [])
  t.same(await rows('select id from audit_events'), before)
})
