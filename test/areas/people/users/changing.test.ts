// PUT /users/:id, block and unblock: what an administrator may change of a user, and who may not.
import { beginSession, byPassword } from '../../../../src/areas/people/credentials/credentials.js'
import { addEmail } from '../../../../src/areas/people/users/emails.js'
import { blockUser } from '../../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../../src/areas/people/users/user-update.js'
import { createProject } from '../../../../src/areas/projects/projects/projects.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { Forbidden, UpdateConflict } from '../../../../src/errors.js'
import { testApp } from '../../../helpers/app.js'
import { originBy, someOrigin, type TestUser } from '../../../helpers/factory.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

interface Event {
  action: string
  actor_name: string
  acting_as: string | null
  changes: string
}

const eventsOf = async (user: { id: number }) =>
  (
    await rows<Event>(
      "select action, actor_name, acting_as, changes from audit_events where target_type = 'user' and target_id = ? order by id",
      [String(user.id)]
    )
  )
    .filter(({ action }) => action !== 'user.create')
    .map(event => ({ ...event, changes: JSON.parse(event.changes) as Record<string, unknown> }))

async function session(user: TestUser): Promise<string> {
  const { cookie } = await beginSession(byPassword({ ...user }), { address: '127.0.0.1', userAgent: 'test' })
  return cookie
}

