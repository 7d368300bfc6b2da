// The OAuth 2 provider over a real listener: what applications and browsers do, and what thieves of codes and tokens do.
import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { expiredGrants } from '../../../../src/areas/people/credentials/expired-grants.js'
import { createApplication } from '../../../../src/areas/people/credentials/oauth-applications.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, formBody, listen, send } from '../../../helpers/browser.js'
import { someOrigin, type TestUser } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const CALLBACK = 'https://board.example.org/callback?from=gitstead'
const app = await testApp(t)
const base = await listen(app.fastify)
const user = await app.make.user()

interface Application {
  readonly id: number
  readonly client_id: string
  readonly client_secret: string
}

async function register(values: object = {}): Promise<Application> {
  const body = { name: 'board', redirect_uri: CALLBACK, ...values }
  const { row, secret } = await createApplication(body, { ...someOrigin, via: 'command' })
  return { id: row.id, client_id: row.uid, client_secret: secret }
}

const own = await register()

type Values = Record<string, string>
interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly [name: string]: unknown
}

const ask = async (path: string, values: Values, headers: Values = {}) => {
  const {
    status,
    body,
    headers: answered
  } = await send(base, 'POST', path, {
    ...formBody(values),
    headers: { ...(formBody({}).headers as Values), ...headers }
  })
  return { status, json: JSON.parse(body) as Tokens, headers: answered }
}
const token = (values: Values, headers: Values = {}) => ask('/oauth/token', values, headers)
const credentials = ({ client_id, client_secret }: Application) => ({ client_id, client_secret })

const question = ({ client_id }: Application, more: Values = {}) =>
  `/oauth/authorize?${new URLSearchParams({ client_id, redirect_uri: CALLBACK, response_type: 'code', state: 'a&b', ...more })}`

const signedIn = async (who: TestUser = user) => {
  const browser = new Browser(base)
  await browser.signIn(who)
  return browser
}
const browser = await signedIn()

/** The parameters that a browser carries to the application. */
const carried = (location: string | null): Values => {
  if (!location?.startsWith(`${CALLBACK}&`)) throw new Error(`sent elsewhere: ${location}`)
  return Object.fromEntries(new URL(location).searchParams)
}

/** A code for which the user has just given consent. */
async function consent(to = own, more: Values = {}, by = browser): Promise<string> {
  const { location } = await by.submit(await by.get(question(to, more)), 'Allow')
  const { code } = carried(location)
  if (code === undefined) throw new Error(`no code: ${location}`)
  return code
}
const exchange = (code: string, to = own, more: Values = {}) =>
  token({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK, ...credentials(to), ...more })
const pairOf = async (to = own, more: Values = {}) => (await exchange(await consent(to, more), to)).json
const refresh = ({ refresh_token }: Tokens, to = own, more: Values = {}) =>
  token({ grant_type: 'refresh_token', refresh_token, ...credentials(to), ...more })

const api = async (path: string, headers: Values = {}, method = 'GET') => {
  const { status, body, headers: answered } = await send(base, method, `/api/v3${path}`, { headers })
  return { status, json: body === '' ? null : (JSON.parse(body) as Values), headers: answered }
}
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const works = async ({ access_token }: Tokens) => (await api('/user', bearer(access_token))).status
const lastAudit = (action: string) =>
  row<{
    actor_name: string
    via: string
    target_type: string
    target_id: string
    target_name: string
    changes: string
  }>('select * from audit_events where action = ? order by id desc limit 1', [action])
const hashOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')

