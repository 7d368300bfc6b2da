// What a hostile provider, a stranger between both sides, or a person with an account at the provider could try.
import t from 'tap'
import { loadConfig } from '../../../../src/config.js'
import { row, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, formBody, listen, send } from '../../../helpers/browser.js'
import {
  discoveryOf,
  type Forgery,
  idClaims,
  json,
  logoutClaims,
  newKeyPair,
  startForgingProvider
} from '../../../helpers/forging-provider.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const [forger, other] = [await startForgingProvider(t), await startForgingProvider(t)]
const DISCOVERY = '/.well-known/openid-configuration'
/** Also forgets what was read before. */
const configure = (changes: object = {}) =>
  loadConfig({
    port: 0,
    url: base,
    identity: { oidc: { forged: { ...forger.settings, ...changes }, other: { ...other.settings } } }
  })
configure()

const person = {
  name: 'Somebody',
  preferred_username: 'somebody',
  email: 'somebody@company.example',
  email_verified: true
}

interface Forged {
  readonly claims?: object
  readonly how?: Forgery
  /** Instead of the whole answer of the token endpoint. */
  readonly answer?: object
  /** Instead of the right query of the callback. */
  readonly query?: (right: { state: string; code: string }) => string
  readonly path?: string
}

/** Begins a sign-in, lets the provider answer, and comes back. */
async function signIn(
  { claims, how, answer, query, path = '/users/auth/forged' }: Forged = {},
  browser = new Browser(base)
) {
  const begun = await browser.get('/users/auth/forged')
  const asked = new URL(begun.location ?? base)
  const [state, nonce] = [asked.searchParams.get('state') ?? '', asked.searchParams.get('nonce') ?? '']
  const token = forger.token(idClaims(forger.issuer, nonce, { ...person, ...claims }), how)
  forger.handlers.set('/token', json(answer ?? { access_token: 'x', token_type: 'Bearer', id_token: token }))
  const right = { state, code: 'the-code' }
  const back = `${path}/callback?${query ? query(right) : new URLSearchParams(right)}`
  return { browser, asked, back, cookies: new Map(browser.cookies), answer: await browser.get(back) }
}
const isIn = async (browser: Browser) => (await browser.get('/profile')).status === 200
const userOf = (sub: string) =>
  row<{ id: number; admin: number }>(
    'select u.id, u.admin from users u join identities i on i.user_id = u.id where i.extern_uid = ?',
    [sub]
  )

t.test('a right answer signs in, and the request had everything that protects it', async t => {
  const { answer, asked, browser } = await signIn()
  t.equal(answer.status, 303)
  t.ok(await isIn(browser))
  const sent = Object.fromEntries(asked.searchParams)
  t.match(sent, {
    response_type: 'code',
    client_id: 'gitstead',
    scope: 'openid profile email',
    redirect_uri: `${base}/users/auth/forged/callback`,
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/
  })
  t.match(Object.fromEntries(forger.tokenRequest), {
    code: 'the-code',
    redirect_uri: `${base}/users/auth/forged/callback`,
    code_verifier: /^[\w-]{43}$/
  })
})

t.test('tokens that prove nothing sign nobody in', async t => {
  const foreign = newKeyPair()
  const { publicKey } = foreign
  const now = Math.floor(Date.now() / 1000)
  const forgeries: { readonly [story: string]: Forged } = {
    'no algorithm': { how: { header: { alg: 'none', kid: undefined }, unsigned: true } },
    'the algorithm none with a signature': { how: { header: { alg: 'none' } } },
    'signed with the secret of the client': { how: { header: { alg: 'HS256' }, secret: 'secret-of-the-client' } },
    'signed with a public key as a secret': {
      how: { header: { alg: 'HS256' }, secret: publicKey.export({ type: 'spki', format: 'pem' }) }
    },
    'signed with another key': { how: { key: foreign.privateKey } },
    'signed with an unknown key': { how: { key: foreign.privateKey, header: { kid: 'two' } } },
    'its own key in the header': {
      how: { key: foreign.privateKey, header: { jwk: publicKey.export({ format: 'jwk' }) } }
    },
    'a critical header': { how: { header: { crit: ['x'], x: 1 } } },
    'for another client': { claims: { aud: 'another' } },
    'for another authorized party': { claims: { aud: ['gitstead', 'another'], azp: 'another' } },
    'for several clients without a party': { claims: { aud: ['gitstead', 'another'] } },
    'of another issuer': { claims: { iss: other.issuer } },
    'without a nonce': { claims: { nonce: undefined } },
    'with another nonce': { claims: { nonce: 'x' } },
    expired: { claims: { exp: now - 120 } },
    'not valid yet': { claims: { nbf: now + 120 } },
    'without an end': { claims: { exp: undefined } },
    'without a subject': { claims: { sub: undefined } },
    'with an empty subject': { claims: { sub: '' } },
    'with a number as the subject': { claims: { sub: 1 } },
    'no ID token': { answer: { access_token: 'x', token_type: 'Bearer' } },
    'a text': { answer: { access_token: 'x', token_type: 'Bearer', id_token: 'x' } },
    'an error': { answer: { error: 'invalid_grant' } }
  }
  const before = await rows('select id from users')
  for (const [story, forged] of Object.entries(forgeries)) {
    const { answer, browser } = await signIn({ ...forged, claims: { sub: 'forged', ...forged.claims } })
    t.equal(answer.status, 403, story)
    t.notOk(await isIn(browser), story)
  }
  t.same(await rows('select id from users'), before)
})

