// The page of the second factors, and what people do there.
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Authenticator, type Lies } from '../../../helpers/authenticator.js'
import { type Answer, Browser, formIn, listen } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import { codeOf, giveApp } from '../../../helpers/second-factors.js'
import t from '../../../helpers/tap.js'

const PATH = '/profile/two_factor'
const ORIGIN = 'https://git.example.org'
const STEP = '/users/sign_in/two_factor'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const { home } = config()
loadConfig({ home, url: ORIGIN })
t.teardown(() => void loadConfig({ home }))

const signedIn = async (user: TestUser) => {
  const browser = new Browser(base)
  t.equal((await browser.signIn(user)).location, '/')
  return browser
}
/** Lets the sessions of a user look old, so that the pages ask for the password. */
const age = (user: TestUser) =>
  execute('update sessions set created_at = ? where user_id = ?', [new Date(Date.now() - 601_000), user.id])
const subjects = async () => (await mails()).map(({ subject }) => subject)
const auditOf = async (user: TestUser) =>
  (await rows<{ action: string }>('select action from audit_events where actor_id = ? order by id', [user.id])).map(
    ({ action }) => action
  )
const isEnabled = async (user: TestUser) => (await app.as(user).get('/user')).json().two_factor_enabled
const codesIn = ({ body }: Answer) => [...body.matchAll(/<code>([a-z0-9-]{14})<\/code>/g)].map(([, code = '']) => code)

interface Options {
  readonly challenge: string
  readonly allowCredentials?: { readonly id: string }[]
}
/** The options for a passkey in a form of a page. */
function optionsIn(page: Answer, kind: 'create' | 'get', action = ''): Options {
  const found = [...page.body.matchAll(/<form[^>]*action="([^"]*)"[^>]*data-passkey="([^"]*)"/g)]
  const [, , text = ''] = found.find(([, to = '']) => to.includes(action)) ?? []
  return JSON.parse(text.replaceAll('&quot;', '"'))[kind]
}

async function addPasskey(browser: Browser, lies: Lies = {}, name = 'Phone') {
  const passkey = new Authenticator(ORIGIN)
  const page = await browser.get(PATH)
  const answer = await browser.submit(page, 'passkey-name', {
    name,
    passkey: passkey.create(optionsIn(page, 'create'), lies)
  })
  return { passkey, answer }
}

t.test('an app is set up with a code, and removed with the password', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  await mails()
  t.match((await browser.get(PATH)).body, 'Set up an app')
  const page = await browser.get(`${PATH}/app`)
  t.match(page.body, '<svg')
  const [, secret = ''] = /name="secret" value="([A-Z2-7]{32})"/.exec(page.body) ?? []
  t.match(page.body, secret.slice(0, 4))
  const wrong = await browser.submit(page, 'name="code"', { code: codeOf(secret, 7) })
  t.equal(wrong.status, 400)
  t.match(wrong.body, `name="secret" value="${secret}"`, 'the same secret is shown again')
  t.match(wrong.body, /Code is wrong/)
  const other = { code: codeOf('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'), secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }
  t.equal((await browser.submit(wrong, 'name="code"', other)).status, 403, 'only secrets of the appliance')
  t.equal(await isEnabled(user), false)
  const done = await browser.submit(wrong, 'name="code"', { code: codeOf(secret) })
  t.equal(done.status, 201)
  t.equal(codesIn(done).length, 10)
  t.equal(await isEnabled(user), true)
  const [stored] = await rows<{ secret: Buffer }>(
    'select secret_encrypted as secret from authenticator_apps where user_id = ?',
    [user.id]
  )
  t.notOk(stored?.secret.includes(secret), 'the secret is encrypted')
  const page2 = await browser.get(PATH)
  t.match(page2.body, 'You have 10 of them')
  t.equal(codesIn(page2).length, 0, 'the codes are shown once')
  await age(user)
  const old = await browser.get(PATH)
  for (const confirmation of ['', 'wrong password', '000000']) {
    const refused = await browser.submit(old, '/app/delete', { confirmation })
    t.equal(refused.status, 400, confirmation)
    t.match(refused.body, 'The password or code is wrong')
  }
  t.equal(await isEnabled(user), true)
  t.equal((await browser.submit(old, '/app/delete', { confirmation: user.password })).status, 303)
  t.equal(await isEnabled(user), false)
  t.same(await rows('select 1 from recovery_codes where user_id = ?', [user.id]), [], 'the recovery codes are gone')
  t.same(await subjects(), [
    'An authenticator app was added to your account',
    'The authenticator app of your account was removed'
  ])
  t.match((await auditOf(user)).slice(-2), ['authenticator_app.create', 'authenticator_app.delete'])
})