t.test('an application gets a token after the user has consented', async t => {
  const page = await browser.get(question(own))
  t.equal(page.status, 200)
  t.match(page.body, 'board')
  t.match(page.headers.get('content-security-policy'), "form-action 'self' https://board.example.org")
  const { status, location } = await browser.submit(page, 'Allow')
  t.equal(status, 303)
  const { code = '', state, from } = carried(location)
  t.equal(state, 'a&b')
  t.equal(from, 'gitstead', 'what the URI had stays')
  t.match(await lastAudit('oauth.authorize'), { actor_name: user.username, via: 'session', target_name: 'board' })

  const res = await exchange(code)
  t.equal(res.status, 200)
  t.match(res.json, {
    access_token: /^[0-9a-f]{64}$/,
    token_type: 'bearer',
    refresh_token: /^[0-9a-f]{64}$/,
    scope: 'api'
  })
  t.equal(typeof res.json.created_at, 'number')
  t.notOk('expires_in' in res.json)
  t.equal(res.headers.get('cache-control'), 'no-store')
  t.match(await lastAudit('oauth.token'), { actor_name: user.username, via: 'oauth', target_id: String(own.id) })

  const { access_token } = res.json
  for (const path of ['/user', `/user?access_token=${access_token}`, `/user?bearer_token=${access_token}`]) {
    const found = await api(path, path === '/user' ? bearer(access_token) : {})
    t.equal(found.json?.id, user.id, path)
  }
  t.equal((await api('/projects?name=by-oauth', bearer(access_token), 'POST')).status, 201)
  const info = await send(base, 'GET', '/oauth/token/info', { headers: bearer(access_token) })
  t.same(JSON.parse(info.body), {
    resource_owner_id: user.id,
    scopes: ['api'],
    expires_in_seconds: null,
    application: { uid: own.client_id },
    created_at: res.json.created_at
  })

  const stored = JSON.stringify([
    await rows('select * from oauth_applications'),
    await rows('select * from oauth_grants'),
    await rows('select * from oauth_tokens'),
    await rows('select * from audit_events')
  ])
  for (const secret of [code, access_token, res.json.refresh_token, own.client_secret]) t.notMatch(stored, secret)
})

t.test('an OAuth token is found by one statement', async t => {
  const { access_token } = await pairOf()
  // Otherwise the first use is written.
  await execute('update oauth_tokens set last_used_at = ?', [new Date()])
  const oauth = await countStatements(() => app.fastify.inject({ url: '/api/v3/user', headers: bearer(access_token) }))
  const personal = await countStatements(() =>
    app.fastify.inject({ url: '/api/v3/user', headers: { 'private-token': user.privateToken } })
  )
  t.equal(oauth, personal)
})

t.test('a user who is not signed in comes back after signing in', async t => {
  const stranger = new Browser(base)
  const sent = await stranger.get(question(own))
  t.equal(sent.status, 302)
  t.match(sent.location, /^\/users\/sign_in\?return_to=/)
  const back = await stranger.signIn(user, sent.location ?? '')
  t.equal(back.location, question(own))
  t.equal((await stranger.get(question(own))).status, 200)
})

t.test('the application receives a refusal', async t => {
  const page = await browser.get(question(own))
  const refused = await browser.submit(page, '_method')
  t.match(carried(refused.location), { error: 'access_denied', state: 'a&b' })
  t.notOk(carried(refused.location).code)
  const authenticity_token = /name="authenticity_token" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
  const deleted = await browser.delete(question(own), { authenticity_token })
  t.match(carried(deleted.location), { error: 'access_denied', state: 'a&b' })
})

t.test('another site cannot answer for the user', async t => {
  const before = (await rows('select id from oauth_grants')).length
  const values = { client_id: own.client_id, redirect_uri: CALLBACK, response_type: 'code' }
  const other = await signedIn(await app.make.user())
  const otherPage = await other.get(question(own))
  const foreignToken = /name="authenticity_token" value="([^"]+)"/.exec(otherPage.body)?.[1] ?? ''
  const ownPage = await browser.get(question(own))
  const rightToken = /name="authenticity_token" value="([^"]+)"/.exec(ownPage.body)?.[1] ?? ''
  const forms: [Values, Values][] = [
    [values, {}],
    [{ ...values, authenticity_token: '' }, {}],
    [{ ...values, authenticity_token: 'ü'.repeat(43) }, {}],
    [{ ...values, authenticity_token: foreignToken }, {}],
    [{ ...values, authenticity_token: rightToken }, { 'sec-fetch-site': 'cross-site' }],
    [values, { origin: base }]
  ]
  for (const [form, headers] of forms) {
    const { status, location } = await browser.post('/oauth/authorize', form, headers)
    t.equal(status, 403)
    t.equal(location, null)
  }
  t.equal((await rows('select id from oauth_grants')).length, before)
})

