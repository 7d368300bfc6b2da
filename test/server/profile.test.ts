// The account pages over a real listener, as a browser without scripts sees them.
import { loadConfig } from '../../src/config.js'
import { row, rows } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { type Answer, Browser, formIn, listen } from '../helpers/browser.js'
import type { TestUser } from '../helpers/factory.js'
import { newKey } from '../helpers/ssh-keys.js'
import t from '../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const root = await app.make.admin()
const set = async (values: object) => {
  const { statusCode, body } = await app.as(root).put('/application/settings', values)
  if (statusCode !== 200) throw new Error(body)
}
const signedIn = async (user: TestUser) => {
  const browser = new Browser(base)
  const { status } = await browser.signIn(user)
  if (status !== 303) throw new Error(`not signed in: ${status}`)
  return browser
}
const lastAudit = (action: string) =>
  row<{ actor_name: string; via: string; target_name: string }>(
    'select * from audit_events where action = ? order by id desc limit 1',
    [action]
  )
const PAGES = [
  '/profile',
  '/profile/password',
  '/profile/keys',
  '/profile/emails',
  '/profile/identities',
  '/profile/notifications',
  '/profile/personal_access_tokens',
  '/profile/sessions',
  '/profile/applications',
  '/dashboard/todos'
]
const tokenOf = (page: Answer) => Object.fromEntries(formIn(page.body, 'sign_out').fields).authenticity_token ?? ''

t.test('a text browser signs in with the form, and out again', async t => {
  const user = await app.make.user()
  const browser = new Browser(base)
  const signed = await browser.signIn(user)
  t.equal(signed.status, 303)
  t.equal(signed.location, '/')
  t.match(await lastAudit('session.create'), { actor_name: user.username, via: 'password' })
  for (const path of PAGES) {
    const page = await browser.get(path)
    t.equal(page.status, 200, path)
    t.notMatch(page.body, /<script(?! type="module" src="\/assets\/)|\son\w+=|javascript:/i)
    t.match(page.headers.get('content-security-policy'), /^default-src 'none'/)
    t.notMatch(page.headers.get('content-security-policy'), /unsafe/)
    t.equal(page.headers.get('cache-control'), 'no-store')
  }
  const out = await browser.submit(await browser.get('/profile'), 'sign_out')
  t.equal(out.status, 303)
  t.match(await lastAudit('session.delete'), { actor_name: user.username, via: 'session' })
  t.match((await browser.get('/profile')).location, /^\/users\/sign_in\?return_to=%2Fprofile$/)
})

t.test('the form of another browser does not sign in', async t => {
  const user = await app.make.user()
  const values = { login: user.username, password: user.password }
  const form = formIn((await new Browser(base).get('/users/sign_in')).body, 'sign_in')
  const other = new Browser(base)
  t.equal((await other.post('/users/sign_in', { ...Object.fromEntries(form.fields), ...values })).status, 403)
  await other.get('/users/sign_in')
  t.equal((await other.post('/users/sign_in', { ...Object.fromEntries(form.fields), ...values })).status, 403)
  t.equal((await other.post('/users/sign_in', values)).status, 403)
})

t.test('nobody is sent to another site after signing in', async t => {
  const user = await app.make.user()
  for (const path of [
    '//evil.example',
    'https://evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil'
  ]) {
    const browser = new Browser(base)
    const { location } = await browser.signIn(user, `/users/sign_in?return_to=${encodeURIComponent(path)}`)
    t.equal(location, '/', path)
  }
  const browser = new Browser(base)
  const { location } = await browser.signIn(user, '/users/sign_in?return_to=%2Fprofile%2Fsessions')
  t.equal(location, '/profile/sessions')
})

t.test('the cookie is not for scripts, other sites, or plain http', async t => {
  const line = async () => {
    const browser = new Browser(base)
    return (await browser.signIn(await app.make.user())).headers
      .getSetCookie()
      .find(text => /^_service_session=/.test(text))
  }
  t.match(await line(), /; HttpOnly; SameSite=Lax$/)
  loadConfig({ port: 0, url: 'https://git.example.org' })
  t.teardown(() => void loadConfig({ port: 0 }))
  t.match(await line(), /; HttpOnly; Secure; SameSite=Lax$/)
})

t.test('every form needs the token of the session', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const other = await signedIn(await app.make.user())
  const foreign = tokenOf(await other.get('/profile'))
  const right = tokenOf(await browser.get('/profile'))
  const forms: [string, Record<string, string>][] = [
    ['/profile/personal_access_tokens', { name: 'x', 'scopes[]': 'api' }],
    ['/profile/personal_access_tokens/1/revoke', {}],
    ['/profile/sessions/revoke_others', {}],
    [`/profile/sessions/${'0'.repeat(64)}/revoke`, {}],
    ['/profile/applications', { name: 'x', redirect_uri: 'https://a.example/', 'scopes[]': 'api' }],
    ['/profile/applications/1/delete', {}],
    ['/profile/authorizations/1/revoke', {}],
    ['/profile', { name: 'x' }],
    ['/profile/password', { current_password: user.password, password: 'another password' }],
    ['/profile/keys', { title: 'x', key: newKey() }],
    ['/profile/keys/1/delete', {}],
    ['/profile/emails', { email: 'x@example.org' }],
    ['/profile/identities/x/connect', {}],
    ['/profile/identities/x/password', { login: 'x', password: 'x' }],
    ['/profile/identities/x/disconnect', {}],
    ['/profile/identities/link', {}],
    ['/profile/emails/1/delete', {}],
    ['/profile/emails/1/confirm', {}],
    ['/profile/notifications', { level: 'watch' }],
    ['/dashboard/todos/1/done', {}],
    ['/dashboard/todos/done', {}]
  ]
  const before = await rows('select id from audit_events')
  for (const [path, values] of forms) {
    for (const authenticity_token of ['', 'x', foreign]) {
      // The page asks to send the form again: a visitor may have signed in since the form was opened.
      t.equal((await browser.post(path, { ...values, authenticity_token }, { origin: base })).status, 409, path)
    }
    const site = { 'sec-fetch-site': 'cross-site' }
    t.equal((await browser.post(path, { ...values, authenticity_token: right }, site)).status, 403, path)
  }
  t.same(await rows('select id from audit_events'), before)
})

t.test('a token is made, shown once, and revoked', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const path = '/profile/personal_access_tokens'
  const name = '<b>deploy</b> & "co"'
  const made = await browser.submit(await browser.get(path), 'Create token', { name, 'scopes[]': 'read_user' })
  t.equal(made.status, 201)
  t.match(made.body, '&lt;b&gt;deploy&lt;/b&gt; &amp; &quot;co&quot;')
  t.notMatch(made.body, '<b>deploy')
  const token = /<code>([^<]+)<\/code>/.exec(made.body)?.[1] ?? ''
  t.equal((await app.nobody.inject({ url: '/api/v3/user', headers: { 'private-token': token } })).statusCode, 200)
  t.match(await lastAudit('token.create'), { actor_name: user.username, via: 'session', target_name: name })
  const page = await browser.get(path)
  t.notMatch(page.body, token)
  t.match(page.body, 'read_user')
  const gone = await browser.submit(page, '/revoke')
  t.equal(gone.status, 303)
  t.equal((await app.nobody.inject({ url: '/api/v3/user', headers: { 'private-token': token } })).statusCode, 401)
  t.match((await browser.get(path)).body, /<td>revoked<\/td>|>\s*revoked\s*</)
})

