// Tests `gitstead maintenance`, as cron calls it, with real processes that hold the lock, are killed, or get a signal.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTask } from '../../src/areas/upkeep/maintenance/maintenance.js'
import { listRuns } from '../../src/areas/upkeep/maintenance/maintenance.queries.js'
import { tasks } from '../../src/areas/upkeep/maintenance/maintenance-tasks.js'
import { root } from '../../src/config.js'
import { execute, row, rows } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'
import t from '../helpers/tap.js'
import { until } from '../helpers/until.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (...args: string[]) => cli(['maintenance', ...args], { environment })

t.test('list shows every task with its next run, and its last run if it has one', async t => {
  await runTask('old_ticks', {}, someOrigin)
  const { code, json } = await run('list', '--json')
  t.equal(code, 0)
  const { tasks: shown } = json() as { tasks: { name: string; last_run: unknown; next_run_at: string }[] }
  t.same(
    shown.map(({ name }) => name),
    tasks.map(({ name }) => name)
  )
  t.ok(shown.every(({ next_run_at }) => Date.parse(next_run_at) > Date.now() - 60_000))
  t.same(
    shown.filter(({ last_run }) => last_run !== null).map(({ name }) => name),
    ['old_ticks']
  )
  t.match((await run('list')).stdout, /^TASK +SCHEDULE +LAST RUN .*\n(.*\n)*old_ticks +47 3 \* \* \* +\d{4}-/)
})

t.test('run prints one line for a task, and nothing else', async t => {
  await execute("insert into schedule_ticks (task, due_at, created_at) values ('x', '2020-01-01', '2020-01-01')")
  const dry = await run('run', 'old_ticks', '--dry-run')
  t.match(dry, { code: 0, stderr: '', stdout: /^old_ticks: done, would process 1 in \d+\.\d s\n$/ })
  t.match(await run('run', 'old_ticks'), {
    code: 0,
    stderr: '',
    stdout: /^old_ticks: done, processed 1 in \d+\.\d s\n$/
  })
  t.match((await run('run', 'old_ticks', 'old_jobs', '--json')).json(), {
    running_already: [],
    runs: [
      {
        task: 'old_ticks',
        cause: 'command',
        dry_run: false,
        state: 'done',
        count: 0,
        report: { notes: [] },
        error: null
      },
      { task: 'old_jobs', state: 'done' }
    ]
  })
})

t.test('a dry run lists the records that it would process', async t => {
  const project = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  t.match(await run('run', 'repository_upkeep', '--dry-run'), {
    code: 0,
    stderr: '',
    stdout: new RegExp(
      `^repository_upkeep: done, would process 1 in \\d+\\.\\d s\\n  project ${project.id}: no commit graph\\n$`
    )
  })
})

t.test('run --all runs every task', async t => {
  const { code, json } = await run('run', '--all', '--json')
  t.equal(code, 0)
  t.same(
    (json() as { runs: { task: string }[] }).runs.map(({ task }) => task),
    tasks.map(({ name }) => name)
  )
})

t.test('last shows runs, newest first', async t => {
  const { json } = await run('last', 'old_ticks', '--limit', '2', '--json')
  const { runs } = json() as { runs: { id: number; task: string }[] }
  t.equal(runs.length, 2)
  t.ok(runs.every(({ task }) => task === 'old_ticks'))
  t.ok(Number(runs[0]?.id) > Number(runs[1]?.id))
  t.match(await run('last', 'nothing'), { code: 3, stderr: 'gitstead: no task is called "nothing"\n' })
})

t.test('a usage error is one line', async t => {
  t.match(await run('run'), { code: 2, stderr: 'gitstead: give the names of tasks, or --all for every task\n' })
  t.match(await run('run', '--all', 'old_ticks'), { code: 2 })
  t.match(await run('run', 'old_ticks', 'nothing'), {
    code: 3,
    stdout: '',
    stderr: 'gitstead: no task is called "nothing"\n'
  })
  t.match(await run('run', '--frobnicate'), { code: 2, stderr: 'gitstead: Nonexistent flag: --frobnicate\n' })
  t.match(await run('last', '--limit', '0'), { code: 2 })
})

