// The effects of the settings on other parts, which begin at once.
import { gitProtocolAllowed } from '../../../../src/areas/ground/settings/git-protocol.js'
import { revealPrivateToken as tokenOf } from '../../../../src/areas/people/users/users.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { tokenHash } from '../../../../src/secrets.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../../ci/builds/make-builds.js'

process.env.GITSTEAD_REPOSITORIES_STORAGES = 'default,second,third'
const app = await testApp(t)
loadConfig({ port: 0 })
const root = await app.make.admin()
const admin = app.as(root)
const put = async (body: object) => {
  const res = await admin.put('/application/settings', body)
  if (res.statusCode !== 200) throw new Error(res.body)
}
t.beforeEach(() => execute("update application_settings set changed = '{}'"))
let count = 0
const name = () => `thing-${++count}`

t.test('default_projects_limit: users who are created without a limit', async t => {
  const make = async (values: object) => {
    const username = name()
    const body = { username, name: username, email: `${username}@example.org`, password: 'long enough', ...values }
    return (await admin.post('/users', body)).json().projects_limit
  }
  await put({ default_projects_limit: 3 })
  t.equal(await make({}), 3)
  t.equal(await make({ projects_limit: 7 }), 7)
  t.equal(await make({ projects_limit: 0 }), 0)
  await put({ default_projects_limit: 0 })
  t.equal(await make({}), 0)
})

t.test('default_project_visibility: projects that are created without a level', async t => {
  const asker = app.as(await app.make.user())
  const level = async (values: object) =>
    (await asker.post('/projects', { name: name(), ...values })).json().visibility_level
  for (const [setting, expected] of [
    [0, 0],
    [1, 10],
    [2, 20]
  ] as const) {
    await put({ default_project_visibility: setting })
    t.equal(await level({}), expected)
    t.equal(await level({ visibility_level: 10 }), 10)
    t.equal(await level({ public: true }), 20)
    t.equal(await level({ public: false }), 0)
  }
})

t.test('restricted_visibility_levels: only administrators may use them', async t => {
  const user = await app.make.user()
  const create = (asker: typeof admin, values: object) => asker.post('/projects', { name: name(), ...values })
  await put({ restricted_visibility_levels: [0, 2] })
  const cases: [object, string][] = [
    [{ visibility_level: 0 }, 'private'],
    [{}, 'private'],
    [{ visibility_level: 20 }, 'public'],
    [{ public: true }, 'public']
  ]
  for (const [values, word] of cases) {
    const res = await create(app.as(user), values)
    t.equal(res.statusCode, 400)
    t.same(res.json(), {
      message: { visibility_level: [`${word} visibility has been restricted by your administrator`] }
    })
    t.equal((await create(admin, values)).statusCode, 201, 'administrators may')
    const sudo = await create(app.as(root, { sudo: user.username }), values)
    t.equal(sudo.statusCode, 400, 'but not with sudo to a user who may not')
  }
  t.equal((await create(app.as(user), { visibility_level: 10 })).statusCode, 201)
  await put({ restricted_visibility_levels: null })
  t.equal((await create(app.as(user), {})).statusCode, 201)
})

t.test('restricted_visibility_levels and default_group_visibility: groups', async t => {
  const owner = await app.make.user()
  const asker = app.as(owner)
  const create = (by: typeof admin, values: object) => by.post('/groups', { name: 'G', path: name(), ...values })
  await put({ restricted_visibility_levels: [2], default_group_visibility: 2 })
  const refused = await create(asker, {})
  t.equal(refused.statusCode, 400)
  t.match(refused.json().message, /^Failed to save group .*public visibility has been restricted/)
  t.equal((await create(admin, {})).json().visibility_level, 20)
  const made = await create(asker, { visibility_level: 0 })
  t.equal(made.statusCode, 201)
  const { id } = made.json()
  const change = (by: typeof admin, values: object) => by.put(`/groups/${id}`, values)
  t.match((await change(asker, { visibility_level: 20 })).json(), {
    message: { visibility_level: ['public visibility has been restricted by your administrator'] }
  })
  t.equal((await change(admin, { visibility_level: 20 })).statusCode, 200)
  t.equal((await change(asker, { name: 'Still public' })).statusCode, 200, 'what it is already stays')
})

t.test('repository_storages: the storages of new projects', async t => {
  const asker = app.as(await app.make.user())
  const storages = async () => {
    const found = new Set<string>()
    for (let n = 0; n < 12; n++) {
      const { id } = (await asker.post('/projects', { name: name() })).json()
      found.add((await row<{ storage: string }>('select storage from projects where id = ?', [id]))?.storage ?? '')
    }
    return [...found].sort()
  }
  await put({ repository_storages: ['second'] })
  t.same(await storages(), ['second'])
  await put({ repository_storage: 'third' })
  t.same(await storages(), ['third'])
  await put({ repository_storages: ['third', 'second'] })
  t.notOk((await storages()).includes('default'))
  await execute(`update application_settings set changed = '{"repository_storages":["gone"]}'`)
  t.notOk((await storages()).includes('gone'), 'one that the configuration has no more is not used')
})