t.test('a wrong way back signs nobody in', async t => {
  const queries: { readonly [story: string]: (right: { state: string; code: string }) => string } = {
    'no state': ({ code }) => `code=${code}`,
    'another state': ({ code }) => `code=${code}&state=x`,
    'two states': ({ code, state }) => `code=${code}&state=x&state=${state}`,
    'no code': ({ state }) => `state=${state}`,
    'two codes': ({ state }) => `state=${state}&code=x&code=y`,
    'an error': ({ state }) => `state=${state}&error=access_denied`,
    'an error with hostile words': ({ state }) => `state=${state}&error=%3Cscript%3E&error_description=%3Cb%3E`,
    'the issuer of another provider': ({ code, state }) =>
      `code=${code}&state=${state}&iss=${encodeURIComponent(other.issuer)}`,
    nothing: () => ''
  }
  for (const [story, query] of Object.entries(queries)) {
    const { answer, browser } = await signIn({ query })
    t.equal(answer.status, 403, story)
    t.notMatch(answer.body, /<script>|<b>/, story)
    t.notOk(await isIn(browser), story)
  }
  t.match(
    (await signIn({ query: ({ state }) => `state=${state}&error=access_denied` })).answer.body,
    /Forged did not let you sign in/
  )
})

t.test('the answer of one provider is no answer of another one', async t => {
  const { answer, browser } = await signIn({ path: '/users/auth/other' })
  t.equal(answer.status, 400)
  t.notOk(await isIn(browser))
  t.notOk(other.asked.includes('/token'), 'the code does not reach the other provider')
})

t.test('each way back works once, and only in the browser that began', async t => {
  const { back, cookies, browser } = await signIn()
  t.ok(await isIn(browser))
  const copy = new Browser(base)
  for (const [name, value] of cookies) copy.cookies.set(name, value)
  forger.asked.length = 0
  t.equal((await copy.get(back)).status, 400, 'a replay')
  t.notOk(await isIn(copy))
  t.equal((await new Browser(base).get(back)).status, 400, 'another browser, as in a forged link')
  t.notOk(forger.asked.includes('/token'))
})

t.test('cookies that this appliance has not made for this purpose count as none', async t => {
  const begin = async () => {
    const browser = new Browser(base)
    const { location } = await browser.get('/users/auth/forged')
    return {
      browser,
      back: `/users/auth/forged/callback?code=x&state=${new URL(location ?? '').searchParams.get('state')}`
    }
  }
  const name = '_service_provider'
  const { browser: first } = await begin()
  const sealed = first.cookies.get(name) ?? ''
  const bytes = Buffer.from(sealed, 'base64url')
  bytes[40] = (bytes[40] ?? 0) ^ 1
  await app.make.user({ email: 'taken@company.example' })
  const { browser: unknown } = await signIn({ claims: { sub: 'unknown', email: 'taken@company.example' } })
  const unlinked = unknown.cookies.get('_service_unlinked') ?? ''
  t.not(unlinked, '')
  for (const value of ['x', '%', 'a'.repeat(5000), bytes.toString('base64url'), unlinked, sealed]) {
    const { browser, back } = await begin()
    browser.cookies.set(name, value)
    const { status } = await browser.get(back)
    t.ok(status === 400 || (value === sealed && status === 403), value.slice(0, 10))
    t.notOk(await isIn(browser))
  }
})