t.test('a wrong application or redirect URI is not sent anywhere', async t => {
  const cases: Values[] = [
    { client_id: 'nobody' },
    { client_id: randomBytes(32).toString('hex') },
    { redirect_uri: 'https://board.example.org/callback' },
    { redirect_uri: `${CALLBACK}/` },
    { redirect_uri: 'https://evil.example.org/' },
    { redirect_uri: `${CALLBACK}&x=1` },
    { redirect_uri: '' },
    { 'client_id[]': 'x' }
  ]
  for (const more of cases) {
    const page = await browser.get(question(own, more))
    t.equal(page.status, 401, JSON.stringify(more))
    t.equal(page.location, null)
    t.match(page.headers.get('content-type'), /^text\/html/)
  }
})

t.test('all other errors are sent to the application', async t => {
  const S256 = { code_challenge: hashOf('v'.repeat(50)), code_challenge_method: 'S256' }
  const cases: [Values, string][] = [
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: '' }, 'invalid_request'],
    [{ scope: 'sudo' }, 'invalid_scope'],
    [{ scope: 'api sudo' }, 'invalid_scope'],
    [{ ...S256, code_challenge_method: 'S512' }, 'invalid_request'],
    [{ ...S256, code_challenge_method: '' }, 'invalid_request'],
    [{ ...S256, code_challenge: '' }, 'invalid_request'],
    [{ ...S256, code_challenge: 'short' }, 'invalid_request']
  ]
  for (const [more, error] of cases) {
    const { location } = await new Browser(base).get(question(own, more))
    t.match(carried(location), { error, state: 'a&b', error_description: /./ }, JSON.stringify(more))
  }
})

t.test('a code is good for one exchange, and its second use ends what the first one got', async t => {
  const code = await consent()
  const first = (await exchange(code)).json
  t.equal(await works(first), 200)
  const again = await exchange(code)
  t.equal(again.status, 401)
  t.match(again.json, { error: 'invalid_grant', error_description: /./ })
  const res = await api('/user', bearer(first.access_token))
  t.equal(res.status, 401)
  t.match(res.json, { error: 'invalid_token', error_description: /revoked/ })
  t.match(res.headers.get('www-authenticate'), 'error="invalid_token"')
  t.equal((await refresh(first)).status, 401)
  t.match((await lastAudit('oauth.revoke'))?.changes, 'used twice')
})

t.test(
  'of many exchanges of one code at once, at most one gets tokens, and they do not outlive the others',
  async t => {
    const code = await consent()
    const all = await Promise.all(Array.from({ length: 8 }, () => exchange(code)))
    const got = all.filter(({ status }) => status === 200)
    t.ok(got.length <= 1)
    for (const { json } of got) t.equal(await works(json), 401)
  }
)

t.test('a wrong redirect URI uses a code up, and a wrong secret does not', async t => {
  const code = await consent()
  t.equal((await exchange(code, { ...own, client_secret: 'x'.repeat(64) })).status, 401)
  t.equal((await exchange(code)).status, 200, 'the code still works')
  const other = await consent()
  t.equal((await exchange(other, own, { redirect_uri: 'https://board.example.org/' })).status, 401)
  t.match(await exchange(other), { status: 401, json: { error: 'invalid_grant' } })
})

t.test('a code is bound to its application, its redirect URI and its time', async t => {
  const other = await register({ name: 'other' })
  t.match((await exchange(await consent(), other)).json, { error: 'invalid_grant' })
  const elsewhere = await exchange(await consent(), own, { redirect_uri: 'https://board.example.org/' })
  t.equal(elsewhere.status, 401)
  t.match(elsewhere.json, { error: 'invalid_grant' })
  const late = await consent()
  const found = await row<{ id: number; life: number }>(
    'select id, timestampdiff(second, created_at, code_expires_at) as life from oauth_grants order by id desc limit 1'
  )
  t.equal(Number(found?.life), 600)
  await execute('update oauth_grants set code_expires_at = ? where id = ?', [new Date(Date.now() - 1), found?.id ?? 0])
  t.match((await exchange(late)).json, { error: 'invalid_grant' })
  t.match((await exchange('no-such-code')).json, { error: 'invalid_grant' })
})

