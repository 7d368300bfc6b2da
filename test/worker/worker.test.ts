// The worker as the appliance runs it: a process on the private database of a home. The tests kill and stop both.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config.js'
import { closeDatabase } from '../../src/db/connect/connection.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { type EmbeddedDatabase, startEmbedded } from '../../src/db/embedded/embedded.js'
import { migrateUp } from '../../src/db/schema/migrate.js'
import { enqueue, enqueueAll } from '../../src/queue/enqueue.js'
import { jobStats, processMetrics } from '../../src/queue/metrics.js'
import { closeWake } from '../../src/queue/wake.js'
import { eventJob } from '../helpers/published.js'
import { until } from '../helpers/until.js'

delete process.env.GITSTEAD_DATABASE_URL
process.env.GITSTEAD_LOG_LEVEL ??= 'silent'
const home = mkdtempSync(join(tmpdir(), 'gitstead-test-'))
process.env.GITSTEAD_HOME = home
writeFileSync(
  join(home, 'config.yaml'),
  'queue: { lease: 20, poll_interval: 0.1, concurrency: { builds: 0, maintenance: 2 } }\n'
)
loadConfig({})
let database: EmbeddedDatabase = await startEmbedded()
await migrateUp()
t.teardown(async () => {
  closeWake()
  await closeDatabase()
  await database.stop()
  rmSync(home, { recursive: true, force: true })
})

const module = new URL('../../src/worker/process.js', import.meta.url)
/** The jobs of the tests. The schedule adds others whenever one of its minutes comes. */
const OURS = `(name = 'event.published' or json_value(payload, '$.task') in ('old_ticks', 'nothing'))`
const left = async () => (await row<{ count: number }>(`select count(*) as count from jobs where ${OURS}`))?.count ?? -1
const tasks = (count: number) => Array.from({ length: count }, () => ({ task: 'old_ticks' }))
const events = (count: number) => Array.from({ length: count }, (_, at) => eventJob(`k${at}`))
const emptied = () => until('all is done', async () => (await left().catch(() => -1)) === 0)

async function worker(t: Test): Promise<ChildProcess> {
  const child = fork(module, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const [message] = (await once(child, 'message')) as [{ ready?: object }]
  t.ok(message.ready, 'the worker is ready')
  return child
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<[number | null, NodeJS.Signals | null]> {
  child.kill(signal)
  return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
}

t.beforeEach(async () => {
  await execute('delete from jobs')
  await execute('update job_totals set value = 0')
})

t.test('a worker registers itself, runs the jobs, and unregisters at the end', async t => {
  const child = await worker(t)
  t.match(await processMetrics(), [
    { pid: child.pid, queues: ['default', 'hooks', 'mail', 'maintenance', 'imports', 'mirrors'], busy: 0 }
  ])
  await enqueueAll('event.published', events(300))
  await enqueueAll('maintenance.run', tasks(5))
  await emptied()
  await until('the jobs are counted', async () => (await jobStats()).processed >= 305)
  t.same(await end(child, 'SIGTERM'), [0, null])
  t.same(await processMetrics(), [])
  const { processed, failed } = await jobStats()
  t.ok(processed >= 305, `${processed} are counted, those of the schedule included`)
  t.equal(failed, 0)
})

t.test('a worker ends with its parent', async t => {
  const child = await worker(t)
  child.disconnect()
  t.same(await once(child, 'exit'), [0, null])
})

t.test('a delayed job starts when its time has come, and a failed job is tried again', async t => {
  await worker(t)
  await enqueue('event.published', eventJob('a'), {
    runAt: new Date(Date.now() + 300)
  })
  const failing = await enqueue('maintenance.run', { task: 'nothing' })
  await until('one is done, one has failed', async () => {
    const found = await rows<{ id: number; attempts: number }>(`select id, attempts from jobs where ${OURS}`)
    return found.length === 1 && found[0]?.id === failing && found[0].attempts > 1
  })
  t.match(await row(`select error from jobs where ${OURS}`), { error: /no task is called "nothing"/ })
})

t.test('a second worker takes over at once when the first is killed', async t => {
  const [victim, other] = [await worker(t), await worker(t)]
  await enqueueAll('event.published', events(2000))
  await until('some are done', async () => (await left()) < 1800)
  await end(victim, 'SIGKILL')
  await emptied()
  // The killed worker may have held no job at that moment, so that nothing had to wait for its end.
  await until('it is declared gone', async () => (await processMetrics()).length === 1)
  t.match(await processMetrics(), [{ pid: other.pid }])
})

t.test('a worker continues after the database was killed and started again', async t => {
  const child = await worker(t)
  for (let round = 0; round < 2; round++) {
    await enqueueAll('event.published', events(1500))
    await until('some are done', async () => (await left()) < 1400)
    process.kill(database.pid, 'SIGKILL')
    await database.ended
    database = await startEmbedded()
    await emptied()
  }
  t.equal(child.exitCode, null)
  t.match(await processMetrics(), [{ pid: child.pid }])
  t.same(await end(child, 'SIGTERM'), [0, null])
})

t.test('a worker that was declared gone while it was stopped ends itself', async t => {
  const child = await worker(t)
  child.kill('SIGSTOP')
  const other = await worker(t)
  await execute('update job_processes set lease_until = ? where pid = ?', [new Date(Date.now() - 1), child.pid ?? 0])
  await until('it is declared gone', async () => (await processMetrics()).length === 1)
  t.match(await processMetrics(), [{ pid: other.pid }])
  child.kill('SIGCONT')
  t.same(await once(child, 'exit'), [1, null])
  await enqueueAll('event.published', events(50))
  await emptied()
})

t.test('a worker stops even while the database is unavailable', async t => {
  const child = await worker(t)
  process.kill(database.pid, 'SIGKILL')
  await database.ended
  t.same(await end(child, 'SIGTERM'), [0, null])
  database = await startEmbedded()
})
