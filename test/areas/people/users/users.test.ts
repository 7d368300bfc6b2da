import { insertIdentities } from '../../../../src/areas/people/users/identities.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const BASIC = ['avatar_url', 'id', 'name', 'state', 'username', 'web_url']
const FULL = [
  ...BASIC,
  'bio',
  'created_at',
  'is_admin',
  'location',
  'messenger',
  'microblog',
  'organization',
  'professional_network',
  'website_url'
].sort()
const ACCOUNT = [
  ...FULL,
  'can_create_group',
  'can_create_project',
  'color_scheme_id',
  'confirmed_at',
  'current_sign_in_at',
  'email',
  'external',
  'identities',
  'last_sign_in_at',
  'projects_limit',
  'theme_id',
  'two_factor_enabled'
].sort()
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const body = (username: string, rest: object = {}) => ({
  email: `${username}@example.org`,
  password: 'correct horse',
  username,
  name: 'Some Body',
  ...rest
})

t.test('POST /users', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())

  t.test('creates a user with everything that is given', async t => {
    const given = {
      messenger: 'm',
      professional_network: 'p',
      microblog: 'b',
      website_url: 'https://example.org',
      organization: 'o',
      bio: 'about',
      location: 'here'
    }
    const rest = { projects_limit: 3, admin: true, can_create_group: false, external: true }
    const res = await admin.post('/users', body('full', { ...given, ...rest, provider: 'ldap', extern_uid: 'cn=full' }))
    t.equal(res.statusCode, 201)
    const user = res.json()
    t.same(Object.keys(user).sort(), ACCOUNT)
    t.match(user, {
      ...given,
      username: 'full',
      name: 'Some Body',
      email: 'full@example.org',
      state: 'active',
      avatar_url: null,
      is_admin: true,
      projects_limit: 3,
      can_create_group: false,
      can_create_project: true,
      external: true,
      two_factor_enabled: false,
      last_sign_in_at: null,
      current_sign_in_at: null,
      identities: [{ provider: 'ldap', extern_uid: 'cn=full' }],
      created_at: DATE_TIME,
      confirmed_at: DATE_TIME
    })
    t.same((await admin.get(`/users/${user.id}`)).json(), user, 'GET shows the same afterwards')
  })

  t.test('takes defaults for the rest, and ignores unknown parameters', async t => {
    const res = await admin.post(
      '/users',
      body('plain', { id: 4711, state: 'blocked', is_admin: true, created_at: 'x' })
    )
    t.equal(res.statusCode, 201)
    t.match(res.json(), {
      is_admin: false,
      state: 'active',
      projects_limit: 10,
      can_create_group: true,
      external: false
    })
    t.not(res.json().id, 4711)
  })

  const conflicts = [
    ['an address that is taken', body('other', { email: 'PLAIN@example.org' }), 'Email has already been taken'],
    ['a name that is taken', body('Plain', { email: 'x@example.org' }), 'Username has already been taken'],
    ['both: the address first', body('plain'), 'Email has already been taken']
  ] as const
  for (const [what, values, message] of conflicts) {
    t.test(`refuses ${what}`, async t => {
      const res = await admin.post('/users', values)
      t.equal(res.statusCode, 409)
      t.same(res.json(), { message })
    })
  }

  const invalid: [string, object, object][] = [
    ['a short password', { password: '1234567' }, { password: ['is too short (minimum is 8 characters)'] }],
    ['an address without @', { email: 'nobody' }, { email: ['is invalid'] }],
    ['a blank name', { name: '  ' }, { name: ["can't be blank"] }],
    ['a reserved name', { username: 'admin' }, { username: ['is reserved'] }],
    ['a name that begins with a dash', { username: '-x' }, { username: ["cannot start with '-'"] }],
    ['a name with a slash', { username: 'a/b' }, { username: [/can contain only/] }],
    ['a name with NUL', { username: 'a\0b' }, { username: [/can contain only/] }],
    ['dots', { username: '..' }, { username: ['is reserved'] }],
    ['a name that ends in .git', { username: 'x.git' }, { username: [/cannot end in/] }]
  ]
  for (const [what, values, message] of invalid) {
    t.test(`refuses ${what}`, async t => {
      const res = await admin.post('/users', body('unused', values))
      t.equal(res.statusCode, 400)
      t.match(res.json(), { message })
    })
  }

  const wrong: [string, object, string][] = [
    ['what is missing', { email: undefined, name: undefined }, 'email is missing, name is missing'],
    ['what is blank', { name: '' }, 'name is empty'],
    ['a list for a text', { name: ['a'] }, 'name is invalid'],
    ['an object for a text', { bio: { a: 1 } }, 'bio is invalid'],
    ['a text for a number', { projects_limit: 'many' }, 'projects_limit is invalid'],
    ['a broken number', { projects_limit: 1.5 }, 'projects_limit is invalid'],
    ['a word for a switch', { admin: 'maybe' }, 'admin is invalid']
  ]
  for (const [what, values, error] of wrong) {
    t.test(`refuses ${what}`, async t => {
      const res = await admin.post('/users', body('unused', values))
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error, message: String })
    })
  }

  t.test('refuses a value that is too long', async t => {
    const res = await admin.post('/users', body('unused', { bio: 'x'.repeat(256) }))
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: { bio: ['is too long (maximum is 255 characters)'] } })
  })

  t.test('refuses half of an identity', async t => {
    t.equal((await admin.post('/users', body('unused', { provider: 'ldap' }))).statusCode, 400)
  })

  t.test('255 characters of four bytes each fit', async t => {
    const bio = '🦊'.repeat(255)
    t.equal((await admin.post('/users', body('foxes', { bio }))).json().bio, bio)
  })
})

