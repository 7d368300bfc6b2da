// Moves projects between storages while they are in use. killed-moves.test.ts kills such moves.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openChanges, settleChanges } from '../../../../src/areas/code/refs/ref-changes.js'
import { requireRepository } from '../../../../src/areas/code/repository/repositories.queries.js'
import { updateSettings } from '../../../../src/areas/ground/settings/settings.js'
import { holdProject, releaseProject } from '../../../../src/areas/projects/projects/project-columns.js'
import { prepareProject, repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { asOnlyBackup } from '../../../../src/areas/upkeep/backup/lock.js'
import { moveProject } from '../../../../src/areas/upkeep/file-moves/move-project.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { AlreadyRunning, Conflict, Moved, NoSuch } from '../../../../src/errors.js'
import { refValue, ZERO } from '../../../../src/git/refs/refs.js'
import { KEPT, keepCommit } from '../../../../src/git/write/merge.js'
import { testApp } from '../../../helpers/app.js'
import { Browser } from '../../../helpers/browser.js'
import { cli } from '../../../helpers/cli.js'
import { someOrigin, type TestProject } from '../../../helpers/factory.js'
import { until } from '../../../helpers/until.js'
import { git, remoteUrl, tryGit } from '../../../scenarios/client.js'

const STORAGES = ['default', 'fast']
const app = await testApp(t)
loadConfig({ port: 0, repositories: { storages: STORAGES } })
await updateSettings({ repository_storages: ['default'] }, someOrigin)
const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
t.setTimeout(120_000)

const never = new AbortController().signal
const storageOf = async ({ id }: { id: number }) =>
  (await row<{ storage: string }>('select storage from projects where id = ?', [id]))?.storage ?? ''
const otherThan = (storage: string) => (storage === 'fast' ? 'default' : 'fast')
const move = async (project: { id: number }, to?: string, signal = never) =>
  moveProject(
    await requireRepository(String(project.id)),
    to ?? otherThan(await storageOf(project)),
    someOrigin,
    signal
  )
const pathIn = ({ id }: { id: number }, storage: string) => repositoryPath({ id, storage })
/** As if an hour had passed. */
const forgetOld = async () => {
  await execute('update old_repositories set removable_at = now(3) - interval 1 second')
  await runTask('old_repositories', {}, someOrigin)
}
const remote = ({ path, owner }: TestProject) => remoteUrl(url, path, owner.username, owner.privateToken)

async function filled(): Promise<TestProject> {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'one\n')
  return { ...project, storage: await storageOf(project) }
}

async function cloneOf(project: TestProject, folder: string): Promise<string> {
  const work = join(folder, `work-${project.id}`)
  await git(folder, ['clone', '--quiet', remote(project), work])
  return work
}

/** Checks that the project has one repository, that git finds no fault there, and that nothing waits. */
async function checkOnly(t: Test, project: { id: number }): Promise<void> {
  await forgetOld()
  const storage = await storageOf(project)
  const path = pathIn(project, storage)
  t.notOk(existsSync(pathIn(project, otherThan(storage))), 'one copy')
  t.ok(await git(path, ['fsck', '--full', '--strict']).then(() => true))
  t.same(await rows('select * from old_repositories'), [])
  t.match(await row('select held_until from projects where id = ?', [project.id]), { held_until: null })
}

