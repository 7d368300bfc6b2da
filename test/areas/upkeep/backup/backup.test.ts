// How a backup is written: its contents, the files that it shares with the previous backup, and what it omits.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { copyRepositories } from '../../../../src/areas/upkeep/backup/copy-repositories.js'
import { copyRepository } from '../../../../src/areas/upkeep/backup/copy-repository.js'
import { planBackup } from '../../../../src/areas/upkeep/backup/create.js'
import { asOnlyBackup } from '../../../../src/areas/upkeep/backup/lock.js'
import { readFileList, type Unit } from '../../../../src/areas/upkeep/backup/manifest.js'
import { defaultStore, draftFolder, listBackups, newId } from '../../../../src/areas/upkeep/backup/store.js'
import { UnitWriter } from '../../../../src/areas/upkeep/backup/unit.js'
import { root } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { AlreadyRunning, BadParameters, Conflict } from '../../../../src/errors.js'
import { readRefFiles } from '../../../../src/git/refs/files.js'
import { ZERO } from '../../../../src/git/refs/refs.js'
import { originalIn } from '../../../../src/git/repository/original.js'
import { cli } from '../../../helpers/cli.js'
import { factory, originBy, projectRow } from '../../../helpers/factory.js'
import {
  create,
  databaseUrl,
  draftIn,
  empty,
  environment,
  git,
  home,
  manifestOf,
  project,
  quietly,
  snapshot,
  source,
  unitOf
} from './subject.js'

t.test('a backup contains every row, every repository and a hash of each file', async t => {
  const backup = await create()
  const { units, database, totals, secrets, snapshot_seconds: open } = manifestOf(backup)
  t.equal(backup.snapshot_seconds, open)
  t.type(open, 'number')
  t.equal(secrets.where, 'left_out')
  t.notMatch(readFileSync(join(backup.path, 'manifest.json'), 'utf8'), /encryption_key/)
  t.equal(totals.repositories, 3)
  for (const { name, rows: dumped } of database.tables) {
    if (database.left_out.includes(name) || name === 'audit_events') continue
    t.equal((await row<{ n: number }>(`select count(*) as n from ${name}`))?.n, dumped, name)
  }
  execFileSync('sha256sum', ['--check', '--status', 'manifest.json.sha256'], { cwd: backup.path })
  let files = 0
  for (const unit of units) {
    for (const { path, sha256, size } of readFileList(backup.path, unit)) {
      files += 1
      const place = join(backup.path, unit.path, path)
      t.equal(statSync(place).size, size)
      t.equal(execFileSync('sha256sum', [place], { encoding: 'utf8' }).slice(0, 64), sha256, path)
    }
  }
  t.equal(files, totals.files)
  const { folder } = unitOf(backup)
  t.equal(git(folder, 'rev-parse', 'master'), git(source, 'rev-parse', 'master'), 'git can read the copy in the backup')
  t.match(git(folder, 'fsck', '--no-dangling'), /^$/)
  t.match(await row('select action, via from audit_events order by id desc limit 1'), { action: 'backup.create' })
})

t.test('the next backup shares the files that did not change', async t => {
  await factory.file(project, 'new.txt', 'new\n')
  const first = listBackups().at(-1)
  const second = await create()
  t.equal(second.previous, first?.id)
  const objects = unitOf(second).list.filter(({ path }) => path.startsWith('objects/'))
  const earlier = new Set(unitOf(first as { path: string }).list.map(({ path }) => path))
  t.ok(objects.some(({ path }) => !earlier.has(path)) && objects.some(({ path }) => earlier.has(path)))
  for (const { path } of objects.filter(object => earlier.has(object.path))) {
    const [now, then] = [second, first as { path: string }].map(({ path: folder }) =>
      statSync(join(folder, unitOf(second).path, path))
    )
    t.equal(now?.ino, then?.ino, path)
  }
  const third = await create()
  const copied = unitOf(third).list.filter(({ path }) => path.startsWith('objects/'))
  for (const { path } of copied) {
    t.equal(statSync(join(unitOf(third).folder, path)).ino, statSync(join(unitOf(second).folder, path)).ino)
  }
  t.ok(third.new_bytes < 100_000 && third.bytes > third.new_bytes, 'only rows, refs and settings are new')
  const full = await create({ full: true })
  t.equal(full.previous, null)
  t.equal(full.new_bytes, full.bytes)
})

