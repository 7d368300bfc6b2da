// Runs `gitstead doctor` on homes with faults: it reports each fault, repairs what is safe, and changes nothing without --fix.

import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createHook } from '../../src/areas/ground/hooks/hooks.js'
import { setMaintenanceMode } from '../../src/areas/ground/settings/maintenance-mode.js'
import { ensureRepository, repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { createBackup } from '../../src/areas/upkeep/backup/create.js'
import { runTask } from '../../src/areas/upkeep/maintenance/maintenance.js'
import type { CheckResult } from '../../src/cli/doctor/check.js'
import { checks } from '../../src/cli/doctor/checks.js'
import { orphansCheck } from '../../src/cli/doctor/files.js'
import { backupsCheck, buildFilesCheck, integrityCheck } from '../../src/cli/doctor/integrity.js'
import { hooksCheck, retriedJobsCheck } from '../../src/cli/doctor/jobs.js'
import { CHECK_NAMES } from '../../src/cli/doctor/names.js'
import { machine } from '../../src/cluster/this-machine.js'
import { root } from '../../src/config.js'
import { execute, row, rows, type Value } from '../../src/db/connect/sql.js'
import { Hook } from '../../src/db/models/index.js'
import { createRepository } from '../../src/git/repository/repository.js'
import { HOME_FOLDERS, prepareHome } from '../../src/home.js'
import { endBuild, makePipeline } from '../areas/ci/builds/make-builds.js'
import { git } from '../git/history.js'
import { cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory, someOrigin } from '../helpers/factory.js'

const { home, databaseUrl } = await testDatabase()
prepareHome()
chmodSync(home, 0o700)
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl, GITSTEAD_PORT: '0' }

async function doctor(args: string[] = [], values: NodeJS.ProcessEnv = environment) {
  const { code, json } = await cli(['doctor', '--json', ...args], { environment: values })
  const { ok, checks: results } = json() as unknown as { ok: boolean; checks: CheckResult[] }
  const ill = results.filter(result => !result.ok).map(({ name }) => name)
  return { code, ok, results, ill, of: (name: string) => results.find(result => result.name === name) }
}

const insert = (table: string, values: Record<string, Value>) =>
  execute(
    `insert into ${table} (${Object.keys(values).join(', ')}) values (${Object.keys(values)
      .map(() => '?')
      .join(', ')})`,
    Object.values(values)
  )
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const modeOf = (path: string) => statSync(path).mode & 0o777

t.test('a home without faults passes every check', async t => {
  await factory.project()
  const { code, ok, results, ill } = await doctor()
  t.same(ill, [])
  t.match({ code, ok }, { code: 0, ok: true })
  t.same(
    results.map(({ name }) => name),
    CHECK_NAMES
  )
  t.same(
    checks.map(({ name }) => name),
    CHECK_NAMES
  )
  t.ok(results.every(({ remedy, mended, skipped }) => remedy === null && mended === null && !skipped))
})