t.test('a failed task gives exit code 1 and prints its record', async t => {
  await execute('alter table schedule_ticks rename to ticks_away')
  const { code, stdout } = await run('run', 'old_ticks', 'old_jobs')
  await execute('alter table ticks_away rename to schedule_ticks')
  t.equal(code, 1)
  t.match(stdout, /^old_ticks: failed, processed 0 in .* s: .*schedule_ticks.*\nold_jobs: done/)
})

/** Starts a run of expired_sessions that waits, because this process locks the row that the run wants to remove. */
async function underWay(t: Test) {
  await execute('delete from sessions')
  await execute(
    "insert into sessions (id, user_id, address, user_agent, created_at, expires_at) values (repeat('x', 32), 1, '', '', '2020-01-01', '2020-01-01')"
  )
  let letGo: () => void = () => undefined
  const gate = new Promise<void>(resolve => (letGo = resolve))
  let held: () => void = () => undefined
  const holding = new Promise<void>(resolve => (held = resolve))
  const transaction = transact(async () => {
    await rows('select id from sessions for update')
    held()
    await gate
  })
  await holding
  const { PATH, HOME, TMPDIR } = process.env
  const command = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), 'maintenance', 'run']
  const child = spawn('env', [...command, 'expired_sessions'], {
    env: { PATH, HOME, TMPDIR, ...environment },
    stdio: 'ignore'
  })
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  t.teardown(async () => {
    letGo()
    await transaction
    child.kill('SIGKILL')
  })
  await until('the run is under way', () =>
    row("select id from maintenance_runs where task = 'expired_sessions' and state = 'running'")
  )
  const release = () => {
    letGo()
    return transaction
  }
  return { child, ended, letGo: release }
}

type Test = { teardown(fn: () => Promise<void>): void }

t.test('a second run of a task ends at once with exit code 6, but other tasks run', async t => {
  const { ended, letGo } = await underWay(t)
  const second = await run('run', 'expired_sessions')
  t.equal(second.code, 6)
  t.match(second.stderr, /^gitstead: expired_sessions runs already: process \d+ on .*, since .*Z\n$/)
  const several = await run('run', 'expired_sessions', 'old_ticks', '--json')
  t.equal(several.code, 6)
  t.match(several.json(), { running_already: ['expired_sessions'], runs: [{ task: 'old_ticks', state: 'done' }] })
  await letGo()
  t.same(await ended, [0, null])
  t.equal((await run('run', 'expired_sessions')).code, 0)
})

t.test('the lock of a killed process is free at once, and its run has failed', async t => {
  const { child, ended, letGo } = await underWay(t)
  const [first] = await listRuns({ task: 'expired_sessions', limit: 1 })
  child.kill('SIGKILL')
  await ended
  await letGo()
  t.equal((await run('run', 'expired_sessions')).code, 0)
  t.match(await row('select state, error from maintenance_runs where id = ?', [first?.id ?? 0]), {
    state: 'failed',
    error: 'the process of this run died before the run ended'
  })
})

/** Returns how often the main thread of a process became idle. */
const sleeps = ({ pid }: ChildProcess) =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} ends a run between two steps`, async t => {
    const { child, ended, letGo } = await underWay(t)
    const before = sleeps(child)
    child.kill(signal)
    // Otherwise, on a busy machine, the answer of the database might reach the process before the signal does.
    await until('the signal is handled', () => sleeps(child) > before)
    await letGo()
    t.same(await ended, [1, null])
    t.match(await listRuns({ task: 'expired_sessions', limit: 1 }), [
      { state: 'failed', error: `ended by ${signal}`, count: 1 }
    ])
    t.same(await rows('select task from maintenance_locks'), [])
  })
}