t.test('a backup omits half-written files of a repository, and links', async t => {
  writeFileSync(join(source, 'objects/pack/tmp_pack_x'), 'half')
  writeFileSync(join(source, 'objects/pack/pack-0123456789012345678901234567890123456789.pack'), 'no index yet')
  mkdirSync(join(source, 'objects/tmp_objdir-incoming-x'))
  writeFileSync(join(source, 'objects/tmp_objdir-incoming-x/file'), 'half')
  writeFileSync(join(source, 'refs/heads/master.lock'), 'half')
  execFileSync('ln', ['-s', '/etc/passwd', join(source, 'objects/aa00000000000000000000000000000000000000')])
  const backup = await create()
  t.same(
    unitOf(backup).list.filter(({ path }) => /tmp_|incoming|lock|0123456789|passwd|aa0000/.test(path)),
    []
  )
  rmSync(join(source, 'refs/heads/master.lock'))
})

t.test('only one backup runs at a time, and no task removes files during it', async t => {
  const command = { environment: { ...environment, GITSTEAD_DATABASE_URL: databaseUrl } }
  await asOnlyBackup(async () => {
    await t.rejects(create(), AlreadyRunning)
    const { code, stderr } = await cli(['backup', 'create'], command)
    t.equal(code, 6)
    t.equal(stderr, 'gitstead: another backup is being written: wait until it ends\n')
    for (const task of ['repository_upkeep', 'expired_artifacts']) {
      t.equal((await cli(['maintenance', 'run', task], command)).code, 6, task)
    }
  })
  t.equal((await cli(['maintenance', 'run', 'repository_upkeep'], command)).code, 0)
})

t.test('the next run removes the draft of a killed run, but not the draft of another appliance', async t => {
  const killed = draftFolder(defaultStore(), newId(new Date()))
  const foreign = join(defaultStore(), '20260101T000000Z-aaaa.unfinished-0123456789ab')
  for (const folder of [killed, foreign]) mkdirSync(join(folder, 'repositories'), { recursive: true })
  t.notOk(listBackups().some(({ path }) => path === killed))
  await create()
  t.notOk(existsSync(killed))
  t.ok(existsSync(foreign))
})

t.test('keep deletes the oldest backups, and a dry run names them', async t => {
  const all = listBackups().map(({ id }) => id)
  const plan = await planBackup({ keep: 2 })
  t.same(plan.would_delete, all.slice(0, -1))
  t.same(
    listBackups().map(({ id }) => id),
    all
  )
  const { id, deleted } = await create({ keep: 2 })
  t.same(deleted, plan.would_delete)
  t.same(
    listBackups().map(backup => backup.id),
    [all.at(-1), id]
  )
})

t.test('a backup that cannot be written fails with one line, and does not change the others', async t => {
  const before = listBackups()
  const file = join(t.testdir({ file: 'x' }), 'file')
  await t.rejects(create({ to: join(file, 'store') }), {
    message: /cannot be created \(ENOTDIR\): choose another folder/
  })
  // The shell limits the size of files, and the big object exceeds the limit, as on a full disk.
  const limited = ['-c', 'trap "" XFSZ; ulimit -f 1; exec env -u NODE_OPTIONS "$@"', 'sh']
  const { status, stderr } = spawnSync(
    'sh',
    [...limited, process.execPath, join(root, 'bin/gitstead'), 'backup', 'create', '--full'],
    { encoding: 'utf8', env: { PATH: process.env.PATH, ...environment, GITSTEAD_DATABASE_URL: databaseUrl } }
  )
  t.equal(status, 1)
  t.match(stderr, /^gitstead: the backup cannot be written: \S+: EFBIG; earlier backups are untouched\n$/)
  t.same(listBackups(), before)
  t.same(
    readdirSync(defaultStore()).filter(name => /unfinished-(?!0123456789ab)/.test(name)),
    []
  )
})

t.test('a backup and its secrets are never written among the files of the appliance', async t => {
  mkdirSync(join(home, 'tmp'), { recursive: true })
  const secrets = readFileSync(join(home, 'secrets.json'))
  const folder = t.testdir({ 'notes.txt': 'mine', link: t.fixture('symlink', join(home, 'tmp')) })
  for (const place of ['repositories', 'tmp/mine', 'mysql', 'uploads/../run'].map(name => join(home, name))) {
    await t.rejects(create({ to: place }), BadParameters, place)
    await t.rejects(planBackup({ to: place }), BadParameters, place)
    await t.rejects(create({ secretsTo: join(place, 'apart.json') }), BadParameters, place)
  }
  await t.rejects(create({ to: join(folder, 'link/mine') }), BadParameters, 'through a link')
  for (const place of [join(home, 'secrets.json'), join(folder, 'notes.txt'), folder, '/dev/zero']) {
    await t.rejects(create({ secretsTo: place }), Conflict, place)
    await t.rejects(planBackup({ secretsTo: place }), Conflict, place)
  }
  t.same(readFileSync(join(home, 'secrets.json')), secrets)
  t.equal(readFileSync(join(folder, 'notes.txt'), 'utf8'), 'mine')
  const apart = join(folder, 'apart.json')
  for (const time of ['first', 'next']) t.equal((await create({ to: folder, secretsTo: apart })).secrets, 'apart', time)
})

