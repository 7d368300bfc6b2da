import t from 'tap'
import { testApp } from '../../helpers/app.js'

t.test('GET /projects/:id', async t => {
  const app = await testApp(t)
  const project = await app.make.project({ visibility_level: 0 })

  t.test('gives the record to its owner', async t => {
    const res = await app.as(project.owner).get(`/projects/${project.id}`)
    t.equal(res.statusCode, 200)
    t.match(res.json(), {
      id: project.id,
      path_with_namespace: project.path,
      permissions: { project_access: { access_level: 40 } }
    })
  })

  t.test('does not tell a stranger that it exists', async t => {
    const res = await app.as(await app.make.user()).get(`/projects/${project.id}`)
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Project Not Found' })
  })
})
