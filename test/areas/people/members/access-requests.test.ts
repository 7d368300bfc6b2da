import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, MASTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

for (const kind of ['projects', 'groups'] as const) {
  t.test(`access requests of ${kind}`, async t => {
    const app = await testApp(t)
    const { make } = app
    const owner = await make.user()
    const { id } =
      kind === 'projects'
        ? await make.project({ owner, visibility_level: 10, request_access_enabled: true })
        : await make.group({ owner, visibilityLevel: 10, requestAccess: true })
    const path = `/${kind}/${id}/access_requests`
    const user = await make.user()
    const asker = app.as(user)

    const asked = await asker.post(path)
    t.equal(asked.statusCode, 201)
    const { created_at, requested_at, ...record } = asked.json()
    t.same(record, { id: user.id, username: user.username, name: user.name, state: 'active' })
    t.ok(Date.parse(created_at) <= Date.parse(requested_at))
    t.equal((await asker.post(path)).statusCode, 403, 'asked already')
    t.equal((await asker.get(`/${kind}/${id}/members/${user.id}`)).statusCode, 404, 'no member yet')
    t.equal((await app.as(owner).post(path)).statusCode, 403, 'the owner has access')
    t.same((await app.as(owner).get(path)).json(), [asked.json()])

    const approved = await app.as(owner).put(`${path}/${user.id}/approve`, { access_level: GUEST })
    t.equal(approved.statusCode, 200)
    t.same(approved.json(), { ...record, created_at, access_level: GUEST })
    t.match((await asker.get(`/${kind}/${id}/members/${user.id}`)).json(), { access_level: GUEST })
    t.same((await app.as(owner).get(path)).json(), [])
    t.equal((await app.as(owner).put(`${path}/${user.id}/approve`)).statusCode, 404)
    t.equal((await asker.post(path)).statusCode, 403, 'a member already')

    const other = await make.user()
    await app.as(other).post(path)
    t.equal((await app.as(await make.user()).delete(`${path}/${other.id}`)).statusCode, 403)
    t.equal((await app.as(owner).put(`${path}/${other.id}/approve`, { access_level: 33 })).statusCode, 422)
    t.match((await app.as(other).delete(`${path}/${other.id}`)).json(), { id: other.id }, 'the user withdraws it')
    t.equal((await app.as(other).delete(`${path}/${other.id}`)).statusCode, 404)
    await app.as(other).post(path)
    t.match((await app.as(owner).put(`${path}/${other.id}/approve`)).json(), { access_level: 30 }, 'the default')

    await execute(
      `update ${kind === 'projects' ? 'projects' : 'namespaces'} set request_access_enabled = 0 where id = ?`,
      [id]
    )
    t.equal((await app.as(await make.user()).post(path)).statusCode, 403, 'requests are switched off')
  })
}

t.test('somebody whose membership has ended asks for access, and gets it', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 20, request_access_enabled: true })
  const user = await app.make.member(project, GUEST, undefined, '2020-01-01')
  const path = `/projects/${project.id}/access_requests`
  t.equal((await app.as(user).post(path)).statusCode, 201)
  const owner = app.as(project.owner)
  t.match((await owner.put(`${path}/${user.id}/approve`)).json(), { access_level: 30 })
  t.same((await owner.get(path)).json(), [])
  t.match((await owner.get(`/projects/${project.id}/members/${user.id}`)).json(), {
    access_level: 30,
    expires_at: null
  })
})

t.test('a member of the group does not ask for its project', async t => {
  const app = await testApp(t)
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
  const project = await app.make.project({ owner, group, request_access_enabled: true })
  const member = await app.make.groupMember(group, MASTER)
  t.equal((await app.as(member).post(`/projects/${project.id}/access_requests`)).statusCode, 403)
})
