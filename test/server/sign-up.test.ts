// The pages for people who cannot sign in yet: sign-up, confirmation, a forgotten password; over real HTTP, with the mails
// that they send.
import { WINDOW_S } from '../../src/areas/people/credentials/login-throttle.js'
import { resetProof, resettable } from '../../src/areas/reach/accounts/passwords.js'
import { signedLink } from '../../src/areas/reach/mail/links.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { testApp } from '../helpers/app.js'
import { Browser, listen } from '../helpers/browser.js'
import { mailbox } from '../helpers/mails.js'
import t, { type Test } from '../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const root = await app.make.admin()
const mails = mailbox()
const settings = (body: object) => app.as(root).put('/application/settings', body)
const person = (username: string, more: object = {}) => ({
  username,
  name: `Name of ${username}`,
  email: `${username}@example.org`,
  password: `password of ${username}`,
  ...more
})
const signUp = async (values: Record<string, string>, browser = new Browser(base)) =>
  browser.submit(await browser.get('/users/sign_up'), '/users/sign_up', values)
const session = (who: { username: string; password: string }) =>
  app.nobody.post('/session', { login: who.username, password: who.password })
const forget = async (email: string, path = '/users/password/new') => {
  const browser = new Browser(base)
  return browser.submit(await browser.get(path), path, { email })
}
/** Resets the counts of tries. */
const forgetTries = () => execute('delete from password_attempts')

t.beforeEach(async () => {
  await execute("update application_settings set changed = '{}'")
  await forgetTries()
  await mails()
})

t.test('somebody signs up, confirms with the link in the mail, and signs in', async t => {
  await settings({ after_sign_up_text: 'See <b>you</b>' })
  const ada = person('ada-signs')
  const browser = new Browser(base)
  t.match((await browser.get('/users/sign_in')).body, 'href="/users/sign_up"')
  const answer = await signUp(ada, browser)
  t.equal(answer.status, 200)
  t.match(answer.body, 'ada-signs@example.org')
  t.match(answer.body, '<p class="text">See &lt;b&gt;you&lt;/b&gt;</p>')
  t.equal((await session(ada)).statusCode, 401)
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, { to: ada.email, subject: 'Confirm your account ada-signs', html: /Confirm your account/ })
  const page = await browser.get(mail?.link ?? '')
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.equal((await session(ada)).statusCode, 401, 'only opening the link does nothing')
  t.equal((await browser.submit(page, 'confirm', { password: 'a guess of others' })).status, 401)
  const done = await browser.submit(page, 'confirm', { password: ada.password })
  t.match(done.body, 'Your account is ready')
  t.match((await session(ada)).json(), { username: ada.username, email: ada.email, is_admin: false })
  t.equal((await browser.signIn(ada)).status, 303)
  t.equal((await browser.get(mail?.link ?? '')).status, 403, 'the link works once')
  t.same(await mails(), [])
})

t.test('a form that does not come from the page is refused', async t => {
  for (const path of ['/users/sign_up', '/users/password/new', '/users/confirmation/new']) {
    const refused = await new Browser(base).post(path, { ...person('nobody'), token: 'x' })
    t.equal(refused.status, 403, path)
    t.match(refused.body, 'Open the page again')
    const foreign = new Browser(base)
    const form = await foreign.get(path)
    const [, token = ''] = /name="authenticity_token" value="([^"]*)"/.exec(form.body) ?? []
    const sent = { ...person('nobody'), authenticity_token: token }
    t.equal((await foreign.post(path, sent, { 'sec-fetch-site': 'cross-site' })).status, 403, path)
  }
  t.same(await mails(), [])
})

t.test('a sign-up is refused with its reason, and the form keeps what was entered', async t => {
  const taken = await app.make.user()
  await signUp(person('reserved'))
  const cases: [values: object, problem: RegExp | string][] = [
    [{ password: 'short' }, 'Password is too short (minimum is 8 characters)'],
    [{ email: 'no address' }, 'Email is invalid'],
    [{ username: 'a b' }, /Username /],
    [{ username: 'admin' }, /Username /],
    [{ name: '' }, 'Name can&#39;t be blank'],
    [{ username: taken.username.toUpperCase() }, 'Username has already been taken'],
    [{ username: 'Reserved' }, 'Username has already been taken']
  ]
  for (const [values, problem] of cases) {
    const answer = await signUp({ ...person('somebody'), ...values })
    t.equal(answer.status, 400, JSON.stringify(values))
    t.match(answer.body, problem)
    t.match(answer.body, /<input id="email"/)
    t.notMatch(answer.body, 'password of')
  }
})

