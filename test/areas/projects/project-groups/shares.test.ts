import { insertForkLink } from '../../../../src/areas/projects/projects/fork-links.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, MASTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

t.test('POST /projects/:id/share', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const group = await app.make.group({ visibilityLevel: 20 })
  const member = await app.make.groupMember(group, MASTER)
  const path = `/projects/${project.id}/share`
  const owner = app.as(project.owner)

  t.test('gives the members of the group a level, at most that of the share', async t => {
    t.equal((await app.as(member).get(`/projects/${project.id}`)).statusCode, 404)
    const res = await owner.post(path, { group_id: group.id, group_access: 30, expires_at: '2099-01-31' })
    t.equal(res.statusCode, 201)
    t.match(res.json(), {
      id: Number,
      project_id: project.id,
      group_id: group.id,
      group_access: 30,
      expires_at: '2099-01-31'
    })
    const seen = (await app.as(member).get(`/projects/${project.id}`)).json()
    t.same(seen.shared_with_groups, [{ group_id: group.id, group_name: group.path, group_access_level: 30 }])
    t.notOk('runners_token' in seen, 'a developer')
  })

  t.test('refuses what cannot be shared, with the texts of the requirement', async t => {
    const hidden = await app.make.group()
    const cases = [
      [{ group_id: group.id, group_access: 10 }, 409, { message: 'Group already shared with this group' }],
      [{ group_id: hidden.id, group_access: 10 }, 404, { message: '404 Group Not Found' }],
      [{ group_id: 999999, group_access: 10 }, 404, { message: '404 Group Not Found' }],
      [{ group_id: group.id, group_access: 50 }, 400, { error: 'group_access does not have a valid value' }],
      [{ group_id: group.id }, 400, { error: 'group_access is missing' }],
      [{ group_id: group.id, group_access: 10, expires_at: '2026-02-30' }, 400, { error: 'expires_at is invalid' }],
      [{ group_id: group.id, group_access: 10, expires_at: 'soon' }, 400, { error: 'expires_at is invalid' }]
    ] as const
    for (const [body, status, answer] of cases) {
      const res = await owner.post(path, body)
      t.equal(res.statusCode, status, JSON.stringify(body))
      t.match(res.json(), answer)
    }
  })

  t.test('a group may forbid shares of its projects, and has them itself', async t => {
    const home = await app.make.group({ visibilityLevel: 20 })
    const grouped = await app.make.project({ owner: project.owner })
    await app.make.member(grouped, MASTER, project.owner).catch(() => undefined)
    await execute('update projects set namespace_id = ? where id = ?', [home.id, grouped.id])
    const other = await app.make.group({ visibilityLevel: 20 })
    const share = (id: number) => owner.post(`/projects/${grouped.id}/share`, { group_id: id, group_access: 10 })
    const own = await share(home.id)
    t.equal(own.statusCode, 409)
    t.same(own.json(), { message: 'Project cannot be shared with the project it is in.' })
    await execute('update namespaces set share_with_group_lock = 1 where id = ?', [home.id])
    const locked = await share(other.id)
    t.equal(locked.statusCode, 400)
    t.same(locked.json(), { message: 'The project sharing with group is disabled' })
  })

  t.test('a share that has ended does not count, and is not in the way', async t => {
    const ended = await app.make.group({ visibilityLevel: 20 })
    const was = await app.make.groupMember(ended, MASTER)
    await app.make.share(project, ended, DEVELOPER, '2020-01-01')
    t.equal((await app.as(was).get(`/projects/${project.id}`)).statusCode, 404)
    t.equal((await owner.post(path, { group_id: ended.id, group_access: 10 })).statusCode, 201)
    t.equal((await app.as(was).get(`/projects/${project.id}`)).statusCode, 200)
  })

  t.test('DELETE ends it at once', async t => {
    t.equal((await owner.delete(`${path}/${group.id}`)).statusCode, 204)
    t.equal((await app.as(member).get(`/projects/${project.id}`)).statusCode, 404)
    const again = await owner.delete(`${path}/${group.id}`)
    t.equal(again.statusCode, 404)
    t.same(again.json(), { message: '404 Group Link Not Found' })
    t.equal((await owner.delete(`${path}/none`)).statusCode, 404)
  })
})

t.test('names of private groups are shown only to members of the project', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20 })
  const secret = await app.make.group()
  await app.make.share(project, secret, DEVELOPER)
  const shown = async (who: Parameters<typeof app.as>[0]) =>
    (await app.as(who).get(`/projects/${project.id}`)).json().shared_with_groups
  t.same(await shown(await app.make.user()), [])
  t.match(await shown(project.owner), [{ group_id: secret.id }])
})

t.test('lists read the shares, sources and statistics of a page with one statement each', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const group = await app.make.group()
  const add = async () => {
    const source = await app.make.project({ owner: admin })
    const project = await app.make.project({ owner: admin })
    await app.make.share(project, group, DEVELOPER)
    await insertForkLink(project.id, source.id)
  }
  await add()
  const ask = () => app.as(admin).get('/projects/owned', { statistics: true })
  // Keeps the rows of the list.
  await ask()
  const few = await countStatements(ask)
  t.equal(few, 5)
  await add()
  await add()
  t.equal(await countStatements(ask), few + 1, 'with one for the rows that are not kept')
  t.equal(await countStatements(ask), few)
  const [newest] = (await ask()).json()
  t.match(newest, {
    forked_from_project: { id: Number, path_with_namespace: String },
    statistics: { commit_count: 0, storage_size: 0, lfs_objects_size: 0 },
    shared_with_groups: [{ group_id: group.id }]
  })
})