t.test('wrong values are refused, and no token is created without a scope', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const authenticity_token = tokenOf(await browser.get('/profile'))
  const cases: [Record<string, string>, RegExp][] = [
    [{ name: 'x' }, /scopes/],
    [{ name: '', 'scopes[]': 'api' }, /name/],
    [{ name: 'x', 'scopes[]': 'sudo' }, /scopes/],
    [{ name: 'x', 'scopes[]': 'api', expires_at: 'tomorrow' }, /expires_at/],
    [{ name: 'x', 'scopes[]': 'api', expires_at: '2001-01-01' }, /must be in the future/]
  ]
  for (const [values, problem] of cases) {
    const { status, body } = await browser.post('/profile/personal_access_tokens', { ...values, authenticity_token })
    t.equal(status, 400, JSON.stringify(values))
    t.match(/(?:role="alert"|class="error"[^>]*)>([^<]*)</.exec(body)?.[1], problem)
  }
  t.same(await rows("select id from access_tokens where user_id = ? and kind = 'personal'", [user.id]), [])
})

t.test('tokens of others are not shown', async t => {
  const browser = await signedIn(await app.make.user())
  const other = await app.make.user()
  const { id } = (await app.as(other).post('/personal_access_tokens', { name: 'theirs' })).json()
  const authenticity_token = tokenOf(await browser.get('/profile'))
  const { status } = await browser.post(`/profile/personal_access_tokens/${id}/revoke`, { authenticity_token })
  t.equal(status, 404)
  t.equal((await app.as(other).get(`/personal_access_tokens/${id}`)).json().revoked, false)
  t.notMatch((await browser.get('/profile/personal_access_tokens')).body, 'theirs')
})