t.test('recovery codes are replaced with a code of the app', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const { secret, recoveryCodes } = await giveApp(user)
  await age(user)
  await mails()
  const page = await browser.get(PATH)
  t.equal((await browser.submit(page, '/recovery_codes', { confirmation: codeOf(secret, 7) })).status, 400)
  const done = await browser.submit(page, '/recovery_codes', { confirmation: codeOf(secret) })
  t.equal(done.status, 201)
  t.equal(codesIn(done).length, 10)
  t.notOk(codesIn(done).some(code => recoveryCodes.includes(code)))
  t.same(await subjects(), ['New recovery codes were made for your account'])
  const second = new Browser(base)
  const { location } = await second.signIn(user)
  const step = await second.get(location ?? '')
  t.equal((await second.submit(step, 'name="code"', { code: recoveryCodes[0] ?? '' })).status, 401, 'an old code')
  t.equal((await second.submit(step, 'name="code"', { code: codesIn(done)[0] ?? '' })).status, 303)
  const stranger = await signedIn(await app.make.user())
  const refused = await stranger.post(`${PATH}/recovery_codes`, {
    authenticity_token:
      Object.fromEntries(formIn((await stranger.get(PATH)).body, 'sign_out').fields).authenticity_token ?? ''
  })
  t.equal(refused.status, 400, 'there are none without a factor')
})

t.test('a passkey is added, renamed and removed, and is a second factor', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  await mails()
  const { passkey, answer } = await addPasskey(browser, {}, 'Phone <b>')
  t.equal(answer.status, 201)
  t.equal(codesIn(answer).length, 10)
  t.equal(await isEnabled(user), true)
  const page = await browser.get(PATH)
  t.match(page.body, 'Phone &lt;b&gt;')
  const again = await browser.submit(page, 'passkey-name', {
    name: 'Same',
    passkey: passkey.create(optionsIn(page, 'create'))
  })
  t.equal(again.status, 400)
  t.match(again.body, 'is known already')
  t.equal((await addPasskey(browser, {}, 'Second')).answer.location, PATH, 'there are no new codes')
  await browser.submit(await browser.get(PATH), '/rename', { name: 'Telephone' })
  t.match((await browser.get(PATH)).body, 'Telephone')
  const second = new Browser(base)
  const { location } = await second.signIn(user)
  const step = await second.get(location ?? '')
  const options = optionsIn(step, 'get')
  t.equal(options.allowCredentials?.length, 2)
  const answered = passkey.get(options, { verified: false })
  const done = await second.submit(step, 'data-passkey', { passkey: answered })
  t.match([done.status, done.location], [303, '/'])
  await age(user)
  const old = await browser.get(PATH)
  t.equal((await browser.submit(old, `/delete`, { confirmation: 'wrong one' })).status, 400)
  t.equal((await browser.submit(old, `/delete`, { confirmation: user.password })).status, 303)
  t.equal(await isEnabled(user), true, 'another is left')
  t.equal((await browser.submit(await browser.get(PATH), `/delete`, { confirmation: user.password })).status, 303)
  t.equal(await isEnabled(user), false)
  t.same(await subjects(), [
    'A passkey of your account was removed',
    'A passkey of your account was removed',
    'A passkey was added to your account',
    'A passkey was added to your account'
  ])
})

