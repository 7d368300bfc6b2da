// The end of LFS objects: which ones a project loses, which ones are removed, and what a client may do at the same time.
import { createHash, randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { Readable } from 'node:stream'
import { findLinks, storeObject, touchLinks } from '../../../../src/areas/projects/lfs/objects.js'
import { lfsSizeOf } from '../../../../src/areas/projects/lfs/sizes.js'
import { lastRefChange, unlinkIdle } from '../../../../src/areas/projects/lfs/unused.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { refValue } from '../../../../src/git/refs/refs.js'
import { sizeOfLfsObject } from '../../../../src/storage/lfs.js'
import { git } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { factory, someOrigin, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { accept, makeMergeRequest } from '../../planning/merge-requests/make-merge-requests.js'

const app = await testApp(t)
const DAY = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY)
const run = async (task: 'lfs_links' | 'lfs_objects', dryRun = false) => {
  const { error, count, report } = await runTask(task, { dryRun }, someOrigin)
  if (error !== null) throw new Error(error)
  return { count, ...report }
}

const pointer = (oid: string, size: number) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

/** Stores an object of a project, as if that had been long ago. */
async function makeObject(project: { id: number }, days = 15): Promise<string> {
  const bytes = randomBytes(50)
  const oid = createHash('sha256').update(bytes).digest('hex')
  await storeObject(project.id, { oid, size: 50 }, () => Readable.from([bytes]))
  await age(oid, days)
  return oid
}

async function age(oid: string, days: number): Promise<void> {
  await execute('update lfs_links set touched_at = ? where oid = ?', [ago(days), oid])
  await execute('update lfs_objects set touched_at = ? where oid = ?', [ago(days), oid])
}

const commit = (project: TestProject, name: string, oid: string, branch = 'master') =>
  factory.file(project, name, pointer(oid, 50), branch)
const has = async (project: { id: number }, oid: string) => (await findLinks(project.id, [oid])).has(oid)
const forgetScans = () => execute('delete from lfs_scans')
const isStored = async (oid: string) => (await sizeOfLfsObject(oid)) !== undefined

t.test('a project loses the objects that none of its refs holds', async t => {
  const project = await app.make.project()
  const path = repositoryPath({ id: project.id, storage: 'default' })
  const [onBranch, inHistory, onTag, onDeleted, ofMergeRequest, never, young] = [
    await makeObject(project),
    await makeObject(project),
    await makeObject(project),
    await makeObject(project),
    await makeObject(project),
    await makeObject(project),
    await makeObject(project, 13)
  ]
  await commit(project, 'a.bin', inHistory)
  await app.as(project.owner).put(`/projects/${project.id}/repository/files`, {
    file_path: 'a.bin',
    branch_name: 'master',
    content: pointer(onBranch, 50),
    commit_message: 'another version'
  })
  await factory.branch(project, 'tagged')
  await commit(project, 'b.bin', onTag, 'tagged')
  git(path, ['tag', '-a', '-m', 'a tag', 'v1', 'tagged'])
  await factory.branch(project, 'deleted')
  await commit(project, 'c.bin', onDeleted, 'deleted')
  await factory.branch(project, 'feature')
  await commit(project, 'd.bin', ofMergeRequest, 'feature')
  await makeMergeRequest(project)
  await app.runJobs()
  for (const branch of ['tagged', 'deleted', 'feature'])
    await app.as(project.owner).delete(`/projects/${project.id}/repository/branches/${branch}`)
  t.equal(await refValue(path, 'refs/heads/feature'), null)
  const all = { onBranch, inHistory, onTag, onDeleted, ofMergeRequest, never, young }
  const kept = async () => {
    const found: string[] = []
    for (const [name, oid] of Object.entries(all)) if (await has(project, oid)) found.push(name)
    return found
  }
  t.match(await run('lfs_links', true), { count: 2 })
  t.equal((await kept()).length, 7, 'a dry run changes nothing')
  t.match(await run('lfs_links'), { count: 2 })
  t.same(await kept(), ['onBranch', 'inHistory', 'onTag', 'ofMergeRequest', 'young'])
  await run('lfs_objects')
  t.ok(await isStored(never), 'an object is not removed with its last link')
  await age(never, 15)
  await run('lfs_objects')
  t.notOk(await isStored(never))
  t.ok(await isStored(onDeleted))
  for (const name of ['onBranch', 'young'] as const) t.ok(await isStored(all[name]))
  t.equal(await row('select 1 from lfs_objects where oid = ?', [never]), undefined)
})

t.test('a repository that cannot be read keeps everything', async t => {
  const project = await app.make.project()
  const oid = await makeObject(project)
  await commit(project, 'a.bin', await makeObject(project))
  const path = repositoryPath({ id: project.id, storage: 'default' })
  const branch = await refValue(path, 'refs/heads/master')
  await forgetScans()
  renameSync(path, `${path}.away`)
  t.match(await run('lfs_links'), { failed: 1 }, 'a lost repository')
  renameSync(`${path}.away`, path)
  git(path, ['update-ref', '-d', 'refs/heads/master'])
  await forgetScans()
  t.match(await run('lfs_links'), { failed: 1 }, 'lost refs')
  git(path, ['update-ref', 'refs/heads/master', branch ?? ''])
  const tree = git(path, ['rev-parse', 'master^{tree}'])
  renameSync(`${path}/objects/${tree.slice(0, 2)}/${tree.slice(2)}`, `${path}/away`)
  await forgetScans()
  t.match(await run('lfs_links'), { failed: 1 }, 'a lost object')
  t.ok(await has(project, oid))
  renameSync(`${path}/away`, `${path}/objects/${tree.slice(0, 2)}/${tree.slice(2)}`)
  t.match(await run('lfs_links'), { count: 0 }, 'a search is not repeated at once')
  await forgetScans()
  t.match(await run('lfs_links'), { count: 1, failed: 0 })
  t.notOk(await has(project, oid))
})

t.test('a push or a question after the search keeps the object', async t => {
  const project = await app.make.project()
  await factory.file(project, 'README', 'x\n')
  const [asked, pushed] = [await makeObject(project), await makeObject(project)]
  const before = ago(14)
  const lastChange = await lastRefChange(project.id)
  const unlink = (oids: readonly string[], last = lastChange) =>
    unlinkIdle(project.id, { oids, before, lastChange: last })
  await touchLinks(project.id, [asked])
  t.equal(await unlink([asked]), 0)
  await commit(project, 'a.bin', pushed)
  t.equal(await unlink([pushed]), null, 'a change after the search')
  const { insertId } = await execute(
    `insert into ref_changes (project_id, ref, old_id, new_id, source, process, created_at, state)
     values (?, 'refs/heads/x', repeat('0', 40), repeat('1', 40), 'push', 'p', now(), 'open')`,
    [project.id]
  )
  t.equal(await unlink([pushed], insertId), null, 'a change that has begun before the search')
  await execute('delete from ref_changes where id = ?', [insertId])
  t.equal(await unlink([pushed], insertId), 1)
})

t.test('an object stays for another project, and is not uploaded while it is removed', async t => {
  const [one, other] = [await app.make.project(), await app.make.project()]
  const bytes = randomBytes(50)
  const oid = createHash('sha256').update(bytes).digest('hex')
  const store = (project: TestProject) => storeObject(project.id, { oid, size: 50 }, () => Readable.from([bytes]))
  await factory.file(one, 'README', 'x\n')
  await commit(other, 'a.bin', oid)
  await store(one)
  await store(other)
  await age(oid, 15)
  await forgetScans()
  await run('lfs_links')
  t.same([await has(one, oid), await has(other, oid)], [false, true])
  await age(oid, 15)
  await run('lfs_objects')
  t.ok(await isStored(oid))
  await execute('delete from lfs_links where oid = ?', [oid])
  await execute('update lfs_objects set removing_at = now(3) - interval 2 hour where oid = ?', [oid])
  await t.rejects(store(one), { message: /is being removed/ })
  t.match(await run('lfs_objects'), { count: 1 }, 'the next run finishes a removal that was killed')
  t.notOk(await isStored(oid))
  await store(one)
  t.ok(await isStored(oid))
  await age(oid, 15)
  await app.as(one.owner).delete(`/projects/${one.id}`)
  await app.runJobs()
  t.equal(await row('select 1 from lfs_links where oid = ?', [oid]), undefined)
  await run('lfs_objects')
  t.ok(await isStored(oid), 'the objects of a removed project wait, too')
})

t.test('forks have the objects of their source, and a merge brings those of a fork', async t => {
  const project = await app.make.project({ visibility_level: 20 })
  const [first, second] = [await makeObject(project), await makeObject(project)]
  await commit(project, 'a.bin', first)
  await app.runJobs()
  const fork = async (id: number) => {
    const user = await app.make.user()
    const made = (await app.as(user).post(`/projects/fork/${id}`)).json()
    await app.runJobs()
    return { user, id: made.id as number }
  }
  const child = await fork(project.id)
  const grandchild = await fork(child.id)
  for (const { id } of [child, grandchild]) t.same([await has({ id }, first), await has({ id }, second)], [true, true])
  t.equal(await lfsSizeOf(grandchild.id), 100)
  const [brought, other] = [await makeObject(child), await makeObject(child)]
  const files = `/projects/${child.id}/repository/files`
  const body = { file_path: 'b.bin', branch_name: 'feature', content: pointer(brought, 50), commit_message: 'b' }
  await app.as(child.user).post(`/projects/${child.id}/repository/branches`, { branch_name: 'feature', ref: 'master' })
  await app.as(child.user).post(files, body)
  const opened = await app.as(child.user).post(`/projects/${child.id}/merge_requests`, {
    source_branch: 'feature',
    target_branch: 'master',
    title: 'Add b',
    target_project_id: project.id
  })
  await app.runJobs()
  t.ok(await has(project, brought), 'an open request keeps its objects in the target')
  t.equal(await lfsSizeOf(project.id), 100, 'they do not count there yet')
  await accept(project, opened.json().id)
  t.ok(await has(project, brought))
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  t.equal(await lfsSizeOf(project.id), 150)
  t.notOk(await has(project, other), 'only what was merged')
  const { statistics } = (await app.as(await app.make.admin()).get('/projects/all?statistics=true')).json()[0] ?? {}
  t.ok(statistics)
})