t.test('another subject is another person, whatever else is equal', async t => {
  await signIn({ claims: { sub: 'first', email: 'first@company.example', preferred_username: 'first' } })
  const first = await userOf('first')
  const { answer, browser } = await signIn({
    claims: { sub: 'second', email: 'first@company.example', preferred_username: 'first' }
  })
  t.equal(answer.status, 403)
  t.notOk(await isIn(browser))
  t.equal(await userOf('second'), undefined)
  await signIn({ claims: { sub: 'FIRST', email: 'third@company.example', preferred_username: 'first' } })
  t.not((await userOf('FIRST'))?.id, first?.id)
})

t.test('user info about somebody else is refused, and so is an address that only it has verified', async t => {
  forger.handlers.set(
    DISCOVERY,
    json({ ...discoveryOf(forger.issuer), userinfo_endpoint: `${forger.issuer}/userinfo` })
  )
  configure()
  forger.handlers.set('/userinfo', json({ sub: 'another', ...person }))
  t.equal((await signIn({ claims: { sub: 'mallory' } })).answer.status, 403)
  forger.handlers.set('/userinfo', json({ sub: 'mallory', email: 'boss@company.example' }))
  const mixed = await signIn({ claims: { sub: 'mallory', email: 'mallory@company.example', email_verified: true } })
  t.equal(mixed.answer.status, 403)
  t.match(mixed.answer.body, /Forged has not checked your email address/)
  forger.handlers.set(DISCOVERY, json(discoveryOf(forger.issuer)))
  configure()
})

t.test('claims of other types give nothing', async t => {
  const group = await app.make.group()
  configure({ admin: { values: ['admins'] }, members: [`team -> ${group.path} as owner`], allowed_groups: ['staff'] })
  const claims: object[] = [
    { groups: undefined },
    { groups: null },
    { groups: 'staff,admins' },
    { groups: { staff: true } },
    { groups: [['staff']] },
    { groups: ['STAFF'] },
    { groups: 7 }
  ]
  for (const each of claims) {
    t.equal((await signIn({ claims: { sub: 'types', email: 'types@company.example', ...each } })).answer.status, 403)
  }
  await signIn({ claims: { sub: 'types', email: 'types@company.example', groups: ['staff', { admins: 1 }, 'team '] } })
  t.match(await userOf('types'), { admin: 0 })
  t.same(await rows('select 1 from members where source_id = ?', [group.id]), [])
  configure({ claims: { email: 'upn' } })
  const upn = await signIn({ claims: { sub: 'upn', email: 'own@company.example', upn: 'boss@company.example' } })
  t.equal(upn.answer.status, 403, 'the verified address is not the one of the settings')
  configure()
})

t.test('clocks may differ by the seconds that the settings allow', async t => {
  const now = Math.floor(Date.now() / 1000)
  t.equal((await signIn({ claims: { exp: now - 15, iat: now - 60, nbf: now + 15 } })).answer.status, 303)
  configure({ clock_skew: 0 })
  t.equal((await signIn({ claims: { exp: now - 15 } })).answer.status, 403)
  configure()
})