t.test('everybody reads and writes while a project moves there and back', async t => {
  const project = await filled()
  const work = await cloneOf(project, t.testdir({}))
  const ending = new AbortController()
  const failures: string[] = []
  let [asked, commits, pushes, reads] = [0, 0, 0, 0]
  const loop = async (work: () => Promise<unknown>) => {
    while (!ending.signal.aborted) await work().catch(error => failures.push(String(error)))
  }
  const commit = async () => {
    const body = { file_path: `api-${++asked}`, branch_name: 'api', content: 'x', commit_message: 'Add' }
    const { statusCode, body: text } = await app
      .as(project.owner)
      .post(`/projects/${project.id}/repository/files`, body)
    if (statusCode === 201) commits += 1
    else failures.push(`${statusCode} ${text}`)
  }
  const push = async () => {
    await git(work, ['commit', '--quiet', '--allow-empty', '-m', `Push ${pushes}`], { GIT_DIR: join(work, '.git') })
    const { ok, stderr } = await tryGit(work, [
      'push',
      '--quiet',
      remote(project),
      'HEAD:pushed',
      `HEAD:refs/heads/more-${pushes % 7}`,
      '--force'
    ])
    if (ok) pushes += 1
    else failures.push(stderr)
  }
  const read = async () => {
    const { statusCode } = await app.as(project.owner).get(`/projects/${project.id}/repository/commits?ref_name=api`)
    if (statusCode !== 200) failures.push(`read: ${statusCode}`)
    const { ok, stderr } = await tryGit(work, ['ls-remote', remote(project)])
    if (ok) reads += 1
    else failures.push(stderr)
  }
  await app.make.branch(project, 'api')
  const loops = [commit, commit, push, read].map(loop)
  t.teardown(() => ending.abort())
  const waits: number[] = []
  for (let round = 0; round < 2; round++) {
    const before = commits + pushes
    waits.push((await move(project)).held_ms)
    await until('writes continue', async () => commits + pushes > before + 2)
    await forgetOld()
  }
  ending.abort()
  await Promise.all(loops)
  t.comment(`${commits} commits, ${pushes} pushes, ${reads} reads; changes waited for ${waits.join(', ')} ms`)
  t.same(failures, [])
  const path = pathIn(project, await storageOf(project))
  const count = async (branch: string) => Number(await git(path, ['rev-list', '--count', branch]))
  t.equal(await count('api'), commits + 1, 'no commit is lost or doubled')
  t.equal(await count('pushed'), pushes + 1)
  await app.runJobs()
  const open = await row("select count(*) as open from ref_changes where state = 'open'")
  t.match(open, { open: 0 })
  await checkOnly(t, project)
  const audits = await rows("select changes from audit_events where action = 'project.move'")
  t.equal(audits.length, 2)
})

t.test('changes that arrive during the last copy wait for it, and go to the new storage', async t => {
  const project = await filled()
  const work = await cloneOf(project, t.testdir({}))
  await git(work, ['commit', '--quiet', '--allow-empty', '-m', 'Late'])
  const browser = new Browser(url)
  await browser.signIn(project.owner)
  const form = await browser.get(`/${project.path}/edit/master/README`)
  // A push that has begun: the move waits for it.
  const begun = await openChanges(project, project.owner, 'push', [{ ref: 'refs/heads/x', old: ZERO, new: ZERO }])
  const moving = move(project)
  await until(
    'it is held',
    async () => (await row('select 1 from projects where id = ? and held_until > now(3)', [project.id])) !== undefined
  )
  const body = { file_path: 'late', branch_name: 'master', content: 'x', commit_message: 'Late' }
  const written = app.as(project.owner).post(`/projects/${project.id}/repository/files`, body)
  const submitted = browser.submit(form, 'name="content"', { content: 'by a page' })
  const pushed = tryGit(work, ['push', '--quiet', remote(project), 'HEAD:late', 'HEAD:later'])
  t.equal(
    (await app.as(project.owner).get(`/projects/${project.id}/repository/commits/master`)).statusCode,
    200,
    'reads do not wait'
  )
  t.match(await rows("select ref from ref_changes where project_id = ? and state = 'open'", [project.id]), [
    { ref: 'refs/heads/x' }
  ])
  await settleChanges(project, begun, [])
  t.match(await moving, { from: 'default', to: 'fast' })
  t.equal((await written).statusCode, 201)
  t.match(await pushed, { ok: true })
  t.match(await submitted, { status: 303 }, (await submitted).body)
  t.equal(await git(pathIn(project, 'fast'), ['cat-file', 'blob', 'master:README']), 'by a page')
  const path = pathIn(project, 'fast')
  t.match(await git(path, ['log', '--format=%s', 'master']), /^Late$/m)
  t.equal(await git(path, ['log', '--format=%s', '-1', 'later']), 'Late')
  t.equal(await refValue(pathIn(project, 'default'), 'refs/heads/late'), null, 'the old copy stays as it was')
  await t.rejects(openChanges(project, project.owner, 'api', []), Moved)
  await checkOnly(t, project)
})