t.test('--fix repairs what is safe, and the next run finds no fault', async t => {
  const project = await factory.project()
  rmSync(repositoryPath({ id: project.id, storage: 'default' }), { recursive: true, force: true })
  const busy = await factory.project()
  await factory.file(busy, 'a.txt', 'a')
  const locked = await factory.project()
  await factory.file(locked, 'a.txt', 'a')
  const lock = join(repositoryPath({ id: locked.id, storage: 'default' }), 'packed-refs.lock')
  writeFileSync(lock, '')
  utimesSync(lock, minutesAgo(9), minutesAgo(9))
  writeFileSync(join(repositoryPath({ id: locked.id, storage: 'default' }), 'HEAD'), 'ref: refs/heads/other\n')
  await execute('delete from jobs')
  chmodSync(home, 0o755)
  chmodSync(join(home, 'traces'), 0o750)
  chmodSync(join(home, 'secrets.json'), 0o644)
  rmSync(join(home, 'backups'), { recursive: true })
  await insert('job_processes', {
    id: 777,
    hostname: 'h',
    machine: machine(),
    pid: 999_999_999,
    pid_started: 1,
    tag: 'x',
    queues: '[]',
    labels: '[]',
    concurrency: 1,
    started_at: minutesAgo(9),
    lease_until: minutesAgo(-9)
  })
  for (const process_id of [777, 778]) {
    await insert('jobs', {
      queue: 'hooks',
      name: 'hook.deliver',
      payload: '{"deliveryId":1}',
      state: 'running',
      process_id,
      attempts: 1,
      run_at: minutesAgo(9),
      started_at: minutesAgo(9),
      created_at: minutesAgo(9)
    })
  }
  await insert('ref_changes', {
    project_id: busy.id,
    ref: 'refs/heads/never',
    old_id: '0'.repeat(40),
    new_id: '1'.repeat(40),
    source: 'push',
    process: `${machine()}#999999999#1`,
    created_at: minutesAgo(9)
  })
  await insert('maintenance_locks', { task: 'old_jobs', holder: 'x#1#1#1', lease_until: minutesAgo(1) })
  await insert('project_removals', {
    project_id: 4_000_000,
    storage: 'default',
    path_with_namespace: 'x/y',
    created_at: minutesAgo(90)
  })
  const wrong = [
    'commit_graphs',
    'folders',
    'heads',
    'home',
    'jobs',
    'locks',
    'maintenance',
    'ref_changes',
    'removals',
    'repositories',
    'secrets'
  ]

  await t.test('without --fix it changes nothing, and each check says what to do', async t => {
    const before = await stateOf()
    const { code, ill, results } = await doctor()
    t.equal(code, 1)
    t.same(ill.sort(), wrong)
    t.ok(results.filter(({ ok }) => !ok).every(({ remedy, mended }) => remedy && mended === null))
    t.same(await stateOf(), before)
  })

  await t.test('--fix repairs every fault', async t => {
    const { code, ill, results, of } = await doctor(['--fix'])
    t.same(ill, [])
    t.equal(code, 0)
    t.same(
      results
        .filter(({ mended }) => mended !== null)
        .map(({ name }) => name)
        .sort(),
      wrong
    )
    t.match(of('jobs'), { mended: 'put 2 jobs back into the queues' })
    t.match(of('repositories'), { mended: 'made 1 empty repository' })
    t.match(of('heads'), { mended: 'changed HEAD of 1 repository' })
    t.match(of('locks'), { mended: 'removed 1 lock' })
    t.notOk(existsSync(lock))
    t.equal(modeOf(home), 0o700)
    t.equal(modeOf(join(home, 'secrets.json')), 0o600)
    t.match(await rows("select state from jobs where name = 'hook.deliver'"), [{ state: 'ready' }, { state: 'ready' }])
    t.same(await rows("select id from ref_changes where state = 'open'"), [])
    t.ok(existsSync(repositoryPath({ id: project.id, storage: 'default' })))
    t.match(await row("select changes from audit_events where action = 'doctor.mend'"), { changes: /put 2 jobs back/ })
  })

  await t.test('the next run finds no fault', async t => {
    const { code, results, ill } = await doctor()
    t.same(ill, [])
    t.equal(code, 0)
    t.ok(results.every(({ mended }) => mended === null))
  })
})

/** Everything that a run without --fix must not change. */
async function stateOf() {
  const tables = ['jobs', 'job_processes', 'ref_changes', 'maintenance_locks', 'maintenance_runs', 'audit_events']
  const contents = await Promise.all(tables.map(table => rows(`select * from ${table} order by 1`)))
  const modes = ['.', ...HOME_FOLDERS, 'secrets.json'].map(
    name => existsSync(join(home, name)) && modeOf(join(home, name))
  )
  return { contents, modes, names: readdirSync(home).sort(), run: readdirSync(join(home, 'run')).sort() }
}

t.test('--fix never makes an empty repository where commits were lost', async t => {
  const project = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  const path = repositoryPath({ id: project.id, storage: 'default' })
  rmSync(path, { recursive: true })
  const { code, ill, of } = await doctor(['--fix', '--all'])
  t.equal(code, 1)
  t.same(ill, ['repositories'])
  t.match(of('repositories'), {
    remedy: 'restore the repositories that had commits from a backup',
    details: [`project ${project.id}: ${path}`],
    mended: 'made 0 empty repositories'
  })
  t.notOk(existsSync(path))
  await execute('delete from projects where id = ?', [project.id])
})