t.test('many tokens are paginated', async t => {
  const user = await app.make.user()
  for (let count = 0; count < 51; count++) await app.make.token(user)
  const browser = await signedIn(user)
  const first = await browser.get('/profile/personal_access_tokens')
  t.match(first.body, 'href="/profile/personal_access_tokens?page=2">Next')
  t.notMatch(first.body, 'Previous')
  const second = await browser.get('/profile/personal_access_tokens?page=2')
  t.match(second.body, 'href="/profile/personal_access_tokens?page=1">Previous')
  t.equal((second.body.match(/\/revoke"/g) ?? []).length, 1)
})

t.test('sessions are listed and ended', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const [second, third] = [await signedIn(user), await signedIn(user)]
  const stranger = await signedIn(await app.make.user())
  const page = await browser.get('/profile/sessions')
  t.equal((page.body.match(/\/profile\/sessions\/[0-9a-f]{64}\/revoke/g) ?? []).length, 2, 'not the current session')
  const { action } = formIn(page.body, '/revoke"')
  const authenticity_token = tokenOf(await stranger.get('/profile'))
  t.equal((await stranger.post(action, { authenticity_token })).status, 404, 'not by a stranger')
  t.equal((await browser.submit(page, '/revoke"')).status, 303)
  const alive = async (which: Browser) => (await which.get('/profile')).status === 200
  t.equal([await alive(second), await alive(third)].filter(Boolean).length, 1)
  await browser.submit(await browser.get('/profile/sessions'), 'revoke_others')
  t.same(
    [await alive(browser), await alive(second), await alive(third), await alive(stranger)],
    [true, false, false, true]
  )
  t.match(await lastAudit('session.delete'), { actor_name: user.username, via: 'session', target_name: user.username })
})

t.test('a user registers applications if the settings allow it', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const path = '/profile/applications'
  const values = { name: 'mine', redirect_uri: 'https://a.example/cb\r\nhttps://b.example/cb' }
  const made = await browser.submit(await browser.get(path), 'Register application', values)
  t.equal(made.status, 201)
  const [uid = '', secret = ''] = [...made.body.matchAll(/<code>([0-9a-f]{64})<\/code>/g)].map(([, text]) => text)
  t.not(uid, secret)
  const page = await browser.get(path)
  t.match(page.body, uid)
  t.notMatch(page.body, secret)
  t.match(page.body, 'https://b.example/cb')
  t.match(await lastAudit('application.create'), { actor_name: user.username, via: 'session', target_name: 'mine' })

  await set({ user_oauth_applications: false })
  const closed = await browser.get(path)
  t.notMatch(closed.body, 'Register application')
  const form = { ...values, name: 'again', 'scopes[]': 'api', authenticity_token: tokenOf(closed) }
  const refused = await browser.post(path, form)
  t.equal(refused.status, 403)
  t.match(refused.body, 'Only administrators may register applications')
  t.match((await (await signedIn(root)).get(path)).body, 'Register application')
  await set({ user_oauth_applications: true })

  const { id } = (await row<{ id: number }>('select id from oauth_applications where uid = ?', [uid])) ?? { id: 0 }
  const other = await signedIn(await app.make.user())
  const authenticity_token = tokenOf(await other.get('/profile'))
  t.equal((await other.post(`${path}/${id}/delete`, { authenticity_token })).status, 404, 'not by others')
  t.equal((await browser.submit(page, '/delete"')).status, 303)
  t.same(await rows('select id from oauth_applications where uid = ?', [uid]), [])
  t.match(await lastAudit('application.delete'), { target_name: 'mine' })
})

t.test('a user revokes the access of an application', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const login = { grant_type: 'password', username: user.username, password: user.password }
  const { access_token } = JSON.parse((await browser.post('/oauth/token', login)).body)
  const headers = { authorization: `Bearer ${access_token}` }
  const works = async () => (await app.nobody.inject({ url: '/api/v3/user', headers })).statusCode
  t.equal(await works(), 200)
  const page = await browser.get('/profile/applications')
  t.match(page.body, 'your password, sent by no application')
  const other = await signedIn(await app.make.user())
  const authenticity_token = tokenOf(await other.get('/profile'))
  await other.post('/profile/authorizations/0/revoke', { authenticity_token })
  t.equal(await works(), 200, 'not by others')
  t.equal((await browser.submit(page, '/profile/authorizations/0/revoke')).status, 303)
  t.equal(await works(), 401)
  t.match(await lastAudit('oauth.revoke'), { actor_name: user.username, via: 'session' })
})

t.test('after_sign_out_path is a place to which the form may redirect', async t => {
  const browser = await signedIn(await app.make.user())
  await set({ after_sign_out_path: 'https://bye.example.org/now' })
  const page = await browser.get('/profile')
  t.match(page.headers.get('content-security-policy'), "form-action 'self' https://bye.example.org;")
  await set({ after_sign_out_path: null })
})

t.test('pages are plain HTML: every field has a label, and a text browser needs no style', async t => {
  const browser = await signedIn(await app.make.user())
  for (const path of [...PAGES, '/users/sign_in']) {
    const { body } = await browser.get(path)
    t.match(body, /^<!doctype html>\n<html lang="en">/)
    t.match(body, /<title>[^<]+<\/title>/)
    for (const [, id] of body.matchAll(/<(?:input|textarea)[^>]* id="([^"]+)"/g)) t.match(body, `<label for="${id}">`)
    const inWide = body.match(/<div class="wide"[^>]*>\s*<table>/g)
    t.equal(inWide?.length, body.match(/<table>/g)?.length, 'a table scrolls on a narrow screen')
    for (const [input] of body.matchAll(/<input[^>]*type="(?:checkbox|radio)"[^>]*>/g)) {
      t.match(body, `<label class="choice">${input}`)
    }
  }
  const style = await browser.get('/assets/gitstead.css')
  t.match(style.headers.get('content-type'), 'text/css')
  t.match(style.body, /\.wide \{[^}]*overflow-wrap: normal/, 'and its words are not broken')
})