t.test('PUT /users/:id', async t => {
  const app = await testApp(t)
  const root = await app.make.admin()
  const admin = app.as(root)
  const change = (user: { id: number }, body: object) => admin.put(`/users/${user.id}`, body)

  t.test('changes every attribute, and shows the user', async t => {
    const user = await app.make.user()
    const text = {
      email: 'new@example.org',
      username: 'new-name',
      name: 'New Name',
      messenger: 'm',
      professional_network: 'p',
      microblog: 'b',
      website_url: 'https://example.org',
      organization: 'o',
      bio: 'about',
      location: 'here',
      projects_limit: 7,
      can_create_group: false,
      external: true
    }
    const res = await change(user, { ...text, admin: true })
    t.equal(res.statusCode, 200)
    t.match(res.json(), { id: user.id, ...text, is_admin: true, state: 'active' })
    t.same((await admin.get(`/users/${user.id}`)).json(), res.json())
    const [event] = await eventsOf(user)
    t.match(event, {
      action: 'user.update',
      actor_name: root.username,
      changes: { admin: { before: false, after: true }, email: { before: user.email, after: 'new@example.org' } }
    })
  })

  t.test('keeps attributes that are not given, and writes no audit when nothing changes', async t => {
    const user = await app.make.user({ bio: 'about', projects_limit: 3 })
    t.match((await change(user, { location: 'there' })).json(), { bio: 'about', projects_limit: 3, location: 'there' })
    t.equal((await change(user, { location: 'there' })).statusCode, 200)
    t.equal((await eventsOf(user)).length, 1)
    t.equal((await change(user, { bio: '' })).json().bio, '')
  })

  t.test('a new name moves the projects, and calls hooks for each', async t => {
    const owner = await app.make.user()
    const project = await app.make.project({ owner })
    const [, name = ''] = project.path.split('/')
    t.equal((await change(owner, { username: 'moved' })).statusCode, 200)
    const moved = await app.as(owner).get(`/projects/moved%2F${name}`)
    t.match(moved.json(), { id: project.id, path_with_namespace: `moved/${name}`, namespace: { path: 'moved' } })
    const old = await app.as(owner).get(`/projects/${encodeURIComponent(project.path)}`)
    t.match(old.json(), { id: project.id, path_with_namespace: `moved/${name}` }, 'the old path leads to it')
    t.match((await waitingEvents('project.renamed')).at(-1), {
      project: { id: project.id, path_with_namespace: `moved/${name}` },
      old_path_with_namespace: project.path
    })
    t.equal((await change(owner, { username: 'Moved' })).json().username, 'Moved', 'also when only the case changes')
  })

  t.test('a new password works, the old one does not, and sessions end', async t => {
    const user = await app.make.user()
    const cookie = await session(user)
    const signedIn = () =>
      app.nobody.inject({ method: 'GET', url: '/api/v3/user', cookies: { _service_session: cookie } })
    t.equal((await signedIn()).statusCode, 200)
    t.equal((await change(user, { password: 'quite another one' })).statusCode, 200)
    t.equal((await signedIn()).statusCode, 401)
    const ask = (password: string) => app.nobody.post('/session', { login: user.username, password })
    t.equal((await ask(user.password)).statusCode, 401)
    t.equal((await ask('quite another one')).statusCode, 201)
    t.equal((await app.as(user).get('/user')).statusCode, 200, 'tokens stay')
    const events = await eventsOf(user)
    t.match(events, [{ action: 'user.password', changes: { password: { after: '[changed]' } } }])
    t.notMatch(JSON.stringify(events), /quite another one|argon2/)
  })

  t.test('adds or changes an identity, which belongs to only one user', async t => {
    const [user, other] = [await app.make.user(), await app.make.user()]
    const first = { provider: 'ldap', extern_uid: 'cn=a' }
    t.same((await change(user, first)).json().identities, [first])
    t.same((await change(user, { ...first, extern_uid: 'cn=b' })).json().identities, [{ ...first, extern_uid: 'cn=b' }])
    const taken = await change(other, { ...first, extern_uid: 'cn=b' })
    t.equal(taken.statusCode, 404)
    t.same(taken.json(), { message: 'Extern uid has already been taken' })
    t.equal((await change(user, { provider: 'ldap' })).statusCode, 400)
    t.equal((await change(user, { extern_uid: 'x' })).statusCode, 400)
    t.match((await change(user, { provider: 'ldap', extern_uid: '' })).json(), { message: { extern_uid: [String] } })
  })

  t.test('answers 404 for a taken value, and names it', async t => {
    const [user, other] = [await app.make.user(), await app.make.user()]
    await addEmail(other, { email: 'second@example.org' }, someOrigin)
    const cases: [object, string][] = [
      [{ email: other.email.toUpperCase() }, 'Email has already been taken'],
      [{ email: 'second@example.org' }, 'Email has already been taken'],
      [{ username: other.username.toUpperCase() }, 'Username has already been taken'],
      [{ email: other.email, username: other.username }, 'Email has already been taken']
    ]
    for (const [body, message] of cases) {
      const res = await change(user, { ...body, bio: 'not written' })
      t.equal(res.statusCode, 404, JSON.stringify(body))
      t.same(res.json(), { message })
    }
    t.match((await admin.get(`/users/${user.id}`)).json(), { email: user.email, username: user.username, bio: null })
    t.same(await eventsOf(user), [])
    const created = { email: 'second@example.org', username: 'unused', name: 'X', password: 'long enough' }
    t.equal(
      (await admin.post('/users', created)).statusCode,
      409,
      'a new user cannot have the address of another user either'
    )
  })

  t.test('one of the user’s other addresses can become the primary one', async t => {
    const user = await app.make.user()
    await addEmail(user, { email: 'mine@example.org' }, someOrigin)
    t.equal((await change(user, { email: 'mine@example.org' })).json().email, 'mine@example.org')
    t.same(await rows('select id from emails where user_id = ?', [user.id]), [])
  })

  t.test('refuses values that a user cannot have', async t => {
    const user = await app.make.user()
    const invalid: [object, object][] = [
      [{ password: '1234567' }, { password: ['is too short (minimum is 8 characters)'] }],
      [{ email: 'nobody' }, { email: ['is invalid'] }],
      [{ name: '  ' }, { name: ["can't be blank"] }],
      [{ name: 'two\nlines' }, { name: ['is invalid'] }],
      [{ username: 'admin' }, { username: ['is reserved'] }],
      [{ username: '../x' }, { username: [/can contain only/] }]
    ]
    for (const [body, message] of invalid) {
      const res = await change(user, body)
      t.equal(res.statusCode, 400, JSON.stringify(body))
      t.match(res.json(), { message })
    }
  })

  t.test('refuses values of another type', async t => {
    const user = await app.make.user()
    const wrong: [object, string][] = [
      [{ email: ['a@example.org'] }, 'email is invalid'],
      [{ email: { a: 1 } }, 'email is invalid'],
      [{ username: ['root'] }, 'username is invalid'],
      [{ password: ['long enough', 'long enough'] }, 'password is invalid'],
      [{ admin: 'maybe' }, 'admin is invalid'],
      [{ admin: [true] }, 'admin is invalid'],
      [{ projects_limit: 'many' }, 'projects_limit is invalid'],
      [{ email: '' }, 'email is empty']
    ]
    for (const [body, error] of wrong) {
      const res = await change(user, body)
      t.equal(res.statusCode, 400, JSON.stringify(body))
      t.match(res.json(), { error, message: String })
    }
    t.match((await admin.get(`/users/${user.id}`)).json(), { email: user.email, username: user.username })
  })

  t.test('refuses invalid values, with their attributes', async t => {
    const limits: [object, object][] = [
      [{ bio: 'x'.repeat(256) }, { bio: ['is too long (maximum is 255 characters)'] }],
      [{ projects_limit: -1 }, { projects_limit: ['must be greater than or equal to 0'] }],
      [{ projects_limit: 2147483648 }, { projects_limit: ['must be less than or equal to 2147483647'] }]
    ]
    for (const [body, message] of limits) {
      const res = await change(await app.make.user(), body)
      t.equal(res.statusCode, 400)
      t.same(res.json().message, message)
    }
  })

  t.test('needs something to change', async t => {
    const user = await app.make.user()
    for (const body of [{}, { id: 1, state: 'blocked', is_admin: true, confirm: true }]) {
      const res = await change(user, body)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error: /^email, .*are missing, at least one parameter must be provided$/ })
    }
  })

  t.test('knows nobody by another number', async t => {
    for (const id of ['999999', '0', '99999999999999', 'abc', '1.5', "1'--"]) {
      const res = await admin.put(`/users/${id}`, { bio: 'x' })
      t.equal(res.statusCode, 404, id)
      t.same(res.json(), { message: '404 User Not Found' })
    }
  })

  t.test('is not for users, not even for their own account, and not by sudo to a user', async t => {
    const user = await app.make.user()
    const body = {
      admin: true,
      projects_limit: 1_000_000,
      external: false,
      can_create_group: true,
      password: 'my own now'
    }
    for (const asker of [
      app.as(user),
      app.as(root, { sudo: user.username }),
      app.as(root, { sudo: String(user.id) })
    ]) {
      for (const [method, path, input] of [
        ['put', `/users/${user.id}`, body],
        ['put', `/users/${root.id}/block`, {}],
        ['put', `/users/${user.id}/unblock`, {}],
        ['delete', `/users/${root.id}`, {}]
      ] as const) {
        t.equal((await asker[method](path, input)).statusCode, 403, `${method} ${path}`)
      }
    }
    const bySudo = await app.as(user, { sudo: root.username }).put(`/users/${user.id}`, body)
    t.same(bySudo.json(), { message: '403 Forbidden - Must be admin to use sudo' })
    const inQuery = await app.as(user).inject({
      method: 'PUT',
      url: `/api/v3/users/${user.id}?admin=true&sudo=${root.id}`
    })
    t.equal(inQuery.statusCode, 403)
    t.match((await admin.get(`/users/${user.id}`)).json(), { is_admin: false, projects_limit: 1000 })
  })

  t.test('sudo works only with a private token, and only to an existing user', async t => {
    const user = await app.make.user()
    const other = await app.make.admin()
    const token = await app.make.token(root)
    const path = `/users/${user.id}`
    const put = (headers: Record<string, string>, query = '') =>
      app.nobody.inject({ method: 'PUT', url: `/api/v3${path}${query}`, headers, payload: { bio: 'by sudo' } })
    const byPersonal = await put({ 'private-token': token, sudo: other.username })
    t.equal(byPersonal.statusCode, 403)
    t.same(byPersonal.json(), { message: '403 Forbidden - Private token must be specified in order to use sudo' })
    const byCookie = await put({ cookie: `_service_session=${await session(root)}`, sudo: other.username })
    t.not(byCookie.statusCode, 200)
    for (const query of ['?sudo=no-such-user', '?sudo=999999']) {
      t.equal((await put({ 'private-token': root.privateToken }, query)).statusCode, 404)
    }
    t.equal((await put({ 'private-token': root.privateToken }, '?sudo[]=1')).statusCode, 400)
    t.equal((await put({ sudo: other.username })).statusCode, 401)
    t.equal((await admin.get(path)).json().bio, null)
    t.equal((await put({ 'private-token': root.privateToken }, `?sudo=${other.username}`)).statusCode, 200)
  })

  t.test('the audit names both administrators when one acts as the other', async t => {
    const other = await app.make.admin()
    const user = await app.make.user()
    for (const sudo of [other.username, String(other.id)]) {
      t.equal((await app.as(root, { sudo }).put(`/users/${user.id}`, { bio: sudo })).statusCode, 200)
      t.match((await eventsOf(user)).at(-1), { actor_name: root.username, acting_as: other.username })
    }
  })
})