t.test('a missing default branch is reported, but not repaired', async t => {
  const project = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  const path = repositoryPath({ id: project.id, storage: 'default' })
  git(path, ['update-ref', 'refs/heads/other', 'refs/heads/master'])
  git(path, ['update-ref', '-d', 'refs/heads/master'])
  const { ill, of } = await doctor(['--fix', '--all'])
  t.same(ill, ['heads'])
  t.match(of('heads'), {
    remedy: /^push the missing branch/,
    details: [`project ${project.id}: master does not exist`],
    mended: 'changed HEAD of 0 repositories'
  })
  rmSync(path, { recursive: true })
  await execute('delete from projects where id = ?', [project.id])
})

t.test('--fix repairs a HEAD that git cannot read', async t => {
  const project = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  const path = repositoryPath({ id: project.id, storage: 'default' })
  for (const damage of [() => writeFileSync(join(path, 'HEAD'), ''), () => rmSync(join(path, 'HEAD'))]) {
    damage()
    const { ill, of } = await doctor(['--fix', '--all'])
    t.same(ill, [])
    t.match(of('heads'), { mended: 'changed HEAD of 1 repository' })
    t.equal(readFileSync(join(path, 'HEAD'), 'utf8'), 'ref: refs/heads/master\n')
  }
  rmSync(path, { recursive: true })
  await execute('delete from projects where id = ?', [project.id])
})

t.test('a data folder on a file system that takes no files is reported', async t => {
  // A tmpfs of one inode has room for its own folder only.
  const mounted = 'mount -t tmpfs -o nr_inodes=1,mode=700 none "$1" && shift && exec "$@"'
  const program = [join(root, 'bin/gitstead'), 'doctor', '--json']
  const { stdout } = await new Promise<{ stdout: string }>(resolve =>
    execFile(
      'unshare',
      ['-rm', 'sh', '-c', mounted, 'sh', join(home, 'artifacts'), ...program],
      { env: { PATH: process.env.PATH, ...environment } },
      (_, stdout) => resolve({ stdout })
    )
  )
  const { checks: results } = JSON.parse(stdout) as { checks: CheckResult[] }
  const folders = results.find(({ name }) => name === 'folders')
  t.match(folders, { ok: false, details: [/^artifacts refuses a file \(mkdir: ENOSPC\): check the file system of /] })
  t.equal(folders?.details.length, 1)
  t.same((await doctor()).ill, [], 'it leaves nothing behind in the other folders')
})

t.test('--fix leaves some faults to people', async t => {
  await insert('jobs', {
    queue: 'default',
    name: 'event.published',
    payload: '{}',
    state: 'dead',
    run_at: minutesAgo(1),
    created_at: minutesAgo(-10)
  })
  await createHook({ url: 'http://127.0.0.1:9/' }, someOrigin)
  await execute('update hooks set failures = 7, resting_until = ?', [minutesAgo(-5)])
  await runTask('old_jobs', { signal: AbortSignal.abort(new Error('the machine was switched off')) }, someOrigin)
  const { code, ill, of } = await doctor(['--fix'])
  t.equal(code, 1)
  t.same(ill.sort(), ['clock', 'dead_jobs', 'hooks', 'maintenance'])
  t.match(of('dead_jobs'), { details: ['event.published: 1'] })
  t.match(of('hooks'), { details: [/^hook \d+: 7 failures in a row/] })
  t.match(of('maintenance'), { remedy: 'run it by hand: gitstead maintenance run old_jobs', mended: null })
  t.match(of('clock'), { found: '1 job comes from the future: the clock was set back' })
  await execute("delete from jobs where state = 'dead'")
  await execute('delete from hooks')
  await runTask('old_jobs', {}, someOrigin)
})

