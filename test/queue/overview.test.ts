// The figures for the dashboard: the state of every queue, the counts of the last minutes, and the failed jobs.
import { execute, rows } from '../../src/db/connect/sql.js'
import { discardJobs, pauseQueue, retryJobs } from '../../src/queue/administer.js'
import { claimJobs, failJob, finishJobs, promoteJobs } from '../../src/queue/claim.js'
import { enqueue } from '../../src/queue/enqueue.js'
import { queueMinutes, ratesOf, Tally } from '../../src/queue/history.js'
import { queuesOverview } from '../../src/queue/overview.js'
import { reapProcesses, registerProcess } from '../../src/queue/processes.js'
import { testDatabase } from '../helpers/database.js'
import { eventJob } from '../helpers/published.js'
import { countStatements } from '../helpers/statements.js'
import t from '../helpers/tap.js'

await testDatabase()

const MINUTE = 60_000
const event = (key: string) => enqueue('event.published', eventJob(key))
const worker = () => registerProcess({ queues: ['default'], concurrency: 3 })
const failures = async () => (await rows<{ job_id: number }>('select job_id from job_failures')).map(r => r.job_id)
const written = () =>
  rows<{ processed: number; failed: number }>('select processed, failed from queue_minutes order by minute, queue')

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_processes', 'paused_queues', 'queue_minutes', 'job_failures'])
    await execute(`delete from ${table}`)
})

/** Claims the oldest ready job and lets it fail. Returns its id. */
async function fail(process: number, text: string): Promise<number> {
  const [job] = await claimJobs('default', process, 1)
  if (!job) throw new Error('there is no job')
  await failJob(job, process, new Error(text))
  return job.id
}

t.test('shows every queue with the jobs of each state, its pause and its latency', async t => {
  const process = await worker()
  for (const key of ['a', 'b', 'c', 'd']) await event(key)
  await claimJobs('default', process, 2)
  await enqueue('hook.deliver', { deliveryId: 1 }, { runAt: new Date(Date.now() + MINUTE) })
  await execute("update jobs set run_at = ? where state = 'ready'", [new Date(Date.now() - 5000)])
  await pauseQueue('mail')
  const { queues, totals, processes } = await queuesOverview()
  t.same(
    queues.map(({ name, paused, ready, delayed, running, dead }) => [name, paused, ready, delayed, running, dead]),
    [
      ['default', false, 2, 0, 2, 0],
      ['builds', false, 0, 0, 0, 0],
      ['hooks', false, 0, 1, 0, 0],
      ['mail', true, 0, 0, 0, 0],
      ['maintenance', false, 0, 0, 0, 0],
      ['imports', false, 0, 0, 0, 0],
      ['mirrors', false, 0, 0, 0, 0]
    ]
  )
  t.ok((queues[0]?.latency ?? 0) >= 5)
  t.equal(queues[2]?.latency, 0, 'a delayed job is not waiting yet')
  t.match(totals, { ready: 2, delayed: 1, running: 2, dead: 0 })
  t.match(processes, [{ busy: 2, concurrency: 3, queues: ['default'] }])
})

t.test('sends the same few statements for any number of jobs', async t => {
  const empty = await countStatements(queuesOverview)
  for (let at = 0; at < 30; at++) await event(`k${at}`)
  const process = await worker()
  for (let at = 0; at < 10; at++) await fail(process, `${at}`)
  t.equal(await countStatements(queuesOverview), empty)
  t.equal(empty, 6)
})

t.test('shows failures of existing jobs, newest first', async t => {
  const process = await worker()
  for (const key of ['a', 'b', 'c']) await event(key)
  const [a, b, c] = [await fail(process, 'one'), await fail(process, 'two'), await fail(process, 'three')]
  await execute('update job_failures set failed_at = ? where job_id = ?', [new Date(Date.now() + 1000), a])
  await execute("update jobs set state = 'dead' where id = ?", [b])
  const { failures: found } = await queuesOverview()
  t.same(
    found.map(({ id }) => id),
    [a, c, b]
  )
  t.match(found[2], { state: 'dead', name: 'event.published', queue: 'default', attempts: 1, error: /Error: two/ })
  t.match(JSON.parse(found[2]?.payload ?? ''), { id: 'b' })
})