t.test('the settings decide who may sign up', async t => {
  await settings({ domain_blacklist: ['*.evil.example', 'bad.example'], domain_blacklist_enabled: true })
  for (const domain of ['a.evil.example', 'BAD.example', 'bad.example.'])
    t.match(
      (await signUp(person('black', { email: `x@${domain}` }))).body,
      'Email is not from an allowed domain',
      domain
    )
  await settings({ domain_whitelist: ['good.example', '*.good.example', 'bücher.example'] })
  for (const domain of ['other.example', 'notgood.example', 'good.example.other'])
    t.match((await signUp(person('white', { email: `x@${domain}` }))).body, 'domain is not authorized', domain)
  for (const [at, domain] of ['good.example', 'a.b.good.example', 'xn--bcher-kva.example'].entries())
    t.equal((await signUp(person(`white-${at}`, { email: `x@${domain}` }))).status, 200, domain)
  t.equal((await mails()).length, 3)
  await settings({ signup_enabled: false })
  const browser = new Browser(base)
  t.notMatch((await browser.get('/users/sign_in')).body, '/users/sign_up')
  t.equal((await browser.get('/users/sign_up')).status, 403)
  await browser.get('/users/password/new')
  const body = (await browser.get('/users/password/new')).body
  const [, token = ''] = /name="authenticity_token" value="([^"]*)"/.exec(body) ?? []
  t.equal((await browser.post('/users/sign_up', { ...person('late'), authenticity_token: token })).status, 403)
})

t.test('nobody learns from a sign-up whether an account has the address', async t => {
  const known = await app.make.user()
  const fresh = await signUp(person('one', { email: 'fresh@example.org' }))
  const used = await signUp(person('two', { email: known.email.toUpperCase() }))
  t.equal(used.body.replace(known.email.toUpperCase(), 'fresh@example.org'), fresh.body)
  for (const username of ['one', 'two'])
    t.match((await signUp(person(username, { email: 'x@example.org' }))).body, 'Username has already been taken')
  const found = await mails()
  t.match(found, [
    { to: 'fresh@example.org', subject: 'Confirm your account one' },
    { to: known.email, subject: 'You already have an account', link: undefined }
  ])
})

t.test('an address that became an account in the meantime is not used twice', async t => {
  const [one, two] = [person('first', { email: 'same@example.org' }), person('second', { email: 'same@example.org' })]
  await signUp(one)
  await signUp(two)
  const links = (await mails()).map(({ link }) => link ?? '')
  const confirm = async (link: string, password: string) => {
    const browser = new Browser(base)
    return browser.submit(await browser.get(link), 'confirm', { password })
  }
  t.equal((await confirm(links[0] ?? '', one.password)).status, 200)
  const late = await confirm(links[1] ?? '', two.password)
  t.equal(late.status, 409)
  t.match(late.body, 'Email has already been taken')
})

t.test('a sign-up ends after a day, and then the name is free', async t => {
  const late = person('late-one')
  await signUp(late)
  const [mail] = await mails()
  await execute("update sign_ups set created_at = created_at - interval 25 hour where username = 'late-one'")
  t.equal((await new Browser(base).get(mail?.link ?? '')).status, 403)
  t.equal((await signUp({ ...late, email: 'other@example.org' })).status, 200)
})

t.test('a forgotten password is set with a link that works once, and ends the sessions', async t => {
  const user = await app.make.user()
  const old = new Browser(base)
  await old.signIn(user)
  t.equal((await old.get('/profile')).status, 200)
  await forget(user.email.toUpperCase())
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, { to: user.email, subject: `A new password for ${user.username}` })
  const browser = new Browser(base)
  const page = await browser.get(mail?.link ?? '')
  t.equal(page.headers.get('referrer-policy'), 'same-origin')
  t.match((await browser.submit(page, 'edit', { password: 'short' })).body, 'password is too short')
  t.match((await browser.submit(page, 'edit', { password: 'the new password' })).body, 'Your password is changed')
  t.equal((await old.get('/profile')).status, 302, 'the session has ended')
  t.equal((await session(user)).statusCode, 401)
  t.equal((await session({ ...user, password: 'the new password' })).statusCode, 201)
  t.equal((await browser.get(mail?.link ?? '')).status, 403)
  t.equal((await browser.submit(page, 'edit', { password: 'once more, please' })).status, 403)
  t.match(await mails(), [{ to: user.email, subject: 'The password of your account was changed' }])
  const found = await row(
    "select via, actor_name from audit_events where action = 'user.password' order by id desc limit 1"
  )
  t.match(found, { via: 'link', actor_name: user.username })
})