t.test('the check finds orphans older than a day and leaves their removal to maintenance', async t => {
  const orphan = repositoryPath({ id: 4_000_001, storage: 'default' })
  await createRepository(orphan)
  const context = { all: false, serverUp: false, serverUrl: '', now: new Date() }
  t.equal(await orphansCheck.examine(context), 'no orphan is older than a day')
  const later = new Date(Date.now() + 2 * 86_400_000)
  await t.rejects(async () => orphansCheck.examine({ ...context, now: later }), {
    message: 'repositories: 1',
    details: [orphan],
    remedy: /maintenance run orphaned_files --dry-run/
  })
  t.equal(orphansCheck.mend, undefined)
})

t.test('doctor checks stored content', async t => {
  const context = { all: false, serverUp: false, serverUrl: '', now: new Date() }

  await t.test('repositories: missing objects are found after their files have changed', async t => {
    const [project, other] = [await factory.project(), await factory.project()]
    for (const each of [project, other]) await factory.file(each, 'a.txt', `a ${each.id}`)
    await integrityCheck.examine(context)
    t.match(await integrityCheck.examine(context), /^looked into 0 repositories, [2-9]\d* unchanged/)
    const path = repositoryPath({ id: project.id, storage: 'default' })
    const blob = git(path, ['rev-parse', 'HEAD:a.txt'])
    const kept = readFileSync(join(path, 'objects', blob.slice(0, 2), blob.slice(2)))
    rmSync(join(path, 'objects', blob.slice(0, 2), blob.slice(2)))
    for (let times = 0; times < 2; times++) {
      await t.rejects(async () => integrityCheck.examine(context), {
        message: /^1 repository is damaged; looked into 1 repository, \d+ unchanged/,
        details: [`project ${project.id}: missing blob ${blob} (${path})`]
      })
    }
    writeFileSync(join(path, 'objects', blob.slice(0, 2), blob.slice(2)), kept)
    t.match(await integrityCheck.examine(context), /^looked into 1 repository,/)
  })

  await t.test('repositories: a ref or a HEAD without its object is found, and --all checks everything', async t => {
    const project = await factory.project()
    await factory.file(project, 'a.txt', 'a')
    const path = repositoryPath({ id: project.id, storage: 'default' })
    writeFileSync(join(path, 'refs/heads/lost'), `${'1'.repeat(40)}\n`)
    await t.rejects(async () => integrityCheck.examine(context), { message: /damaged/, details: [/refs\/heads\/lost/] })
    rmSync(join(path, 'refs/heads/lost'))
    const head = readFileSync(join(path, 'HEAD'))
    writeFileSync(join(path, 'HEAD'), 'nothing\n')
    await t.rejects(async () => integrityCheck.examine(context), { message: /damaged/, details: [/^project \d+: /] })
    writeFileSync(join(path, 'HEAD'), head)
    const said = await integrityCheck.examine({ ...context, all: true })
    t.match(said, /^looked into [2-9]\d* repositories, 0 unchanged/)
  })

  await t.test('archives and traces: size and bytes, reported in every run', async t => {
    const project = await factory.project()
    const ci = 'one:\n  script: [make]\n  artifacts: {paths: [a]}\ntwo:\n  script: [make]\n  artifacts: {paths: [a]}\n'
    const [one, two] = await makePipeline(project, ci)
    if (!one || !two) throw new Error('no builds')
    for (const build of [one, two]) await endBuild(build, { trace: 'done', artifacts: Buffer.from('archive') })
    t.match(await buildFilesCheck.examine(context), /^looked at 2 builds$/)
    t.match(await buildFilesCheck.examine(context), /^looked at 0 builds$/)
    const file = (kind: string, ending: string) => join(home, kind, '0', `${two.id}-1.${ending}`)
    writeFileSync(file('artifacts', 'zip'), 'another')
    rmSync(file('traces', 'log'))
    for (let times = 0; times < 2; times++) {
      await t.rejects(async () => buildFilesCheck.examine({ ...context, all: times === 0 }), {
        message: /^2 files of builds are damaged; looked at [12] builds?$/,
        details: [
          `build ${two.id}: the trace is missing`,
          `build ${two.id}: the content of the archive differs from the stored hash`
        ]
      })
    }
    writeFileSync(file('artifacts', 'zip'), 'archive')
    writeFileSync(file('traces', 'log'), 'dead')
    await t.rejects(async () => buildFilesCheck.examine(context), {
      message: /damaged/,
      details: [`build ${two.id}: the content of the trace differs from the stored hash`]
    })
    writeFileSync(file('artifacts', 'zip'), 'cut')
    writeFileSync(file('traces', 'log'), 'done, and the last lines of a late runner')
    await t.rejects(async () => buildFilesCheck.examine(context), {
      message: /damaged/,
      details: [`build ${two.id}: the archive has 3 bytes instead of 7`]
    })
    writeFileSync(file('artifacts', 'zip'), 'archive')
    t.match(await buildFilesCheck.examine(context), /^looked at 1 build$/)
  })

  await t.test('jobs that fail again and again', async t => {
    await insert('jobs', {
      queue: 'default',
      name: 'event.published',
      payload: '{}',
      state: 'delayed',
      attempts: 3,
      error: 'Error: no such thing\n  at once',
      run_at: minutesAgo(-10),
      created_at: minutesAgo(1)
    })
    const { id } = (await row<{ id: number }>("select id from jobs where state = 'delayed' and attempts = 3")) ?? {
      id: 0
    }
    await t.rejects(async () => retriedJobsCheck.examine(context), {
      message: '1 job fails again and again',
      details: [`event.published: 1; job ${id}: Error: no such thing`]
    })
    await execute("delete from jobs where state = 'delayed'")
    t.equal(await retriedJobsCheck.examine(context), 'no job has failed 3 times')
  })

  await t.test('hooks of projects that fail', async t => {
    const project = await factory.project()
    const hook = await Hook.create({ projectId: project.id, url: 'http://127.0.0.1:9/' })
    await execute('update hooks set failures = 6, resting_until = ?', [minutesAgo(-5)])
    await t.rejects(async () => hooksCheck.examine(context), {
      message: /fail$/,
      details: [`hook ${hook.id} of project ${project.id}: 6 failures in a row, 0 deliveries wait`]
    })
    await hook.destroy()
  })

  await t.test('the age of the last good backup', async t => {
    t.match(await backupsCheck.examine(context), { found: /^no backup yet/, next: /backup create/ })
    const later = { ...context, now: new Date(Date.now() + 49 * 3_600_000) }
    await t.rejects(async () => backupsCheck.examine(later), { message: 'there is no good backup' })
    const [one, two] = [await createBackup({}, someOrigin), await createBackup({}, someOrigin)]
    t.equal(await backupsCheck.examine(context), `the last good one is 0 hours old: ${two.path}`)
    writeFileSync(join(two.path, 'manifest.json'), '{}')
    t.equal(await backupsCheck.examine(context), `the last good one is 0 hours old: ${one.path}`)
    await t.rejects(async () => backupsCheck.examine(later), {
      message: /^the last good one is 4[89] hours old: /
    })
    for (const { path } of [one, two]) rmSync(path, { recursive: true })
    await t.rejects(async () => backupsCheck.examine(later), { message: 'there is no good backup' })
    await execute("delete from audit_events where action = 'backup.create'")
  })
  await execute('delete from projects')
})

