import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { personalProjects } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { findLinks, storeObject } from '../../../../src/areas/projects/lfs/objects.js'
import { listAllProjects } from '../../../../src/areas/projects/projects/all-projects.queries.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { storeUpload } from '../../../../src/areas/projects/uploads/uploads.js'
import { Damaged } from '../../../../src/areas/upkeep/backup/manifest.js'
import { restoreProject } from '../../../../src/areas/upkeep/backup/restore-project.js'
import { findBackup } from '../../../../src/areas/upkeep/backup/store.js'
import { takeLock } from '../../../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { deleteUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { Hook } from '../../../../src/db/models/index.js'
import { AlreadyRunning, Conflict, NoSuch } from '../../../../src/errors.js'
import { ZERO } from '../../../../src/git/refs/refs.js'
import { nameOfLfsObject } from '../../../../src/storage/lfs.js'
import { cli } from '../../../helpers/cli.js'
import { actorOf, factory, originBy, projectRow, someOrigin } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { waitingEvents } from '../../../helpers/published.js'
import {
  big,
  create,
  databaseUrl,
  duplicate,
  environment,
  flip,
  git,
  home,
  manifestOf,
  project,
  source,
  unitOf,
  verify
} from './subject.js'

/** Stores an object of LFS. Returns its path below the home. */
async function largeFile(of: { id: number }, text: string): Promise<string> {
  const oid = createHash('sha256').update(text).digest('hex')
  await storeObject(of.id, { oid, size: text.length }, () => Readable.from([Buffer.from(text)]))
  return nameOfLfsObject(oid)
}

t.test('verify accepts an undamaged backup', async t => {
  const backup = await create()
  const { repositories } = manifestOf(backup).totals
  t.match(await verify(backup), { code: 0, ok: true, problems: [], notes: [], checked: { repositories } })
})

t.test('verify finds a ref whose value differs from its row', async t => {
  await execute("update ref_changes set new_id = ? where project_id = ? and ref = 'refs/heads/master'", [
    '1'.repeat(40),
    big.id
  ])
  const found = await verify(await create())
  t.equal(found.code, 1)
  t.match(found.problems, [new RegExp(`project ${big.id}: refs/heads/master is [0-9a-f]{40}, but its row says 1111`)])
  await execute('delete from ref_changes where project_id = ?', [big.id])
})

t.test('a restore needs the secrets, an empty folder and a backup', async t => {
  const folder = t.testdir({ full: { file: 'x' }, 'other.json': '{"encryption_key":"AAAA"}', 'none.json': '{}' })
  const apart = join(folder, 'apart.json')
  const backup = await create({ secretsTo: apart })
  t.equal(backup.secrets, 'apart')
  t.equal(statSync(apart).mode & 0o777, 0o600)
  const into = join(folder, 'new')
  const wrong: [string[], number, RegExp][] = [
    [['--into', into], 2, /contains no secrets: pass them with --secrets FILE/],
    [['--into', into, '--secrets', join(folder, 'absent')], 2, /cannot be read \(ENOENT\)/],
    [['--into', join(home, 'tmp/new'), '--secrets', apart], 2, /where the appliance has its own files/],
    [['--into', into, '--secrets', '/dev/zero'], 2, /are not in a file/],
    [['--into', into, '--secrets', join(folder, 'none.json')], 2, /contain no encryption key/],
    [['--into', into, '--secrets', join(folder, 'other.json')], 4, /do not belong to the backup/],
    [['--into', join(folder, 'full'), '--secrets', apart], 4, /is not empty/]
  ]
  for (const [args, code, text] of wrong) {
    const answer = await cli(['restore', backup.id, ...args], { environment })
    t.equal(answer.code, code, args.join(' '))
    t.match(answer.stderr, text)
  }
  t.notOk(existsSync(into))
  const dry = await cli(['restore', 'latest', '--into', into, '--secrets', apart, '--dry-run', '--json'], {
    environment
  })
  t.match(dry.json(), { would_restore: { id: backup.id }, into })
  t.notOk(existsSync(into))
})

