// Pushes of a stock git client to protected branches, and many writers on one branch.
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { settleOpenChanges } from '../../../../src/areas/code/refs/recovery.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject, TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { git, remoteUrl, tryGit } from '../../../scenarios/client.js'

const app = await testApp(t)
const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
const remoteOf = (project: TestProject, who: TestUser) => remoteUrl(url, project.path, who.username, who.privateToken)
const protect = (project: TestProject, branch: string, flags = {}) =>
  app.as(project.owner).put(`/projects/${project.id}/repository/branches/${branch}/protect`, flags)

async function commitIn(folder: string, name: string): Promise<void> {
  writeFileSync(join(folder, name), name)
  await git(folder, ['add', '.'])
  await git(folder, ['commit', '--quiet', '-m', name])
}

t.test('pushes to protected branches', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'one\n')
  for (const name of ['kept', 'free', 'other']) await app.make.branch(project, name)
  await protect(project, 'kept')
  const developer = await app.make.member(project, DEVELOPER)
  const folder = t.testdir({})
  await git(folder, ['clone', '--quiet', remoteOf(project, developer), 'work'])
  const work = join(folder, 'work')
  await commitIn(work, 'more')
  const push = (who: TestUser, ...specs: string[]) => tryGit(work, ['push', remoteOf(project, who), ...specs])
  const { owner } = project

  t.test('a developer is refused, and the reason is shown', async t => {
    const { ok, stderr } = await push(developer, 'HEAD:master')
    t.notOk(ok)
    t.match(stderr, /! \[remote rejected\] +HEAD -> master \(You are not allowed to push code to protected branches/)
    t.ok((await push(developer, 'HEAD:free')).ok, 'other branches are open')
  })

  t.test('a new branch that a pattern protects is refused as well', async t => {
    await execute(
      "insert into protected_branches (project_id, name, created_at, updated_at) values (?, 'release/*', now(), now())",
      [project.id]
    )
    t.match((await push(developer, 'HEAD:release/1')).stderr, /not allowed to push code to protected branches/)
    t.ok((await push(owner, 'HEAD:release/1')).ok)
  })

  t.test('developers_can_push lets a developer in', async t => {
    await protect(project, 'master', { developers_can_push: true })
    t.ok((await push(developer, 'HEAD:master')).ok)
  })

  t.test('nobody deletes one', async t => {
    const { ok, stderr } = await push(owner, ':kept')
    t.notOk(ok)
    t.match(stderr, /You are not allowed to delete protected branches from this project/)
    t.ok((await push(developer, ':other')).ok)
  })

  t.test('nobody rewrites one, and every other branch may be rewritten', async t => {
    await git(work, ['commit', '--quiet', '--amend', '-m', 'rewritten'])
    for (const who of [owner, developer]) {
      const { ok, stderr } = await push(who, '+HEAD:master')
      t.notOk(ok)
      t.match(stderr, /remote rejected.*master/)
    }
    const both = await push(owner, '+HEAD:master', '+HEAD:free')
    t.match(both.stderr, /remote: You are not allowed to force push code to a protected branch/)
    t.match(both.stderr, /! \[remote rejected\] +HEAD -> master \(You are not allowed to force push/)
    t.match(both.stderr, /\+ .* HEAD -> free \(forced update\)/)
    await git(work, ['fetch', '--quiet', remoteOf(project, owner), 'master'])
    await git(work, ['reset', '--quiet', '--hard', 'FETCH_HEAD'])
    await commitIn(work, 'last')
    t.ok((await push(developer, 'HEAD:master', '+HEAD~1:free')).ok, 'in addition to one that moves forward')
  })
})

t.test('fifty writers on one branch: the history is linear and holds exactly what was accepted', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'README', 'one\n')
  const folder = t.testdir({})
  const remote = remoteOf(project, project.owner)
  const byPush = Array.from({ length: 10 }, (_, at) => `pushed-${at}`)
  const byApi = Array.from({ length: 40 }, (_, at) => `written-${at}`)
  await git(folder, ['clone', '--quiet', remote, 'first'])
  for (const name of byPush) {
    mkdirSync(join(folder, name))
    await git(folder, ['clone', '--quiet', '--shared', 'first', name])
    await commitIn(join(folder, name), name)
  }
  const pushOne = async (name: string) => {
    const work = join(folder, name)
    for (let tries = 0; tries < 4; tries++) {
      if ((await tryGit(work, ['push', '--quiet', remote, 'HEAD:master'])).ok) return [name]
      await git(work, ['pull', '--quiet', '--rebase', remote, 'master'])
    }
    return []
  }
  const writeOne = async (name: string, at: number) => {
    const path = `/projects/${project.id}/repository/${at % 2 === 0 ? 'files' : 'commits'}`
    const file = { file_path: name, content: name }
    const common = { branch_name: 'master', commit_message: name }
    const body = at % 2 === 0 ? { ...file, ...common } : { ...common, actions: [{ action: 'create', ...file }] }
    const { statusCode, body: text } = await app.as(project.owner).post(path, body)
    if (statusCode !== 201) t.match([statusCode, text], [400, /the branch has changed in the meantime/])
    return statusCode === 201 ? [name] : []
  }
  const accepted = (await Promise.all([...byPush.map(pushOne), ...byApi.map(writeOne)])).flat()
  t.ok(accepted.length > 2, `${accepted.length} were accepted`)
  await settleOpenChanges()

  const repository = repositoryPath({ id: project.id, storage: 'default' })
  const inside = (...args: string[]) => git(repository, args)
  t.equal(await inside('rev-list', '--count', '--min-parents=2', 'master'), '0', 'no merge')
  const written = (await inside('log', '--format=%s', 'master')).split('\n').filter(name => name !== 'Add README')
  t.same([...written].sort(), [...accepted].sort())
  const files = (await inside('ls-tree', '--name-only', 'master')).split('\n').filter(name => name !== 'README')
  t.same(files.sort(), [...accepted].sort())
  const changes = await rows<{ state: string; old_id: string; new_id: string }>(
    'select state, old_id, new_id from ref_changes where project_id = ? order by id',
    [project.id]
  )
  t.equal(changes.length, accepted.length + 1)
  const byOld = new Map(changes.map(change => [change.old_id, change.new_id]))
  let at = '0'.repeat(40)
  for (const _ of changes) at = byOld.get(at) ?? ''
  t.equal(at, await inside('rev-parse', 'master'), 'the changes make one chain')
  t.equal(await inside('fsck', '--strict', '--no-dangling'), '')
})

t.test('the same first push, twice at once, is one change', async t => {
  const project = await app.make.project()
  const work = t.testdir({})
  await git(work, ['init', '--quiet'])
  // Only a large push begins with index-pack.
  for (let at = 0; at < 100; at++) writeFileSync(join(work, `file-${at}`), randomBytes(20_000))
  await commitIn(work, 'first')
  const push = () => tryGit(work, ['push', remoteOf(project, project.owner), 'HEAD:refs/heads/master'])
  const pushes = await Promise.all([push(), push()])
  t.ok(pushes.some(({ ok }) => ok))
  await settleOpenChanges()
  t.same(await rows('select ref, state from ref_changes where project_id = ?', [project.id]), [
    { ref: 'refs/heads/master', state: 'done' }
  ])
})