t.test('PKCE', async t => {
  const verifier = randomBytes(32).toString('base64url')
  const S256 = { code_challenge: hashOf(verifier), code_challenge_method: 'S256' }

  t.test('needs the verifier', async t => {
    t.equal((await exchange(await consent(own, S256), own, { code_verifier: verifier })).status, 200)
    const plain = { code_challenge: verifier, code_challenge_method: 'plain' }
    t.equal((await exchange(await consent(own, plain), own, { code_verifier: verifier })).status, 200)
    for (const more of [{}, { code_verifier: 'x'.repeat(43) }, { code_verifier: hashOf(verifier) }] as Values[]) {
      const code = await consent(own, S256)
      t.match(await exchange(code, own, more), { status: 401, json: { error: 'invalid_grant' } })
      t.equal((await exchange(code, own, { code_verifier: verifier })).status, 401, 'and there is one guess')
    }
    const without = await exchange(await consent(), own, { code_verifier: verifier })
    t.match(without, { status: 401, json: { error: 'invalid_grant' } })
  })

  t.test('does not replace the secret', async t => {
    const code = await consent(own, S256)
    const values = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier }
    t.match(await token({ ...values, client_id: own.client_id }), { status: 401, json: { error: 'invalid_client' } })
  })

  t.test('is required for an application without a secret', async t => {
    const phone = await register({ name: 'phone', confidential: false })
    const { client_id } = phone
    t.match(carried((await browser.get(question(phone))).location), { error: 'invalid_request' })
    const code = await consent(phone, S256)
    const values = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, client_id }
    const res = await token({ ...values, code_verifier: verifier })
    t.equal(res.status, 200)
    const { refresh_token } = res.json
    t.equal((await token({ grant_type: 'refresh_token', refresh_token, client_id })).status, 200)
    const wrong = await token({ ...values, code_verifier: verifier, client_secret: 'x' })
    t.match(wrong, { status: 401, json: { error: 'invalid_client' } }, 'a wrong secret is wrong all the same')
    t.match(await token({ grant_type: 'client_credentials', ...credentials(phone) }), { status: 401 })
  })
})

t.test('a refresh token rotates, and its second use ends the family', async t => {
  const first = await pairOf()
  const second = await refresh(first)
  t.equal(second.status, 200)
  t.not(second.json.access_token, first.access_token)
  t.not(second.json.refresh_token, first.refresh_token)
  t.equal(await works(first), 401, 'the old access token ends with it')
  t.equal(await works(second.json), 200)
  const third = (await refresh(second.json)).json
  t.equal(await works(third), 200)
  t.match(await refresh(first), { status: 401, json: { error: 'invalid_grant' } })
  t.equal(await works(third), 401)
  t.equal((await refresh(third)).status, 401)
})

t.test('of many refreshes at once, at most one gets tokens', async t => {
  const first = await pairOf()
  const all = await Promise.all(Array.from({ length: 8 }, () => refresh(first)))
  t.ok(all.filter(({ status }) => status === 200).length <= 1)
  const alive = await rows(
    `select t.id from oauth_tokens t join oauth_grants g on g.id = t.grant_id
     where t.revoked_at is null and g.revoked_at is null
       and g.id = (select grant_id from oauth_tokens order by id desc limit 1)`
  )
  t.same(alive, [], 'and the family has ended')
})

t.test('a refresh belongs to its application and cannot widen the scope', async t => {
  const wide = await register({ name: 'wide', scopes: ['api', 'read_user'] })
  const other = await register({ name: 'other' })
  const first = await pairOf(wide, { scope: 'api read_user' })
  t.match(await refresh(first, other), { status: 401, json: { error: 'invalid_grant' } })
  const narrow = await refresh(first, wide, { scope: 'read_user' })
  t.match(narrow, { status: 200, json: { scope: 'read_user' } })
  t.match(await refresh(narrow.json, wide, { scope: 'api' }), { status: 401, json: { error: 'invalid_scope' } })
})

t.test('scopes', async t => {
  const reader = await register({ name: 'reader', scopes: ['read_user'] })
  const { access_token, scope } = await pairOf(reader)
  t.equal(scope, 'read_user')
  t.equal((await api('/user', bearer(access_token))).status, 200)
  t.equal((await api(`/users/${user.id}`, bearer(access_token))).status, 200)
  for (const [path, method] of [
    ['/projects', 'GET'],
    ['/user/emails?email=x@example.org', 'POST']
  ] as const) {
    const res = await api(path, bearer(access_token), method)
    t.equal(res.status, 403, path)
    t.match(res.json, { error: 'insufficient_scope', error_description: /./, scope: 'api' })
  }
})