/** Creates a build with a trace and an archive. Returns its id. */
async function insertBuild(projectId: number, sha: string): Promise<number> {
  const now = new Date()
  const { insertId: pipeline } = await execute(
    `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
     values (?, 'master', 0, ?, ?, 'success', 'push', ?, ?)`,
    [projectId, sha, '0'.repeat(40), now, now]
  )
  const { insertId: build } = await execute(
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, plan, attempt, trace_size, artifacts_attempt, artifacts_filename, created_at, updated_at)
     values (?, ?, 'test', 'test', 0, 'master', 0, ?, 'success', 'always', 0, '[]', '{}', 1, 4, 1, 'a.zip', ?, ?)`,
    [pipeline, projectId, '1'.repeat(40), now, now]
  )
  return build
}

t.test('traces and archives of the rows are restored, but no files of later builds', async t => {
  const build = await insertBuild(project.id, git(source, 'rev-parse', 'master'))
  for (const kind of ['traces', 'artifacts']) mkdirSync(join(home, kind, '0'), { recursive: true })
  const files = [`traces/0/${build}-1.log`, `artifacts/0/${build}-1.zip`]
  const future = [`traces/0/${build}-2.log`, `traces/0/${build + 1}-1.log`]
  for (const file of [...files, ...future]) writeFileSync(join(home, file), 'text')
  const upload = await storeUpload(project, { name: 'notes.txt', stream: Readable.from(['attached']) })
  const strange = join('uploads/4000000000', upload.secret)
  mkdirSync(join(home, strange), { recursive: true })
  writeFileSync(join(home, strange, 'x.txt'), 'of no project')
  const records = ['a', 'b'].map(one => `records/${project.id}/events-2020-03-${one.repeat(36)}.jsonl.gz`)
  mkdirSync(join(home, 'records', String(project.id)), { recursive: true })
  for (const file of records) writeFileSync(join(home, file), 'lines')
  await execute(
    `insert into archived_files (kind, month, project_id, name, records, bytes, sha256, created_at)
     values ('events', '2020-03', ?, ?, 1, 5, '', ?)`,
    [project.id, records[0] ?? '', new Date()]
  )
  const large = await largeFile(project, 'large')
  const later = join(dirname(large), '0'.repeat(64).replace(/^0{4}/, `${large.slice(4, 6)}${large.slice(7, 9)}`))
  writeFileSync(join(home, later), 'without a row')
  const backup = await create({ withSecrets: true })
  const into = join(t.testdir(), 'home')
  t.equal((await cli(['restore', backup.path, '--into', into], { environment })).code, 0)
  t.same(
    records.map(file => existsSync(join(into, file))),
    [true, false],
    'only the file of old records that has a row'
  )
  t.equal(readFileSync(join(into, large), 'utf8'), 'large')
  t.notOk(existsSync(join(into, later)), 'an LFS file without a row')
  const attached = join('uploads', String(project.id), upload.secret, 'notes.txt')
  t.equal(readFileSync(join(into, attached), 'utf8'), 'attached')
  t.notOk(existsSync(join(into, strange, 'x.txt')), 'an upload without a project')
  for (const file of files) t.equal(readFileSync(join(into, file), 'utf8'), 'text', file)
  for (const file of future) t.notOk(existsSync(join(into, file)), file)
  const again = await create()
  t.equal(statSync(join(again.path, large)).ino, statSync(join(backup.path, large)).ino)
  const shared = join('traces/0', `${build}-1.log`)
  t.equal(statSync(join(again.path, shared)).ino, statSync(join(backup.path, shared)).ino)
  writeFileSync(join(home, shared), 'next')
  const third = await create()
  t.equal(readFileSync(join(third.path, shared), 'utf8'), 'next', 'the file of the same size that was written later')
  t.equal(readFileSync(join(again.path, shared), 'utf8'), 'text')
})

t.test('the refs of a project that still exists are restored as ref changes', async t => {
  const mine = await factory.project()
  for (const word of ['one', 'two']) await factory.file(mine, word, `${word}\n`)
  const path = repositoryPath({ id: mine.id, storage: 'default' })
  const [old, then] = [git(path, 'rev-parse', 'master~1'), git(path, 'rev-parse', 'master')]
  const row = await projectRow(mine)
  await moveRefs(row, [{ ref: 'refs/heads/gone', old: ZERO, new: then }], originBy(mine.owner))
  const backup = await create()
  const found = findBackup(backup.path)
  const back = [
    { ref: 'refs/heads/gone', old: then, new: ZERO },
    { ref: 'refs/heads/master', old: then, new: old }
  ]
  await moveRefs(row, back, originBy(mine.owner))
  git(path, 'prune', '--expire=now')
  t.throws(() => git(path, 'cat-file', '-e', then), 'its objects do not exist')

  const dry = await restoreProject(found, mine.path, { overwrite: true, dryRun: true }, someOrigin)
  t.same(dry.moved.map(({ ref }) => ref).sort(), ['refs/heads/gone', 'refs/heads/master'])
  t.equal(git(path, 'rev-parse', 'master'), old)

  const gentle = await restoreProject(found, mine.path, { overwrite: false, dryRun: false }, someOrigin)
  t.match(gentle, { recreated: false, moved: [{ ref: 'refs/heads/gone', before: null, after: then }] })
  t.same(gentle.kept, ['refs/heads/master'])
  t.equal(git(path, 'rev-parse', 'gone'), then)
  t.equal(git(path, 'rev-parse', 'master'), old)

  await restoreProject(found, String(mine.id), { overwrite: true, dryRun: false }, someOrigin)
  t.equal(git(path, 'rev-parse', 'master'), then)
  t.equal(git(path, 'fsck', '--no-dangling'), '')
  const [change] = await rows<object>(
    "select new_id, state from ref_changes where project_id = ? and ref = 'refs/heads/master' order by id desc limit 1",
    [mine.id]
  )
  t.match(change, { new_id: then, state: 'done' })
  t.match(await rows('select action, target_name from audit_events order by id desc limit 1'), [
    { action: 'project.restore', target_name: mine.path }
  ])
})

t.test('a removed project is restored with its rows', async t => {
  const mine = await factory.project()
  await factory.file(mine, 'file', 'text\n')
  const member = await factory.member(mine)
  const gone = await factory.member(mine)
  await factory.file({ ...mine, owner: gone }, 'other', 'text\n')
  await Hook.create({ projectId: mine.id, url: 'http://hooks.example.org/', tokenEncrypted: null })
  await runJobs()
  const path = repositoryPath({ id: mine.id, storage: 'default' })
  const upload = await storeUpload(mine, { name: 'notes.txt', stream: Readable.from(['attached']) })
  const attached = join(home, 'uploads', String(mine.id), upload.secret, 'notes.txt')
  const master = git(path, 'rev-parse', 'master')
  const large = await largeFile(mine, 'of a removed project')
  const found = findBackup((await create()).path)
  const [doomed] = (await personalProjects(mine.owner.id)).filter(({ id }) => id === mine.id)
  if (!doomed) throw new Error('the project is not found')
  await removeProjects([doomed], someOrigin)
  const restore = () => restoreProject(found, mine.path, { overwrite: false, dryRun: false }, someOrigin)
  await t.rejects(restore(), { message: /still being removed/ })
  await runJobs()
  t.notOk(existsSync(path))
  t.notOk(existsSync(attached))
  t.same(await rows('select * from lfs_links where project_id = ?', [mine.id]), [])
  await execute('delete from lfs_objects where oid = ?', [basename(large)])
  rmSync(join(home, large))
  await execute('delete from users where id = ?', [gone.id])
  const restored = await restore()
  t.match(restored, { id: mine.id, recreated: true, moved: [{ ref: 'refs/heads/master', after: master }] })
  t.equal(readFileSync(attached, 'utf8'), 'attached')
  t.equal(readFileSync(join(home, large), 'utf8'), 'of a removed project')
  t.equal((await findLinks(mine.id, [basename(large)])).size, 1)
  t.match(await findProject(mine.path, actorOf(mine.owner)), {
    id: mine.id,
    storage: 'default',
    default_branch: 'master'
  })
  t.equal(git(path, 'rev-parse', 'master'), master)
  const { items } = await listAllProjects({ search: mine.path.slice(mine.path.indexOf('/') + 1) }, 'newest', 10)
  t.same(
    items.map(({ id }) => id),
    [mine.id],
    'searches find it'
  )
  t.same(
    (
      await rows<{ user_id: number }>("select user_id from members where source_type = 'project' and source_id = ?", [
        mine.id
      ])
    ).map(({ user_id }) => user_id),
    [mine.owner.id, member.id],
    'members who still exist'
  )
  t.match(await waitingEvents('project.restored'), [{ project: { id: mine.id } }])
  t.match(await rows('select url from hooks where project_id = ?', [mine.id]), [{ url: 'http://hooks.example.org/' }])
  t.same(
    await rows('select action, author_id from activity_events where project_id = ? order by created_at, id', [mine.id]),
    ['created', 'pushed new'].map(action => ({ action, author_id: mine.owner.id })),
    'actions of members who still exist'
  )
  await factory.file(mine, 'next', 'it continues\n')
  t.not(git(path, 'rev-parse', 'master'), master)
})

t.test('a killed or failed restore of a project can be run again', async t => {
  const mine = await factory.project()
  await factory.file(mine, 'file', 'text\n')
  await runJobs()
  const path = repositoryPath({ id: mine.id, storage: 'default' })
  const master = git(path, 'rev-parse', 'master')
  const upload = await storeUpload(mine, { name: 'notes.txt', stream: Readable.from(['attached']) })
  const attached = join(home, 'uploads', String(mine.id), upload.secret, 'notes.txt')
  const build = await insertBuild(mine.id, master)
  const trace = join(home, `traces/0/${build}-1.log`)
  mkdirSync(join(home, 'traces/0'), { recursive: true })
  writeFileSync(trace, 'all of it')
  const backup = await create()
  const [doomed] = (await personalProjects(mine.owner.id)).filter(({ id }) => id === mine.id)
  if (!doomed) throw new Error('the project is not found')
  await removeProjects([doomed], someOrigin)
  await runJobs()
  const restore = (from: { path: string }) =>
    restoreProject(findBackup(from.path), mine.path, { overwrite: false, dryRun: false }, someOrigin)

  const damaged = duplicate(backup, join(t.testdir(), 'damaged'))
  const { path: unit, list } = unitOf(damaged, mine.id)
  flip(join(damaged.path, unit, list.find(file => file.path.startsWith('objects/'))?.path ?? ''))
  await t.rejects(restore(damaged), Damaged)
  t.notOk(existsSync(path), 'a failed restore leaves no repository')

  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'HEAD'), 'of somebody')
  await t.rejects(restore(backup), /already exists: move it away first/)
  writeFileSync(join(path, 'restoring'), '')
  for (const file of [attached, trace]) {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'al')
  }
  const lock = await takeLock(`restore_project_${mine.id}`)
  await t.rejects(restore(backup), AlreadyRunning)
  await lock.release()
  t.match(await restore(backup), { recreated: true, moved: [{ ref: 'refs/heads/master', after: master }] })
  t.equal(git(path, 'rev-parse', 'master'), master)
  t.equal(readFileSync(attached, 'utf8'), 'attached')
  t.equal(readFileSync(trace, 'utf8'), 'all of it')
  t.notOk(existsSync(join(path, 'restoring')))
  await runJobs()
  t.match(await rows('select commit_count from project_statistics where project_id = ?', [mine.id]), [
    { commit_count: 1 }
  ])
})

t.test('a repository that doctor finds damaged gets its objects back', async t => {
  const mine = await factory.project()
  for (const word of ['one', 'two', 'three']) await factory.file(mine, word, `${word}\n`)
  const path = repositoryPath({ id: mine.id, storage: 'default' })
  const backup = await create()
  const objects = unitOf(backup, mine.id).list.filter(({ path: name }) => /^objects\/[0-9a-f]{2}\//.test(name))
  const [lost = '', cut = ''] = objects.map(({ path: name }) => join(path, name))
  rmSync(lost)
  chmodSync(cut, 0o600)
  truncateSync(cut, 5)
  writeFileSync(join(path, 'HEAD'), '')
  const restore = (dryRun: boolean) =>
    restoreProject(findBackup(backup.path), mine.path, { overwrite: false, dryRun }, someOrigin)
  t.match(await restore(true), { put_back: 2, moved: [], dry_run: true })
  t.notOk(existsSync(lost))
  t.match(await restore(false), { put_back: 2, moved: [], kept: [] })
  t.equal(git(path, 'fsck', '--full', '--no-dangling'), '')
  t.equal(git(path, 'symbolic-ref', 'HEAD'), 'refs/heads/master')
  t.match(await restore(false), { put_back: 0 }, 'an undamaged repository is not changed')
})

t.test('a project of another appliance, or a project that does not exist, is refused', async t => {
  const backup = await create()
  const found = findBackup(backup.path)
  const options = { overwrite: false, dryRun: false }
  await t.rejects(restoreProject(found, 'no/body', options, someOrigin), NoSuch)
  const foreign = {
    ...found,
    manifest: { ...found.manifest, secrets: { where: 'left_out', fingerprint: 'x' } as const }
  }
  await t.rejects(restoreProject(foreign, project.path, options, someOrigin), Conflict)
  const none = await cli(['restore', backup.path], { environment })
  t.equal(none.code, 2)
  t.equal(none.stderr, 'gitstead: specify a new home with --into, or a project with --project\n')
})

t.test('the projects of a deleted user are restored in another namespace', async t => {
  const mine = await factory.project()
  await factory.file(mine, 'file', 'text\n')
  const bare = await factory.project({ owner: mine.owner })
  rmSync(repositoryPath({ id: bare.id, storage: 'default' }), { recursive: true })
  const heir = await factory.user()
  const path = repositoryPath({ id: mine.id, storage: 'default' })
  const master = git(path, 'rev-parse', 'master')
  const found = findBackup((await create()).path)
  const options = { overwrite: false, dryRun: false }
  await t.rejects(restoreProject(found, mine.path, { ...options, into: heir.username }, someOrigin), {
    name: 'Conflict',
    message: /the project still exists as/
  })
  await deleteUser(mine.owner.id, someOrigin)
  await runJobs({ until: new Date(Date.now() + 60_000) })
  await t.rejects(restoreProject(found, mine.path, options, someOrigin), { message: /choose another one with --into/ })
  await t.rejects(restoreProject(found, mine.path, { ...options, into: 'nobody' }, someOrigin), NoSuch)

  const into = { ...options, into: heir.username }
  const target = `${heir.username}/${mine.path.split('/')[1]}`
  const dry = await restoreProject(found, mine.path, { ...into, dryRun: true }, someOrigin)
  t.match(dry, { path_with_namespace: target, path_in_backup: mine.path, dry_run: true })
  t.notOk(existsSync(path))
  t.match(await restoreProject(found, mine.path, into, someOrigin), { path_with_namespace: target, recreated: true })
  t.match(await findProject(target, actorOf(heir)), { id: mine.id, access_level: 40 })
  t.equal(git(path, 'rev-parse', 'master'), master)
  await factory.file({ ...mine, owner: heir }, 'next', 'it continues\n')

  const other = `${heir.username}/${bare.path.split('/')[1]}`
  await restoreProject(found, bare.path, into, someOrigin)
  t.match(await findProject(other, actorOf(heir)), { id: bare.id }, 'a project without a repository')
})

t.test('resetting refs requires --yes', async t => {
  const { code, stderr } = await cli(['restore', 'latest', '--project', project.path, '--overwrite'], {
    environment: { ...environment, GITSTEAD_DATABASE_URL: databaseUrl }
  })
  t.equal(code, 2)
  t.match(stderr, /this destroys data: add --yes/)
})
