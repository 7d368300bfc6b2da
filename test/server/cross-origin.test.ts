// Pages of other origins use the API with a token, and never with the session of the browser.
import { loadConfig } from '../../src/config.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const OTHER = { origin: 'https://app.example.org', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }

t.test('a page of another origin', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const get = (url: string, headers = {}) => app.fastify.inject({ url, headers: { ...OTHER, ...headers } })

  t.test('asks before it writes, for every path, without credentials', async t => {
    for (const [method, path] of [
      ['PUT', '/api/v3/projects/1'],
      ['DELETE', '/api/v3/projects/1/issues/2'],
      ['PATCH', '/api/v4/jobs/1/trace'],
      ['GET', '/api/v3/user'],
      ['POST', '/api/v3/no/such/path']
    ] as const) {
      const asked = {
        'access-control-request-method': method,
        'access-control-request-headers': 'private-token,content-type'
      }
      const res = await app.fastify.inject({ method: 'OPTIONS', url: path, headers: { ...OTHER, ...asked } })
      t.equal(res.statusCode, 204, path)
      t.equal(res.body, '')
      t.equal(res.headers['access-control-allow-origin'], '*')
      t.ok(String(res.headers['access-control-allow-methods']).split(', ').includes(method))
      t.equal(res.headers['access-control-allow-headers'], 'private-token,content-type')
      t.equal(res.headers['access-control-max-age'], '7200')
      t.notOk('access-control-allow-credentials' in res.headers)
    }
  })

  t.test('reads answers and their headers, also those of failures', async t => {
    const list = await get('/api/v3/projects', { 'private-token': user.privateToken })
    t.equal(list.statusCode, 200)
    t.equal(list.headers['access-control-allow-origin'], '*')
    const exposed = String(list.headers['access-control-expose-headers']).toLowerCase().split(', ')
    const own = Object.keys(list.headers).filter(
      name => name === 'link' || (name.startsWith('x-') && name !== 'x-content-type-options')
    )
    t.ok(own.length > 5)
    t.same(
      own.filter(name => !exposed.includes(name)),
      []
    )
    for (const [path, status] of [
      ['user', 401],
      ['no/such', 404],
      ['projects/0', 404]
    ] as const) {
      const res = await get(`/api/v3/${path}`)
      t.equal(res.statusCode, status, path)
      t.equal(res.headers['access-control-allow-origin'], '*', path)
    }
    t.equal((await get('/users/sign_in')).headers['access-control-allow-origin'], undefined, 'but no page')
  })

  t.test('never has the session of the browser', async t => {
    const cookie = await sessionOf(user)
    const ask = async (headers: object) =>
      (await app.fastify.inject({ url: '/api/v3/user', headers: { cookie, host: 'git.lan', ...headers } })).statusCode
    t.equal(await ask({}), 200, 'a program')
    t.equal(await ask({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }), 200, 'the reference page')
    t.equal(await ask({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }), 200, 'the address bar')
    t.equal(await ask({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }), 200, 'a link in a mail')
    t.equal(await ask({ origin: 'http://git.lan' }), 200, 'its own page, in an old browser')
    t.equal(await ask(OTHER), 401)
    t.equal(await ask({ ...OTHER, 'sec-fetch-site': 'same-site' }), 401, 'another host of the same domain')
    t.equal(await ask({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }), 401, 'an image')
    t.equal(await ask({ origin: 'https://app.example.org' }), 401, 'an old browser')
    t.equal(await ask({ origin: 'null' }), 401, 'a sandboxed frame')
    t.equal(await ask({ ...OTHER, 'private-token': user.privateToken }), 200, 'a token counts')
  })

  async function sessionOf({ username, password }: { username: string; password: string }): Promise<string> {
    const res = await app.fastify.inject({
      method: 'POST',
      url: '/users/sign_in',
      headers: { 'sec-fetch-site': 'same-origin' },
      payload: { login: username, password }
    })
    return String(res.headers['set-cookie']).split(';', 1)[0] ?? ''
  }
})

t.test('OPTIONS without an origin lists the methods', async t => {
  const app = await testApp(t)
  const res = await app.fastify.inject({ method: 'OPTIONS', url: '/api/v3/groups' })
  t.equal(res.headers.allow, 'GET, HEAD, POST')
  t.equal((await app.fastify.inject({ method: 'OPTIONS', url: '/api/v3/no/such' })).statusCode, 404)
})

t.test('an administrator limits the origins', async t => {
  const askFrom = async (t: Parameters<typeof testApp>[0], origins: string[]) => {
    loadConfig({ port: 0, http: { cors_origins: origins } })
    const { fastify } = await testApp(t)
    return (origin: string) => {
      const headers = { ...OTHER, origin, 'access-control-request-method': 'PUT' }
      return fastify.inject({ method: 'OPTIONS', url: '/api/v3/user', headers })
    }
  }
  t.teardown(() => loadConfig({ port: 0 }))

  t.test('to some', async t => {
    const from = await askFrom(t, ['https://app.example.org', 'https://b.example.org'])
    const known = await from('https://b.example.org')
    t.equal(known.headers['access-control-allow-origin'], 'https://b.example.org')
    t.match(known.headers.vary, /\bOrigin\b/i)
    t.equal((await from('https://c.example.org')).headers['access-control-allow-origin'], undefined)
  })

  t.test('to none', async t => {
    const res = await (await askFrom(t, []))('https://app.example.org')
    t.equal(res.headers.allow, 'GET, HEAD')
    t.equal(res.headers['access-control-allow-origin'], undefined)
  })
})