t.test('a password', async t => {
  const password = 'geheim 😀 пароль'
  const person = await app.make.user({ password })
  const login = (values: Values = {}, headers: Values = {}) =>
    token({ grant_type: 'password', username: person.username, password, ...values }, headers)

  t.test('gives tokens, with and without an application', async t => {
    const header = { authorization: `Basic ${Buffer.from(`${own.client_id}:${own.client_secret}`).toString('base64')}` }
    for (const res of [
      await login(),
      await login({ username: person.email }),
      await login(credentials(own)),
      await login({}, header)
    ]) {
      t.match(res, { status: 200, json: { token_type: 'bearer', scope: 'api', refresh_token: /^[0-9a-f]{64}$/ } })
      t.equal((await api('/user', bearer(res.json.access_token))).json?.id, person.id)
    }
    t.match(await lastAudit('oauth.token'), { actor_name: person.username, via: 'password' })
    const single = (await login()).json
    t.equal((await token({ grant_type: 'refresh_token', refresh_token: single.refresh_token })).status, 200)
  })

  t.test('is counted with the guesses at other doors', async t => {
    const guess = async (password: string) => (await login({ password })).json.error
    t.equal(await guess('wrong'), 'invalid_grant')
    for (let count = 1; count < 10; count++) await guess('wrong')
    const res = await login()
    t.equal(res.status, 429)
    t.match(res.headers.get('retry-after'), /^\d+$/)
    const session = await send(base, 'POST', '/api/v3/session', formBody({ login: person.username, password }))
    t.equal(session.status, 429)
  })

  t.test('does not open a wrong application', async t => {
    const wrong = { client_id: own.client_id, client_secret: 'x' }
    t.match(await login(wrong), { status: 401, json: { error: 'invalid_client' } })
    t.match(await login({ client_id: own.client_id }), { status: 401, json: { error: 'invalid_client' } })
  })

  t.test('is refused while signin_enabled is off', async t => {
    const root = await app.make.admin()
    const other = await app.make.user()
    await app.as(root).put('/application/settings', { signin_enabled: false })
    const res = await token({ grant_type: 'password', username: other.username, password: other.password })
    await app.as(root).put('/application/settings', { signin_enabled: true })
    t.match(res, { status: 401, json: { error: 'invalid_grant', error_description: /switched off/ } })
  })
})

t.test('an application that asks for itself gets a token without a user', async t => {
  const res = await token({ grant_type: 'client_credentials', ...credentials(own) })
  t.equal(res.status, 200)
  t.notOk('refresh_token' in res.json)
  t.same(await api('/user', bearer(res.json.access_token)).then(({ status, json }) => ({ status, json })), {
    status: 401,
    json: { message: '401 Unauthorized' }
  })
  const info = await send(base, 'GET', `/oauth/token/info?access_token=${res.json.access_token}`)
  t.match(JSON.parse(info.body), { resource_owner_id: null })
})

t.test('errors', async t => {
  const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: CALLBACK }
  const cases: [Values, string][] = [
    [{}, 'invalid_request'],
    [{ grant_type: '' }, 'invalid_request'],
    [{ grant_type: 'magic', ...credentials(own) }, 'unsupported_grant_type'],
    [{ grant_type: 'constructor' }, 'unsupported_grant_type'],
    [{ ...code, code: '', ...credentials(own) }, 'invalid_request'],
    [{ ...code, redirect_uri: '', ...credentials(own) }, 'invalid_request'],
    [{ grant_type: 'refresh_token', ...credentials(own) }, 'invalid_request'],
    [{ grant_type: 'password', username: 'x' }, 'invalid_request'],
    [{ ...code, ...credentials(own) }, 'invalid_grant'],
    [{ grant_type: 'refresh_token', refresh_token: 'x', ...credentials(own) }, 'invalid_grant'],
    [code, 'invalid_client'],
    [{ ...code, client_id: own.client_id }, 'invalid_client'],
    [{ ...code, client_id: own.client_id, client_secret: 'x' }, 'invalid_client'],
    [{ ...code, client_id: 'none' }, 'unauthorized_client'],
    [{ ...code, client_id: '\u0000é', client_secret: 'x' }, 'invalid_request'],
    [{ 'grant_type[]': 'password' }, 'invalid_request'],
    [{ grant_type: 'client_credentials', client_id: own.client_id }, 'invalid_client'],
    [{ grant_type: 'client_credentials', ...credentials(own), scope: 'sudo' }, 'invalid_scope']
  ]
  for (const [values, error] of cases) {
    const res = await token(values)
    t.equal(res.status, 401, JSON.stringify(values))
    t.match(res.json, { error, error_description: /./ }, JSON.stringify(values))
  }
  // It has the form of the path of a project, and there is none.
  t.equal((await send(base, 'GET', '/oauth/token')).status, 404)
  const json = await send(base, 'POST', '/oauth/token', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', ...credentials(own) })
  })
  t.equal(json.status, 200, 'JSON is taken like a form')
})