t.test('a fork and its source move on their own, and merge requests between them still work', async t => {
  const source = await filled()
  const { json } = await app.as(source.owner).post('/groups', { name: 'forks', path: 'forks' })
  const forked = await app.as(source.owner).post(`/projects/fork/${source.id}`, { namespace: json().path })
  const fork = forked.json() as { id: number }
  await app.runJobs()
  await app.as(source.owner).post(`/projects/${fork.id}/repository/files`, {
    ...{ file_path: 'new', branch_name: 'topic', start_branch: 'master', content: 'x', commit_message: 'New' }
  })
  await app.as(source.owner).post(`/projects/${fork.id}/repository/branches`, { branch_name: 'topic', ref: 'master' })
  const file = { file_path: 'new', branch_name: 'topic', content: 'x', commit_message: 'New' }
  await app.as(source.owner).post(`/projects/${fork.id}/repository/files`, file)
  await move(fork)
  const asked = { source_branch: 'topic', target_branch: 'master', target_project_id: source.id, title: 'New' }
  const made = await app.as(source.owner).post(`/projects/${fork.id}/merge_requests`, asked)
  t.equal(made.statusCode, 201, made.body)
  await app.runJobs()
  await move(source)
  await move({ id: fork.id }, 'default').catch(error =>
    t.match(error, { message: /still has the copy from which the project moved away/ })
  )
  const merged = await app.as(source.owner).put(`/projects/${source.id}/merge_requests/${made.json().id}/merge`)
  t.equal(merged.statusCode, 200, merged.body)
  await forgetOld()
  t.match(
    (await app.as(source.owner).get(`/projects/${source.id}/repository/files?file_path=new&ref=master`)).statusCode,
    200
  )
  for (const one of [source, fork]) await checkOnly(t, one)
})

t.test('a commit that a merge request keeps in the old copy is brought to the new one', async t => {
  const project = await filled()
  const old = pathIn(project, 'default')
  const head = await refValue(old, 'refs/heads/master')
  await move(project)
  await keepCommit(old, head ?? '', old)
  const kept = await refValue(old, KEPT)
  await checkOnly(t, project)
  const path = pathIn(project, 'fast')
  t.equal(await git(path, ['merge-base', '--is-ancestor', kept ?? '', KEPT]).then(() => 'kept'), 'kept')
})

t.test('what cannot move is refused by name, and stays as it is', async t => {
  const project = await filled()
  await t.rejects(move(project, 'none'), NoSuch)
  await t.rejects(move(project, '../default'), NoSuch)
  await t.rejects(move(project, 'default'), { message: /is in the storage default already/ })
  await execute("update projects set import_state = 'waiting' where id = ?", [project.id])
  await t.rejects(move(project), { message: /is still being copied/ })
  await execute('update projects set import_state = null where id = ?', [project.id])
  await asOnlyBackup(() => t.rejects(move(project), AlreadyRunning))
  mkdirSync(pathIn(project, 'fast'), { recursive: true })
  await t.rejects(move(project), Conflict)
  rmSync(pathIn(project, 'fast'), { recursive: true })
  const broken = join(pathIn(project, 'default'), 'refs/heads/broken')
  writeFileSync(broken, '')
  await t.rejects(move(project), { message: /refs\/heads\/broken cannot be read/ })
  rmSync(broken)
  // Another process holds it.
  const hold = await holdProject(project)
  t.equal(await holdProject(project), null)
  const stop = new AbortController()
  setTimeout(() => stop.abort(new Error('stopped')), 300)
  await t.rejects(move(project, 'fast', stop.signal), { message: 'stopped' })
  if (hold) await releaseProject(project.id, hold)
  const drafts = readdirSync(join(config().home, 'repositories/fast'), { recursive: true }).filter(name =>
    /\.new-/.test(String(name))
  )
  t.same(drafts, [])
  await checkOnly(t, project)
  t.equal(await storageOf(project), 'default')
})

