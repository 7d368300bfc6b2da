// The case: clients of other vendors send `private_token` and `sudo` as parameters of their forms, and all of their writes
// used to get 401.
import { rows } from '../../src/db/connect/sql.js'
import { buildApp } from '../../src/server/app.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const app = await testApp(t)
const user = await app.make.user()
const other = await app.make.user()
const admin = await app.make.admin()

type Values = Record<string, string | number>

const TYPES = {
  form: (values: Values) => ({
    payload: new URLSearchParams(
      Object.entries(values).map(([key, value]): [string, string] => [key, String(value)])
    ).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' }
  }),
  JSON: (values: Values) => ({
    payload: JSON.stringify(values),
    headers: { 'content-type': 'application/json' }
  }),
  multipart: (values: Values) => ({
    payload: `${Object.entries(values)
      .map(([key, value]) => `--x\r\ncontent-disposition: form-data; name="${key}"\r\n\r\n${value}\r\n`)
      .join('')}--x--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=x' }
  })
}
type Method = 'POST' | 'PUT' | 'DELETE'

const send = (
  { payload, headers }: ReturnType<(typeof TYPES)['form']>,
  path: string,
  { method = 'POST' as Method, more = {} } = {}
) => app.nobody.inject({ method, url: `/api/v3${path}`, payload, headers: { ...headers, ...more } })

let made = 0
const email = () => `body-${++made}@example.org`

for (const [type, write] of Object.entries(TYPES)) {
  t.test(`credentials in a ${type} body`, async t => {
    t.test('open writes, by either name', async t => {
      for (const key of ['private_token', 'access_token', 'bearer_token']) {
        const res = await send(write({ [key]: user.privateToken, email: email() }), '/user/emails')
        t.equal(res.statusCode, 201, key)
      }
      const { id } = (await app.as(user).post('/user/emails', { email: email() })).json()
      const gone = await send(write({ private_token: user.privateToken }), `/user/emails/${id}`, { method: 'DELETE' })
      t.equal(gone.statusCode, 200)
      const put = { private_token: admin.privateToken, bio: type }
      t.match((await send(write(put), `/users/${user.id}`, { method: 'PUT' })).json(), { bio: type })
    })

    t.test('act as another user, with the token in the same body or in a header', async t => {
      const owner = async (body: Values, more = {}) => {
        const res = await send(write({ name: `by-${++made}`, ...body }), '/projects', { more })
        t.equal(res.statusCode, 201)
        return res.json().owner.username
      }
      t.equal(await owner({ private_token: admin.privateToken, sudo: user.username }), user.username)
      t.equal(await owner({ private_token: admin.privateToken, sudo: user.id }), user.username)
      t.equal(await owner({ sudo: user.username }, { 'private-token': admin.privateToken }), user.username)
      const header = { 'private-token': admin.privateToken, sudo: other.username }
      t.equal(await owner({ sudo: user.username }, header), other.username, 'the header wins')
    })

    t.test('are checked as those of a header', async t => {
      const status = async (body: Values, path = '/projects', more = {}) =>
        (await send(write({ name: `no-${++made}`, ...body }), path, { more })).statusCode
      t.equal(await status({}), 401)
      t.equal(await status({ private_token: 'wrong' }), 401)
      t.equal(await status({ private_token: 'wrong' }, '/projects', { 'private-token': user.privateToken }), 201)
      t.equal(await status({ private_token: user.privateToken }, '/projects', { 'private-token': 'wrong' }), 401)
      t.equal(await status({ private_token: user.privateToken, sudo: other.username }), 403)
      t.equal(await status({ private_token: admin.privateToken, sudo: 'nobody-at-all' }), 404)
      t.equal(await status({ sudo: user.username }), 401)
      t.equal(await status({ private_token: user.privateToken }, '/users'), 403, 'not only for administrators')
      t.equal(await status({ private_token: admin.privateToken, sudo: user.username }, '/users'), 403)
      t.equal(await status({ private_token: user.privateToken, email: email() }, '/user/emails?private_token=x'), 401)
      const personal = await app.make.token(admin)
      t.equal(await status({ private_token: personal, sudo: user.username }), 403)
    })

    t.test('come before wrong parameters', async t => {
      t.equal((await send(write({ sort: 'odd' }), '/users')).statusCode, 401)
      t.equal((await send(write({ private_token: user.privateToken }), '/projects')).statusCode, 400)
    })
  })
}

t.test('credentials in a body that are not text are refused', async t => {
  const json = (body: object) => send(TYPES.JSON(body as Values), '/projects')
  for (const private_token of [7, ['x'], { a: user.privateToken }, true, '']) {
    t.equal((await json({ private_token, name: 'no' })).statusCode, 401, JSON.stringify(private_token))
  }
  t.equal((await json({ private_token: null, name: 'no' })).statusCode, 401)
  t.equal((await json({ private_token: admin.privateToken, sudo: ['x'], name: 'no' })).statusCode, 400)
  t.equal((await json({ private_token: user.privateToken, sudo: null, name: 'null-sudo' })).statusCode, 201)
})

t.test('a token works as Bearer, and as access_token of a query', async t => {
  const get = async (url: string, headers = {}) =>
    (await app.nobody.inject({ url: `/api/v3${url}`, headers })).statusCode
  t.equal(await get('/user', { authorization: `Bearer ${user.privateToken}` }), 200)
  t.equal(await get(`/user?access_token=${user.privateToken}`), 200)
  t.equal(await get('/user', { authorization: 'Bearer wrong' }), 401)
})

t.test('a write with credentials in its body does not get the rights of a session', async t => {
  const headers = { host: 'git.example.org', origin: 'http://git.example.org' }
  const payload = { login: user.username, password: user.password }
  const res = await app.fastify.inject({ method: 'POST', url: '/users/sign_in', headers, payload })
  const cookie = String(res.headers['set-cookie']).split(';')[0] ?? ''
  const none = await send(TYPES.form({ name: 'by-session' }), '/projects', { more: { ...headers, cookie } })
  t.equal(none.statusCode, 401)
  const body = TYPES.form({ private_token: admin.privateToken, name: 'by-body' })
  const own = await send(body, '/projects', { more: { ...headers, cookie } })
  t.equal(own.json().owner.username, admin.username)
})

t.test('no route and no log sees them', async t => {
  const fastify = await buildApp()
  t.teardown(() => fastify.close())
  const seen: unknown[] = []
  fastify.addHook(
    'preHandler',
    async ({ body, query }) => void seen.push({ ...(body as object) }, { ...(query as object) })
  )
  const values = {
    private_token: admin.privateToken,
    access_token: 'x',
    bearer_token: 'y',
    sudo: user.username,
    email: email()
  }
  const res = await fastify.inject({ method: 'POST', url: '/api/v3/user/emails', ...TYPES.form(values) })
  t.equal(res.statusCode, 201)
  t.notMatch(JSON.stringify(seen), /private_token|access_token|bearer_token|sudo/)
  t.notMatch(JSON.stringify(seen), admin.privateToken)
  const events = await rows('select * from audit_events')
  t.ok(events.length > 0)
  t.notMatch(JSON.stringify(events), admin.privateToken)
})
