import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

t.test('POST /groups/:id/projects/:project_id', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const group = await app.make.group({ visibilityLevel: 10 })
  const member = await app.make.groupMember(group, DEVELOPER)
  const project = await app.make.project({ visibility_level: 20, name: 'moving' })
  await app.make.file(project, 'a', 'x')
  const move = (id: number | string) => app.as(admin).post(`/groups/${group.id}/projects/${encodeURIComponent(id)}`)

  const res = await move(project.path)
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id: group.id, path: group.path, projects: [{ id: project.id, visibility_level: 10 }] })

  t.test('the members of the group have their level, and the old owner stays a master', async t => {
    const seen = (await app.as(member).get(`/projects/${project.id}`)).json()
    t.match(seen, { permissions: { group_access: { access_level: DEVELOPER } }, visibility_level: 10 })
    t.match((await app.as(project.owner).get(`/projects/${project.id}`)).json().permissions, {
      project_access: { access_level: 40 }
    })
    t.equal((await app.as(project.owner).delete(`/projects/${project.id}`)).statusCode, 403)
  })

  t.test('the old path redirects to it, and its files stay where they were', async t => {
    const old = await app.as(member).get(`/projects/${encodeURIComponent(project.path)}`)
    t.match(old.json(), { id: project.id, path_with_namespace: `${group.path}/moving` })
    const query = { file_path: 'a', ref: 'master' }
    t.equal((await app.as(member).get(`/projects/${project.id}/repository/files`, query)).statusCode, 200)
  })

  t.test('the audit tells it', async t => {
    const found = await rows<{ changes: string }>(
      "select changes from audit_events where action = 'project.transfer' and target_id = ?",
      [String(project.id)]
    )
    t.match(JSON.parse(found[0]?.changes ?? '{}'), { visibility_level: { before: 20, after: 10 } })
  })

  t.test('refuses what cannot move, and changes nothing', async t => {
    t.match((await move(project.id)).json(), { message: /^Failed to transfer project \{/ })
    const twin = await app.make.project({ name: 'moving', visibility_level: 20 })
    const res = await move(twin.id)
    t.equal(res.statusCode, 400)
    t.match(res.json().message, /^Failed to transfer project \{.*has already been taken/)
    t.match((await app.as(twin.owner).get(`/projects/${twin.id}`)).json(), {
      visibility_level: 20,
      path_with_namespace: twin.path
    })
    t.equal((await move(999999)).statusCode, 404)
    t.equal((await move('no/such')).statusCode, 404)
  })

  t.test('a project is not shared with its own group', async t => {
    const other = await app.make.project()
    await app.make.share(other, group, DEVELOPER)
    await move(other.id)
    t.same(await rows('select 1 from project_group_links where project_id = ?', [other.id]), [])
    await execute('delete from projects where id = ?', [other.id])
  })
})