t.test('another server at the port of a stopped home is not mistaken for its own', async t => {
  const other = createHttpServer((_, response) => response.end('{"status":"ok"}'))
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as { port: number }
  t.teardown(() => other.close())
  const note = join(home, 'run/server.json')
  writeFileSync(note, JSON.stringify({ host: '127.0.0.1', port, pid: process.pid, instance: 'not-that-one' }))
  const { code, stdout } = await cli(['status', '--json'], { environment: { ...environment, GITSTEAD_PORT: '7' } })
  t.equal(code, 5)
  t.match(JSON.parse(stdout), { server: { up: false, url: 'http://127.0.0.1:7' } })
  t.match((await doctor()).of('address'), { ok: true, found: 'down; it may use any free port' })
  rmSync(note)
})

t.test('an old or a newer schema is a fault, and the checks that need the schema are skipped', async t => {
  await execute("delete from schema_migrations where name = '0006-administration'")
  const old = await doctor(['--fix'])
  t.match(old.of('schema'), { ok: false, details: ['0006-administration'], remedy: /gitstead db migrate/ })
  t.same(old.ill, ['schema'])
  t.match(old.of('jobs'), { ok: true, skipped: true })
  await execute(
    `insert into schema_lock (id, holder, expires_at) values (1, 'x', ?)
     on duplicate key update expires_at = values(expires_at)`,
    [minutesAgo(-1)]
  )
  t.match((await doctor()).of('schema'), { ok: false, found: 'the appliance is migrating its database' })
  t.match(await cli(['users', 'list'], { environment }), { code: 5, stderr: /the appliance is migrating its database/ })
  t.match((await cli(['status', '--json'], { environment })).json(), { database: { up: true, schema: 'migrating' } })
  await execute("update schema_lock set expires_at = '2000-01-01'")
  await execute("insert into schema_migrations (name, applied_at) values ('9999-contract-9998-later', ?)", [new Date()])
  t.match((await doctor()).of('schema'), { ok: false, found: /created by a newer version/ })
  await execute("delete from schema_migrations where name like '9999-%'")
  await execute("insert into schema_migrations (name, applied_at) values ('0006-administration', ?)", [new Date()])
  await execute("insert into schema_migrations (name, applied_at) values ('9999-later', ?)", [new Date()])
  const newer = await doctor()
  t.match(newer.of('schema'), { ok: true, found: /^1 migration of a newer version, .*: upgrade this machine$/ })
  t.match(newer.of('tables'), { ok: true, skipped: true })
  t.match(newer.of('jobs'), { skipped: false })
  await execute("delete from schema_migrations where name = '9999-later'")
})

