// Every maintenance task on real rows and files: what it removes and keeps, and that a dry run changes nothing.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findDue } from '../../../../src/areas/code/repository/upkeep.js'
import { ensureRepository, repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { releaseStaleLocks, runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { lastRuns, listRuns } from '../../../../src/areas/upkeep/maintenance/maintenance.queries.js'
import { takeLock } from '../../../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { tasks } from '../../../../src/areas/upkeep/maintenance/maintenance-tasks.js'
import { findOrphans, removeOrphans } from '../../../../src/areas/upkeep/maintenance/orphaned-files.js'
import { root } from '../../../../src/config.js'
import { execute, row, rows, type Value } from '../../../../src/db/connect/sql.js'
import { makeObject, writeObjects } from '../../../../src/git/objects/loose-writer.js'
import { countObjectFiles } from '../../../../src/git/repository/maintenance.js'
import { createRepository } from '../../../../src/git/repository/repository.js'
import { enqueue } from '../../../../src/queue/enqueue.js'
import { fingerprintOfKey } from '../../../../src/secrets.js'
import { putArtifact } from '../../../../src/storage/artifacts.js'
import { pathOf } from '../../../../src/storage/files.js'
import { appendTrace } from '../../../../src/storage/traces.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline, type TestBuild } from '../../ci/builds/make-builds.js'

const { home } = await testDatabase()

const DAY = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY)
const ZIP = Buffer.from('an archive that nothing looks into')
const CI = 'one: { script: echo }\ntwo: { script: echo }\nthree: { script: echo }\n'
const run = (task: string, dryRun = false) => runTask(task, { dryRun }, someOrigin)
const numbers = async (table: string, column = 'id') =>
  (await rows<{ value: number | string }>(`select ${column} as value from ${table} order by ${column}`)).map(
    ({ value }) => value
  )

t.test('the tasks remove old rows, and nothing else', async t => {
  const user = await factory.user()
  const insert = (table: string, values: Record<string, Value>) =>
    execute(
      `insert into ${table} (${Object.keys(values).join(', ')}) values (${Object.keys(values)
        .map(() => '?')
        .join(', ')})`,
      Object.values(values)
    )
  const session = (key: number, days: number) =>
    insert('sessions', {
      id: Buffer.alloc(32, key),
      user_id: user.id,
      address: '::1',
      user_agent: '',
      created_at: ago(9),
      expires_at: ago(days)
    })
  const token = (name: string, values: Record<string, Value>) =>
    insert('access_tokens', {
      token_hash: randomBytes(32),
      user_id: user.id,
      kind: 'personal',
      name,
      created_at: ago(99),
      ...values
    })
  const job = (id: number, state: string, days: number) =>
    insert('jobs', {
      id,
      queue: 'default',
      name: 'x',
      payload: '{}',
      state,
      run_at: ago(days),
      created_at: ago(99)
    })
  const delivery = async (id: number, state: string, days: number) => {
    const values = { id, hook_id: 1, event_key: `k${id}`, event: 'push', payload: '{}', state, created_at: ago(days) }
    await insert('hook_deliveries', values)
    await execute(
      `insert into hook_attempts (delivery_id, attempt, started_at, duration_ms, request_headers, response_headers,
         response_body) values (?, 1, ?, 1, '{}', '{}', '')`,
      [id, ago(days)]
    )
  }
  const change = (id: number, state: string, days: number) =>
    insert('ref_changes', {
      id,
      project_id: 1,
      ref: 'refs/heads/x',
      old_id: '0'.repeat(40),
      new_id: '1'.repeat(40),
      source: 'push',
      state,
      process: 'x#0#0',
      created_at: ago(days),
      settled_at: state === 'done' ? ago(days) : null
    })
  const event = (id: number, days: number) =>
    insert('audit_events', {
      id,
      created_at: ago(days),
      actor_name: 'x',
      via: 'command',
      action: 'user.create',
      target_type: 'user',
      target_id: '1',
      target_name: 'x',
      changes: '{}'
    })
  const record = (id: number, task: string, state: string, days: number, dry_run = false) =>
    insert('maintenance_runs', {
      id,
      task,
      cause: 'schedule',
      dry_run,
      hostname: 'h',
      pid: 1,
      state,
      started_at: ago(days),
      report: '{"notes":[]}'
    })

  const cases: { task: string; table: string; column?: string; fill: () => Promise<unknown>; left: unknown[] }[] = [
    {
      task: 'expired_sessions',
      table: 'sessions',
      fill: () => Promise.all([session(1, 1), session(2, 0.01), session(3, -1)]),
      left: [Buffer.alloc(32, 3)]
    },
    {
      task: 'expired_tokens',
      table: "access_tokens where kind = 'personal'",
      column: 'name',
      fill: () =>
        Promise.all([
          token('long expired', { expires_at: ago(31) }),
          token('long revoked', { revoked_at: ago(31) }),
          token('just expired', { expires_at: ago(29) }),
          token('just revoked', { revoked_at: ago(29), expires_at: ago(-1) }),
          token('forever', {})
        ]),
      left: ['forever', 'just expired', 'just revoked']
    },
    {
      task: 'old_jobs',
      table: 'jobs where id between 90000 and 90009',
      fill: () =>
        Promise.all([
          job(90_000, 'dead', 31),
          job(90_001, 'dead', 29),
          job(90_002, 'delayed', 31),
          job(90_003, 'running', 31)
        ]),
      left: [90_001, 90_002, 90_003]
    },
    {
      task: 'old_deliveries',
      table: 'hook_deliveries',
      fill: () =>
        Promise.all([
          delivery(1, 'delivered', 31),
          delivery(2, 'dead', 31),
          delivery(3, 'canceled', 29),
          delivery(4, 'pending', 31),
          // It is pending: its hook and its job exist.
          insert('hooks', { id: 1, url: 'http://127.0.0.1:9/', created_at: ago(99), updated_at: ago(99) }),
          enqueue('hook.deliver', { deliveryId: 4 }, { runAt: ago(-1) })
        ]),
      left: [3, 4]
    },
    {
      task: 'old_ref_changes',
      table: 'ref_changes where id > 90000',
      fill: () => Promise.all([change(90_001, 'done', 91), change(90_002, 'done', 89), change(90_003, 'open', 91)]),
      left: [90_002, 90_003]
    },
    {
      task: 'old_ticks',
      table: 'schedule_ticks',
      column: 'task',
      fill: () =>
        Promise.all([
          insert('schedule_ticks', { task: 'old', due_at: ago(3), created_at: ago(3) }),
          insert('schedule_ticks', { task: 'young', due_at: ago(1), created_at: ago(1) })
        ]),
      left: ['young']
    },
    {
      task: 'old_queue_minutes',
      table: 'queue_minutes',
      column: 'queue',
      fill: () =>
        Promise.all([
          insert('queue_minutes', { minute: ago(8), queue: 'hooks', process_id: 1 }),
          insert('queue_minutes', { minute: ago(6), queue: 'builds', process_id: 1 })
        ]),
      left: ['builds']
    },
    {
      task: 'old_audit_events',
      table: 'audit_events where id in (90001, 90002)',
      fill: () => Promise.all([event(90_001, 366), event(90_002, 364)]),
      left: [90_002]
    }
  ]
  for (const { task, table, column, fill, left } of cases) {
    await t.test(task, async t => {
      await fill()
      const before = await numbers(table, column)
      const dry = await run(task, true)
      t.match(dry, { state: 'done', dry_run: true, count: before.length - left.length, error: null })
      t.same(await numbers(table, column), before, 'a dry run changes nothing')
      t.match(await run(task), { state: 'done', dry_run: false, count: before.length - left.length })
      t.same(await numbers(table, column), left)
      t.equal((await run(task)).count, 0)
    })
  }
  t.same(await numbers('hook_attempts', 'delivery_id'), [3, 4], 'tries are deleted with their delivery')
  t.equal((await rows("select id from access_tokens where kind = 'private'")).length, 1)

  t.test('old_jobs cancels the delivery of a dead job', async t => {
    const delivery = await insert('hook_deliveries', {
      hook_id: 1,
      event_key: 'of a dead job',
      event: 'push',
      payload: '{}',
      created_at: ago(31)
    })
    await insert('jobs', {
      queue: 'hooks',
      name: 'hook.deliver',
      payload: JSON.stringify({ deliveryId: delivery.insertId }),
      state: 'dead',
      run_at: ago(31),
      created_at: ago(31)
    })
    t.match(await run('old_jobs'), { state: 'done', count: 1 })
    t.match(await row('select state from hook_deliveries where id = ?', [delivery.insertId]), { state: 'canceled' })
  })

  t.test('old_runs keeps the last run of each task', async t => {
    await record(1_000_001, 'a', 'done', 95)
    await record(1_000_002, 'a', 'failed', 92)
    await record(1_000_003, 'a', 'done', 91, true)
    await record(1_000_004, 'b', 'done', 91)
    await record(1_000_005, 'b', 'done', 89)
    await record(1_000_006, 'c', 'running', 91)
    t.match(await run('old_runs', true), { count: 3 })
    t.match(await run('old_runs'), { state: 'done', count: 3 })
    t.same(await numbers("maintenance_runs where task in ('a', 'b', 'c')"), [1_000_002, 1_000_005, 1_000_006])
    await execute("delete from maintenance_runs where task in ('a', 'b', 'c')")
  })
})

t.test('a run removes more rows than one batch holds', async t => {
  const values = Array.from({ length: 2500 }, (_, at) => `('t${at}', '2020-01-01', '2020-01-01')`)
  await execute(`insert into schedule_ticks (task, due_at, created_at) values ${values.join(', ')}`)
  t.equal((await run('old_ticks')).count, 2500)
})

t.test('every run has a record, and the audit log has the runs of commands', async t => {
  const done = await run('old_ticks')
  const [last] = await listRuns({ task: 'old_ticks', limit: 1 })
  t.match(last, { id: done.id, state: 'done', cause: 'command', pid: process.pid })
  t.ok(done.finished_at)
  t.match(await row('select actor_name, target_name, changes from audit_events where target_id = ?', [`${done.id}`]), {
    target_name: 'old_ticks',
    changes: '{"dry_run":{"after":false}}'
  })
  const scheduled = await runTask('old_ticks', {}, { ...someOrigin, via: 'schedule' })
  t.equal(scheduled.cause, 'schedule')
  t.same(await rows('select id from audit_events where target_id = ?', [`${scheduled.id}`]), [])
  await run('old_ticks', true)
  t.equal((await lastRuns()).get('old_ticks')?.id, scheduled.id, 'a dry run is not the last run')
})

t.test('a task that does not exist cannot run', t =>
  t.rejects(run('nothing'), { message: 'no task is called "nothing"' })
)

t.test('a run that a signal ends says so in its record', async t => {
  const stop = AbortSignal.abort(new Error('ended by SIGTERM'))
  const ended = await runTask('old_ticks', { signal: stop }, someOrigin)
  t.match(ended, { state: 'failed', error: /ended by SIGTERM/ })
  t.same(await rows('select task from maintenance_locks'), [])
})

t.test('the lock', async t => {
  t.test('only one of twelve concurrent runs gets the lock', async t => {
    const asked = await Promise.allSettled(Array.from({ length: 12 }, () => takeLock('old_ticks')))
    const held = asked.filter(({ status }) => status === 'fulfilled')
    t.equal(held.length, 1)
    await t.rejects(run('old_ticks'), { name: 'AlreadyRunning', message: /^old_ticks runs already/ })
    t.match(await run('old_jobs'), { state: 'done' }, 'other tasks are not locked')
    for (const lock of held) if (lock.status === 'fulfilled') await lock.value.release()
    t.match(await run('old_ticks'), { state: 'done' })
  })

  t.test('another process takes over the lock when its lease has ended', async t => {
    await execute("insert into maintenance_locks (task, holder, lease_until) values ('old_ticks', 'other#1#1', ?)", [
      new Date(Date.now() + 20_000)
    ])
    await t.rejects(run('old_ticks'), { name: 'AlreadyRunning' })
    t.same(await releaseStaleLocks(), [])
    await execute('update maintenance_locks set lease_until = ?', [new Date(Date.now() - 1)])
    const { insertId } = await execute(
      `insert into maintenance_runs (task, cause, hostname, pid, state, started_at, report)
       values ('old_ticks', 'schedule', 'other', 1, 'running', ?, '{"notes":[]}')`,
      [ago(1)]
    )
    t.same(await releaseStaleLocks(), ['old_ticks'])
    t.match(await row('select state, error from maintenance_runs where id = ?', [insertId]), {
      state: 'failed',
      error: 'the process of this run died before the run ended'
    })
    t.match(await run('old_ticks'), { state: 'done' })
  })
})

const dayOld = (path: string) => utimesSync(path, ago(2), ago(2))
/**
 * The tests create files now and look for them with a clock that is two days ahead, because the change time of a file cannot be
 * set back.
 */
const later = () => new Date(Date.now() + 2 * DAY)

t.test('builds', async t => {
  const project = await factory.project()
  const [old, young, kept] = (await makePipeline(project, CI)) as [TestBuild, TestBuild, TestBuild]
  await endBuild(old, { trace: 'a', artifacts: ZIP, expireIn: -10 })
  await endBuild(young, { trace: 'b', artifacts: ZIP, expireIn: 1000 })
  await endBuild(kept, { trace: 'c', artifacts: ZIP })
  const archive = ({ id }: TestBuild) => pathOf('artifacts', { build: id, attempt: 1 }, 'zip')

  t.test('expired_artifacts removes file and record', async t => {
    t.match(await run('expired_artifacts', true), { count: 1, report: { bytes: ZIP.length } })
    t.ok(existsSync(archive(old)))
    t.match(await run('expired_artifacts'), {
      state: 'done',
      count: 1,
      report: { notes: [`build ${old.id}: 34 bytes`] }
    })
    t.same(
      [old, young, kept].map(build => existsSync(archive(build))),
      [false, true, true]
    )
    t.match(await row('select artifacts_filename, artifacts_size from builds where id = ?', [old.id]), {
      artifacts_filename: null,
      artifacts_size: null
    })
    t.equal((await run('expired_artifacts')).count, 0)
  })

  t.test('expired_artifacts continues after an interruption between file and record', async t => {
    await execute('update builds set artifacts_expire_at = ? where id = ?', [ago(1), young.id])
    rmSync(archive(young))
    t.match(await run('expired_artifacts'), { state: 'done', count: 1 })
    t.match(await row('select artifacts_attempt from builds where id = ?', [young.id]), { artifacts_attempt: null })
  })

  t.test('abandoned_builds wakes the built-in runner for a build without a job', async t => {
    const [lost, running] = (await makePipeline(await factory.project(), CI)) as [TestBuild, TestBuild]
    await beginBuild(running)
    await execute("delete from jobs where name = 'build.run'")
    await execute("update builds set queued_at = ? where status = 'pending'", [ago(0.1)])
    const waiting = await numbers("builds where status = 'pending'")
    t.ok(waiting.includes(lost.id))
    t.match(await run('abandoned_builds', true), { count: waiting.length })
    t.same(await numbers("jobs where name = 'build.run'"), [])
    t.match(await run('abandoned_builds'), { state: 'done', count: waiting.length })
    t.equal((await rows("select id from jobs where name = 'build.run'")).length, waiting.length)
    t.equal((await run('abandoned_builds')).count, 0)
  })
})

t.test('orphaned_files', async t => {
  const project = await factory.project()
  const mine = await ensureRepository({ id: project.id, storage: 'default' })
  const removed = await ensureRepository({ id: 4_000_001, storage: 'default' })
  await execute(
    "insert into project_removals (project_id, storage, path_with_namespace, created_at) values (4000001, 'default', 'x/y', ?)",
    [ago(1)]
  )
  const [build] = (await makePipeline(project, CI)) as [TestBuild]
  await endBuild(build, { trace: 'x', artifacts: ZIP })
  const key = { build: build.id, attempt: 1 }
  const files = { kept: [pathOf('traces', key, 'log'), pathOf('artifacts', key, 'zip'), mine, removed] }

  const orphan = repositoryPath({ id: 4_000_002, storage: 'default' })
  await createRepository(orphan)
  const draft = `${repositoryPath({ id: 4_000_003, storage: 'default' })}.new-0123456789ab`
  mkdirSync(draft, { recursive: true })
  const foreign = join(dirname(orphan), 'notes.git')
  mkdirSync(foreign)
  await putArtifact({ build: build.id, attempt: 7 }, await fileOf('x.zip'))
  await putArtifact({ build: 4_000_000, attempt: 1 }, await fileOf('y.zip'))
  await appendTrace({ build: 4_000_000, attempt: 1 }, Buffer.from('x'))
  const left = join(home, 'artifacts', '.drafts', 'left')
  writeFileSync(left, 'x')
  const work = join(home, 'tmp', 'draft-of-something')
  mkdirSync(join(work, 'closed'), { recursive: true })
  const used = join(home, 'tmp', 'gitstead-work-0123456789abcdef')
  mkdirSync(used)
  const database = join(home, 'tmp', '#sql-temptable-1.MAI')
  writeFileSync(database, 'x')
  const outside = t.testdir({ precious: 'x' })
  symlinkSync(outside, join(home, 'repositories', 'linked'))
  symlinkSync(outside, join(home, 'tmp', 'linked'))
  symlinkSync(outside, join(home, 'traces', '9'))
  for (const path of [orphan, left, work, used]) dayOld(path)

  async function fileOf(name: string) {
    const path = join(home, name)
    writeFileSync(path, ZIP)
    return path
  }

  t.test('keeps files that are younger than a day, whatever their modification times are', async t => {
    t.same(Object.values(await findOrphans()).flat(), [])
    t.match(await run('orphaned_files'), { state: 'done', count: 0 })
    t.ok(existsSync(orphan))
  })

  t.test('finds files without a row', async t => {
    const found = await findOrphans(later())
    t.same(found.repositories, [orphan])
    t.same(found.drafts, [draft])
    t.same(
      [...found.artifacts].sort(),
      [
        pathOf('artifacts', { build: build.id, attempt: 7 }, 'zip'),
        pathOf('artifacts', { build: 4_000_000, attempt: 1 }, 'zip')
      ].sort()
    )
    t.same(found.traces, [pathOf('traces', { build: 4_000_000, attempt: 1 }, 'log')])
    t.same([...found.temporary].sort(), [left, work, join(home, 'tmp', 'linked')].sort())
  })

  t.test('removes them two days later, and follows no links', async t => {
    const notes: string[] = []
    let count = 0
    const context = (dryRun: boolean) => ({
      dryRun,
      signal: new AbortController().signal,
      count: (more = 1) => {
        count += more
      },
      note: (text: string) => void notes.push(text)
    })
    await removeOrphans(context(true), later())
    t.equal(count, 8)
    t.ok(existsSync(orphan) && existsSync(left), 'a dry run removes nothing')
    const figures = await removeOrphans(context(false), later())
    t.same(figures, { repositories: 1, drafts: 1, artifacts: 2, traces: 1, records: 0, temporary: 3, objects: 0 })
    for (const path of [orphan, draft, left, work]) t.notOk(existsSync(path), path)
    for (const path of [...files.kept, foreign, used, database, join(outside, 'precious')]) t.ok(existsSync(path), path)
    t.ok(notes.every(note => !note.startsWith('/') && !note.startsWith('..')))
  })

  t.test('removes nothing with the database of another home', async t => {
    await createRepository(orphan)
    const mark = (key: Buffer) => execute('update application_settings set key_fingerprint = ?', [key])
    await mark(randomBytes(32))
    await t.rejects(findOrphans(later()), { message: /the database belongs to another home/ })
    await mark(fingerprintOfKey())
    for (let number = 0; number < 20; number++) {
      await appendTrace({ build: 5_000_000 + number, attempt: 1 }, Buffer.from('x'))
    }
    await t.rejects(findOrphans(later()), { message: /20 of \d+ traces have no record/ })
  })
})

t.test('repository_upkeep', async t => {
  const project: TestProject = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  const path = repositoryPath({ id: project.id, storage: 'default' })
  await execute('delete from repository_upkeeps')

  t.test('a dry run reports and changes nothing', async t => {
    const dry = await run('repository_upkeep', true)
    t.match(dry, { state: 'done', dry_run: true })
    t.ok(dry.report.notes.some(note => note.startsWith(`project ${project.id}: `)))
    t.same(await rows('select project_id from repository_upkeeps'), [])
  })

  t.test('packs loose objects, writes the graph, and does not check again at once', async t => {
    await looseBlobs(path, 2100)
    t.ok((await countObjectFiles(path)).objects > 2000)
    const done = await run('repository_upkeep')
    t.match(done, { state: 'done', report: { failed: 0, left: 0 } })
    t.ok((await countObjectFiles(path)).packs >= 1)
    t.ok(existsSync(join(path, 'objects/info/commit-graphs')) || existsSync(join(path, 'objects/info/commit-graph')))
    t.match(await row('select repacked_at from repository_upkeeps where project_id = ?', [project.id]), {
      repacked_at: Date
    })
    t.match(await run('repository_upkeep'), { count: 0, report: { looked: 0 } })
  })

  t.test('finds what is due: by a push, after a month, or without an earlier check', async t => {
    const due = async (activity: string, looked: string | null) => {
      await execute(`update projects set last_activity_at = now(3) - interval ${activity} where id = ?`, [project.id])
      await execute('delete from repository_upkeeps where project_id = ?', [project.id])
      if (looked !== null) {
        const row = `insert into repository_upkeeps (project_id, looked_at) values (?, now(3) - interval ${looked})`
        await execute(row, [project.id])
      }
      return (await findDue()).filter(({ id }) => id === project.id).length
    }
    t.equal(await due('1 hour', '21 hour'), 1, 'a push')
    t.equal(await due('1 hour', '19 hour'), 0, 'a push, but the last check is less than 20 hours ago')
    t.equal(await due('22 hour', '21 hour'), 0, 'no push since the last check')
    t.equal(await due('99 day', '29 day'), 0)
    t.equal(await due('99 day', '31 day'), 1, 'a month')
    t.equal(await due('1 hour', '31 day'), 1, 'both, but only once')
    t.equal(await due('1 hour', null), 1)
    t.equal(await due('99 day', null), 1, 'such as a project that was restored')
    await execute('update projects set archived = true where id = ?', [project.id])
    t.equal(await due('1 hour', '21 hour'), 1, 'an archived project')
    await execute('update projects set archived = false where id = ?', [project.id])
  })

  t.test('a broken repository does not delay the others', async t => {
    const broken = await factory.project()
    const place = repositoryPath({ id: broken.id, storage: 'default' })
    await ensureRepository({ id: broken.id, storage: 'default' })
    writeFileSync(join(place, 'HEAD'), 'nonsense')
    const other = await factory.project()
    const failed = await run('repository_upkeep')
    t.match(failed, { state: 'failed', error: /1 repositories could not be maintained/ })
    t.ok(failed.report.notes.some(note => note.startsWith(`project ${broken.id}: `)))
    t.same(await numbers(`repository_upkeeps where project_id in (${broken.id}, ${other.id})`, 'project_id'), [
      broken.id,
      other.id
    ])
  })
})

/** Writes loose objects that nothing refers to. git packs such objects as well, as cruft. */
async function looseBlobs(repository: string, count: number): Promise<void> {
  await writeObjects(
    repository,
    Array.from({ length: count }, (_, at) => makeObject('blob', Buffer.from(`loose ${at}`)))
  )
}

t.test('the table of tasks', async t => {
  t.same(
    tasks.map(({ name }) => name),
    tasks.map(({ name }) => name).sort(),
    'in order'
  )
  for (const { name, about } of tasks) {
    t.match(name, /^[a-z]+(_[a-z]+)+$/)
    t.ok(about)
  }
  const page = readFileSync(join(root, 'docs/operate/maintenance.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z_]+)` \| `([^`]+)` \| (.+) \|$/gm)].map(([, ...cells]) => cells)
  t.same(
    listed,
    tasks.map(({ name, schedule, about }) => [name, schedule, about]),
    'matches docs/operate/maintenance.md'
  )
})