t.test('refs that move after the snapshot have their value from the snapshot', async t => {
  const young = await factory.project()
  await factory.file(young, 'one', '1\n')
  const path = repositoryPath({ id: young.id, storage: 'default' })
  const before = readRefFiles(path)
  const { projects, known } = await snapshot(young.id)
  await factory.file(young, 'two', '2\n')
  await factory.file(young, 'three', '3\n')
  const moves = [{ ref: 'refs/heads/young', old: ZERO, new: git(path, 'rev-parse', 'master') }]
  await moveRefs(await projectRow(young), moves, originBy(young.owner))
  t.not(git(path, 'rev-parse', 'master'), before.get('refs/heads/master'))
  const draft = draftIn(t.testdir())
  const { units, rewound } = await copyRepositories(draft, projects, known, quietly)
  const unit = units[0] as Unit
  const folder = join(draft.folder, unit.path)
  t.same(readRefFiles(folder), before)
  t.equal(rewound, 2)
  t.equal(git(folder, 'fsck', '--no-dangling'), '')
  const listed = readFileList(draft.folder, unit).find(file => file.path === 'packed-refs')
  t.equal(listed?.size, statSync(join(folder, 'packed-refs')).size, 'the list has its size')
})

t.test('a change that git has made and that is still open is undone in the copy', async t => {
  const young = await factory.project()
  await factory.file(young, 'one', '1\n')
  await factory.file(young, 'two', '2\n')
  const path = repositoryPath({ id: young.id, storage: 'default' })
  const [old, now] = [git(path, 'rev-parse', 'master~1'), git(path, 'rev-parse', 'master')]
  await execute("update ref_changes set state = 'open' where project_id = ? and new_id = ?", [young.id, now])
  const { projects, known } = await snapshot(young.id)
  const draft = draftIn(t.testdir())
  const { units } = await copyRepositories(draft, projects, known, quietly)
  t.equal(git(join(draft.folder, units[0]?.path ?? ''), 'rev-parse', 'master'), old)
})

t.test('the backup names a project that was removed since the snapshot', async t => {
  const doomed = await factory.project()
  await factory.file(doomed, 'a', 'a\n')
  const { projects, known } = await snapshot()
  rmSync(repositoryPath({ id: doomed.id, storage: 'default' }), { recursive: true })
  await execute('delete from projects where id = ?', [doomed.id])
  const { removed, units } = await copyRepositories(draftIn(t.testdir()), projects, known, quietly)
  t.same(removed, [doomed.id])
  t.equal(units.length, projects.length - 1)
})

t.test('the copy of a repository that git repacks is complete', async t => {
  const folder = t.testdir({ 0: {}, 1: {}, 2: {} })
  for (const round of ['0', '1', '2']) {
    const busy = repack(source)
    const unit = new UnitWriter(draftIn(join(folder, round)), 'repositories/copy.git')
    t.ok(await copyRepository(originalIn(source), unit, null))
    await busy
    const copy = join(folder, round, 'repositories/copy.git')
    t.equal(git(copy, 'rev-parse', 'master'), git(source, 'rev-parse', 'master'))
    t.equal(git(copy, 'fsck', '--no-dangling', '--full'), '')
  }
})

async function repack(repository: string): Promise<void> {
  const environment = { ...process.env, GIT_DIR: repository }
  const run = (args: string[]) => new Promise(resolve => execFile('git', args, { env: environment }, resolve))
  await run(['repack', '-d', '-a', '-q'])
  await run(['pack-refs', '--all'])
  await run(['repack', '-d', '-a', '-q', '-b'])
}

t.test('an empty project stays empty in the copy, and a project without a repository is not a fault', async t => {
  const { list, folder } = unitOf(await create(), empty.id)
  t.same(
    list.map(({ path }) => path),
    ['HEAD', 'config', 'packed-refs']
  )
  t.equal(git(folder, 'for-each-ref'), '')
  rmSync(repositoryPath({ id: empty.id, storage: 'default' }), { recursive: true })
  const backup = await create()
  t.throws(() => unitOf(backup, empty.id))
  t.same(manifestOf(backup).removed_projects, [])
})

