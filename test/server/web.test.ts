// The parts of the server outside the API: signing in, the documents, health and metrics.

import { joinMachines } from '../../src/cluster/machines.js'
import { config, loadConfig } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const ORIGIN = { host: 'git.example.org', origin: 'http://git.example.org' }

t.test('signing in', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const ask = (
    method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    headers: Record<string, string> = {},
    payload?: object
  ) => app.fastify.inject({ method, url, headers, ...(payload ? { payload } : {}) })
  const signIn = (values: object, headers: Record<string, string> = ORIGIN) =>
    app.fastify.inject({
      method: 'POST',
      url: '/users/sign_in',
      headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams(values as Record<string, string>).toString()
    })
  const credentials = { login: user.username, password: user.password }
  const cookieOf = (res: { headers: object }) => {
    const header = (res.headers as { 'set-cookie'?: string })['set-cookie'] ?? ''
    return { header, cookie: header.split(';', 1)[0] ?? '' }
  }

  t.test('the page has a form and no inline script, and may not be framed', async t => {
    const res = await ask('GET', '/users/sign_in')
    t.equal(res.statusCode, 200)
    t.match(res.headers['content-type'], /^text\/html/)
    t.match(res.headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/)
    t.match(res.headers['content-security-policy'], /form-action 'self'/)
    t.match(res.body, /<form method="post" action="\/users\/sign_in">/)
    t.notMatch(res.body, /<script>|<script(?! type="module" src="\/assets\/)/)
  })

  t.test('sets a cookie that scripts cannot read and other sites cannot send', async t => {
    const res = await signIn(credentials)
    t.equal(res.statusCode, 303)
    const { header } = cookieOf(res)
    t.match(header, /^_service_session=[\w-]{40};/)
    t.match(header, /HttpOnly/i)
    t.match(header, /SameSite=(Lax|Strict)/i)
    t.match(header, /Expires=/i)
  })

  t.test('a session reads', async t => {
    const { cookie } = cookieOf(await signIn(credentials))
    const res = await ask('GET', '/api/v3/user', { cookie })
    t.equal(res.statusCode, 200)
    t.equal(res.json().id, user.id)
    t.ok(res.json().current_sign_in_at)
  })

  t.test('a session can only read in the API, for every user', async t => {
    const { cookie } = cookieOf(await signIn(credentials))
    t.equal((await ask('HEAD', '/api/v3/user', { cookie })).statusCode, 200)
    for (const headers of [{}, ORIGIN, { 'sec-fetch-site': 'same-origin', ...ORIGIN }]) {
      const res = await ask('POST', '/api/v3/projects', { ...headers, cookie }, { name: 'by-cookie' })
      t.equal(res.statusCode, 401)
      t.same(res.json(), { message: '401 Unauthorized' })
      for (const [method, path] of [
        ['PUT', 'application/settings'],
        ['DELETE', 'hooks/1']
      ] as const) {
        t.equal((await ask(method, `/api/v3/${path}`, { ...headers, cookie })).statusCode, 401, method)
      }
    }
  })

  t.test('a session cannot use sudo', async t => {
    const admin = await app.make.admin()
    const { cookie } = cookieOf(await signIn({ login: admin.username, password: admin.password }))
    const res = await ask('GET', `/api/v3/user?sudo=${user.id}`, { cookie })
    t.equal(res.statusCode, 403)
    t.same(res.json(), { message: '403 Forbidden - Private token must be specified in order to use sudo' })
  })

  t.test('a wrong cookie is refused, even where nobody may read', async t => {
    t.equal((await ask('GET', '/api/v3/projects/visible', { cookie: '_service_session=nonsense' })).statusCode, 401)
  })

  t.test('a token takes precedence over the cookie', async t => {
    const other = await app.make.user()
    const { cookie } = cookieOf(await signIn(credentials))
    const res = await ask('GET', '/api/v3/user', { cookie, 'private-token': other.privateToken })
    t.equal(res.json().id, other.id)
  })

  t.test('refuses a wrong password, and a form of another site', async t => {
    const wrong = await signIn({ ...credentials, password: 'wrong password' })
    t.equal(wrong.statusCode, 401)
    t.notOk(wrong.headers['set-cookie'])
    const foreign = await signIn(credentials, { host: 'git.example.org', origin: 'http://evil.example.org' })
    t.equal(foreign.statusCode, 403)
    t.notOk(foreign.headers['set-cookie'])
    t.notMatch((await signIn({ login: '<b>x</b>', password: 'wrong password' })).body, /<b>x/)
  })

  t.test('signing out ends the session', async t => {
    const { cookie } = cookieOf(await signIn(credentials))
    t.equal((await ask('POST', '/users/sign_out', { cookie, 'sec-fetch-site': 'cross-site' })).statusCode, 303)
    t.equal((await ask('GET', '/api/v3/user', { cookie })).statusCode, 200, 'not for another site')
    await ask('POST', '/users/sign_out', { ...ORIGIN, cookie })
    t.equal((await ask('GET', '/api/v3/user', { cookie })).statusCode, 401)
  })
})

t.test('health, readiness, metrics', async t => {
  const app = await testApp(t)
  t.same((await app.nobody.get('/-/health')).json(), { status: 'ok' })
  const ready = await app.nobody.get('/-/readiness')
  t.equal(ready.statusCode, 200)
  t.match(ready.json(), { status: 'ok', database: 'ok' })
  await app.nobody.get('/projects/visible')
  const admin = await app.make.admin()
  const metrics = await app.as(admin).get('/-/metrics')
  t.equal(metrics.statusCode, 200)
  t.match(metrics.headers['content-type'], /^text\/plain/)
  for (const name of [
    'process_cpu_seconds_total',
    'gitstead_info\\{version="[0-9.]+",revision="[0-9a-z]+"\\} 1',
    'gitstead_queue_backlog\\{queue="default"\\}',
    'gitstead_jobs_processed',
    'gitstead_jobs_failed',
    'gitstead_worker_processes',
    'gitstead_machines \\d+',
    'gitstead_git_processes\\{state="waiting"\\} 0',
    'gitstead_git_readers',
    'gitstead_database_up 1',
    'gitstead_http_request_duration_seconds_count\\{method="GET",route="/api/v3/projects/visible",status="200"\\}'
  ]) {
    t.match(metrics.body, new RegExp(`^${name}`, 'm'), name)
  }
  const labels = [...metrics.body.matchAll(/route="([^"]*)"/g)].map(([, route]) => route)
  t.notOk(
    labels.some(route => /\d{2,}/.test(route ?? '')),
    'routes are patterns, without a label for each project'
  )
  t.equal((await app.nobody.get('/-/metrics')).statusCode, 401)
  const bearer = {
    method: 'GET',
    url: '/-/metrics',
    headers: { authorization: `Bearer ${admin.privateToken}` }
  } as const
  t.equal((await app.fastify.inject(bearer)).statusCode, 200, 'Prometheus sends its token this way')
})

t.test('a server is not ready while its machine is drained, or after its lease has ended', async t => {
  const app = await testApp(t)
  const readiness = async () => {
    const { statusCode, headers, json } = await app.nobody.get('/-/readiness')
    return { code: statusCode, retry: headers['retry-after'], body: json() }
  }
  await joinMachines('server')
  await execute('update machines set drained_at = now(3)')
  t.same(await readiness(), { code: 503, retry: '2', body: { status: 'draining', database: 'ok' } })
  t.equal((await app.nobody.get('/-/health')).statusCode, 200)
  t.equal((await app.nobody.get('/api/v3/projects/visible')).statusCode, 200, 'it still answers')
  await execute('update machines set drained_at = null')
  t.match(await readiness(), { code: 200 })
  const real = performance.now
  t.teardown(() => {
    performance.now = real
  })
  performance.now = () => real.call(performance) + config().queue.lease * 1000
  t.match(await readiness(), { code: 503, body: { status: 'unavailable', database: 'ok', machine: 'late' } })
  await joinMachines()
  t.match(await readiness(), { code: 200 })
})

t.test('metrics for an allowed address', async t => {
  process.env.GITSTEAD_METRICS_ALLOW = '192.0.2.0/28'
  loadConfig({ port: 0 })
  const app = await testApp(t)
  const from = (remoteAddress: string) => app.fastify.inject({ method: 'GET', url: '/-/metrics', remoteAddress })
  t.equal((await from('192.0.2.7')).statusCode, 200)
  t.equal((await from('::ffff:192.0.2.7')).statusCode, 200)
  t.equal((await from('192.0.2.17')).statusCode, 401)
  t.equal((await from('2001:db8::1')).statusCode, 401)
})

t.test('the reference page', async t => {
  const app = await testApp(t)
  const get = (url: string) => app.fastify.inject({ method: 'GET', url, headers: { host: 'git.lan' } })
  const page = await get('/api/docs')
  t.match(page.body, /<title>Gitstead REST API<\/title>/)
  t.notMatch(page.body, /swagger ui|favicon/i)
  const policy = String(page.headers['content-security-policy'])
  t.match(policy, /default-src 'self'/)
  t.notMatch(policy, /upgrade-insecure-requests|https?:/, 'it works over plain HTTP, and contacts no other host')
  const style = (await get('/api/docs/static/theme/gitstead.css')).body
  t.notMatch(style, /toggle \{ display|topbar \{ display: none/, 'the switch between light and dark is visible')
  const script = (await get('/api/docs/static/swagger-initializer.js')).body
  t.match(script, '"docExpansion":"list","filter":true,"displayOperationId":true')
  t.match(script, /"plugins":\[\(?system\)? => SwaggerUIBundle.plugins.DownloadUrl\(system\),function everyOperation/)
  t.notMatch(page.body, 'class="broadcast"')
  const root = await app.make.admin()
  await app.as(root).post('/broadcast_messages', { message: 'Down <i>now</i> $&', color: '#123' })
  const shown = await get('/api/docs/')
  t.match(
    shown.body,
    /<body>\s*<link rel="stylesheet" href="\/assets\/broadcasts.css">\s*<div class="broadcast broadcast-\d+" role="status">Down &lt;i&gt;now&lt;\/i&gt; \$&amp;</
  )
  t.equal(shown.headers['cache-control'], 'no-store')
  t.equal(Number(shown.headers['content-length']), Buffer.byteLength(shown.body))
  t.notMatch((await get('/api/docs/static/swagger-initializer.js')).body, 'broadcast')
  t.same((await get('/api/docs/json')).json().servers, [{ url: '/' }], 'it calls the host that it came from')
})