t.test('a failure disappears when its job is done, retried or discarded', async t => {
  const process = await worker()
  for (const key of ['a', 'b', 'c']) await event(key)
  const all = [await fail(process, 'one'), await fail(process, 'two'), await fail(process, 'three')]
  await promoteJobs(new Date(Date.now() + MINUTE))
  t.same((await queuesOverview()).failures, [], 'ready jobs are not failures')
  // The delays have a random part, so any of them may be the first.
  const [again] = await claimJobs('default', process, 1)
  t.equal(await finishJobs([again?.id ?? 0], process), 1)
  const [b = 0, c = 0] = all.filter(id => id !== again?.id)
  await execute("update jobs set state = 'dead'")
  await retryJobs([b])
  t.same(
    (await queuesOverview()).failures.map(({ id }) => id),
    [c]
  )
  await discardJobs([b])
  t.same(await failures(), [c])
  await discardJobs('dead')
  t.same(await failures(), [])
})

t.test('a job that ended its processes is among the failures', async t => {
  const id = await event('a')
  await execute('update jobs set crashes = 2')
  const process = await worker()
  await claimJobs('default', process, 1)
  await execute('update job_processes set lease_until = ?', [new Date(Date.now() - 1000)])
  await reapProcesses()
  t.match((await queuesOverview()).failures, [{ id, state: 'dead', error: /died 3 times before the job ended/ }])
})

t.test('a long payload is omitted, a long error is cut', async t => {
  const process = await worker()
  await event('x'.repeat(5000))
  await fail(process, 'y'.repeat(5000))
  const [found] = (await queuesOverview()).failures
  t.equal(found?.payload, null)
  t.equal(found?.error.length, 2000)
})

t.test('counts are written with the heartbeat, minute by minute', async t => {
  const now = Math.floor(Date.now() / MINUTE) * MINUTE
  const tally = new Tally(1)
  tally.add('default', 3, 0, now - MINUTE)
  tally.add('default', 1, 1, now)
  tally.add('hooks', 2, 2, now)
  tally.add('mail', 0, 0, now)
  await tally.write(now)
  t.same(await written(), [
    { processed: 3, failed: 0 },
    { processed: 1, failed: 1 },
    { processed: 2, failed: 2 }
  ])
  tally.add('default', 4, 0, now)
  await tally.write(now)
  const minutes = await queueMinutes(now)
  t.equal(minutes.default.length, 60)
  t.match(minutes.default.slice(-2), [{ processed: 3 }, { processed: 5, failed: 1 }])
  t.match(minutes.hooks.at(-1), { minute: new Date(now), processed: 2, failed: 2 })
  t.match(minutes.builds.at(-1), { processed: 0, failed: 0 })
})

t.test('the counts of two processes are added, and a repeated write changes nothing', async t => {
  const now = Date.now()
  const [one, two] = [new Tally(1), new Tally(2)]
  one.add('default', 3, 1, now)
  two.add('default', 4, 0, now)
  await Promise.all([one.write(now), two.write(now)])
  const again = new Tally(1)
  again.add('default', 3, 1, now)
  await again.write(now)
  t.match((await queueMinutes(now)).default.at(-1), { processed: 7, failed: 1 })
})

t.test('counts whose write failed are written with the next heartbeat', async t => {
  const now = Date.now()
  const tally = new Tally(1)
  tally.add('default', 3, 0, now)
  await execute('rename table queue_minutes to queue_minutes_away')
  await t.rejects(tally.write(now))
  tally.add('default', 2, 2, now)
  await execute('rename table queue_minutes_away to queue_minutes')
  await tally.write(now)
  t.same(await written(), [{ processed: 5, failed: 2 }])
  t.equal(await countStatements(() => tally.write(now)), 0, 'without new counts there is nothing to write')
})

t.test('a tally forgets minutes that are over, but no unwritten counts', async t => {
  const now = Date.now()
  const tally = new Tally(1)
  tally.add('default', 3, 0, now)
  await tally.write(now + 10 * MINUTE)
  tally.add('default', 1, 0, now + 10 * MINUTE)
  await tally.write(now + 10 * MINUTE)
  t.same(await written(), [
    { processed: 3, failed: 0 },
    { processed: 1, failed: 0 }
  ])
})

t.test('rates cover one minute, at any second', async t => {
  const minute = (processed: number, failed: number) => ({ minute: new Date(), processed, failed })
  const minutes = [minute(500, 500), minute(60, 6), minute(30, 3)]
  const now = 1000 * MINUTE
  t.same(ratesOf(minutes, now), { processed: 90, failed: 9 })
  t.same(ratesOf(minutes, now + MINUTE / 2), { processed: 60, failed: 6 })
})