t.test('a database that does not answer is a fault', async t => {
  const away = { ...environment, GITSTEAD_DATABASE_URL: 'mysql://root:x@127.0.0.1:1/x' }
  const { code, ill, of } = await doctor([], away)
  t.equal(code, 1)
  t.same(ill, ['database'])
  t.match(of('database'), { remedy: 'start that database, or correct database.url' })
  t.match(of('repositories'), { skipped: true })
})

t.test('an address that another program uses is a fault', async t => {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  t.teardown(() => server.close())
  const { ill, of } = await doctor([], { ...environment, GITSTEAD_PORT: String(port) })
  t.same(ill, ['address'])
  t.match(of('address'), { found: `cannot listen at 127.0.0.1:${port}: EADDRINUSE`, remedy: /another program/ })
  t.same((await doctor([], { ...environment, GITSTEAD_HOST: '0.0.0.0' })).ill, ['url'])
})

t.test('--only and --skip choose checks', async t => {
  const names = async (...args: string[]) => (await doctor(args)).results.map(({ name }) => name)
  t.same(await names('--only', 'jobs,disk'), ['disk', 'jobs'])
  t.same(
    await names('--skip', 'url', '--skip', 'mail,jobs'),
    CHECK_NAMES.filter(name => !['url', 'mail', 'jobs'].includes(name))
  )
  t.match(await cli(['doctor', '--only', 'nothing'], { environment }), { code: 2, stderr: /nothing/ })
  // The help breaks long lines, also within names.
  t.match((await cli(['doctor', '--help'], { environment })).stdout.replace(/\s/g, ''), /dead_jobs/)
  const away = { ...environment, GITSTEAD_DATABASE_URL: 'mysql://root:x@127.0.0.1:1/x' }
  const without = await doctor(['--only', 'jobs'], away)
  t.match(without, { code: 1, ill: ['database'] }, 'what a check needs is reported when it has a fault')
  t.match(without.of('jobs'), { skipped: true })
})

t.test('doctor says that maintenance mode is on', async t => {
  t.match((await doctor(['--only', 'mode'])).of('mode'), { ok: true, found: /is off/ })
  await setMaintenanceMode('moving house', someOrigin)
  t.match((await doctor(['--only', 'mode'])).of('mode'), { ok: true, found: /is ON since .*\(moving house\)$/ })
  await setMaintenanceMode(null, someOrigin)
})