t.test('PUT /users/:id/block and unblock', async t => {
  const app = await testApp(t)
  const admin = app.as(await app.make.admin())
  const user = await app.make.user()
  const cookie = await session(user)
  const put = (verb: string, id: number | string = user.id) => admin.put(`/users/${id}/${verb}`)

  t.test('answers true, and false when nothing changes', async t => {
    for (const [verb, answer, state] of [
      ['unblock', false, 'active'],
      ['block', true, 'blocked'],
      ['block', false, 'blocked'],
      ['unblock', true, 'active'],
      ['unblock', false, 'active']
    ] as const) {
      const res = await put(verb)
      t.equal(res.statusCode, 200)
      t.equal(res.json(), answer, verb)
      t.equal((await admin.get(`/users/${user.id}`)).json().state, state)
    }
    t.match(await eventsOf(user), [
      { action: 'user.block', changes: { state: { before: 'active', after: 'blocked' } } },
      { action: 'user.unblock', changes: { state: { before: 'blocked', after: 'active' } } }
    ])
  })

  t.test('ends every access at once, and ends sessions permanently', async t => {
    await put('block')
    t.equal((await app.as(user).get('/user')).statusCode, 401)
    t.equal((await app.nobody.post('/session', { login: user.username, password: user.password })).statusCode, 401)
    await put('unblock')
    t.equal((await app.as(user).get('/user')).statusCode, 200)
    const bySession = await app.nobody.inject({
      method: 'GET',
      url: '/api/v3/user',
      cookies: { _service_session: cookie }
    })
    t.equal(bySession.statusCode, 401)
  })

  t.test('knows nobody by another number', async t => {
    for (const id of ['999999', 'abc', '99999999999']) {
      for (const verb of ['block', 'unblock']) {
        const res = await put(verb, id)
        t.equal(res.statusCode, 404)
        t.same(res.json(), { message: '404 User Not Found' })
      }
    }
  })
})

