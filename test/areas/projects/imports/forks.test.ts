import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { runGit } from '../../../../src/git/process/run.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestProject, TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const stored = (id: number) => repositoryPath({ id, storage: 'default' })

async function fork(app: TestApp, source: TestProject, user: TestUser, body: object = {}) {
  const res = await app.as(user).post(`/projects/fork/${source.id}`, body)
  t.equal(res.statusCode, 201, res.body)
  return res.json() as { id: number; path_with_namespace: string }
}

const shared = (repository: string) =>
  readdirSync(join(repository, 'objects'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /^([0-9a-f]{38}|pack-.*)$/.test(entry.name))
    .map(entry => statSync(join(entry.parentPath, entry.name)).nlink)

t.test('POST /projects/fork/:id', async t => {
  const app = await testApp(t)
  const source = await app.make.project({
    visibility_level: 20,
    description: 'About',
    shared_runners_enabled: false,
    builds_enabled: false
  })
  await app.make.file(source, 'a', 'content')
  await app.runJobs()
  const user = await app.make.user()
  const made = await fork(app, source, user)

  t.test('copies what the requirement names', async t => {
    const original = (await app.as(source.owner).get(`/projects/${source.id}`)).json()
    t.match(made, {
      name: original.name,
      path_with_namespace: `${user.username}/${original.path}`,
      description: 'About',
      visibility_level: 20,
      shared_runners_enabled: false,
      builds_enabled: false,
      creator_id: user.id,
      forked_from_project: { id: source.id, path_with_namespace: original.path_with_namespace }
    })
    t.equal(original.forks_count, 1)
  })

  t.test('is empty and closed to git until its repository is there', async t => {
    t.match(made, { import_status: 'scheduled', default_branch: null })
    const authorization = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`
    const clone = () =>
      app.nobody.inject({
        url: `/${made.path_with_namespace}.git/info/refs?service=git-upload-pack`,
        headers: { authorization }
      })
    const early = await clone()
    t.equal(early.statusCode, 503)
    t.match(early.body, /still being copied/)
    t.ok(early.headers['retry-after'])
    t.notOk(existsSync(stored(made.id)))

    await app.runJobs()
    const now = (await app.as(user).get(`/projects/${made.id}`)).json()
    t.match(now, { default_branch: 'master' })
    t.notOk('import_status' in now)
    t.equal((await clone()).statusCode, 200)
    const file = await app.as(user).get(`/projects/${made.id}/repository/files`, { file_path: 'a', ref: 'master' })
    t.equal(Buffer.from(file.json().content, 'base64').toString(), 'content')
    t.same(await rows('select 1 from project_imports where project_id = ?', [made.id]), [])
    t.same(await rows('select 1 from pipelines where project_id = ?', [made.id]), [], 'nothing was built')
  })

  t.test('shares the bytes of objects, and keeps them when the source goes', async t => {
    const links = shared(stored(made.id))
    t.ok(links.length > 0)
    t.ok(links.every(count => count > 1))
    const other = await app.make.project({ visibility_level: 20 })
    await app.make.file(other, 'b', 'stays')
    const copy = await fork(app, other, user)
    await app.runJobs()
    await app.as(other.owner).delete(`/projects/${other.id}`)
    await app.runJobs()
    await runGit(['fsck', '--full', '--strict'], { repository: stored(copy.id) })
    t.notOk('forked_from_project' in (await app.as(user).get(`/projects/${copy.id}`)).json())
  })

  t.test('a job that was killed after the copy begins again', async t => {
    const again = await fork(app, source, await app.make.user())
    await app.runJobs()
    await execute("update projects set import_state = 'waiting', default_branch = null where id = ?", [again.id])
    await execute('insert into project_imports (project_id, from_project_id, created_at) values (?, ?, now())', [
      again.id,
      source.id
    ])
    const { fillRepository } = await import('../../../../src/areas/projects/imports/fill-repository.js')
    await fillRepository(again.id, new AbortController().signal)
    t.match(await row('select import_state, default_branch from projects where id = ?', [again.id]), {
      import_state: null,
      default_branch: 'master'
    })
    await runGit(['fsck', '--full'], { repository: stored(again.id) })
  })

  t.test('says so when the source is gone before the copy', async t => {
    const doomed = await app.make.project({ visibility_level: 20 })
    await app.make.file(doomed, 'a', 'x')
    const orphan = await fork(app, doomed, user)
    await app.as(doomed.owner).delete(`/projects/${doomed.id}`)
    await app.runJobs()
    t.match((await app.as(user).get(`/projects/${orphan.id}`)).json(), {
      import_status: 'failed',
      import_error: /was deleted before/
    })
    await app.make.file({ id: orphan.id, path: '', owner: user, storage: '' }, 'mine', 'x')
    t.match((await app.as(user).get(`/projects/${orphan.id}`)).json(), { default_branch: 'master' })
  })

  t.test('conflicts and refusals have the bodies of the requirement', async t => {
    const twice = await app.as(user).post(`/projects/fork/${source.id}`)
    t.equal(twice.statusCode, 409)
    const TAKEN = ['has already been taken']
    t.same(twice.json(), { message: { name: TAKEN, path: TAKEN } })

    for (const namespace of ['no-such', '999999', source.owner.username, String(source.owner.id)]) {
      const res = await app.as(await app.make.user()).post(`/projects/fork/${source.id}`, { namespace })
      t.equal(res.statusCode, 404, namespace)
      t.same(res.json(), { message: '404 Target Namespace Not Found' })
    }
    const hidden = await app.make.project()
    const guest = await app.make.member(hidden, GUEST)
    const forbidden = await app.as(guest).post(`/projects/fork/${hidden.id}`)
    t.equal(forbidden.statusCode, 409)
    t.same(forbidden.json(), { message: { forked_from_project_id: ['is forbidden'] } })
    t.equal((await app.as(user).post(`/projects/fork/${hidden.id}`)).statusCode, 404)
    const limited = await app.make.user({ projects_limit: 0 })
    t.equal((await app.as(limited).post(`/projects/fork/${source.id}`)).statusCode, 403)
  })

  t.test('goes into the namespace with this id, path or name', async t => {
    for (const by of ['path', 'id'] as const) {
      const who = await app.make.user()
      const own = await row<{ id: number }>('select id from namespaces where owner_id = ?', [who.id])
      const namespace = by === 'id' ? String(own?.id) : who.username.toUpperCase()
      t.match((await fork(app, source, who, { namespace })).path_with_namespace, who.username)
    }
  })

  t.test('a fork is never more visible than its source', async t => {
    const hidden = await app.make.project()
    const reporter = await app.make.member(hidden, REPORTER)
    const { id } = await fork(app, hidden, reporter)
    const res = await app.as(reporter).put(`/projects/${id}`, { visibility_level: 20 })
    t.equal(res.statusCode, 400)
    t.match(res.json().message.visibility_level[0], /fork source project has lower visibility/)
  })

  t.test('forks become less visible with their source, and theirs as well', async t => {
    const open = await app.make.project({ visibility_level: 20 })
    const [one, two] = [await app.make.user(), await app.make.user()]
    const first = await fork(app, open, one)
    const second = await fork(app, { id: first.id, path: first.path_with_namespace, owner: one, storage: '' }, two)
    const hidden = await fork(app, open, two, { namespace: (await app.make.group({ owner: two })).path })
    const levels = async () =>
      (
        await rows<{ level: number }>(
          'select visibility_level as level from projects where id in (?, ?, ?, ?) order by id',
          [open.id, first.id, second.id, hidden.id]
        )
      ).map(({ level }) => level)
    t.same(await levels(), [20, 20, 20, 0])
    const put = (visibility_level: number) => app.as(open.owner).put(`/projects/${open.id}`, { visibility_level })
    t.equal((await put(10)).statusCode, 200)
    t.same(await levels(), [10, 10, 10, 0])
    t.equal((await put(20)).statusCode, 200)
    t.same(await levels(), [20, 10, 10, 0], 'they do not come up again by themselves')
    const admin = await app.make.admin()
    const group = await app.make.group()
    await app.as(admin).post(`/groups/${group.id}/projects/${open.id}`)
    t.same(await levels(), [0, 0, 0, 0], 'a transfer into a private group')
    const audited = await rows<{ name: string; changes: string }>(
      "select target_name as name, changes from audit_events where action = 'project.update' and target_id = ? order by id",
      [String(second.id)]
    )
    t.match(
      audited.map(({ name, changes }) => [name, JSON.parse(changes).visibility_level]),
      [
        [second.path_with_namespace, { before: 20, after: 10 }],
        [second.path_with_namespace, { before: 10, after: 0 }]
      ]
    )
  })
})

t.test('the relation of a fork', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const [source, project] = [await app.make.project(), await app.make.project()]
  const path = `/projects/${project.id}/fork`
  const forks = async () => (await app.as(admin).get(`/projects/${source.id}`)).json().forks_count

  t.equal((await app.as(project.owner).post(`${path}/${source.id}`)).statusCode, 403)
  const made = await app.as(admin).post(`${path}/${source.id}`)
  t.equal(made.statusCode, 201)
  t.match(made.json(), {
    id: Number,
    forked_to_project_id: project.id,
    forked_from_project_id: source.id,
    created_at: String,
    updated_at: String
  })
  t.equal(await forks(), 1)
  const again = await app.as(admin).post(`${path}/${source.id}`)
  t.equal(again.statusCode, 409)
  t.same(again.json(), { message: 'Project already forked' })
  t.equal((await app.as(admin).post(`${path}/999999`)).statusCode, 404)
  t.equal((await app.as(admin).post(`/projects/${source.id}/fork/${source.id}`)).statusCode, 409)

  const stranger = await app.make.user()
  t.equal((await app.as(stranger).delete(path)).statusCode, 404)
  t.notOk(
    'forked_from_project' in (await app.as(project.owner).get(`/projects/${project.id}`)).json(),
    'a source that the owner cannot see'
  )
  t.equal((await app.as(project.owner).delete(path)).statusCode, 200)
  t.equal(await forks(), 0)
  t.equal((await app.as(project.owner).delete(path)).statusCode, 304)

  await app.as(admin).post(`${path}/${source.id}`)
  await app.as(project.owner).delete(`/projects/${project.id}`)
  t.equal(await forks(), 0, 'a removed fork does not count')
})