t.test('a wrong answer adds no passkey', async t => {
  const user = await app.make.user()
  const browser = await signedIn(user)
  const lies: Readonly<Record<string, Lies>> = {
    'another origin': { origin: 'https://git.example.org.evil.example' },
    'a part of the origin': { origin: 'http://git.example.org' },
    'another relying party': { rpId: 'example.org' },
    'another challenge': { challenge: Buffer.alloc(54, 1).toString('base64url') },
    'an answer for signing in': { type: 'webauthn.get' },
    'a page in a frame': { crossOrigin: true },
    'a statement with certificates': { fmt: 'packed', statement: new Map([['x5c', [new Uint8Array(8)]]]) },
    'a statement of another kind': { fmt: 'fido-u2f', statement: new Map() }
  }
  for (const [name, lie] of Object.entries(lies)) {
    const { answer } = await addPasskey(browser, lie)
    t.equal(answer.status, 400, name)
    t.match(answer.body, 'The passkey was refused', name)
  }
  const page = await browser.get(PATH)
  for (const passkey of ['', 'x', 'null', '{}', '{"id":"a","rawId":"a","type":"public-key","response":{}}', '[1]'])
    t.equal((await browser.submit(page, 'passkey-name', { name: 'a', passkey })).status, 400, passkey)
  const other = await signedIn(await app.make.user())
  const foreign = new Authenticator(ORIGIN).create(optionsIn(await other.get(PATH), 'create'))
  t.equal(
    (await browser.submit(page, 'passkey-name', { name: 'a', passkey: foreign })).status,
    400,
    'of another session'
  )
  t.equal((await addPasskey(browser, {}, 'x'.repeat(300))).answer.status, 400, 'a long name')
  t.equal(await isEnabled(user), false)
})

t.test('a passkey signs in without a password, once for each challenge', async t => {
  const user = await app.make.user()
  const { passkey } = await addPasskey(await signedIn(user))
  const open = async () => {
    const browser = new Browser(base)
    const page = await browser.get('/users/sign_in?return_to=/profile/keys')
    return { browser, page, options: optionsIn(page, 'get') }
  }
  const send = (browser: Browser, page: Answer, answer: string) =>
    browser.submit(page, 'data-passkey', { passkey: answer })
  const { browser, page, options } = await open()
  t.notOk(options.allowCredentials?.length, 'the page names no passkey')
  const answer = passkey.get(options)
  t.match(await send(browser, page, answer), { status: 303, location: '/profile/keys' })
  t.equal((await browser.get('/profile/keys')).status, 200)
  t.match((await auditOf(user)).at(-1), 'session.create')
  browser.cookies.delete('_service_session')
  t.equal((await send(browser, page, answer)).status, 401, 'a replayed answer')
  const [first, second] = [await open(), await open()]
  t.equal(
    (await send(second.browser, second.page, passkey.get(first.options))).status,
    401,
    'the challenge of another browser'
  )
  const lies: Readonly<Record<string, Lies>> = {
    'another origin': { origin: 'https://evil.example' },
    'another relying party': { rpId: 'evil.example' },
    'a page in a frame': { crossOrigin: true },
    'an answer for adding a passkey': { type: 'webauthn.create' },
    'nobody has entered a PIN': { verified: false },
    'a handle of another user': { userHandle: Buffer.alloc(32).toString('base64url') },
    'a counter that goes back': { counter: 1 }
  }
  for (const [name, lie] of Object.entries(lies)) {
    const { browser, page, options } = await open()
    const refused = await send(browser, page, passkey.get(options, lie))
    t.equal(refused.status, 401, name)
    t.notOk(browser.cookies.has('_service_session'), name)
  }
  const [row] = await rows<{ total: number }>(
    "select count(*) as total from audit_events where action = 'passkey.refuse'"
  )
  t.equal(Number(row?.total), 1, 'the audit says that there may be a copy')
  const stranger = new Authenticator(ORIGIN)
  const unknown = await open()
  t.equal(
    (await send(unknown.browser, unknown.page, stranger.get(unknown.options, { rpId: 'git.example.org' }))).status,
    401
  )
  const signedAway = await open()
  const foreign = JSON.parse(stranger.get(signedAway.options, { rpId: 'git.example.org' }))
  const stolen = JSON.stringify({ ...foreign, id: passkey.id, rawId: passkey.id })
  t.equal((await send(signedAway.browser, signedAway.page, stolen)).status, 401, 'the signature of another key')
  await execute("update users set state = 'blocked' where id = ?", [user.id])
  const late = await open()
  t.equal((await send(late.browser, late.page, passkey.get(late.options))).status, 401, 'a blocked user')
  await execute("update users set state = 'active', confirmed_at = null where id = ?", [user.id])
  const early = await open()
  const told = await send(early.browser, early.page, passkey.get(early.options))
  t.equal(told.status, 403)
  t.match(told.body, 'Confirm your email address')
})