t.test('the checks work while the appliance is down', async t => {
  const folder = join(t.testdir(), 'home')
  const own = { GITSTEAD_HOME: folder, GITSTEAD_PORT: '0' }

  await t.test('a home that does not exist is not created', async t => {
    const { code, ill, of } = await doctor(['--fix'], own)
    t.same(ill, [])
    t.equal(code, 0)
    t.match(of('database'), { skipped: true, found: 'there is no database yet: the first start creates it' })
    t.notOk(existsSync(folder))
  })

  await t.test('the private database runs during the checks and stops afterwards', async t => {
    t.equal((await cli(['db', 'migrate'], { environment: own })).code, 0)
    // On Debian, an ordinary user has this PATH, which does not contain the folder of mariadbd.
    const { code, of } = await doctor([], { ...own, PATH: '/usr/local/bin:/usr/bin:/bin' })
    t.equal(code, 0)
    t.match(of('database'), { skipped: false, found: /^the private database answers: / })
    t.notOk(existsSync(join(folder, 'run/mysql.pid')), 'the database is stopped again')
  })

  await t.test('the database does not start while the home has a fault', async t => {
    chmodSync(join(folder, 'mysql'), 0o755)
    rmSync(join(folder, 'traces'), { recursive: true })
    symlinkSync(join(folder, 'nothing'), join(folder, 'traces'))
    const { code, ill, of } = await doctor([], own)
    t.equal(code, 1)
    t.same(ill, ['folders'])
    t.match(of('folders'), { details: [/^traces is a broken link/, /^mysql is open to other users/] })
    t.match(of('database'), { skipped: true, found: /first repair what it needs to start: folders/ })
    const fixed = await doctor(['--fix'], own)
    t.match(fixed.of('folders'), { ok: false, details: [/^traces is a broken link/] })
    rmSync(join(folder, 'traces'))
    writeFileSync(join(folder, 'traces'), 'a file')
    t.match((await doctor(['--fix'], own)).of('folders'), { ok: false, details: [/^traces is not a folder/] })
    rmSync(join(folder, 'traces'))
    t.match(await doctor(['--fix'], own), { code: 0, ill: [] })
    t.equal(modeOf(join(folder, 'mysql')), 0o700)
  })

  await t.test('--fix does not replace missing or damaged secrets, because only a backup has them', async t => {
    writeFileSync(join(folder, 'secrets.json'), '{', { mode: 0o600 })
    t.match(await doctor(['--fix'], own), { code: 1, ill: ['secrets'] })
    rmSync(join(folder, 'secrets.json'))
    const gone = await doctor(['--fix'], own)
    t.match(gone.of('secrets'), { ok: false, remedy: /restore it from a backup/ })
    t.notOk(existsSync(join(folder, 'secrets.json')))
  })
})

t.test('without --json the output has a line for each check, with the remedy below', async t => {
  mkdirSync(join(home, 'traces'), { recursive: true })
  chmodSync(join(home, 'traces'), 0o755)
  const { code, stdout } = await cli(['doctor'], { environment })
  t.equal(code, 1)
  t.match(stdout, /^ok {4}gitstead +\d/)
  t.match(
    stdout,
    /\nFAIL {2}folders +1 folder of the home has a fault\n {21}traces is open to other users: .*\n {21}-> chmod 700 /
  )
  t.match(
    (await cli(['doctor', '--fix'], { environment })).stdout,
    /\nok {4}folders .*\n {21}repaired: made or closed traces\n/
  )
})

t.test('--fix does not touch a repository that exists', async t => {
  const project = await factory.project()
  const path = await ensureRepository({ id: project.id, storage: 'default' })
  writeFileSync(join(path, 'description'), 'mine')
  await doctor(['--fix', '--all'])
  t.ok(existsSync(join(path, 'description')))
})

t.test('docs/operate/maintenance.md lists every check, in order', async t => {
  const page = readFileSync(join(root, 'docs/operate/maintenance.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `([a-z_]+)` \| ([^|`]+) \| (yes|-) \|$/gm)].map(([, ...cells]) => cells)
  t.same(
    listed,
    checks.map(({ name, about, mend }) => [name, about, mend ? 'yes' : '-'])
  )
})
