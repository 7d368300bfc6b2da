import { createToken, resetPrivateToken, revokeToken } from '../../../../src/areas/people/credentials/tokens.js'
import type { TokenBody } from '../../../../src/areas/people/credentials/tokens.schema.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { tokenHash } from '../../../../src/secrets.js'
import { type Asker, type TestApp, testApp } from '../../../helpers/app.js'
import { someOrigin, type TestUser } from '../../../helpers/factory.js'
import { newKey } from '../../../helpers/ssh-keys.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'

const FIELDS = ['active', 'created_at', 'expires_at', 'id', 'last_used_at', 'name', 'revoked', 'scopes', 'user_id']
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UNAUTHORIZED = { message: '401 Unauthorized' }
const PATH = '/personal_access_tokens'

const command = { ...someOrigin, via: 'command' as const }
const make = (user: TestUser, body: Partial<TokenBody> = {}) => createToken(user, { name: 'made', ...body }, command)
const daysAhead = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const expire = (id: number) =>
  execute('update access_tokens set expires_at = ? where id = ?', [new Date(Date.now() - 1), id])

/** Sends a request with a token, a session or any other headers. */
const withHeaders = (app: TestApp, headers: Record<string, string>) => app.as({ privateToken: '' } as TestUser, headers)
const withToken = (app: TestApp, token: string, headers = {}) =>
  withHeaders(app, { 'private-token': token, ...headers })