t.test('GET /user', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const res = await app.as(user).get('/user')
  t.equal(res.statusCode, 200)
  t.same(Object.keys(res.json()).sort(), ACCOUNT, 'the own-account view, without the token')
  t.match(res.json(), { id: user.id, username: user.username, email: user.email, is_admin: false })
})

t.test('GET /users', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin({ username: 'the-admin' })
  const asker = await app.make.user()
  const blocked = await app.make.user({ blocked: true, email: 'needle@example.org' })
  const external = await app.make.user({ external: true, name: 'Percent % Sign' })
  const ids = async (query: Record<string, string | boolean>, who = admin) =>
    (await app.as(who).get('/users', query)).json().map(({ id }: { id: number }) => id)

  t.test('gives the short view to users and the full one to administrators', async t => {
    const short = (await app.as(asker).get('/users')).json()
    for (const user of short) t.same(Object.keys(user).sort(), BASIC)
    for (const user of (await app.as(admin).get('/users')).json()) t.same(Object.keys(user).sort(), ACCOUNT)
  })

  t.test('filters', async t => {
    t.same(await ids({ blocked: true }), [blocked.id])
    t.notOk((await ids({ active: true })).includes(blocked.id))
    t.same(await ids({ search: 'NEEDLE' }), [blocked.id])
    t.same(await ids({ search: 'nÉedle' }), [blocked.id])
    t.same(await ids({ search: '%' }), [external.id], 'a wildcard is a plain character')
    t.same(await ids({ search: '_' }), [])
    t.same(await ids({ search: 'the-adm' }), [admin.id])
    t.same(await ids({ username: 'the-admin' }), [admin.id])
    t.same(await ids({ username: 'the-adm' }), [])
    t.ok((await ids({ external: true })).includes(external.id))
    t.notOk((await ids({ external: true })).includes(asker.id))
    t.ok((await ids({ external: true }, asker)).includes(asker.id), 'this filter is for administrators')
    t.same(await ids({ search: "' or 1=1 -- " }), [])
    await app.as(admin).put(`/users/${asker.id}`, { name: 'Haystack' })
    t.same(await ids({ search: 'haySTÁ' }), [asker.id], 'a new name')
  })

  t.test('finds addresses by a part for administrators only', async t => {
    for (const search of [
      'needle',
      'needle@',
      'needle@example.or',
      'eedle@example.org',
      '@example.org',
      '%',
      'n_edle'
    ]) {
      t.notOk((await ids({ search }, asker)).includes(blocked.id), search)
    }
    t.ok((await ids({ search: '@example.org' })).includes(blocked.id))
    t.same(
      await ids({ search: 'NEEDLE@example.org' }, asker),
      [blocked.id],
      'the whole address, which the caller knows'
    )
    t.same(await ids({ search: 'nêedle@example.org' }, asker), [])
    t.same(await ids({ search: 'the-adm' }, asker), [admin.id])
  })

  t.test('matches the whole username, ignoring case', async t => {
    t.same(await ids({ username: 'THE-ADMIN' }), [admin.id])
    for (const username of ['thé-admin', 'the-admin ', ' the-admin', 'the-admin🦊', 'the-adm%']) {
      t.same(await ids({ username }), [], JSON.stringify(username))
    }
  })

  t.test('takes the same number of statements for one user and for many', async t => {
    const ask = () => app.as(admin).get('/users', { per_page: 100 })
    const few = await countStatements(ask)
    t.equal(few, 3, 'the caller, the page, which shows the total, and the identities of its users')
    for (let made = 0; made < 12; made++) await app.make.user()
    t.equal(await countStatements(ask), few)
  })

  t.test('shows the identities of each user, with one statement for all', async t => {
    const [one, other] = [await app.make.user(), await app.make.user()]
    const plain = await app.make.user()
    const given = [
      { userId: other.id, provider: 'ldap', externUid: 'cn=z' },
      { userId: one.id, provider: 'ldap', externUid: 'cn=one' },
      { userId: other.id, provider: 'company', externUid: 'subject "2"' }
    ]
    for (const each of given) await insertIdentities([each])
    const of = (id: number) =>
      given.filter(each => each.userId === id).map(({ provider, externUid }) => ({ provider, extern_uid: externUid }))
    const ask = () => app.as(admin).get('/users', { per_page: 100 })
    t.equal(await countStatements(ask), 3)
    const listed: { id: number; identities: object[] }[] = (await ask()).json()
    for (const { id } of [one, other, plain]) {
      t.same(listed.find(user => user.id === id)?.identities, of(id))
      t.same((await app.as(admin).get(`/users/${id}`)).json().identities, of(id))
    }
    t.equal(of(other.id).length, 2)
    t.same(listed.find(user => user.id === admin.id)?.identities, [])
  })
})