t.test('an empty project moves, and gets its first push there', async t => {
  const project = await app.make.project()
  const storage = await storageOf(project)
  rmSync(pathIn(project, storage), { recursive: true })
  await move(project)
  await app.make.file(project, 'README', 'first\n')
  t.ok(existsSync(join(pathIn(project, otherThan(storage)), 'refs/heads/master')))
  await checkOnly(t, project)
})

t.test('the old copy stays when the repository of the project is missing', async t => {
  const project = await filled()
  await move(project)
  rmSync(pathIn(project, 'fast'), { recursive: true })
  await execute('update old_repositories set removable_at = now(3) - interval 1 second')
  t.match(await runTask('old_repositories', {}, someOrigin), { error: /is an older copy, which stays/ })
  t.ok(existsSync(pathIn(project, 'default')))
  await execute('delete from old_repositories')
})

t.test('a storage whose folder cannot be used is named to the sysadmin, and not to others', async t => {
  const folder = join(config().home, 'repositories', 'gone')
  // Nobody can make folders there, as in the place of a disk that is not mounted.
  symlinkSync('/sys/kernel', folder)
  loadConfig({ port: 0, repositories: { storages: [...STORAGES, 'gone'] } })
  await updateSettings({ repository_storages: ['gone'] }, someOrigin)
  t.teardown(async () => {
    loadConfig({ port: 0, repositories: { storages: STORAGES } })
    await updateSettings({ repository_storages: ['default'] }, someOrigin)
    unlinkSync(folder)
  })
  await t.rejects(prepareProject('gone'), {
    name: 'StorageAway',
    message: new RegExp(`^the storage gone at ${folder} cannot be used \\((EPERM|EACCES)\\): is it mounted`)
  })
  const { privateToken } = await app.make.user()
  const answer = await app.fastify.inject({
    method: 'POST',
    url: '/api/v3/projects',
    headers: { 'private-token': privateToken },
    payload: { name: 'away' }
  })
  t.equal(answer.statusCode, 503)
  t.same(answer.json(), { message: '503 Service Unavailable - the repositories of this storage cannot be reached' })
})

t.test('storages drain --move empties a storage, and undrain reverts the setting', async t => {
  const [one, two] = [await filled(), await filled()]
  const environment = {
    ...{ GITSTEAD_HOME: config().home, GITSTEAD_DATABASE_URL: config().database.url ?? '' },
    GITSTEAD_REPOSITORIES_STORAGES: STORAGES.join(',')
  }
  const run = (...args: string[]) => cli(['storages', ...args], { environment })
  t.match(await run('drain', 'none'), { code: 3 })
  t.match(await run('drain', 'default'), { code: 4, stderr: /default is the only storage for new projects/ })
  t.match(await run('undrain', 'fast'), { code: 0, stdout: 'new projects go to default, fast\n' })
  // This one cannot move: the others still do.
  mkdirSync(pathIn(one, 'fast'), { recursive: true })
  const first = await run('drain', 'default', '--move')
  t.match(first, { code: 1, stderr: /exists, but the project is in another storage/, stdout: /, 1 failed\n$/ })
  t.match([await storageOf(one), await storageOf(two)], ['default', 'fast'])
  rmSync(pathIn(one, 'fast'), { recursive: true })
  t.match((await run('drain', 'default', '--move', '--json')).json(), { storages: ['fast'], moved: 1, failed: [] })
  t.match(await row("select count(*) as count from projects where storage = 'default'"), { count: 0 })
  t.equal((await app.make.project()).storage, 'fast')
  t.match((await run('undrain', 'default', '--json')).json(), { storages: ['fast', 'default'] })
  t.match(await cli(['projects', 'move', two.path, '--storage', 'fast'], { environment }), { code: 4 })
  await checkOnly(t, one)
})
