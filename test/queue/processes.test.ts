// Several real worker processes on one queue: killed, stopped by a signal, or without wake-ups.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { prepareHome, socketPath } from '../../src/home.js'
import { enqueue, enqueueAll } from '../../src/queue/enqueue.js'
import { jobStats } from '../../src/queue/metrics.js'
import { reapProcesses } from '../../src/queue/processes.js'
import { testDatabase } from '../helpers/database.js'
import { eventJob } from '../helpers/published.js'
import { until } from '../helpers/until.js'

await testDatabase()
prepareHome()
await execute(`create table ran (id int unsigned not null auto_increment primary key, job_id bigint unsigned not null,
  process_id bigint unsigned not null, pid int unsigned not null, at datetime(3) not null, key (job_id))`)

/** In milliseconds for polls, and in seconds for a lease, which outlives the tests. */
const HOUR = String(3_600_000)
const LONG_LEASE = '3600'
const module = new URL('worker-process.js', import.meta.url)
const event = eventJob
const many = (count: number) => Array.from({ length: count }, (_, at) => event(`k${at}`))
const left = async () => (await row<{ left_over: number }>('select count(*) as left_over from jobs'))?.left_over
const ran = () => rows<{ job_id: number; pid: number }>('select job_id, pid from ran order by id')

interface Worker {
  readonly child: ChildProcess
  readonly processId: number
}

/** Starts a worker that ends with the test. */
async function worker(t: Test, environment: Record<string, string> = {}): Promise<Worker> {
  const child = fork(module, [], {
    // It does not renew its lease.
    env: { ...process.env, GITSTEAD_QUEUE_LEASE: LONG_LEASE, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc']
  })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const gone = once(child, 'exit').then(() => Promise.reject(new Error('the worker ended before it was ready')))
  const [message] = (await Promise.race([once(child, 'message'), gone])) as [{ processId: number }]
  return { child, processId: message.processId }
}

async function kill({ child }: Worker): Promise<void> {
  child.kill('SIGKILL')
  if (child.signalCode === null) await once(child, 'exit')
}

t.beforeEach(async () => {
  for (const table of ['jobs', 'job_processes', 'ran']) await execute(`delete from ${table}`)
  await execute('update job_totals set value = 0')
})

t.test('two processes do thousands of jobs, each job once', async t => {
  await enqueueAll('event.published', many(2000))
  const [one, two] = await Promise.all([worker(t), worker(t)])
  for (let part = 0; part < 20; part++) await enqueueAll('event.published', many(50))
  await until('the queue is empty', async () => (await left()) === 0)
  const done = await ran()
  t.equal(done.length, 3000)
  t.equal(new Set(done.map(({ job_id }) => job_id)).size, 3000)
  t.equal(new Set(done.map(({ pid }) => pid)).size, 2, 'both processes ran jobs')
  await until('the jobs are counted', async () => (await jobStats()).processed === 3000)
  one.child.send('stop')
  two.child.send('stop')
  const ends = await Promise.all([once(one.child, 'exit'), once(two.child, 'exit')])
  t.same(ends, [
    [0, null],
    [0, null]
  ])
  t.same(await rows('select id from job_processes'), [])
  t.same(await jobStats(), { processed: 3000, failed: 0, enqueued: 0 })
})

t.test('killed workers lose nothing', async t => {
  await enqueueAll('event.published', many(1500))
  const survivor = await worker(t)
  for (let round = 0; round < 4; round++) {
    const victim = await worker(t)
    const done = (await ran()).length
    await until('there is progress', async () => (await ran()).length > done || (await left()) === 0)
    await kill(victim)
    t.match(await reapProcesses(), [victim.processId], 'the dead process is found at once, by its pid')
  }
  await until('the queue is empty', async () => (await left()) === 0)
  const times = new Map<number, number>()
  for (const { job_id } of await ran()) times.set(job_id, (times.get(job_id) ?? 0) + 1)
  t.equal(times.size, 1500)
  t.equal(survivor.child.exitCode, null)
})

t.test('a job that kills its process is dead after three times, and no other job is', async t => {
  await enqueueAll('event.published', [...many(20), event('kill'), ...many(20)])
  for (let round = 0; round < 3; round++) {
    const victim = await worker(t)
    if (victim.child.signalCode === null) await once(victim.child, 'exit')
    await reapProcesses()
  }
  const last = await worker(t)
  await until('only the dead job is left', async () => (await left()) === 1)
  t.match(await row('select state, crashes, payload from jobs'), { state: 'dead', crashes: 3, payload: /kill/ })
  t.equal(new Set((await ran()).map(({ job_id }) => job_id)).size, 40)
  t.equal(last.child.exitCode, null)
})

t.test('a process that was stopped until its lease ended changes nothing when it continues', async t => {
  const halted = await worker(t)
  const id = await enqueue('event.published', event('halt'))
  await until('the process has stopped', async () => (await ran()).length === 1)
  await execute('update job_processes set lease_until = ? where id = ?', [new Date(Date.now() - 1), halted.processId])
  t.same(await reapProcesses(), [halted.processId])
  // The job is no longer a suspect, so that the other worker runs more jobs at the same time.
  await execute("update jobs set crashes = 0, payload = json_replace(payload, '$.id', 'wait')")
  const other = await worker(t)
  await until('the other one runs it', async () => (await ran()).length === 2)
  const before = await row('select * from jobs where id = ?', [id])
  halted.child.kill('SIGCONT')
  await until('the process continues', async () => {
    halted.child.send('renew')
    const [answer] = (await once(halted.child, 'message')) as [{ renewed: boolean }]
    return answer.renewed === false
  })
  // By now the loop of the first worker has finished the job, and keeps looking for more jobs.
  await enqueueAll('event.published', many(30))
  await until('the others are done', async () => (await left()) === 1)
  t.same(await row('select * from jobs where id = ?', [id]), before)
  t.match(before, { state: 'running', process_id: other.processId })
  const doneBy = new Set((await ran()).slice(2).map(({ pid }) => pid))
  t.same([...doneBy], [other.child.pid])
})

t.test('waking up', async t => {
  const folder = dirname(socketPath('any'))

  t.test('a worker starts a job at once, without polling', async t => {
    await worker(t, { TEST_POLL_INTERVAL: HOUR })
    for (let round = 0; round < 20; round++) {
      await enqueue('event.published', event('more'))
      await until('the job has run', async () => (await ran()).length > round)
    }
    t.equal((await ran()).length, 20)
  })

  t.test('a worker without a socket finds a job by polling', async t => {
    await worker(t, { TEST_DEAF: '1' })
    await enqueue('event.published', event('a'))
    await until('the job has run', async () => (await ran()).length === 1)
    t.equal(await until('the job is removed', async () => (await left()) === 0), true)
  })

  t.test('the sockets of killed workers are removed', async t => {
    const victim = await worker(t)
    await kill(victim)
    const path = join(folder, `wake-${victim.processId}.sock`)
    await until('it is removed', async () => {
      await enqueue('event.published', event('a'))
      return !readdirSync(folder).some(name => join(folder, name) === path)
    })
    t.pass('it is removed')
    for (const name of readdirSync(folder)) if (name.startsWith('wake-')) rmSync(join(folder, name))
  })
})
