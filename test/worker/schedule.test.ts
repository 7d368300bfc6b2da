// The schedule with a fake clock: a due task is enqueued once, and missed tasks are caught up.
import { mock } from 'node:test'
import { runTask } from '../../src/areas/upkeep/maintenance/maintenance.js'
import { catchUp } from '../../src/areas/upkeep/maintenance/maintenance-catch-up.js'
import { takeLock } from '../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { tasks } from '../../src/areas/upkeep/maintenance/maintenance-tasks.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { nextDue, previousDue } from '../../src/lib/cron.js'
import { runScheduled } from '../../src/worker/maintenance.js'
import { startSchedule } from '../../src/worker/schedule.js'
import { testDatabase } from '../helpers/database.js'
import { someOrigin } from '../helpers/factory.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

await testDatabase()

interface Waiting {
  payload: string
  state: string
  run_at: Date
}

const waiting = () =>
  rows<Waiting>("select payload, state, run_at from jobs where queue = 'maintenance' order by run_at")
const taskOf = ({ payload }: Waiting) => (JSON.parse(payload) as { task: string }).task
const daily = tasks.filter(({ schedule }) => /^\d+ \d+ /.test(schedule)).map(({ name }) => name)
const isDaily = (name: string) => daily.includes(name)

t.beforeEach(async () => {
  for (const table of ['jobs', 'schedule_ticks', 'maintenance_runs', 'maintenance_locks']) {
    await execute(`delete from ${table}`)
  }
})

t.test('two workers enqueue a due task once', async t => {
  const due = nextDue('17 * * * *', new Date())
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: due.getTime() - 1500 })
  t.teardown(() => mock.timers.reset())
  const stop = [startSchedule(), startSchedule()]
  // node-cron sleeps from second to second.
  for (let step = 0; step < 40; step++) {
    mock.timers.tick(100)
    await new Promise(resolve => setImmediate(resolve))
  }
  mock.timers.reset()
  const found = await until('a job', async () => {
    const jobs = (await waiting()).filter(job => taskOf(job) === 'expired_sessions')
    return jobs.length > 0 ? jobs : null
  })
  t.equal(found.length, 1)
  t.match(await rows("select due_at from schedule_ticks where task = 'expired_sessions'"), [{ due_at: due }])
  for (const end of stop) await end()
})

t.test('catching up', async t => {
  const noon = previousDue('0 12 * * *', new Date())
  const made = (days: number) =>
    execute('update schema_migrations set applied_at = ?', [new Date(noon.getTime() - days * 86_400_000)])

  t.test('a new home has no missed tasks', async t => {
    await made(0)
    t.same(await catchUp(noon), [])
    t.same(await waiting(), [])
  })

  t.test('missed daily tasks run soon, one after another, with any number of workers', async t => {
    await made(10)
    const caught = await Promise.all([catchUp(noon), catchUp(noon), catchUp(noon)])
    t.same(caught.flat().filter(isDaily).sort(), daily.sort())
    const jobs = await waiting()
    t.same(jobs.map(taskOf).filter(isDaily).sort(), daily.sort())
    t.equal(new Set(jobs.map(({ state }) => state)).has('running'), false)
    t.ok(jobs.every(({ run_at }) => run_at.getTime() >= noon.getTime() + 60_000))
    t.same(await catchUp(noon), [], 'only once')
  })

  t.test('a task that has run since then does not run again', async t => {
    await made(10)
    // Taken before the runs: one of the tasks may become due while they run.
    const now = new Date()
    const beforeNext = new Date(Math.min(...daily.map(name => nextOf(name, now).getTime())) - 1)
    for (const name of daily) await runTask(name, {}, someOrigin)
    t.same((await catchUp(beforeNext)).filter(isDaily), [])
    const aDayLater = new Date(noon.getTime() + 2 * 86_400_000)
    t.same((await catchUp(aDayLater)).filter(isDaily).sort(), daily.sort(), 'two days later it is missed again')
  })

  t.test('a dry run does not count as a run', async t => {
    await made(10)
    for (const name of daily) await runTask(name, { dryRun: true }, someOrigin)
    t.same((await catchUp(noon)).filter(isDaily).sort(), daily.sort())
  })
})

const nextOf = (name: string, now: Date) => nextDue(tasks.find(task => task.name === name)?.schedule ?? '', now)

t.test('a scheduled run', async t => {
  const { signal } = new AbortController()

  t.test('ends without an error while another process runs the task', async t => {
    const lock = await takeLock('old_ticks')
    await t.resolves(runScheduled('old_ticks', signal))
    t.same(await rows('select id from maintenance_runs'), [])
    await lock.release()
    await runScheduled('old_ticks', signal)
    t.match(await rows('select cause, state from maintenance_runs'), [{ cause: 'schedule', state: 'done' }])
  })

  t.test('that is stopped is recorded as failed, and its job comes back', async t => {
    await t.rejects(runScheduled('old_ticks', AbortSignal.abort(new Error('the worker stops'))), /the worker stops/)
    t.match(await rows('select state, error from maintenance_runs'), [{ state: 'failed', error: /the worker stops/ }])
  })
})