t.test('POST /personal_access_tokens', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const asker = app.as(user)

  t.test('makes a token and shows it only this once', async t => {
    const end = daysAhead(30)
    const res = await asker.post(PATH, {
      name: 'deploy',
      scopes: ['read_user', 'api', 'api'],
      expires_at: end,
      user_id: 4711,
      token: 'mine',
      revoked: true
    })
    t.equal(res.statusCode, 201)
    const made = res.json()
    t.same(Object.keys(made).sort(), [...FIELDS, 'token'].sort())
    t.match(made, {
      name: 'deploy',
      scopes: ['read_user', 'api'],
      expires_at: end,
      created_at: DATE_TIME,
      last_used_at: null,
      revoked: false,
      active: true,
      user_id: user.id,
      token: /^[\w-]{20}$/
    })
    const { token, ...shown } = made
    t.same((await asker.get(`${PATH}/${made.id}`)).json(), shown)
    t.equal((await withToken(app, token).get('/user')).json().id, user.id, 'and the token works')
    const [kept] = await rows<Record<string, unknown>>('select * from access_tokens where id = ?', [made.id])
    t.notOk(JSON.stringify(kept).includes(token), 'and nobody can read it from the database')
    t.same(kept?.token_hash, tokenHash(token))
    t.equal(kept?.encrypted, null)
  })

  t.test('takes the scope api and no end by default', async t => {
    t.match((await asker.post(PATH, { name: 'x' })).json(), { scopes: ['api'], expires_at: null, active: true })
    const form = await asker.inject({
      method: 'POST',
      url: `/api/v3${PATH}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'name=form&scopes[]=read_user'
    })
    t.match(form.json(), { name: 'form', scopes: ['read_user'] })
  })

  t.test('refuses wrong input', async t => {
    const cases: [object, object][] = [
      [{}, { error: 'name is missing', message: '400 (Bad request) "name" not given' }],
      [{ name: '' }, { error: 'name is empty' }],
      [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
      [{ name: ['x'] }, { error: 'name is invalid' }],
      [{ name: { a: 'x' } }, { error: 'name is invalid' }],
      [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
      [{ name: 'x', scopes: [] }, { error: 'scopes is invalid' }],
      [{ name: 'x', scopes: ['sudo'] }, { error: 'scopes does not have a valid value' }],
      [{ name: 'x', scopes: ['api', { a: 1 }] }, { error: 'scopes does not have a valid value' }],
      [{ name: 'x', scopes: 'api read_user' }, { error: 'scopes does not have a valid value' }],
      [{ name: 'x', scopes: { api: true } }, { error: 'scopes is invalid' }],
      [{ name: 'x', expires_at: 'tomorrow' }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: '' }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: '2999-02-30' }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: '2999-13-01' }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: ['2999-01-01'] }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: 99999999 }, { error: 'expires_at is invalid' }],
      [{ name: 'x', expires_at: '2016-12-31' }, { message: { expires_at: ['must be in the future'] } }],
      [{ name: 'x', expires_at: daysAhead(0) }, { message: { expires_at: ['must be in the future'] } }]
    ]
    const before = await row<{ count: number }>('select count(*) as count from access_tokens')
    for (const [body, expected] of cases) {
      const res = await asker.post(PATH, body)
      t.equal(res.statusCode, 400, JSON.stringify(body))
      t.match(res.json(), expected, JSON.stringify(body))
    }
    t.same(await row('select count(*) as count from access_tokens'), before)
  })

  t.test('is open to a private token and sudo, and not to a personal token', async t => {
    const { token } = await make(user)
    for (const path of [PATH, `/users/${user.id}${PATH}`]) {
      const root = await app.make.admin()
      const asked = withToken(app, (path === PATH ? { token } : await make(root)).token)
      const res = await asked.post(path, { name: 'child' })
      t.equal(res.statusCode, 403, path)
      t.same(res.json(), { message: '403 Forbidden - Personal access tokens cannot create tokens' })
    }
    const root = await app.make.admin()
    const sudo = await app.as(root, { sudo: user.username }).post(PATH, { name: 'by sudo' })
    t.match(sudo.json(), { user_id: user.id })
    t.equal(await row("select id from access_tokens where name = 'child'"), undefined)
  })

  t.test('writes to the audit, without the token', async t => {
    const { id, token } = (await asker.post(PATH, { name: 'audited', expires_at: daysAhead(2) })).json()
    await asker.delete(`${PATH}/${id}`)
    await asker.delete(`${PATH}/${id}`)
    const events = await rows<{ action: string; changes: string }>(
      "select action, target_name, actor_name, changes from audit_events where target_type = 'token' and target_id = ? order by id",
      [String(id)]
    )
    t.match(events, [
      { action: 'token.create', target_name: 'audited', actor_name: user.username },
      { action: 'token.revoke', target_name: 'audited', actor_name: user.username }
    ])
    t.same(JSON.parse(events[0]?.changes ?? ''), {
      user: { after: user.username },
      scopes: { after: 'api' },
      expires_at: { after: daysAhead(2) }
    })
    t.notOk(JSON.stringify(events).includes(token))
  })
})

t.test('GET /personal_access_tokens', async t => {
  const app = await testApp(t)
  const [user, other, root] = [await app.make.user(), await app.make.user(), await app.make.admin()]
  const ids = async (asker: Asker, query = {}) =>
    (await asker.get(PATH, query)).json().map(({ id }: { id: number }) => id) as number[]
  const mine = (await make(user)).row.id
  const revoked = (await make(user)).row.id
  await revokeToken(revoked, command)
  const expired = (await make(user, { expires_at: daysAhead(3) })).row.id
  await expire(expired)
  const theirs = (await make(other)).row.id

  t.test('lists the caller’s own tokens, newest first, in pages', async t => {
    const res = await app.as(user).get(PATH, { per_page: 2 })
    t.same(
      res.json().map(({ id }: { id: number }) => id),
      [expired, revoked]
    )
    t.equal(res.headers['x-total'], '3', 'the private token does not count')
    for (const token of res.json()) t.same(Object.keys(token).sort(), FIELDS)
    t.same(await ids(app.as(user), { page: 2, per_page: 2 }), [mine])
    t.same(await ids(app.as(user), { user_id: user.id }), [expired, revoked, mine])
    t.same(await ids(app.as(user), { state: 'active' }), [mine])
    t.same(await ids(app.as(user), { state: 'inactive' }), [expired, revoked])
    const list = (await app.as(user).get(PATH)).json()
    t.match(list, [
      { revoked: false, active: false },
      { revoked: true, active: false },
      { revoked: false, active: true }
    ])
  })

  t.test('lists tokens of others only for administrators', async t => {
    t.equal((await app.as(user).get(PATH, { user_id: other.id })).statusCode, 403)
    t.same(await ids(app.as(other)), [theirs])
    t.same((await ids(app.as(root))).slice(0, 4), [theirs, expired, revoked, mine])
    t.same(await ids(app.as(root), { user_id: other.id }), [theirs])
    t.same(await ids(app.as(root), { user_id: 999999 }), [])
    t.same(await ids(app.as(root, { sudo: other.username })), [theirs], 'but not with sudo to a user')
  })

  t.test('refuses wrong filters', async t => {
    for (const query of ['user_id=me', 'user_id[]=1', 'state=dead', 'state[]=active', 'page=x']) {
      const res = await app.as(root).inject({ method: 'GET', url: `/api/v3${PATH}?${query}` })
      t.equal(res.statusCode, 400, query)
    }
  })

  t.test('a token of another user is not found', async t => {
    for (const id of [theirs, 999999, 0, -1, 4294967296]) {
      for (const ask of [app.as(user).get, app.as(user).delete]) {
        const res = await ask(`${PATH}/${id}`)
        t.equal(res.statusCode, 404)
        t.same(res.json(), { message: '404 Personal Access Token Not Found' })
      }
    }
    t.equal((await app.as(root).get(`${PATH}/${theirs}`)).json().user_id, other.id)
    const privateToken = await row<{ id: number }>(
      "select id from access_tokens where user_id = ? and kind = 'private'",
      [user.id]
    )
    t.equal(
      (await app.as(root).delete(`${PATH}/${privateToken?.id}`)).statusCode,
      404,
      'a private token is not found either'
    )
    t.equal((await app.as(user).get('/user')).statusCode, 200)
  })

  t.test('takes the same number of statements for one token and for many', async t => {
    const ask = () => app.as(root).get(PATH, { per_page: 100 })
    const few = await countStatements(ask)
    t.equal(few, 3, 'one for the caller, one for the total, one for the page')
    for (let made = 0; made < 8; made++) await make(other)
    t.equal(await countStatements(ask), few)
  })

  t.test('nobody and blocked users may not', async t => {
    const blocked = app.as(await app.make.user({ blocked: true }))
    for (const who of [app.nobody, blocked]) {
      const answers = await Promise.all([
        who.get(PATH),
        who.get(`${PATH}/${mine}`),
        who.post(PATH, { name: 'x' }),
        who.delete(`${PATH}/${mine}`),
        who.post(`/users/${user.id}${PATH}`, { name: 'x' })
      ])
      for (const { statusCode } of answers) t.equal(statusCode, 401)
    }
  })
})

t.test('POST /users/:id/personal_access_tokens', async t => {
  const app = await testApp(t)
  const [user, root] = [await app.make.user(), await app.make.admin()]
  const res = await app.as(root).post(`/users/${user.id}${PATH}`, { name: 'for them', scopes: ['read_user'] })
  t.equal(res.statusCode, 201)
  t.match(res.json(), { user_id: user.id, scopes: ['read_user'] })
  t.equal((await withToken(app, res.json().token).get('/user')).json().id, user.id)
  t.equal((await app.as(user).post(`/users/${user.id}${PATH}`, { name: 'x' })).statusCode, 403)
  for (const id of ['999999', 'abc', '0']) {
    const missing = await app.as(root).post(`/users/${id}${PATH}`, { name: 'x' })
    t.equal(missing.statusCode, 404)
    t.same(missing.json(), { message: '404 User Not Found' })
  }
})

t.test('the end of a token', async t => {
  const app = await testApp(t)
  const [user, root] = [await app.make.user(), await app.make.admin()]
  const project = await app.make.project({ owner: user })
  // Another name for each token, because the server slows down many guesses under one name.
  const fetch = (token: string) =>
    app.fastify.inject({
      method: 'GET',
      url: `/${project.path}.git/info/refs?service=git-upload-pack`,
      headers: { authorization: `Basic ${Buffer.from(`${user.username}-${token}:${token}`).toString('base64')}` }
    })
  const opens = async (token: string) => [
    (await withToken(app, token).get('/user')).statusCode,
    (await fetch(token)).statusCode
  ]

  t.test('comes at once when it is revoked: by its user, by an administrator, by itself', async t => {
    for (const who of [() => app.as(user), () => app.as(root), (token: string) => withToken(app, token)]) {
      const { token, row } = await make(user)
      t.same(await opens(token), [200, 200])
      const res = await who(token).delete(`${PATH}/${row.id}`)
      t.equal(res.statusCode, 200)
      t.match(res.json(), { id: row.id, revoked: true, active: false })
      t.same(await opens(token), [401, 401])
      t.equal((await app.as(user).delete(`${PATH}/${row.id}`)).statusCode, 200, 'the second time changes nothing')
    }
  })

  t.test('comes at once when it expires', async t => {
    const { token, row } = await make(user, { expires_at: daysAhead(1) })
    t.same(await opens(token), [200, 200])
    await expire(row.id)
    t.same(await opens(token), [401, 401])
    t.same((await withToken(app, token).get('/user')).json(), UNAUTHORIZED)
  })

  t.test('comes at once when its user is blocked', async t => {
    const leaver = await app.make.user()
    const { token } = await make(leaver)
    await execute("update users set state = 'blocked' where id = ?", [leaver.id])
    t.same(await opens(token), [401, 401])
  })
})

t.test('the last use of a token', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const { token, row: made } = await make(user)
  const lastUse = async () =>
    (await row<{ last_used_at: Date | null }>('select last_used_at from access_tokens where id = ?', [made.id]))
      ?.last_used_at ?? null
  const use = () => withToken(app, token).get('/user')
  const setLastUse = (date: Date) => execute('update access_tokens set last_used_at = ? where id = ?', [date, made.id])

  t.equal(await lastUse(), null)
  await use()
  const first = await until('it is written down', lastUse)
  t.equal((await app.as(user).get(`${PATH}/${made.id}`)).json().last_used_at, first.toISOString())

  t.test('is written again after ten minutes, and not before', async t => {
    const recent = new Date(Date.now() - 9 * 60_000)
    await setLastUse(recent)
    await Promise.all([use(), use(), use()])
    const old = new Date(Date.now() - 11 * 60_000)
    t.same(await lastUse(), recent)
    await setLastUse(old)
    await Promise.all([use(), use(), use()])
    await until('it is written down', async () => ((await lastUse())?.getTime() ?? 0) > old.getTime())
  })

  t.test('git requests count too', async t => {
    const project = await app.make.project({ owner: user })
    const old = new Date(Date.now() - 86_400_000)
    await setLastUse(old)
    const authorization = `Basic ${Buffer.from(`git:${token}`).toString('base64')}`
    const url = `/${project.path}.git/info/refs?service=git-upload-pack`
    t.equal((await app.fastify.inject({ method: 'GET', url, headers: { authorization } })).statusCode, 200)
    await until('it is written down', async () => ((await lastUse())?.getTime() ?? 0) > old.getTime())
  })
})

t.test('a token of scope read_user', async t => {
  const app = await testApp(t)
  const [user, root] = [await app.make.user(), await app.make.admin()]
  const project = await app.make.project({ owner: user, visibility_level: 20 })
  const { token, row: itself } = await make(user, { scopes: ['read_user'] })
  const asker = withToken(app, token)

  t.test('reads its user’s account, keys and addresses', async t => {
    const key = (await app.as(user).post('/user/keys', { title: 'k', key: newKey() })).json().id
    const email = (await app.as(user).post('/user/emails', { email: 'second@example.com' })).json().id
    const paths = ['/user', '/users', `/users/${user.id}`, '/user/keys', `/user/keys/${key}`, '/user/emails']
    for (const path of [...paths, `/user/emails/${email}`]) t.equal((await asker.get(path)).statusCode, 200, path)
  })

  t.test('reads nothing else', async t => {
    const refused = [
      asker.post('/user/keys', { title: 'x', key: newKey() }),
      asker.delete('/user/keys/1'),
      asker.post('/user/emails', { email: 'third@example.com' }),
      asker.delete('/user/emails/1'),
      asker.post(PATH, { name: 'x' }),
      asker.get(PATH),
      asker.get(`${PATH}/${itself.id}`),
      asker.delete(`${PATH}/${itself.id}`),
      asker.post(`/users/${user.id}${PATH}`, { name: 'x' }),
      asker.get('/keys/1'),
      asker.get('/projects'),
      asker.get(`/projects/${project.id}`),
      asker.post('/projects', { name: 'x' }),
      asker.get('/hooks')
    ]
    for (const res of await Promise.all(refused)) {
      t.equal(res.statusCode, 401, `${res.raw.req.method} ${res.raw.req.url}`)
      t.same(res.json(), UNAUTHORIZED)
    }
    const authorization = `Basic ${Buffer.from(`any:${token}`).toString('base64')}`
    const git = await app.fastify.inject({
      method: 'GET',
      url: `/${project.path}.git/info/refs?service=git-upload-pack`,
      headers: { authorization }
    })
    t.equal(git.statusCode, 401)
  })

  t.test('of an administrator reads what administrators may read about users', async t => {
    const reader = withToken(app, (await make(root, { scopes: ['read_user'] })).token)
    t.equal((await reader.get(`/users/${user.id}/keys`)).statusCode, 200)
    t.equal((await reader.get(`/users/${user.id}/emails`)).statusCode, 200)
    t.equal((await asker.get(`/users/${user.id}/keys`)).statusCode, 403)
    t.equal((await reader.post(`/users/${user.id}/emails`, { email: 'x@example.com' })).statusCode, 401)
  })
})

t.test('sudo does not work with a personal token', async t => {
  const app = await testApp(t)
  const [user, root] = [await app.make.user(), await app.make.admin()]
  const refused = { message: '403 Forbidden - Private token must be specified in order to use sudo' }
  const asker = withToken(app, (await make(root)).token, { sudo: user.username })
  const answers = await Promise.all([
    asker.get('/user/keys'),
    asker.post('/user/keys', { title: 'x', key: newKey() }),
    asker.post('/user/emails', { email: 'sudo@example.com' }),
    asker.post(PATH, { name: 'x' })
  ])
  for (const res of answers) {
    t.equal(res.statusCode, 403)
    t.same(res.json(), refused)
  }
})

t.test('reset of the private token', async t => {
  const app = await testApp(t)
  const user = await app.make.user()

  t.test('replaces the old token at once, and the API shows the new one', async t => {
    const personal = await make(user)
    const token = await resetPrivateToken(user, command)
    t.match(token, /^[\w-]{20}$/)
    t.equal((await app.as(user).get('/user')).statusCode, 401)
    t.equal((await withToken(app, token).get('/user')).json().id, user.id)
    const session = await app.nobody.post('/session', { login: user.username, password: user.password })
    t.equal(session.json().private_token, token)
    t.equal((await withToken(app, personal.token).get('/user')).statusCode, 200, 'personal tokens stay')
    const [event] = await rows<{ changes: string }>("select * from audit_events where action = 'token.reset'")
    t.match(event, { target_name: user.username, via: 'command' })
    t.notOk(event?.changes.includes(token))
  })

  t.test('of many resets at once, one token stays', async t => {
    const tokens = await Promise.all(Array.from({ length: 5 }, () => resetPrivateToken(user, command)))
    const answers = await Promise.all(tokens.map(token => withToken(app, token).get('/user')))
    t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1)
  })

  t.test('a user who does not exist is not found', async t => {
    await t.rejects(resetPrivateToken({ id: 999999, username: 'nobody' }, command), { message: '404 User Not Found' })
  })
})