t.test('wrong secrets, codes and tokens of one address are limited', async t => {
  const remoteAddress = '203.0.113.77'
  const guess = async (payload: Values) =>
    (await app.fastify.inject({ method: 'POST', url: '/oauth/token', payload, remoteAddress })).statusCode
  const guesses: Values[] = [
    { grant_type: 'client_credentials', client_id: own.client_id, client_secret: 'guess' },
    { grant_type: 'refresh_token', refresh_token: 'guess', ...credentials(own) },
    { grant_type: 'authorization_code', code: 'guess', redirect_uri: CALLBACK, ...credentials(own) }
  ]
  const statuses: number[] = []
  // One address may have 200 open requests.
  while (statuses.length < 605) {
    statuses.push(...(await Promise.all(Array.from({ length: 121 }, (_, at) => guess(guesses[at % 3] ?? {})))))
  }
  t.equal(statuses.filter(status => status === 401).length, 600)
  t.equal(statuses.filter(status => status === 429).length, 5)
  t.equal(await guess({ grant_type: 'client_credentials', ...credentials(own) }), 200, 'right ones work')
})

t.test('tokens that expire say so', async t => {
  loadConfig({ port: 0, oauth: { token_expire: 7200 } })
  const pair = await pairOf()
  loadConfig({ port: 0 })
  t.equal(pair.expires_in, 7200)
  const info = JSON.parse((await send(base, 'GET', `/oauth/token/info?access_token=${pair.access_token}`)).body)
  t.ok(info.expires_in_seconds > 7100 && info.expires_in_seconds <= 7200)
  await execute('update oauth_tokens set expires_at = ? order by id desc limit 1', [new Date(Date.now() - 1)])
  t.match(await api('/user', bearer(pair.access_token)), {
    status: 401,
    json: { error: 'invalid_token', error_description: /expired/ }
  })
  t.match(await send(base, 'GET', '/oauth/token/info', { headers: bearer(pair.access_token) }), { status: 401 })
  t.equal((await refresh(pair)).status, 200, 'and can be refreshed')
})

t.test('revocation', async t => {
  const revoke = (values: Values) => ask('/oauth/revoke', values)
  for (const which of ['access_token', 'refresh_token'] as const) {
    const pair = await pairOf()
    t.same(await revoke({ token: pair[which], ...credentials(own) }).then(({ status, json }) => [status, json]), [
      200,
      {}
    ])
    t.equal(await works(pair), 401, which)
    t.equal((await refresh(pair)).status, 401, which)
    t.equal((await revoke({ token: pair[which], ...credentials(own) })).status, 200, 'again')
  }
  const pair = await pairOf()
  const other = await register({ name: 'other' })
  t.equal((await revoke({ token: pair.access_token, ...credentials(other) })).status, 200)
  t.equal(await works(pair), 200, 'not by another application')
  t.match(await revoke({ token: pair.access_token, client_id: own.client_id, client_secret: 'x' }), {
    status: 401,
    json: { error: 'invalid_client' }
  })
  t.equal(await works(pair), 200)
  t.equal((await revoke({ token: 'nobody has this', ...credentials(own) })).status, 200)
  t.match(await revoke(credentials(own)), { status: 401, json: { error: 'invalid_request' } })
})

