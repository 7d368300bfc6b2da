// Snippets of projects and of users.
import { publicUrl } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makeSnippet } from './make-snippets.js'

const app = await testApp(t)

const aProject = (values: Parameters<typeof app.make.project>[0] = {}) =>
  app.make.project({ snippets_enabled: true, ...values })

t.test('a snippet of a project is created, read, changed, listed and removed', async t => {
  const project = await aProject()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/snippets`
  const created = await owner.post(path, { title: 'One', file_name: 'a.rb', code: 'puts "é"\n', visibility_level: 0 })
  t.equal(created.statusCode, 201)
  const { id, created_at } = created.json()
  const author = (await owner.get('/user')).json()
  t.same(created.json(), {
    id,
    title: 'One',
    file_name: 'a.rb',
    author: {
      name: author.name,
      username: author.username,
      id: author.id,
      state: 'active',
      avatar_url: null,
      web_url: `${publicUrl()}/${author.username}`
    },
    updated_at: created_at,
    created_at,
    expires_at: null,
    web_url: `${publicUrl()}/${project.path}/snippets/${id}`
  })
  t.same((await owner.get(`${path}/${id}`)).json(), created.json())
  const raw = await owner.get(`${path}/${id}/raw`)
  t.equal(raw.body, 'puts "é"\n')
  t.match(raw.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'content-security-policy': /sandbox/,
    'content-disposition': 'attachment; filename=a.rb'
  })
  const changed = await owner.put(`${path}/${id}`, { code: 'puts 2\n', file_name: '', visibility_level: 20 })
  t.match(changed.json(), { id, title: 'One', file_name: '' })
  const again = await owner.get(`${path}/${id}/raw`)
  t.equal(again.body, 'puts 2\n')
  t.match(again.headers['content-disposition'], `snippet-${id}.txt`)
  const { id: second } = (
    await owner.post(path, { title: 'Two', file_name: 'b', code: 'x', visibility_level: 10 })
  ).json()
  const list = await owner.get(path)
  t.same(
    list.json().map((snippet: { id: number }) => snippet.id),
    [second, id]
  )
  t.equal(list.headers['x-total'], '2')
  const removed = await owner.delete(`${path}/${id}`)
  t.equal(removed.statusCode, 200)
  t.same(removed.json(), changed.json())
  t.same((await owner.get(`${path}/${id}`)).json(), { message: '404 Not found' })
  t.same((await owner.get(`${path}/${id}/raw`)).json(), { message: '404 Not found' })
  t.same((await owner.put(`${path}/${id}`, { title: 'x' })).json(), { message: '404 Snippet Not Found' })
  t.same((await owner.delete(`${path}/${id}`)).json(), { message: '404 Snippet Not Found' })
})

t.test('private snippets are for members, internal ones not for external users', async t => {
  const project = await aProject({ visibility_level: 20 })
  const path = `/projects/${project.id}/snippets`
  const guest = await app.make.member(project, GUEST)
  const [stranger, external] = [await app.make.user(), await app.make.user({ external: true })]
  const ids = new Map<number, number>()
  for (const level of [0, 10, 20]) ids.set(level, await makeSnippet(project.owner, project, { level }))
  for (const [who, seen] of [
    [guest, [20, 10, 0]],
    [stranger, [20, 10]],
    [external, [20]]
  ] as const) {
    const list = await app.as(who).get(path)
    t.same(
      list.json().map(({ id }: { id: number }) => id),
      seen.map(level => ids.get(level))
    )
    t.equal(list.headers['x-total'], String(seen.length))
    for (const [level, id] of ids) {
      const status = (seen as readonly number[]).includes(level) ? 200 : 404
      for (const end of ['', '/raw']) t.equal((await app.as(who).get(`${path}/${id}${end}`)).statusCode, status)
    }
  }
  t.equal((await app.nobody.get(path)).statusCode, 401)
  t.equal((await app.as(stranger).delete(`${path}/${ids.get(0)}`)).statusCode, 404, 'not 403')
})

t.test('the author of a snippet changes it, and other reporters do not', async t => {
  const project = await aProject()
  const [author, other] = [await app.make.member(project, REPORTER), await app.make.member(project, REPORTER)]
  const path = `/projects/${project.id}/snippets`
  const body = { title: 'One', file_name: 'a', code: 'x', visibility_level: 0 }
  const { id } = (await app.as(author).post(path, body)).json()
  t.equal((await app.as(other).put(`${path}/${id}`, { title: 'Mine' })).statusCode, 403)
  t.equal((await app.as(author).put(`${path}/${id}`, { title: 'Still' })).statusCode, 200)
  const elsewhere = await aProject({ owner: project.owner })
  t.equal((await app.as(project.owner).get(`/projects/${elsewhere.id}/snippets/${id}`)).statusCode, 404)
  t.equal((await app.as(author).delete(`${path}/${id}`)).statusCode, 200)
})

t.test('wrong values are refused by name', async t => {
  const project = await aProject()
  const asker = app.as(project.owner)
  const right = { title: 'One', file_name: 'a', code: 'x', visibility_level: 0 }
  const cases: [object, object][] = [
    [{ title: undefined }, { error: 'title is missing' }],
    [{ code: undefined }, { error: 'code is missing' }],
    [{ visibility_level: undefined }, { error: 'visibility_level is missing' }],
    [{ visibility_level: 5 }, { error: 'visibility_level does not have a valid value' }],
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [
      { file_name: 'a/b' },
      { message: { file_name: [/^can contain only letters, digits, '_', '-', '@', '\+' and '\.'\.$/] } }
    ],
    [{ file_name: 'a'.repeat(256) }, { message: { file_name: [/too long/] } }],
    [{ code: '' }, { message: { content: ["can't be blank"] } }],
    [{ code: 'x'.repeat(1_000_001) }, { message: { content: [/maximum is 1000000 characters/] } }]
  ]
  for (const [values, answer] of cases) {
    const res = await asker.post(`/projects/${project.id}/snippets`, { ...right, ...values })
    t.equal(res.statusCode, 400, JSON.stringify(values).slice(0, 60))
    t.match(res.json(), answer)
  }
  const { id } = (await asker.post(`/projects/${project.id}/snippets`, right)).json()
  t.match((await asker.put(`/projects/${project.id}/snippets/${id}`, {})).json(), {
    error: 'title, file_name, code, visibility_level are missing, at least one parameter must be provided'
  })
  t.equal((await asker.put(`/projects/${project.id}/snippets/${id}`, { title: '' })).statusCode, 400)
})

t.test('personal snippets', async t => {
  const [mine, other] = [await app.make.user(), await app.make.user()]
  const [me, they] = [app.as(mine), app.as(other)]
  const created = await me.post('/snippets', { title: 'One', file_name: 'a.rb', content: 'puts 1' })
  t.equal(created.statusCode, 201)
  const { id } = created.json()
  t.same(Object.keys(created.json()).sort(), [
    'author',
    'created_at',
    'file_name',
    'id',
    'raw_url',
    'title',
    'updated_at',
    'web_url'
  ])
  const open = (await me.post('/snippets', { title: 'Two', file_name: 'b', content: 'x', visibility_level: 20 })).json()
    .id
  const ids = async (asker: typeof me, path: string) =>
    (await asker.get(path)).json().map((snippet: { id: number }) => snippet.id)
  await makeSnippet(mine, await app.make.project({ owner: mine }))
  t.same(await ids(me, '/snippets'), [open, id])
  t.same(await ids(they, '/snippets'), [])
  t.equal((await ids(they, '/snippets/public'))[0], open)
  t.notOk((await ids(they, '/snippets/public')).includes(id))
  t.same((await me.get(`/snippets/${id}`)).json(), created.json())
  t.equal((await me.get(`/snippets/${id}/raw`)).body, 'puts 1')
  for (const which of [id, open]) {
    t.equal((await they.get(`/snippets/${which}`)).statusCode, 404)
    t.equal((await they.put(`/snippets/${which}`, { title: 'x' })).statusCode, 404)
    t.same((await they.delete(`/snippets/${which}`)).json(), { message: '404 Snippet Not Found' })
  }
  t.match((await me.put(`/snippets/${id}`, { content: 'puts 2' })).json(), { id, title: 'One' })
  t.equal((await me.get(`/snippets/${id}/raw`)).body, 'puts 2')
  const removed = await me.delete(`/snippets/${id}`)
  t.equal(removed.statusCode, 204)
  t.equal(removed.body, '')
  t.equal((await me.delete(`/snippets/${id}`)).statusCode, 404)
})

t.test('the snippets of a deleted user are gone at once', async t => {
  const author = await app.make.user()
  const project = await aProject({ visibility_level: 20 })
  const [personal, shared] = [await makeSnippet(author), await makeSnippet(author, project)]
  await app.as(await app.make.admin()).delete(`/users/${author.id}`)
  const asker = app.as(project.owner)
  t.same((await asker.get(`/projects/${project.id}/snippets`)).json(), [])
  t.equal((await asker.get(`/projects/${project.id}/snippets/${shared}`)).statusCode, 404)
  t.notOk((await asker.get('/snippets/public')).json().some(({ id }: { id: number }) => id === personal))
})

t.test('a project whose snippets are switched off', async t => {
  const project = await aProject()
  const id = await makeSnippet(project.owner, project)
  await execute('update projects set snippets_enabled = 0 where id = ?', [project.id])
  const asker = app.as(project.owner)
  const path = `/projects/${project.id}/snippets`
  t.same((await asker.get(path)).json(), [])
  t.equal((await asker.get(`${path}/${id}`)).statusCode, 404)
  t.equal((await asker.put(`${path}/${id}`, { title: 'x' })).statusCode, 403)
  const body = { title: 'One', file_name: 'a', code: 'x', visibility_level: 0 }
  t.equal((await asker.post(path, body)).statusCode, 403)
})

// The last one: it restricts the projects of the tests, too.
t.test('a level that the settings restrict is refused, except for administrators', async t => {
  const [user, admin] = [await app.make.user(), app.as(await app.make.admin())]
  await admin.put('/application/settings', { restricted_visibility_levels: [2] })
  const body = { title: 'One', file_name: 'a', content: 'x', visibility_level: 20 }
  const refused = await app.as(user).post('/snippets', body)
  t.equal(refused.statusCode, 400)
  t.match(refused.json(), { message: { visibility_level: [/restricted/] } })
  t.equal((await admin.post('/snippets', body)).statusCode, 201)
})