t.test(
  'a link for a password ends after its time, when the password changes, and when the user is blocked',
  async t => {
    const asked = async () => {
      await mails()
      const user = await app.make.user()
      await forget(user.email)
      const [mail] = await mails()
      return { user, link: mail?.link ?? '' }
    }
    const status = async (link: string) => (await new Browser(base).get(link)).status
    const blocked = await asked()
    t.equal(await status(blocked.link), 200)
    await app.as(root).put(`/users/${blocked.user.id}/block`)
    t.equal(await status(blocked.link), 403)
    const changed = await asked()
    await app.as(root).put(`/users/${changed.user.id}`, { password: 'by the administrator' })
    t.equal(await status(changed.link), 403)
    const moved = await asked()
    await app.as(root).put(`/users/${moved.user.id}`, { email: 'moved@example.org' })
    t.equal(await status(moved.link), 403)
    for (const link of [`${changed.link}x`, changed.link.slice(0, -2), '/users/password/edit?token=x'])
      t.equal(await status(link), 403, link)
    t.equal(await status('/users/password/edit'), 400)
    const { link } = await asked()
    t.equal(await status(link.replace('/password/edit', '/confirmation')), 403, 'a link has one purpose')
  }
)

t.test('when two people use a link at once, one succeeds', async t => {
  const [user, ada] = [await app.make.user(), person('twice')]
  await forget(user.email)
  await signUp(ada)
  for (const mail of await mails()) {
    const browser = new Browser(base)
    const page = await browser.get(mail.link ?? '')
    const password = mail.to === ada.email ? ada.password : 'the new password'
    const both = await Promise.all([1, 2].map(() => browser.submit(page, 'token', { password })))
    t.same(both.map(({ status }) => status).sort(), [200, 403], mail.subject)
  }
  t.match(await row("select count(*) as total from users where username = 'twice'"), { total: 1 })
})

t.test('the answer to a forgotten password is the same for all, and its tries are counted', async t => {
  const user = await app.make.user()
  const known = await forget(user.email)
  const unknown = await forget('nobody@example.org')
  t.equal(known.body, unknown.body)
  t.equal(known.status, 200)
  t.match(
    (await mails()).map(({ to }) => to),
    [user.email]
  )
  for (let tries = 0; tries < 4; tries++) await signUp(person(`thief-${tries}`, { email: user.email }))
  t.equal((await mails()).length, 3, 'three mails to an address in an hour')
  for (let tries = 0; tries < 4; tries++) t.equal((await forget(user.email)).status, 200)
  t.equal((await mails()).length, 2, 'and three for a new password, no matter who signs up with the address')
  for (let tries = 0; tries < 14; tries++) await forget(`nobody-${tries}@example.org`)
  const refused = await forget(user.email)
  t.equal(refused.status, 429)
  t.ok(Number(refused.headers.get('retry-after')) > WINDOW_S)
  t.equal((await forget('no address')).status, 400)
})

t.test('a refused sign-up does not count towards the mails to its address', async t => {
  const { username } = await app.make.user()
  const email = 'slow-chooser@example.org'
  for (let tries = 0; tries < 4; tries++) t.equal((await signUp(person(username, { email }))).status, 400)
  t.equal((await signUp(person('free-name', { email }))).status, 200)
  t.match(await mails(), [{ to: email }])
})

t.test('sign-ups from an address are counted', async t => {
  await execute('delete from sign_ups')
  for (let tries = 0; tries < 20; tries++) t.equal((await signUp(person('x', { password: 'short' }))).status, 400)
  const refused = await signUp(person('x'))
  t.equal(refused.status, 429)
  t.ok(refused.headers.get('retry-after'))
})

t.test('the number of pending sign-ups is limited', async t => {
  const values = Array.from({ length: 10_000 }, (_, at) => `('waiting-${at}', 'n', 'w${at}@example.org', 'x', now(3))`)
  await execute(`insert into sign_ups (username, name, email, password_hash, created_at) values ${values.join(', ')}`)
  const refused = await signUp(person('one-too-many'))
  t.equal(refused.status, 503)
  t.match(refused.body, '10000 people have signed up')
  await execute('delete from sign_ups')
})