t.test('a blocked user has no access by any token', async t => {
  const person = await app.make.user()
  const by = await signedIn(person)
  const { json: pair } = await exchange(await consent(own, {}, by))
  const code = await consent(own, {}, by)
  await app.as(await app.make.admin()).put(`/users/${person.id}/block`)
  t.match(await api('/user', bearer(pair.access_token)), { status: 401, json: { message: '401 Unauthorized' } })
  t.match(await refresh(pair), { status: 401, json: { error: 'invalid_grant' } })
  t.match(await exchange(code), { status: 401, json: { error: 'invalid_grant' } })
  t.equal((await send(base, 'GET', '/oauth/token/info', { headers: bearer(pair.access_token) })).status, 401)
})

t.test('an OAuth token does not sudo, makes no tokens, and is no private token', async t => {
  const root = await app.make.admin()
  const { json: pair } = await exchange(await consent(own, {}, await signedIn(root)))
  const { access_token } = pair
  t.match(await api(`/user?sudo=${user.id}`, bearer(access_token)), {
    status: 403,
    json: { message: /Private token must/ }
  })
  t.match(await api('/personal_access_tokens?name=x', bearer(access_token), 'POST'), {
    status: 403,
    json: { message: /OAuth tokens cannot create tokens/ }
  })
  t.equal((await api('/user', { 'private-token': access_token })).status, 401)
  t.equal((await api(`/user?private_token=${access_token}`)).status, 401)
  const inBody = await send(base, 'POST', '/api/v3/projects', formBody({ bearer_token: access_token, name: 'in-body' }))
  t.equal(inBody.status, 201)
  t.equal((await api('/user', bearer('0'.repeat(64)))).json?.message, '401 Unauthorized', 'an unknown one')
})

t.test('git over HTTP takes the token as the password of oauth2', async t => {
  const project = await app.make.project({ owner: user })
  await app.make.file(project, 'README', 'hello')
  const clone = (name: string, secret: string, folder: string) => {
    const url = `${base.replace('//', `//${name}:${secret}@`)}/${project.path}.git`
    const env = { PATH: process.env.PATH, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_GLOBAL: '/dev/null', HOME: folder }
    return promisify(execFile)('git', ['clone', '-q', url, `${folder}/clone`], { env }).then(
      () => 'cloned',
      error => (/Authentication failed/.test(String(error)) ? 'refused' : String(error))
    )
  }
  const pair = await pairOf()
  t.equal(await clone('oauth2', pair.access_token, t.testdir()), 'cloned')
  const reader = await pairOf(await register({ name: 'reader', scopes: ['read_user'] }))
  t.equal(await clone('oauth2', reader.access_token, t.testdir()), 'refused')
  await ask('/oauth/revoke', { token: pair.access_token })
  t.equal(await clone('oauth2', pair.access_token, t.testdir()), 'refused')
})

t.test('a deleted application has no tokens', async t => {
  const gone = await register({ name: 'gone' })
  const pair = await pairOf(gone)
  const code = await consent(gone)
  const root = await app.make.admin()
  t.equal((await app.as(root).delete(`/applications/${gone.id}`)).statusCode, 200)
  t.equal(await works(pair), 401)
  t.match(await exchange(code, gone), { status: 401, json: { error: 'invalid_client' } })
  t.same(await rows('select id from oauth_grants where application_id = ?', [gone.id]), [])
})

t.test('old codes and revoked tokens are removed', async t => {
  const pair = await pairOf()
  const renewed = (await refresh(pair)).json
  await consent()
  const old = new Date(Date.now() - 31 * 86_400_000)
  await execute('update oauth_grants set code_expires_at = ?', [old])
  await execute('update oauth_tokens set revoked_at = ? where revoked_at is not null', [old])
  await execute('update oauth_grants set revoked_at = ? where revoked_at is not null', [old])
  const signal = new AbortController().signal
  const run = async (dryRun: boolean) => {
    let total = 0
    const count = (more = 1) => {
      total += more
    }
    await expiredGrants.run({ dryRun, signal, count, note: () => undefined })
    return total
  }
  const found = await run(true)
  t.ok(found >= 2)
  t.equal(await works(renewed), 200, 'a dry run removes nothing')
  t.ok((await run(false)) >= 2)
  t.equal(await run(true), 0)
  t.equal(await works(renewed), 200)
  t.same(await rows('select id from oauth_grants where code_used_at is null and code_hash is not null'), [])
})
