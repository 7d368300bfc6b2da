import { row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { newKey, privateKeyFile } from '../../../helpers/ssh-keys.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const admin = app.as(await app.make.admin())

/** A project, with its owner who asks. */
async function place(name: 'deploy_keys' | 'keys' = 'deploy_keys') {
  const project = await app.make.project()
  return { project, path: `/projects/${project.id}/${name}`, owner: app.as(project.owner), user: project.owner }
}

for (const name of ['deploy_keys', 'keys'] as const) {
  t.test(`${name}: a key is added, shown, listed and removed`, async t => {
    const { project, path, owner, user } = await place(name)
    const key = newKey('ci@example.org')
    const made = await owner.post(path, { title: ' server ', key: `${key}\n`, can_push: true })
    t.equal(made.statusCode, 201)
    const { id } = made.json()
    t.match(made.json(), { title: 'server', key, can_push: true, created_at: /^\d{4}-.*Z$/ })
    t.same(Object.keys(made.json()).sort(), ['can_push', 'created_at', 'id', 'key', 'title'])
    t.same((await owner.get(path)).json(), [made.json()])
    t.same((await owner.get(`${path}/${id}`)).json(), made.json())
    t.match((await admin.get('/deploy_keys')).json(), [{ id }])
    const gone = await owner.delete(`${path}/${id}`)
    t.equal(gone.statusCode, 200)
    t.match(gone.json(), {
      id: Number,
      deploy_key_id: id,
      project_id: project.id,
      created_at: String,
      updated_at: String
    })
    t.same((await owner.get(path)).json(), [])
    t.same((await admin.get('/deploy_keys')).json(), [], 'no project had it any more')
    const log = await rows<{ action: string; actor_name: string }>(
      'select action, actor_name from audit_events where target_type = ? and target_id = ? order by id',
      ['deploy_key', String(id)]
    )
    const actions = ['create', 'enable', 'disable', 'delete'].map(verb => `deploy_key.${verb}`)
    t.strictSame(
      [...log],
      actions.map(action => ({ action, actor_name: user.username }))
    )
  })
}

t.test('a key does not push unless that is said', async t => {
  const { path, owner } = await place()
  t.match((await owner.post(path, { title: 'reads', key: newKey() })).json(), { can_push: false })
})

t.test('missing and wrong values are reported by attribute', async t => {
  const { path, owner } = await place()
  const cases = [
    [{}, { title: ["can't be blank"], key: ["can't be blank"] }],
    [{ key: newKey() }, { title: ["can't be blank"] }],
    [{ title: 'x' }, { key: ["can't be blank"] }],
    [{ title: 'x', key: privateKeyFile('ed25519') }, { key: [/^is a private key/] }],
    [{ title: 'x'.repeat(256), key: newKey() }, { title: ['is too long (maximum is 255 characters)'] }]
  ] as const
  for (const [body, message] of cases) {
    const answer = await owner.post(path, body)
    t.equal(answer.statusCode, 400)
    t.match(answer.json(), { message })
  }
})

t.test('an unknown key', async t => {
  const { path, owner } = await place()
  const shown = await owner.get(`${path}/999999`)
  t.match([shown.statusCode, shown.json()], [404, { message: '404 Not found' }])
  for (const answer of [
    await owner.post(`${path}/999999/enable`),
    await owner.delete(`${path}/999999`),
    await owner.delete(`${path}/999999/disable`)
  ]) {
    t.match([answer.statusCode, answer.json()], [404, { message: '404 Deploy Key Not Found' }])
  }
})

t.test('the same key again in a project is the same record', async t => {
  const { path, owner } = await place()
  const key = newKey('one')
  const { id } = (await owner.post(path, { title: 'one', key })).json()
  const again = await owner.post(path, { title: 'two', key: key.replace(' one', ' two'), can_push: true })
  t.match([again.statusCode, again.json()], [201, { id, title: 'one', can_push: false }])
  t.equal((await owner.get(path)).json().length, 1)
})

t.test('a key of a project where the caller is a master is linked, and deleted with its last project', async t => {
  const { path, owner, user } = await place()
  const other = await app.make.project({ owner: user })
  const key = newKey()
  const { id } = (await owner.post(path, { title: 'one', key })).json()
  t.match((await owner.post(`/projects/${other.id}/keys`, { title: 'two', key })).json(), { id, title: 'one' })
  t.equal((await owner.delete(`${path}/${id}`)).statusCode, 200)
  t.match((await owner.get(`/projects/${other.id}/keys`)).json(), [{ id }])
  t.match((await owner.delete(`/projects/${other.id}/keys/${id}/disable`)).json(), { id, title: 'one' })
  t.equal(await row('select 1 as found from deploy_keys where id = ?', [id]), undefined)
})

t.test('a key that only a project of others has is refused, and cannot be enabled', async t => {
  const [one, two] = [await place(), await place()]
  const key = newKey()
  const { id } = (await one.owner.post(one.path, { title: 'one', key })).json()
  t.equal((await two.owner.post(`${two.path}/${id}/enable`)).statusCode, 404)
  const refused = await two.owner.post(two.path, { title: 'two', key })
  t.match([refused.statusCode, refused.json()], [400, { message: { fingerprint: ['has already been taken'] } }])
  t.same((await two.owner.get(two.path)).json(), [])
})

t.test('a key that is added to several projects at once is one record', async t => {
  const { path, owner, user } = await place()
  const projects = await Promise.all([1, 2, 3, 4].map(() => app.make.project({ owner: user })))
  const paths = [path, ...projects.map(({ id }) => `/projects/${id}/deploy_keys`)]
  const key = newKey()
  const answers = await Promise.all(paths.map(each => owner.post(each, { title: 'everywhere', key })))
  t.same(
    answers.map(({ statusCode }) => statusCode),
    paths.map(() => 201)
  )
  t.equal(new Set(answers.map(answer => answer.json().id)).size, 1)
})

t.test('a developer elsewhere is no master', async t => {
  const [one, two] = [await place(), await place()]
  const { id } = (await one.owner.post(one.path, { title: 'one', key: newKey() })).json()
  await app.make.member(one.project, 30, two.user)
  t.equal((await two.owner.post(`${two.path}/${id}/enable`)).statusCode, 404)
  const third = await place()
  await app.make.member(one.project, 40, third.user)
  const enabled = await third.owner.post(`${third.path}/${id}/enable`)
  t.match([enabled.statusCode, enabled.json()], [201, { id }])
})

t.test('a public key is for everybody, and stays without projects', async t => {
  const { addPublicKey } = await import('../../../../src/areas/projects/ssh/deploy-keys.js')
  const { someOrigin } = await import('../../../helpers/factory.js')
  const { path, owner } = await place()
  const { id } = await addPublicKey({ title: 'everywhere', key: newKey() }, someOrigin)
  t.match((await owner.post(`${path}/${id}/enable`)).json(), { id })
  t.equal((await owner.delete(`${path}/${id}`)).statusCode, 200)
  t.match((await owner.post(`${path}/${id}/enable`)).statusCode, 201)
})

t.test('a key opens an account or projects, never both', async t => {
  const { path, owner } = await place()
  const [ofUser, ofProject] = [newKey(), newKey()]
  await owner.post('/user/keys', { title: 'mine', key: ofUser })
  await owner.post(path, { title: 'its', key: ofProject })
  for (const answer of [
    await owner.post(path, { title: 'its', key: ofUser }),
    await owner.post('/user/keys', { title: 'mine', key: ofProject })
  ]) {
    t.match([answer.statusCode, answer.json()], [400, { message: { fingerprint: ['has already been taken'] } }])
  }
})

t.test('a private key is deleted with its project', async t => {
  const { project, path, owner } = await place()
  const { id } = (await owner.post(path, { title: 'one', key: newKey() })).json()
  await owner.delete(`/projects/${project.id}`)
  await app.runJobs()
  t.equal(await row('select 1 as found from deploy_keys where id = ?', [id]), undefined)
})