t.test('signin_enabled: passwords work only for administrators', async t => {
  const user = await app.make.user()
  const project = await app.make.project({ owner: user })
  const session = (who: typeof user, password = who.password) =>
    app.nobody.post('/session', { login: who.username, password })
  const fetch = (who: typeof user, password: string) =>
    app.fastify.inject({
      method: 'GET',
      url: `/${project.path}.git/info/refs?service=git-upload-pack`,
      headers: { authorization: `Basic ${Buffer.from(`${who.username}:${password}`).toString('base64')}` }
    })
  t.equal((await session(user)).statusCode, 201)
  await put({ signin_enabled: false })
  const refused = await session(user)
  t.equal(refused.statusCode, 403)
  t.same(refused.json(), {
    message: '403 Forbidden - Signing in with a password is switched off: use a personal access token'
  })
  t.equal((await session(user, 'wrong password')).statusCode, 401, 'a wrong password is reported first')
  t.equal((await session(root)).statusCode, 201)
  const git = await fetch(user, user.password)
  t.equal(git.statusCode, 403)
  t.match(git.headers['content-type'], /^text\/plain/)
  t.equal(git.body, 'Signing in with a password is switched off: use a personal access token\n')
  t.equal((await fetch(user, user.privateToken)).statusCode, 200, 'tokens work on')
  t.equal((await fetch(root, root.password)).statusCode, 200)
  t.equal((await fetch(user, 'wrong password')).statusCode, 401)
})

t.test('enabled_git_access_protocol: git over HTTP', async t => {
  const project = await app.make.project({ visibility_level: 20 })
  const [build] = await makePipeline(project, 'job:\n  script: [make]\n')
  const ask = (credentials?: string, service = 'git-upload-pack') =>
    app.fastify.inject({
      method: 'GET',
      url: `/${project.path}.git/info/refs?service=${service}`,
      headers: credentials ? { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` } : {}
    })
  const owner = `${project.owner.username}:${project.owner.privateToken}`
  await put({ enabled_git_access_protocol: 'ssh' })
  for (const res of [
    await ask(),
    await ask(owner),
    await ask(owner, 'git-receive-pack'),
    await ask(`root:${root.privateToken}`)
  ]) {
    t.equal(res.statusCode, 403)
    t.match(res.headers['content-type'], /^text\/plain/)
    t.equal(res.body, 'Git over HTTP is switched off: use SSH\n')
  }
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const res = await app.fastify.inject({
      method: 'POST',
      url: `/${project.path}.git/${service}`,
      headers: {
        'content-type': `application/x-${service}-request`,
        authorization: `Basic ${Buffer.from(owner).toString('base64')}`
      },
      payload: '0000'
    })
    t.equal(res.statusCode, 403, service)
  }
  await execute("update builds set status = 'running', token_hash = ? where id = ?", [
    tokenHash('a-running-build'),
    build?.id ?? 0
  ])
  t.equal((await ask('gitlab-ci-token:a-running-build')).statusCode, 200, 'builds have no other way')
  for (const protocol of ['http', null]) {
    await put({ enabled_git_access_protocol: protocol })
    t.equal((await ask(owner)).statusCode, 200)
  }
})

t.test('enabled_git_access_protocol: the rule for both protocols', async t => {
  const allowed = async () => [await gitProtocolAllowed('http'), await gitProtocolAllowed('ssh')]
  for (const [protocol, expected] of [
    ['ssh', [false, true]],
    ['http', [true, false]],
    ['nil', [true, true]],
    [null, [true, true]]
  ] as const) {
    await put({ enabled_git_access_protocol: protocol })
    t.same(await allowed(), expected, String(protocol))
  }
})

t.test('default_projects_limit: a user who reaches the limit creates no more, except in groups', async t => {
  await put({ default_projects_limit: 1 })
  const username = name()
  const body = { username, name: username, email: `${username}@example.org`, password: 'long enough' }
  const { id, private_token: privateToken } = (await admin.post('/users', body)).json()
  const user = { ...root, id, privateToken: privateToken ?? (await tokenOf(id)) }
  const group = await app.make.group({ owner: user })
  t.equal((await app.as(user).post('/projects', { name: name() })).statusCode, 201)
  const refused = await app.as(user).post('/projects', { name: name() })
  t.equal(refused.statusCode, 403)
  t.match(JSON.stringify(refused.json()), /Your project limit is 1 projects! Please contact your administrator/)
  t.equal((await app.as(user).post('/projects', { name: name(), namespace_id: group.id })).statusCode, 201)
})

t.test('reads of the API read no setting: only the token and the record', async t => {
  const project = await app.make.project()
  const asker = app.as(project.owner)
  // The project is read with the token.
  for (const [path, statements] of [
    [`/projects/${project.id}`, 1],
    ['/user', 2],
    [`/users/${project.owner.id}`, 2]
  ] as const) {
    t.equal(await countStatements(() => asker.get(path)), statements, path)
  }
})