t.test('the passkey of somebody else is no second factor', async t => {
  const [user, thief] = [await app.make.user(), await app.make.user()]
  const { passkey } = await addPasskey(await signedIn(user))
  const browser = await signedIn(thief)
  const { passkey: theirs } = await addPasskey(browser)
  const [its] = await rows<{ id: number }>('select id from passkeys where user_id = ?', [user.id])
  const form = formIn((await browser.get(PATH)).body, '/rename')
  const fields = { ...Object.fromEntries(form.fields), name: 'mine' }
  for (const change of ['rename', 'delete'])
    t.equal((await browser.post(`${PATH}/passkeys/${its?.id}/${change}`, fields)).status, 404, change)
  const begin = async () => {
    const browser = new Browser(base)
    const { location } = await browser.signIn(user)
    const page = await browser.get(location ?? '')
    return { browser, page, options: optionsIn(page, 'get') }
  }
  const one = await begin()
  t.equal((await one.browser.submit(one.page, 'data-passkey', { passkey: theirs.get(one.options) })).status, 401)
  const two = await begin()
  const answer = passkey.get(one.options)
  t.equal((await two.browser.submit(two.page, 'data-passkey', { passkey: answer })).status, 401, 'of another sign-in')
  const signIn = await two.browser.get('/users/sign_in')
  const forSignIn = passkey.get(optionsIn(signIn, 'get'))
  t.equal(
    (await two.browser.submit(two.page, 'data-passkey', { passkey: forSignIn })).status,
    401,
    'for another purpose'
  )
  t.equal((await two.browser.submit(two.page, 'data-passkey', { passkey: passkey.get(two.options) })).status, 303)
  t.equal((await two.browser.get(STEP)).location, '/users/sign_in', 'the sign-in is complete')
})

t.test('without https there are no passkeys', async t => {
  loadConfig({ home, url: 'http://192.0.2.1:8080' })
  t.teardown(() => void loadConfig({ home, url: ORIGIN }))
  const browser = await signedIn(await app.make.user())
  const { body } = await browser.get(PATH)
  t.notMatch(body, 'data-passkey')
  t.match(body, 'only with https')
  t.notMatch((await new Browser(base).get('/users/sign_in')).body, 'data-passkey')
})

t.test('the configuration switches off signing in with a passkey', async t => {
  const user = await app.make.user()
  const { passkey } = await addPasskey(await signedIn(user))
  const browser = new Browser(base)
  const page = await browser.get('/users/sign_in')
  const answer = passkey.get(optionsIn(page, 'get'))
  loadConfig({ home, url: ORIGIN, identity: { two_factor: { passkey_sign_in: false } } })
  t.teardown(() => void loadConfig({ home, url: ORIGIN }))
  t.notMatch((await browser.get('/users/sign_in')).body, 'data-passkey')
  t.equal((await browser.submit(page, 'data-passkey', { passkey: answer })).status, 403)
  const { location } = await new Browser(base).signIn(user)
  t.equal(location, STEP, 'it is still a second factor')
})
