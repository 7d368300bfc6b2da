// "Error conventions": credentials, then areas whose projects are filtered as a whole, then parameters, then the project.
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

t.test('a wrong parameter', async t => {
  const app = await testApp(t)
  const { id } = await app.make.project()
  const stranger = app.as(await app.make.user())

  t.test('is answered before a hidden project', async t => {
    for (const path of ['builds?scope=odd', 'pipelines?scope=odd', 'builds/x', 'repository/files']) {
      t.equal((await stranger.get(`/projects/${id}/${path}`)).statusCode, 400, path)
    }
    t.equal((await stranger.get('/groups/999999/projects?sort=odd')).statusCode, 400)
    t.equal((await stranger.post(`/projects/${id}/repository/files`, {})).statusCode, 400)
  })

  t.test('is answered after a hidden project in the areas whose projects are filtered as a whole', async t => {
    for (const path of ['repository/tree?recursive=odd', 'repository/blobs/master', 'repository/commits/master']) {
      t.equal((await stranger.get(`/projects/${id}/${path}`)).statusCode, 404, path)
    }
  })

  t.test('is answered after missing credentials', async t => {
    t.equal((await app.nobody.get(`/projects/${id}/builds?scope=odd`)).statusCode, 401)
    t.equal((await app.nobody.post('/projects', {})).statusCode, 401)
    t.equal((await stranger.post('/users', {})).statusCode, 403)
  })
})

t.test('a body is not read from a client without credentials', async t => {
  const app = await testApp(t)
  const { id } = await app.make.project()
  const post = (payload: string) =>
    app.nobody.inject({
      method: 'POST',
      url: `/api/v3/projects/${id}/repository/files`,
      payload,
      headers: { 'content-type': 'application/json' }
    })
  t.equal((await post('{ this is not JSON')).statusCode, 401)
  t.equal((await post('x'.repeat(20_000_000))).statusCode, 401)
})