t.test('hostile documents of a provider cost little and say what is wrong', async t => {
  const right = discoveryOf(forger.issuer)
  const documents: [story: string, handler: Parameters<typeof forger.handlers.set>[1], status: number][] = [
    ['another issuer', json({ ...right, issuer: other.issuer }), 403],
    ['no JSON', (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).end('{'), 403],
    ['a page', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'), 403],
    ['a list', json([]), 403],
    ['not found', (_, response) => void response.writeHead(404).end(), 403],
    [
      'a redirect',
      (_, response) => void response.writeHead(302, { location: `${other.issuer}${DISCOVERY}` }).end(),
      403
    ],
    ['no endpoint', json({ ...right, authorization_endpoint: undefined }), 403],
    ['an endpoint that is a script', json({ ...right, authorization_endpoint: 'javascript:alert(1)' }), 403],
    ['an error', (_, response) => void response.writeHead(500).end(), 503],
    ['too large', json({ ...right, x: 'x'.repeat(2_000_000) }), 503],
    ['a connection that ends', (_, response) => void response.destroy(), 503],
    ['no answer', () => undefined, 503],
    [
      'an answer without an end',
      (_, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
      503
    ]
  ]
  other.asked.length = 0
  for (const [story, handler, status] of documents) {
    forger.handlers.set(DISCOVERY, handler)
    configure()
    const answer = await new Browser(base).get('/users/auth/forged?return_to=/explore')
    t.equal(answer.status, status, story)
    t.match(answer.body, /action="\/users\/sign_in"/, 'people can sign in in another way')
    t.match(answer.body, /name="return_to" value="\/explore"/)
  }
  t.same(other.asked, [], 'nothing is redirected')
  forger.handlers.set(DISCOVERY, json(right))
  configure()
})

t.test('a provider that is away holds up nobody, and is asked seldom', async t => {
  forger.handlers.set(DISCOVERY, (_, response) => void response.writeHead(503).end())
  configure()
  forger.asked.length = 0
  const browser = new Browser(base)
  const answers = await Promise.all(Array.from({ length: 10 }, () => new Browser(base).get('/users/auth/forged')))
  t.same(new Set(answers.map(({ status }) => status)), new Set([503]))
  t.match(answers[0]?.body, /Forged does not answer\. Try again in a minute, or sign in in another way\./)
  await browser.get('/users/auth/forged')
  t.equal(forger.asked.length, 1)
  t.equal((await browser.signIn(await app.make.user())).status, 303)
  forger.handlers.set(DISCOVERY, json(discoveryOf(forger.issuer)))
  configure()
  await signIn()
  forger.handlers.set('/token', (_, response) => void response.writeHead(503).end())
  const begun = await browser.get('/users/auth/forged')
  const state = new URL(begun.location ?? '').searchParams.get('state')
  t.equal((await browser.get(`/users/auth/forged/callback?code=x&state=${state}`)).status, 503)
})

t.test('only valid logout tokens end sessions, and each once', async t => {
  const { browser } = await signIn({ claims: { sub: 'leaver', email: 'leaver@company.example', sid: 'session-1' } })
  const now = Math.floor(Date.now() / 1000)
  const logOut = (token: string, name = 'forged') =>
    send(base, 'POST', `/users/auth/${name}/backchannel_logout`, formBody({ logout_token: token }))
  const valid = (changes: object = {}) => logoutClaims(forger.issuer, { sub: 'leaver', ...changes })
  const tokens: { readonly [story: string]: string } = {
    'a text': 'x',
    'too many parts': `${forger.token(valid())}.x`,
    'no algorithm': forger.token(valid(), { header: { alg: 'none' }, unsigned: true }),
    'the secret of the client': forger.token(valid(), { header: { alg: 'HS256' }, secret: 'secret-of-the-client' }),
    'another key': forger.token(valid(), { key: newKeyPair().privateKey }),
    'another algorithm': forger.token(valid(), { header: { alg: 'PS256' } }),
    'an unknown key': forger.token(valid(), { header: { kid: 'two' } }),
    'a critical header': forger.token(valid(), { header: { crit: ['x'] } }),
    'another issuer': forger.token(valid({ iss: other.issuer })),
    'another client': forger.token(valid({ aud: 'another' })),
    'an ID token': forger.token(idClaims(forger.issuer, 'x', { sub: 'leaver' })),
    'a nonce': forger.token(valid({ nonce: 'x' })),
    'no event': forger.token(valid({ events: {} })),
    'no jti': forger.token(valid({ jti: undefined })),
    nobody: forger.token(valid({ sub: undefined })),
    'a number as the person': forger.token(valid({ sub: 1 })),
    old: forger.token(valid({ iat: now - 3600 })),
    'from the future': forger.token(valid({ iat: now + 3600 })),
    expired: forger.token(valid({ exp: now - 60 }))
  }
  for (const [story, token] of Object.entries(tokens)) {
    const answer = await logOut(token)
    t.equal(answer.status, 400, story)
    t.match(JSON.parse(answer.body), { error: 'invalid_request' })
  }
  t.equal((await logOut(forger.token(valid()), 'other')).status, 400, 'a provider ends only its own sessions')
  t.equal((await logOut(forger.token(valid({ sid: 'session-2' })))).status, 200, 'another session')
  t.equal((await logOut(forger.token(logoutClaims(forger.issuer, { sub: 'stranger', sid: 'session-1' })))).status, 200)
  t.ok(await isIn(browser))
  const right = forger.token(logoutClaims(forger.issuer, { sub: undefined, sid: 'session-1' }))
  const first = await logOut(right)
  t.equal(first.status, 200)
  t.equal(first.headers.get('cache-control'), 'no-store')
  t.notOk(await isIn(browser))
  t.equal((await logOut(right)).status, 400, 'a replay')
  t.equal((await send(base, 'POST', '/users/auth/forged/backchannel_logout')).status, 400)
})
