// Files that somebody else has locked: commits of the API, cherry-picks and merges leave them alone.
import { createLock, removeLock } from '../../../../src/areas/projects/lfs/locks.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { originBy, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

async function makeProject() {
  const project = await app.make.project()
  const other = await app.make.user()
  await app.make.member(project, 40, other)
  for (const name of ['a.bin', 'b.bin', 'free.txt']) await app.make.file(project, name, name)
  return { project, other, files: `/projects/${project.id}/repository/files` }
}

const lock = async (project: TestProject, path: string, by: TestUser) =>
  createLock(await projectRow(project), path, originBy(by))
const body = (file_path: string, more = {}) => ({
  file_path,
  branch_name: 'master',
  content: 'new',
  commit_message: 'Change',
  ...more
})

t.test('commits of the API', async t => {
  const { project, other, files } = await makeProject()
  await lock(project, 'a.bin', project.owner)
  await lock(project, 'new.bin', project.owner)
  const why = `a.bin is locked by ${project.owner.username}`
  const [me, owner] = [app.as(other), app.as(project.owner)]
  t.match(await me.put(files, body('a.bin')), { statusCode: 400, body: new RegExp(why) })
  t.match(await me.delete(`${files}?file_path=a.bin&branch_name=master&commit_message=x`), { statusCode: 400 })
  t.match(await me.post(files, body('new.bin')), { statusCode: 400, body: /new.bin is locked by/ })
  t.equal((await me.put(files, body('free.txt'))).statusCode, 200)
  const commits = `/projects/${project.id}/repository/commits`
  const act = (action: object) => me.post(commits, { branch_name: 'master', commit_message: 'x', actions: [action] })
  const moved = await act({ action: 'move', previous_path: 'a.bin', file_path: 'c.bin' })
  t.match(moved, { statusCode: 400, body: new RegExp(why) })
  t.equal((await owner.put(files, body('a.bin'))).statusCode, 200, 'the owner of the lock')
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  t.equal((await me.put(files, body('a.bin', { content: 'off' }))).statusCode, 200, 'LFS is off')
})

t.test('cherry-picks', async t => {
  const { project, other, files } = await makeProject()
  const me = app.as(other)
  await me.post(`/projects/${project.id}/repository/branches`, { branch_name: 'feature', ref: 'master' })
  await me.put(files, body('a.bin', { branch_name: 'feature' }))
  const { commit } = (await me.get(`/projects/${project.id}/repository/branches/feature`)).json()
  const { id } = await lock(project, 'a.bin', project.owner)
  const pick = () =>
    me.post(`/projects/${project.id}/repository/commits/${commit.id}/cherry_pick`, { branch: 'master' })
  t.match(await pick(), { statusCode: 400, body: /a.bin is locked by/ })
  await removeLock(await projectRow(project), { id, force: false, mayForce: false }, originBy(project.owner))
  t.equal((await pick()).statusCode, 201)
})

t.test('merges', async t => {
  const { project, other, files } = await makeProject()
  const third = await app.make.user()
  await app.make.member(project, 40, third)
  const [me, owner] = [app.as(other), app.as(project.owner)]
  await me.post(`/projects/${project.id}/repository/branches`, { branch_name: 'feature', ref: 'master' })
  for (const name of ['a.bin', 'b.bin']) await me.put(files, body(name, { branch_name: 'feature' }))
  const branches = { source_branch: 'feature', target_branch: 'master', title: 'Change' }
  const { id } = (await me.post(`/projects/${project.id}/merge_requests`, branches)).json()
  const locked = await lock(project, 'a.bin', third)
  await lock(project, 'b.bin', other)
  await lock(project, 'free.txt', third)
  const merge = () => owner.put(`/projects/${project.id}/merge_request/${id}/merge`, {})
  t.match(await merge(), { statusCode: 405, body: new RegExp(`a.bin is locked by ${third.username}`) })
  await removeLock(await projectRow(project), { id: locked.id, force: false, mayForce: false }, originBy(third))
  t.match(await merge(), { statusCode: 200 }, 'the author of the merge request has locked b.bin')
})