t.test('GET /users/:id', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const other = await app.make.user()
  t.same(Object.keys((await app.as(other).get(`/users/${user.id}`)).json()).sort(), FULL)
  t.same(Object.keys((await app.as(await app.make.admin()).get(`/users/${user.id}`)).json()).sort(), ACCOUNT)
  for (const id of ['999999', '0', '-1', '4294967296', '99999999999999999999', 'abc', '1.5', '%00', "1'--"]) {
    const res = await app.as(other).get(`/users/${id}`)
    t.equal(res.statusCode, 404, id)
    t.same(res.json(), { message: '404 User Not Found' }, id)
  }
})

t.test('POST /session', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const { password } = user

  t.test('gives the account and its token, by name or address, in either parameter', async t => {
    for (const login of [user.username, user.email, user.username.toUpperCase()]) {
      for (const key of ['login', 'email']) {
        const res = await app.nobody.post('/session', { [key]: login, password })
        t.equal(res.statusCode, 201, `${key}=${login}`)
        t.same(Object.keys(res.json()).sort(), [...ACCOUNT, 'private_token'].sort())
        t.equal(res.json().private_token, user.privateToken)
      }
    }
  })

  t.test('refuses a wrong password, an unknown login and a blocked user alike', async t => {
    const blocked = await app.make.user({ blocked: true })
    const attempts = [
      { login: user.username, password: 'wrong password' },
      { login: 'no-such-user', password },
      { login: blocked.username, password: blocked.password }
    ]
    for (const attempt of attempts) {
      const res = await app.nobody.post('/session', attempt)
      t.equal(res.statusCode, 401)
      t.same(res.json(), { message: '401 Unauthorized' })
    }
  })

  t.test('needs a login and a password', async t => {
    t.match((await app.nobody.post('/session', { password })).json(), { error: /login/ })
    const res = await app.nobody.post('/session', { login: user.username })
    t.equal(res.statusCode, 400)
    t.same(res.json(), { error: 'password is missing', message: '400 (Bad request) "password" not given' })
  })
})

