// The disk changes a byte of an object: backups, checks and the weekly task notice it, and a restore repairs it.
import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { lookIntoRepositories, lookIntoRepository } from '../../../../src/areas/code/repository/integrity.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { lastGoodBackup } from '../../../../src/areas/upkeep/backup/last-backup.js'
import { restoreProject } from '../../../../src/areas/upkeep/backup/restore-project.js'
import { findBackup } from '../../../../src/areas/upkeep/backup/store.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { takeLock } from '../../../../src/areas/upkeep/maintenance/maintenance-lock.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { AlreadyRunning } from '../../../../src/errors.js'
import { repackRepository } from '../../../../src/git/repository/maintenance.js'
import { faultsOfFiles } from '../../../../src/git/repository/object-files.js'
import { cli } from '../../../helpers/cli.js'
import { factory, projectRow, someOrigin } from '../../../helpers/factory.js'
import { create, databaseUrl, environment, git, manifestOf } from './subject.js'

/** The text of a file that cannot be compressed much. */
const content = () => randomBytes(20_000).toString('base64')

/** A project whose objects are in one pack with a bitmap. */
async function packed() {
  const project = await factory.project()
  for (const word of ['one', 'two', 'three']) await factory.file(project, word, content())
  const path = repositoryPath({ id: project.id, storage: 'default' })
  await repackRepository(path)
  return { project, path }
}

const files = (path: string, kind: string) =>
  readdirSync(join(path, 'objects/pack'))
    .filter(name => name.endsWith(kind))
    .map(name => join(path, 'objects/pack', name))

/** Changes one byte of a file. */
function damage(file = '', at = 40): void {
  const content = readFileSync(file)
  content[at] = (content[at] ?? 0) ^ 0xff
  chmodSync(file, 0o600)
  writeFileSync(file, content)
}

/** Damages a file, which git puts at the end of a pack. Checks of connectivity read only the beginning of a large one. */
function damagePack(path: string): void {
  const [pack = ''] = files(path, '.pack')
  damage(pack, readFileSync(pack).length - 3000)
}

const contentsOf = async (project: Awaited<ReturnType<typeof packed>>['project']) =>
  lookIntoRepository(await projectRow(project), { contents: true, signal: new AbortController().signal })
const restore = (backup: { path: string }, name: string, dryRun = false) =>
  restoreProject(findBackup(backup.path), name, { overwrite: false, dryRun }, someOrigin)

t.test('every kind of file is compared', async t => {
  const { project, path } = await packed()
  await factory.file(project, 'loose', 'x')
  t.same(await faultsOfFiles(path), [])
  damagePack(path)
  damage(files(path, '.idx')[0], 900)
  const folder = readdirSync(join(path, 'objects')).find(name => /^[0-9a-f]{2}$/.test(name)) ?? ''
  const [loose = ''] = readdirSync(join(path, 'objects', folder))
  writeFileSync(join(path, 'objects', folder, `${'0'.repeat(38)}`), readFileSync(join(path, 'objects', folder, loose)))
  damage(join(path, 'objects', folder, loose), 0)
  const found = await faultsOfFiles(path)
  t.equal(found.length, 4)
  t.match(found.join('\n'), new RegExp(`objects/${folder}/${loose} cannot be read \\(Z_`))
  t.match(found.join('\n'), /objects\/..\/0{38} is not the object of its name/)
  t.match(found.join('\n'), /pack-\w+\.pack does not match its checksum/)
  t.match(found.join('\n'), /pack-\w+\.idx does not match its checksum/)
  rmSync(path, { recursive: true })
  await execute('delete from repository_checks')
  await execute('delete from projects where id = ?', [project.id])
})