t.test('an empty folder of traces or artifacts is not a fault', async t => {
  // The archive of a build expires, but its folder stays.
  mkdirSync(join(home, 'artifacts/7'), { recursive: true })
  const backup = await create({ withSecrets: true })
  t.equal(manifestOf(backup).units.find(({ path }) => path === 'artifacts/7')?.files, 0)
  t.equal((await cli(['backup', 'verify', backup.path], { environment })).code, 0)
  rmSync(join(home, 'artifacts/7'), { recursive: true })
})

t.test('a damaged backup is marked, and everything else still works', async t => {
  const whole = await create()
  const damaged = await create()
  const lists = await create()
  rmSync(join(damaged.path, 'manifest.json.sha256'))
  const half = join(defaultStore(), '29991231T235959Z-abcd')
  mkdirSync(half)
  for (const file of [`${unitOf(lists).path}.files`]) rmSync(join(lists.path, file))

  const listed = await cli(['backup', 'list', '--json'], { environment })
  t.equal(listed.code, 0)
  const { backups, damaged: marked } = listed.json() as { backups: { id: string }[]; damaged: object[] }
  t.ok(backups.some(({ id }) => id === whole.id) && !backups.some(({ id }) => id === damaged.id))
  t.match(marked, [
    { id: damaged.id, path: damaged.path, problem: /manifest\.json\.sha256 cannot be read \(ENOENT\)/ },
    { id: '29991231T235959Z-abcd', problem: 'manifest.json is missing' }
  ])
  t.match((await cli(['backup', 'list'], { environment })).stdout, new RegExp(`^${damaged.id} +DAMAGED: `, 'm'))

  const next = await create()
  t.equal(next.previous, lists.id, 'its list is missing, so those files are copied again')
  const verified = await cli(['backup', 'verify', 'latest', '--json'], { environment })
  t.equal(verified.code, 0)
  t.match(verified.json(), { backup: { id: next.id }, passed_over: [{ id: damaged.id }, {}] })
  t.match(verified.stderr, new RegExp(`^gitstead: skipped ${damaged.id}: `, 'm'), 'even if cron drops the output')
  t.ok(
    (await create({ keep: 1 })).deleted.every(id => id !== damaged.id),
    'its owner is unknown'
  )

  t.test('delete removes damaged and undamaged backups, and the others stay complete', async t => {
    const [first, second, third] = [await create(), await create(), await create()]
    const names = [damaged.id, half, first.id]
    t.equal((await cli(['backup', 'delete', ...names], { environment })).code, 2, 'it asks for --yes')
    const dry = await cli(['backup', 'delete', ...names, '--dry-run', '--json'], { environment })
    t.match(dry.json(), { would_delete: [{ id: damaged.id, bytes: null }, {}, { id: first.id, bytes: Number }] })
    const wrong = await cli(['backup', 'delete', third.id, 'nothing', '--yes', '--json'], { environment })
    t.match(wrong.json(), {
      deleted: [{ id: third.id }],
      failed: [{ argument: 'nothing', error: { code: 'not_found', message: 'no backup is called "nothing"' } }]
    })
    t.equal(wrong.code, 3, 'the other backup is deleted')
    t.notOk(existsSync(third.path))
    const withUrl = { environment: { ...environment, GITSTEAD_DATABASE_URL: databaseUrl } }
    const { code, stdout } = await cli(['backup', 'delete', ...names, '--yes'], withUrl)
    t.equal(code, 0)
    t.match(stdout, new RegExp(`^deleted ${damaged.id} \\(damaged\\)$`, 'm'))
    for (const path of [damaged.path, half, first.path]) t.notOk(existsSync(path))
    t.match(await row('select action, target_name from audit_events order by id desc limit 1'), {
      action: 'backup.delete',
      target_name: first.path
    })
    t.equal((await cli(['backup', 'verify', second.id], { environment })).code, 0)
  })
})

t.test('a backup that a signal ends leaves no files', async t => {
  const folder = t.testdir()
  const stop = new AbortController()
  const ended = create({
    to: join(folder, 'new/store'),
    secretsTo: join(folder, 'secrets.json'),
    full: true,
    signal: stop.signal,
    progress: ({ phase }) => phase === 'disk' && stop.abort(new Error('ended'))
  })
  await t.rejects(ended, { message: 'ended' })
  t.same(readdirSync(folder), [])
})