t.test('tokens', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const get = (url: string, headers: Record<string, string> = {}) => app.nobody.inject({ method: 'GET', url, headers })
  const personal = (values: Parameters<typeof app.make.token>[1] = {}) => app.make.token(user, values)

  t.test('a private token works in the header or the query', async t => {
    t.equal((await get('/api/v3/user', { 'private-token': user.privateToken })).statusCode, 200)
    t.equal((await get(`/api/v3/user?private_token=${user.privateToken}`)).statusCode, 200)
  })

  t.test('a text that is not a token is refused', async t => {
    const queries = [
      'private_token=',
      'private_token=x',
      'private_token[]=x',
      'private_token[a]=x',
      'private_token=%00'
    ]
    for (const query of queries) {
      const res = await get(`/api/v3/user?${query}`)
      t.equal(res.statusCode, 401, query)
      t.same(res.json(), { message: '401 Unauthorized' })
    }
    t.equal((await get('/api/v3/user', { 'private-token': '' })).statusCode, 401)
  })

  t.test('a personal access token of scope api may do everything', async t => {
    const token = await personal()
    t.equal((await get(`/api/v3/projects?private_token=${token}`)).statusCode, 200)
    t.equal((await get('/api/v3/user', { 'private-token': token })).json().id, user.id)
  })

  t.test('a token of scope read_user may only read under /user and /users', async t => {
    const headers = { 'private-token': await personal({ scopes: 'read_user' }) }
    t.equal((await get('/api/v3/user', headers)).statusCode, 200)
    t.equal((await get(`/api/v3/users/${user.id}.json`, headers)).statusCode, 200)
    t.equal((await get('/api/v3/projects', headers)).statusCode, 401)
    const post = await app.nobody.inject({ method: 'POST', url: '/api/v3/users', headers, payload: body('no') })
    t.equal(post.statusCode, 401)
  })

  t.test('a token of both scopes may do everything, a token without scopes nothing', async t => {
    t.equal(
      (await get(`/api/v3/projects?private_token=${await personal({ scopes: 'read_user api' })}`)).statusCode,
      200
    )
    t.equal((await get(`/api/v3/user?private_token=${await personal({ scopes: '' })}`)).statusCode, 401)
  })

  t.test('an expired or revoked token does not work', async t => {
    const past = new Date(Date.now() - 1000)
    t.equal((await get(`/api/v3/user?private_token=${await personal({ expiresAt: past })}`)).statusCode, 401)
    t.equal((await get(`/api/v3/user?private_token=${await personal({ revokedAt: past })}`)).statusCode, 401)
    const future = new Date(Date.now() + 60_000)
    t.equal((await get(`/api/v3/user?private_token=${await personal({ expiresAt: future })}`)).statusCode, 200)
  })

  t.test('the database keeps no token as plain text', async t => {
    const found = await row<{ hits: number }>(
      'select count(*) as hits from access_tokens where encrypted = ? or name = ?',
      [Buffer.from(user.privateToken), user.privateToken]
    )
    t.equal(found?.hits, 0)
  })

  t.test('blocking ends access at once', async t => {
    const leaver = await app.make.user()
    t.equal((await app.as(leaver).get('/user')).statusCode, 200)
    await execute("update users set state = 'blocked' where id = ?", [leaver.id])
    t.equal((await app.as(leaver).get('/user')).statusCode, 401)
  })
})

t.test('sudo', async t => {
  const app = await testApp(t)
  const admin = await app.make.admin()
  const user = await app.make.user()

  t.test('names the user by id or username, in the query or a header', async t => {
    for (const who of [String(user.id), user.username]) {
      const byQuery = await app.as(admin).get('/user', { sudo: who })
      t.equal(byQuery.json().id, user.id, who)
      t.equal(byQuery.json().private_token, user.privateToken, 'with the token of the user')
      t.same(Object.keys(byQuery.json()).sort(), [...ACCOUNT, 'private_token'].sort())
      t.equal((await app.as(admin, { sudo: who }).get('/user')).json().id, user.id)
    }
  })

  t.test('acts with the rights of the user', async t => {
    t.equal((await app.as(admin, { sudo: user.username }).get('/projects/all')).statusCode, 403)
    const res = await app.as(admin, { sudo: user.username }).post('/projects', { name: 'on behalf' })
    t.equal(res.json().owner.id, user.id)
  })

  t.test('is only for administrators', async t => {
    const res = await app.as(user).get('/user', { sudo: admin.id })
    t.equal(res.statusCode, 403)
    t.same(res.json(), { message: '403 Forbidden - Must be admin to use sudo' })
  })

  t.test('does not work with a personal access token', async t => {
    const token = await app.make.token(admin)
    const res = await app.nobody.get('/user', { private_token: token, sudo: user.id })
    t.equal(res.statusCode, 403)
    t.same(res.json(), { message: '403 Forbidden - Private token must be specified in order to use sudo' })
  })

  t.test('to an unknown user is not found', async t => {
    for (const who of ['no-such-user', '999999', '99999999999999']) {
      const res = await app.as(admin).get('/user', { sudo: who })
      t.equal(res.statusCode, 404)
      t.same(res.json(), { message: `404 No user id or username for: ${who} Not Found` })
    }
  })

  t.test('to a blocked user says so', async t => {
    const blocked = await app.make.user()
    await app.as(admin).put(`/users/${blocked.id}/block`)
    for (const who of [blocked.id, blocked.username.toUpperCase()]) {
      const res = await app.as(admin).get('/user', { sudo: who })
      t.equal(res.statusCode, 403)
      t.same(res.json(), { message: `403 Forbidden - The user ${blocked.username} is blocked` })
    }
  })

  t.test('refuses a list or an object', async t => {
    for (const query of ['sudo[]=1', 'sudo[a]=1', 'sudo[a]=1&sudo[b]=2']) {
      const res = await app.as(admin).inject({ method: 'GET', url: `/api/v3/user?${query}` })
      t.equal(res.statusCode, 400, query)
      t.match(res.json(), { error: 'sudo is invalid' })
    }
  })

  t.test('has no effect without credentials', async t => {
    t.equal((await app.nobody.get('/user', { sudo: user.id })).statusCode, 401)
  })
})
