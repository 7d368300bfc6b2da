// The settings of administrators for signing in: the page's text and messages, redirects, the length of sessions.
import { PER_ACCOUNT_AND_ADDRESS } from '../../src/areas/people/credentials/login-throttle.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const ORIGIN = { host: 'git.example.org', origin: 'http://git.example.org' }

const app = await testApp(t)
const root = await app.make.admin()
const user = await app.make.user()
const put = async (body: object) => {
  const res = await app.as(root).put('/application/settings', body)
  if (res.statusCode !== 200) throw new Error(res.body)
}
const broadcast = (body: object) => app.as(root).post('/broadcast_messages', body)
const page = async () => (await app.fastify.inject({ method: 'GET', url: '/users/sign_in' })).body
const signIn = (who: { username: string; password: string }, password = who.password) =>
  app.fastify.inject({
    method: 'POST',
    url: '/users/sign_in',
    headers: ORIGIN,
    payload: { login: who.username, password }
  })
const cookieOf = (res: { headers: object }) =>
  ((res.headers as { 'set-cookie'?: string })['set-cookie'] ?? '').split(';', 1)[0] ?? ''
const go = (url: string, method: 'GET' | 'POST', headers: Record<string, string> = {}) =>
  app.fastify.inject({ method, url, headers })

t.beforeEach(async () => {
  await execute("update application_settings set changed = '{}'")
  await execute('delete from broadcast_messages')
})

t.test('sign_in_text is on the page as text', async t => {
  t.notMatch(await page(), /class="text"/)
  await put({ sign_in_text: 'Ask <script>alert("x")</script> & \'friends\'\nsecond line' })
  const body = await page()
  t.match(
    body,
    '<p class="text">Ask &lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#39;friends&#39;\nsecond line</p>'
  )
  t.notMatch(body, /<script>/)
  t.match((await signIn(user, 'wrong password')).body, 'class="text"', 'also when signing in failed')
})

t.test('the login stays after a wrong password, and the cursor is in the field of the password', async t => {
  const res = await signIn(user, 'wrong password')
  t.equal(res.statusCode, 401)
  t.match(res.body, `name="login" value="${user.username}"`)
  t.match(res.body, /name="password"[^>]* autofocus/)
  t.notMatch(res.body, 'wrong password')
  t.match((await signIn({ username: '"><b>x', password: 'wrong' })).body, 'value="&quot;&gt;&lt;b&gt;x"')
})

t.test('too many wrong passwords get a page that says how long to wait', async t => {
  const guessed = await app.make.user()
  for (let at = 0; at < PER_ACCOUNT_AND_ADDRESS; at++) await signIn(guessed, 'wrong password')
  const res = await signIn(guessed)
  t.equal(res.statusCode, 429)
  t.match(res.headers['content-type'], /^text\/html/)
  t.ok(Number(res.headers['retry-after']) > 0)
  t.match(res.body, /role="alert">Too many attempts: try again in \d+ seconds\.</)
  t.match(res.body, `name="login" value="${guessed.username}"`)
  await execute('delete from password_attempts')
})

t.test('an unusable form gets a page, too', async t => {
  const res = await app.fastify.inject({
    method: 'POST',
    url: '/users/sign_in',
    headers: ORIGIN,
    payload: { login: 'x' }
  })
  t.equal(res.statusCode, 400)
  t.match(res.headers['content-type'], /^text\/html/)
  t.match(res.body, 'href="/users/sign_in"')
})

t.test('active messages are on the page, with their colours', async t => {
  await broadcast({ message: 'Down <i>now</i>', color: '#123', font: '#abcdef' })
  await broadcast({ message: 'of the past', ends_at: '2020-01-01' })
  await broadcast({ message: 'of the future', starts_at: '2100-01-01', ends_at: '2100-01-02' })
  await broadcast({ message: 'plain', color: '', font: '' })
  const body = await page()
  t.match(body, /<div class="broadcast broadcast-\d+" role="status">Down &lt;i&gt;now&lt;\/i&gt;<\/div>/)
  t.match(body, /<div class="broadcast broadcast-\d+" role="status">plain<\/div>/)
  t.match(
    (await go('/assets/broadcasts.css', 'GET')).body,
    /\.broadcast-\d+ { background-color: #123; color: #abcdef }/
  )
  t.notMatch(body, /of the (past|future)/)
})

t.test('an invalid colour from another source is not a style', async t => {
  await broadcast({ message: 'm' })
  await execute(`update broadcast_messages set color = '"><script>', font = 'red;top:0'`)
  const body = await page()
  t.match(body, /<div class="broadcast broadcast-\d+" role="status">m<\/div>/)
  t.match((await go('/assets/broadcasts.css', 'GET')).body, /^\.broadcast-\d+ { {2}}\n$/)
})

t.test('strangers are redirected to home_page_url', async t => {
  t.match((await go('/', 'GET')).body, '<h1>Public projects</h1>')
  await put({ home_page_url: 'https://example.org/welcome' })
  const away = await go('/', 'GET')
  t.equal(away.statusCode, 302)
  t.equal(away.headers.location, 'https://example.org/welcome')
  t.equal(
    (await go('/', 'GET', { cookie: '_service_session=nonsense' })).headers.location,
    'https://example.org/welcome'
  )
  const cookie = cookieOf(await signIn(user))
  t.match((await go('/', 'GET', { cookie })).body, '<h1>Hello ', 'not a signed-in user')
})

t.test('people are redirected to after_sign_out_path after signing out', async t => {
  const signOut = async () => {
    const cookie = cookieOf(await signIn(user))
    const res = await go('/users/sign_out', 'POST', { ...ORIGIN, cookie })
    t.equal(res.statusCode, 303)
    t.equal((await go('/api/v3/user', 'GET', { cookie })).statusCode, 401)
    return res.headers.location
  }
  t.equal(await signOut(), '/users/sign_in')
  for (const path of ['/api/docs?a=b', 'https://example.org/bye']) {
    await put({ after_sign_out_path: path })
    t.equal(await signOut(), path)
  }
})

t.test('new sessions last for session_expire_delay', async t => {
  const minutes = async () => {
    const res = await signIn(user)
    t.equal(res.statusCode, 303)
    const found = await row<{ created_at: Date; expires_at: Date }>(
      'select created_at, expires_at from sessions order by created_at desc limit 1'
    )
    return ((found?.expires_at.getTime() ?? 0) - (found?.created_at.getTime() ?? 0)) / 60_000
  }
  t.equal(await minutes(), 10080)
  await put({ session_expire_delay: 5 })
  t.equal(await minutes(), 5)
})

t.test('the page shows that signing in is switched off', async t => {
  await put({ signin_enabled: false })
  const refused = await signIn(user)
  t.equal(refused.statusCode, 403)
  t.notOk(refused.headers['set-cookie'])
  t.match(refused.body, '<p role="alert">Signing in with a password is switched off: use a personal access token.</p>')
  t.equal((await signIn(user, 'wrong password')).statusCode, 401)
  t.equal((await signIn(root)).statusCode, 303, 'administrators may')
})
