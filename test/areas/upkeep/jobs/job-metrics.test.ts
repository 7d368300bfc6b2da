// The metrics of background jobs in the API.
import { registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const app = await testApp(t)
const admin = app.as(await app.make.admin())
await app.make.user()
const get = async (what: string) => (await admin.get(`/bgjobs/${what}`)).json()

t.test('metrics count waiting jobs by queue', async t => {
  const { queues } = await get('queue_metrics')
  for (const name of ['default', 'builds', 'hooks', 'mail', 'maintenance']) {
    t.match(queues[name], { backlog: Number, latency: Number }, name)
  }
  t.ok(queues.default.backlog >= 2, 'the events of two new users are pending')
  const { jobs } = await get('job_stats')
  t.match(jobs, { processed: Number, failed: Number, enqueued: Number })
  t.ok(jobs.enqueued >= queues.default.backlog)
})

t.test('metrics count finished jobs', async t => {
  const before = (await get('job_stats')).jobs
  const ran = await app.runJobs()
  t.ok(ran.length > 0)
  const { queues, processes, jobs } = await get('compound_metrics')
  t.equal(jobs.processed - before.processed, ran.length)
  t.equal(queues.default.backlog, 0)
  t.same(processes, [], 'no worker is running')
})

t.test('metrics show processes', async t => {
  const id = await registerProcess({ queues: ['default', 'hooks'], concurrency: 7 })
  const { processes } = await get('process_metrics')
  t.match(processes, [
    {
      hostname: String,
      pid: process.pid,
      tag: String,
      started_at: DATE_TIME,
      queues: ['default', 'hooks'],
      labels: [],
      concurrency: 7,
      busy: 0
    }
  ])
  t.equal(Object.keys(processes[0]).length, 8)
  await unregisterProcess(id)
})