t.test('a user cannot make the server send strangers many mails by entering their addresses', async t => {
  const user = await app.make.user()
  const stranger = 'stranger@example.org'
  for (let tries = 0; tries < 5; tries++) {
    const { id } = (await app.as(user).post('/user/emails', { email: stranger })).json()
    await mails()
    await app.as(user).delete(`/user/emails/${id}`)
    await app.as(user).post('/user/emails', { email: `${tries}-${stranger}` })
  }
  await mails()
  const sent = await row('select count(*) as total from mail_deliveries where address = ?', [stranger])
  t.match(sent, { total: 3 })
})

t.test('a user whom an administrator does not confirm gets a mail to confirm', async t => {
  const body = person('unconfirmed', { confirm: false })
  const made = await app.as(root).post('/users', body)
  t.match([made.statusCode, made.json().confirmed_at], [201, null])
  const [mail, ...others] = await mails()
  t.same(others, [])
  t.match(mail, { to: body.email, subject: 'Confirm your email address', text: /administrator created the account/ })
  const refused = await session(body)
  t.equal(refused.statusCode, 403)
  t.match(refused.json(), { message: /Confirm your email address first/ })
  t.match((await new Browser(base).signIn(body)).body, 'Confirm your email address first')
  t.equal((await session({ ...body, password: 'wrong password' })).statusCode, 401)
  const browser = new Browser(base)
  const page = await browser.get(mail?.link ?? '')
  t.match(page.body, body.email)
  t.match((await browser.submit(page, '/users/confirmation')).body, 'Your address is confirmed')
  t.equal((await session(body)).statusCode, 201)
  t.equal((await browser.submit(page, '/users/confirmation')).status, 403, 'it works once')
})

t.test('a confirmation is sent again on demand, to unconfirmed addresses only', async t => {
  const user = await app.make.user()
  await app.as(user).post('/user/emails', { email: 'further@example.org' })
  await signUp(person('waits'))
  await mails()
  await forgetTries()
  for (const address of ['further@example.org', 'waits@example.org', user.email, 'nobody@example.org'])
    await forget(address, '/users/confirmation/new')
  t.match(await mails(), [
    { to: 'further@example.org', subject: 'Confirm your email address', link: /confirmation/ },
    { to: 'waits@example.org', subject: 'Confirm your account waits', link: /sign_up/ }
  ])
  // An account whose first mail was lost.
  const late = await app.make.user({ confirm: false })
  await mails()
  await forget(late.email, '/users/confirmation/new')
  const [again] = await mails()
  t.match(again, { to: late.email, link: /confirmation/ })
  const browser = new Browser(base)
  const done = await browser.submit(await browser.get(again?.link ?? ''), '/users/confirmation')
  t.match(done.body, 'Your address is confirmed')
})

t.test('a link for a password goes to the primary address only', async (t: Test) => {
  const user = await app.make.user()
  await app.as(user).post('/user/emails', { email: 'second@example.org' })
  const [, confirmation] = (await mails()).sort((one, other) => one.subject.length - other.subject.length).reverse()
  await forget('second@example.org')
  t.same(await mails(), [])
  const browser = new Browser(base)
  await browser.submit(await browser.get(confirmation?.link ?? ''), '/users/confirmation')
  await forget('second@example.org')
  t.match(
    await mails(),
    [{ to: user.email, link: /password/ }],
    'a thief with a token can add and confirm a further one'
  )
  const id = Number((await row<{ id: number }>('select id from emails where user_id = ?', [user.id]))?.id)
  const reset = await resettable(user.id)
  const values = {
    userId: user.id,
    emailId: id,
    proof: reset ? resetProof({ ...reset, address: 'second@example.org' }) : ''
  }
  const old = new URL(signedLink('password', values, null))
  t.equal((await browser.get(old.pathname + old.search)).status, 403, 'a link that an earlier version has sent')
})

t.test('messages of broadcasts are on all pages while they last', async t => {
  const user = await app.make.user()
  const browser = new Browser(base)
  await browser.signIn(user)
  await app.as(root).post('/broadcast_messages', { message: 'Down <i>now</i>', color: '#123', font: '#abc' })
  await app.as(root).post('/broadcast_messages', { message: 'of the past', ends_at: '2020-01-01' })
  for (const path of [
    '/profile',
    '/profile/sessions',
    '/profile/applications',
    '/users/sign_up',
    '/users/password/new',
    '/users/password/edit?token=x',
    '/users/sign_in'
  ]) {
    const { body } = await browser.get(path)
    t.match(body, /<div class="broadcast broadcast-\d+" role="status">Down &lt;i&gt;now&lt;\/i&gt;<\/div>/, path)
    t.notMatch(body, 'of the past')
  }
  await execute('delete from broadcast_messages')
})