t.test('a backup names the damaged project and keeps the earlier backups', async t => {
  const before = await create()
  const { project, path } = await packed()
  const good = await create()
  t.same(good.damaged, [])
  await factory.file(project, 'four', content())
  await repackRepository(path)
  damagePack(path)
  const { code, json } = await cli(['backup', 'create', '--keep', '1', '--json'], {
    environment: { ...environment, GITSTEAD_DATABASE_URL: databaseUrl }
  })
  const bad = json() as unknown as typeof good
  t.equal(code, 1)
  t.match(bad, { damaged: [{ project: project.path, fault: /\.pack does not match its checksum/ }], deleted: [] })
  t.match(await lastGoodBackup(), { path: good.path }, 'doctor does not count it as good')
  t.match((await lookIntoRepositories({ all: false })).damaged, [{ id: project.id, problem: /does not match/ }])
  const verified = await cli(['backup', 'verify', bad.path, '--json'], { environment })
  t.equal(verified.code, 1)
  t.match(verified.json(), { problems: [new RegExp(`^project ${project.id}: error: .*does not match its checksum`)] })

  t.match((await create()).damaged, [{ project: project.path }], 'the next backup does not share the damaged file')
  t.match(await restore(bad, project.path), { put_back: 0, left: [/./] }, 'a damaged backup does not repair it')
  rmSync(path, { recursive: true })
  await execute('delete from projects where id = ?', [project.id])
  t.same((await create()).damaged, [])
  t.ok(findBackup(before.path))
})

t.test('a backup compares the objects of a backup of an earlier version once', async t => {
  const { project, path } = await packed()
  const first = await create()
  // As if that version had copied the damaged pack.
  const { damaged: _, ...older } = manifestOf(first)
  const { writeManifest } = await import('../../../../src/areas/upkeep/backup/manifest.js')
  writeManifest(first.path, older)
  damage(files(join(first.path, path.slice(path.indexOf('repositories'))), '.pack')[0])
  const second = await create()
  t.match(second.damaged, [{ project: project.path }])
  t.same((await create()).damaged, [], 'the next one takes the intact pack of the repository')
})

t.test('a restore repairs what fsck --contents finds', async t => {
  const { project, path } = await packed()
  const backup = await create()
  damagePack(path)
  t.match(await contentsOf(project), { state: 'damaged' })
  t.match(await restore(backup, project.path, true), { put_back: 1 })
  t.match(await restore(backup, project.path), { put_back: 1, left: [] })
  t.match(await contentsOf(project), { state: 'intact' })
  t.match(await restore(backup, project.path), { put_back: 0 })
})

t.test('a restore repairs a pack that the backup does not have', async t => {
  const { project, path } = await packed()
  const backup = await create()
  await factory.file(project, 'later', 'later\n')
  await repackRepository(path)
  t.equal(files(path, '.pack').length, 1)
  damagePack(path)
  damage(files(path, '.bitmap')[0], 60)
  t.match(await contentsOf(project), { state: 'damaged' })
  const lock = await takeLock('repository_upkeep')
  const before = files(path, '')
  await t.rejects(restore(backup, project.path), AlreadyRunning)
  t.same(files(path, ''), before, 'it changes nothing while the upkeep runs')
  await lock.release()
  const { left } = await restore(backup, project.path)
  t.same(left, [])
  t.match(await contentsOf(project), { state: 'intact' })
  t.same(await faultsOfFiles(path), [])
  t.equal(git(path, 'cat-file', 'blob', 'master:later'), 'later', 'nothing newer is lost')
})

t.test('the weekly task and doctor --all read all objects', async t => {
  const { project, path } = await packed()
  damagePack(path)
  t.same((await lookIntoRepositories({ all: false })).damaged, [], 'a quick check reads no objects')
  t.match((await lookIntoRepositories({ all: true })).damaged, [{ id: project.id, problem: /does not match/ }])
  t.match((await lookIntoRepositories({ all: false })).damaged, [{ id: project.id }], 'it stays known')
  await execute('delete from repository_checks')
  const run = await runTask('repository_contents', {}, someOrigin)
  t.match(run, { state: 'failed', error: /1 repositories are damaged/ })
  t.match((await lookIntoRepositories({ all: false })).damaged, [{ id: project.id }])
  t.match(await runTask('repository_contents', {}, someOrigin), { state: 'done', count: 0 }, 'once a week')
})