t.test('nobody can remove the last active administrator', async t => {
  const app = await testApp(t)
  await execute('update users set admin = 0')
  const [one, two] = [await app.make.admin(), await app.make.admin()]
  const blocked = await app.make.admin()
  await execute("update users set state = 'blocked' where id = ?", [blocked.id])

  t.test('of two removals at once, only one succeeds', async t => {
    const both = await Promise.allSettled([
      updateUser(one.id, { admin: false }, someOrigin),
      blockUser(two.id, someOrigin)
    ])
    t.equal(both.filter(({ status }) => status === 'fulfilled').length, 1)
    const refused = both.find(result => result.status === 'rejected')
    t.match(refused?.reason, Forbidden)
    const left = await rows("select id from users where admin = 1 and state = 'active'")
    t.equal(left.length, 1)
  })

  t.test('cannot be demoted, blocked or deleted', async t => {
    await execute("update users set admin = id = ?, state = 'active' where id in (?, ?)", [one.id, one.id, two.id])
    const admin = app.as(one)
    for (const [res, change] of [
      [await admin.put(`/users/${one.id}`, { admin: false }), 'demoted'],
      [await admin.put(`/users/${one.id}/block`), 'blocked'],
      [await admin.delete(`/users/${one.id}`), 'deleted']
    ] as const) {
      t.equal(res.statusCode, 403)
      t.same(res.json(), { message: `403 Forbidden - the last active administrator cannot be ${change}` })
    }
    t.equal(
      (await admin.put(`/users/${blocked.id}`, { admin: false })).statusCode,
      200,
      'a blocked administrator does not count'
    )
    t.equal((await admin.put(`/users/${one.id}`, { admin: true, bio: 'still' })).statusCode, 200)
  })
})

t.test('when two users take an address at once, one of them as the primary one, only one gets it', async t => {
  const app = await testApp(t)
  const [user, other] = [await app.make.user(), await app.make.user()]
  for (let round = 0; round < 5; round++) {
    const email = `wanted-${round}@example.org`
    const [first, second] = await Promise.allSettled([
      updateUser(user.id, { email }, someOrigin),
      addEmail(other, { email }, someOrigin)
    ])
    t.not(first.status, second.status)
    if (first.status === 'rejected') t.match(first.reason, UpdateConflict)
  }
})

t.test('a project has one path when its user is renamed at the same time', async t => {
  const app = await testApp(t)
  const owner = await app.make.user()
  await Promise.all([
    createProject({ name: 'together' }, originBy(owner)),
    updateUser(owner.id, { username: 'renamed-owner' }, someOrigin)
  ])
  t.equal((await app.as(owner).get('/projects/renamed-owner%2Ftogether')).statusCode, 200)
})
