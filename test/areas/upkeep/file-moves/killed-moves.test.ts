// Kills moves of a project at certain moments. One copy must count, and the next try must finish the move.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { updateSettings } from '../../../../src/areas/ground/settings/settings.js'
import { repositoryPath, storageOf } from '../../../../src/areas/projects/projects/repositories.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { config, loadConfig, root } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { updateRef, ZERO } from '../../../../src/git/refs/refs.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { git } from '../../../scenarios/client.js'

const app = await testApp(t)
loadConfig({ port: 0, repositories: { storages: ['default', 'fast'] } })
await updateSettings({ repository_storages: ['default'] }, someOrigin)
t.setTimeout(300_000)

/** As if an hour had passed. */
const forgetOld = async () => {
  await execute('update old_repositories set removable_at = now(3) - interval 1 second')
  await runTask('old_repositories', {}, someOrigin)
}

t.test('a kill leaves one valid copy of 100 MB, and the next try moves it', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'one\n')
  const place = async () => (await storageOf(String(project.id))) ?? ''
  const pathIn = (storage: string) => repositoryPath({ id: project.id, storage })
  const path = pathIn('default')
  const blob = join(t.testdir({}), 'blob')
  writeFileSync(blob, randomBytes(100 * 1024 * 1024))
  const id = await git(path, ['-c', 'core.compression=0', 'hash-object', '-w', blob])
  const large = await git(path, ['commit-tree', '-m', 'Large', await makeTree(path, id)])
  await updateRef(path, [{ ref: 'refs/heads/large', old: ZERO, new: large }])
  const begin = (to: string): ChildProcess => {
    const { PATH, HOME } = process.env
    const environment = {
      ...{ PATH, HOME, GITSTEAD_HOME: config().home, GITSTEAD_DATABASE_URL: config().database.url ?? '' },
      GITSTEAD_REPOSITORIES_STORAGES: 'default,fast'
    }
    const args = ['projects', 'move', String(project.id), '--storage', to]
    return spawn(join(root, 'bin/gitstead'), args, { env: environment, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  const seen = async (sql: string) => (await row(sql, [project.id])) !== undefined
  const moments: [string, string, () => Promise<boolean>][] = [
    ['while it copies', 'default', () => seen('select 1 from old_repositories where project_id = ?')],
    ['while changes wait', 'default', () => seen('select 1 from projects where id = ? and held_until > now(3)')],
    ['when the copy has its place', 'default', async () => existsSync(pathIn('fast'))],
    ['when the project has moved', 'fast', async () => (await place()) === 'fast']
  ]
  for (const [name, expected, isReached] of moments) {
    const child = begin('fast')
    const ended = once(child, 'exit')
    while (child.exitCode === null && !(await isReached())) await new Promise(resolve => setTimeout(resolve, 2))
    child.kill('SIGKILL')
    await ended
    const storage = await place()
    t.comment(`killed ${name}: ${storage}`)
    // Between the look and the kill, the command may have gone further.
    if (expected === 'fast') t.equal(storage, 'fast')
    t.equal(await git(pathIn(storage), ['rev-parse', 'large']), large, name)
    t.ok(await git(pathIn(storage), ['fsck', '--full']).then(() => true), name)
    const body = { file_path: name, branch_name: 'master', content: 'x', commit_message: name }
    const { statusCode } = await app.as(project.owner).post(`/projects/${project.id}/repository/files`, body)
    t.equal(statusCode, 201, `a change after the kill ${name}, at the latest when the hold ends`)
    await forgetOld()
    t.notOk(existsSync(pathIn(storage === 'fast' ? 'default' : 'fast')), 'the other copy is removed')
    if (storage !== 'fast') continue
    t.equal((await once(begin('default'), 'exit'))[0], 0)
    await forgetOld()
  }
  t.equal((await once(begin('fast'), 'exit'))[0], 0)
  t.equal(await place(), 'fast')
  await forgetOld()
  t.notOk(existsSync(path))
  t.equal(await git(pathIn('fast'), ['rev-list', '--count', 'master']), '5', 'no change is lost')
  t.ok(await git(pathIn('fast'), ['fsck', '--full']).then(() => true))
  t.same(await rows('select * from old_repositories'), [])
})

async function makeTree(path: string, blob: string): Promise<string> {
  const index = { GIT_INDEX_FILE: join(path, 'test-index') }
  await git(path, ['update-index', '--add', '--cacheinfo', `100644,${blob},large`], index)
  const tree = await git(path, ['write-tree'], index)
  rmSync(join(path, 'test-index'))
  return tree
}
