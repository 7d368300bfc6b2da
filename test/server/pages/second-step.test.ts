// The second step of the sign-in, and what an attacker who knows the password tries in order to avoid it.
import { mock } from 'node:test'
import { OUTCOMES, signIns } from '../../../src/areas/ground/audit/sign-in-counts.js'
import { CODES_PER_ACCOUNT_AND_ADDRESS } from '../../../src/areas/people/credentials/login-throttle.js'
import { resetFactors } from '../../../src/areas/people/factors/factors.js'
import { blockUser, unblockUser } from '../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../src/areas/people/users/user-update.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { testApp } from '../../helpers/app.js'
import { type Answer, Browser, formIn, listen } from '../../helpers/browser.js'
import { someOrigin, type TestUser } from '../../helpers/factory.js'
import { mailbox } from '../../helpers/mails.js'
import { codeOf, forgetCodes, giveApp } from '../../helpers/second-factors.js'
import t from '../../helpers/tap.js'

const STEP = '/users/sign_in/two_factor'
const SESSION = '_service_session'
const PENDING = '_service_sign_in'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()

/** Enters the password, and opens the second step. */
async function begin(user: TestUser, path?: string): Promise<{ browser: Browser; page: Answer }> {
  const browser = new Browser(base)
  const { status, location } = await browser.signIn(user, path)
  if (status !== 303 || !location?.startsWith(STEP)) throw new Error(`no second step: ${status} ${location}`)
  return { browser, page: await browser.get(location) }
}

const enter = (browser: Browser, page: Answer, code: string) => browser.submit(page, 'name="code"', { code })
const isSignedIn = async (browser: Browser) => (await browser.get('/profile')).status === 200

t.test('the sign-in asks for a code, and then opens the page that the user wanted', async t => {
  const user = await app.make.user()
  const { secret } = await giveApp(user)
  const { browser, page } = await begin(user, '/users/sign_in?return_to=%2Fprofile%2Fkeys')
  t.equal(page.status, 200)
  t.match(page.body, user.username)
  t.notOk(browser.cookies.has(SESSION), 'there is no session yet')
  for (const path of ['/profile', '/profile/two_factor', '/oauth/authorize', '/dashboard/projects'])
    t.notOk((await browser.get(path)).status === 200, `${path} stays closed`)
  t.equal((await browser.get('/api/v3/user')).status, 401)
  const before = OUTCOMES.map(outcome => signIns('second_step', outcome))
  const wrong = await enter(browser, page, codeOf(secret, 5))
  t.equal(wrong.status, 401)
  t.match(wrong.body, 'This code is wrong')
  const done = await enter(browser, wrong, ` ${codeOf(secret).replace(/^.../, '$& ')} `)
  t.match([done.status, done.location], [303, '/profile/keys'])
  t.same(
    OUTCOMES.map((outcome, at) => signIns('second_step', outcome) - (before[at] ?? 0)),
    [1, 1, 0, 0]
  )
  t.ok(await isSignedIn(browser))
  t.notOk(browser.cookies.has(PENDING), 'the pending sign-in is over')
  const [row] = await rows<{ changes: string }>(
    "select changes from audit_events where action = 'session.create' and actor_id = ? order by id desc limit 1",
    [user.id]
  )
  t.match(row?.changes, '"factor":{"after":"totp"}')
  t.match((await app.as(user).get('/user')).json(), { two_factor_enabled: true })
})

t.test('a form that was not sent survives both steps', async t => {
  const user = await app.make.user()
  const { secret } = await giveApp(user)
  const browser = new Browser(base)
  const asked = await browser.post('/profile', { name: 'Ada the Second', code: '123456', bio: 'written with care' })
  t.equal(asked.status, 401)
  const [, unsent = ''] = /name="unsent" value="([^"]*)"/.exec(asked.body) ?? []
  t.match(unsent, 'written with care')
  t.notMatch(unsent, '123456', 'codes are not kept')
  const page = await browser.submit(asked, '/users/sign_in', { login: user.username, password: user.password })
  t.equal(page.status, 200, 'the second step is shown at once')
  t.match(page.body, 'written with care')
  const done = await enter(browser, page, codeOf(secret))
  t.equal(done.status, 200)
  t.match(done.body, 'Send this again?')
  t.match(done.body, 'written with care')
})

t.test('another site puts no words into a form that its visitor is asked to send', async t => {
  const user = await app.make.user()
  await giveApp(user)
  const { browser } = await begin(user)
  const unsent = JSON.stringify({ action: '/profile/keys', fields: [['key', 'ssh-ed25519 planted']] })
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
  const values = { login: 'ada', password: 'x', passkey: '{}', code: '123456', unsent }
  for (const path of ['/users/sign_in', '/users/sign_in/passkey', '/users/sign_in/two_factor']) {
    for (const visitor of [browser, new Browser(base)]) {
      const answer = await visitor.post(path, values, foreign)
      t.ok([401, 403].includes(answer.status), `${path}: ${answer.status}`)
      t.notMatch(answer.body, 'planted', path)
    }
  }
})

t.test('a code works once, and no older one after it', async t => {
  const user = await app.make.user()
  const { secret } = await giveApp(user)
  const [first, second] = [await begin(user), await begin(user)]
  const code = codeOf(secret)
  t.equal((await enter(first.browser, first.page, code)).status, 303)
  t.equal((await enter(second.browser, second.page, code)).status, 401, 'a replayed code')
  t.equal((await enter(second.browser, second.page, codeOf(secret, -1))).status, 401, 'the code of the step before')
  t.equal((await enter(second.browser, second.page, codeOf(secret, 1))).status, 303, 'the next code')
  await forgetCodes(user)
  const third = await begin(user)
  for (const steps of [-2, 3]) t.equal((await enter(third.browser, third.page, codeOf(secret, steps))).status, 401)
  const fourth = await begin(user)
  const both = await Promise.all([third, fourth].map(({ browser, page }) => enter(browser, page, codeOf(secret))))
  t.same(both.map(({ status }) => status).sort(), [303, 401], 'of two requests at once, one succeeds')
})

t.test('a recovery code works once, in place of the app', async t => {
  const user = await app.make.user()
  const { recoveryCodes } = await giveApp(user)
  t.equal(new Set(recoveryCodes).size, 10)
  await mails()
  const [code = '', other = ''] = recoveryCodes
  const many = await Promise.all([begin(user), begin(user), begin(user)])
  const answers = await Promise.all(many.map(({ browser, page }) => enter(browser, page, code.toUpperCase())))
  t.same(answers.map(({ status }) => status).sort(), [303, 401, 401], 'of three requests at once, one succeeds')
  const [mail] = (await mails()).filter(({ subject }) => subject.includes('recovery code'))
  t.match(mail?.text, 'Codes left: 9')
  const { browser, page } = await begin(user)
  t.equal((await enter(browser, page, code)).status, 401, 'it is used up')
  t.equal((await enter(browser, page, other.replaceAll('-', ' '))).status, 303, 'another one works')
  const [row] = await rows<{ changes: string }>(
    "select changes from audit_events where action = 'recovery_code.use' and actor_id = ? order by id limit 1",
    [user.id]
  )
  t.match(row?.changes, '"after":9')
  const stranger = await app.make.user()
  await giveApp(stranger)
  const theirs = await begin(stranger)
  t.equal((await enter(theirs.browser, theirs.page, recoveryCodes[2] ?? '')).status, 401, 'only for their owner')
})

t.test('nobody guesses codes with many sign-ins, and the owner learns about it', async t => {
  const user = await app.make.user()
  const { secret, recoveryCodes } = await giveApp(user)
  await mails()
  const guess = async (address: string, code = codeOf(secret, 9)) => {
    const browser = new Browser(base)
    const forwarded = { 'x-forwarded-for': address }
    const page = await browser.get('/users/sign_in', forwarded)
    const { fields } = formIn(page.body, '/users/sign_in')
    const { location } = await browser.post(
      '/users/sign_in',
      { ...Object.fromEntries(fields), login: user.username, password: user.password },
      forwarded
    )
    const step = await browser.get(location ?? '', forwarded)
    return browser.post(STEP, { ...Object.fromEntries(formIn(step.body, 'name="code"').fields), code }, forwarded)
  }
  for (let at = 0; at < CODES_PER_ACCOUNT_AND_ADDRESS; at++) t.equal((await guess('198.51.100.1')).status, 401)
  const refused = await guess('198.51.100.1', codeOf(secret))
  t.equal(refused.status, 429, 'also the right code')
  t.ok(Number(refused.headers.get('retry-after')) > 3000)
  t.match(refused.body, 'Too many attempts')
  t.equal((await guess('198.51.100.1', recoveryCodes[0])).status, 429, 'and a recovery code')
  const warned = (await mails()).filter(({ subject }) => subject.includes('wrong codes'))
  t.equal(warned.length, 1)
  t.equal(warned[0]?.to, user.email)
  for (let at = 0; at < CODES_PER_ACCOUNT_AND_ADDRESS; at++) await guess('198.51.100.2')
  t.equal((await guess('198.51.100.3')).status, 429, 'other addresses count together')
  await execute('delete from password_attempts')
})

t.test('a pending sign-in ends with every change of the account, and after some minutes', async t => {
  const user = await app.make.user()
  const changes: Readonly<Record<string, (user: TestUser) => Promise<unknown>>> = {
    'another password': ({ id }) => updateUser(id, { password: 'another password of hers' }, someOrigin),
    'a block': ({ id }) => blockUser(id, someOrigin),
    'a reset of the factors': user => resetFactors(user, someOrigin),
    'a reset, and another app': async user => {
      await resetFactors(user, someOrigin)
      await giveApp(user)
    }
  }
  for (const [name, change] of Object.entries(changes)) {
    const person = await app.make.user()
    const { secret } = await giveApp(person)
    const { browser, page } = await begin(person)
    await change(person)
    const answer = await enter(browser, page, codeOf(secret))
    t.equal(answer.status, 401, name)
    t.match(answer.body, 'Sign in again', name)
    t.notOk(browser.cookies.has(SESSION), name)
  }
  const { secret } = await giveApp(user)
  const { browser, page } = await begin(user)
  mock.timers.enable({ apis: ['Date'], now: Date.now() + 600_000 })
  t.teardown(() => mock.timers.reset())
  t.equal((await enter(browser, page, codeOf(secret))).status, 401, 'too late')
  t.equal((await browser.get(STEP)).location, '/users/sign_in')
})

t.test('a user who is blocked and unblocked between the steps may continue', async t => {
  const user = await app.make.user()
  const { secret } = await giveApp(user)
  const { browser, page } = await begin(user)
  await blockUser(user.id, someOrigin)
  await unblockUser(user.id, someOrigin)
  t.equal((await enter(browser, page, codeOf(secret))).status, 303)
})

t.test('a cookie that somebody has planted leads nowhere', async t => {
  const [victim, thief] = [await app.make.user(), await app.make.user()]
  const [ofVictim, ofThief] = [await giveApp(victim), await giveApp(thief)]
  const planted = (await begin(thief)).browser.cookies.get(PENDING) ?? ''
  const browser = new Browser(base)
  browser.cookies.set(PENDING, planted)
  const page = await browser.get(STEP)
  t.match(page.body, thief.username, 'the page names the account')
  t.equal(
    (await enter(browser, page, codeOf(ofVictim.secret))).status,
    401,
    'the code of the victim belongs to another account'
  )
  const { location } = await browser.signIn(victim)
  t.not(browser.cookies.get(PENDING), planted, 'the password begins another sign-in')
  const own = await browser.get(location ?? '')
  t.match(own.body, victim.username)
  const old = new Browser(base)
  old.cookies.set(PENDING, planted)
  t.equal((await enter(old, await old.get(STEP), codeOf(ofVictim.secret))).status, 401)
  t.equal((await enter(browser, own, codeOf(ofVictim.secret))).status, 303)
  for (const cookie of ['', 'x', planted.slice(0, -2), `${planted}AA`, Buffer.alloc(200).toString('base64url')]) {
    const forged = new Browser(base)
    forged.cookies.set(PENDING, cookie)
    t.equal((await forged.get(STEP)).location, '/users/sign_in', `forged: ${cookie.slice(0, 10)}`)
  }
  const foreign = await begin(thief)
  const other = await foreign.browser.post(STEP, { code: codeOf(ofThief.secret) }, { 'sec-fetch-site': 'cross-site' })
  t.equal(other.status, 403, 'a form of another site')
})

t.test('the return path of the second step never leads to another site', async t => {
  const user = await app.make.user()
  const { secret } = await giveApp(user)
  for (const path of ['//evil.example', '/\\evil.example', 'https://evil.example/']) {
    await forgetCodes(user)
    const { browser, page } = await begin(user)
    const done = await browser.submit(page, 'name="code"', { code: codeOf(secret), return_to: path })
    t.match([done.status, done.location], [303, '/'], path)
  }
})

t.test('with a second factor, the password works on the sign-in page only', async t => {
  const project = await app.make.project({ visibility_level: 0 })
  await app.make.file(project, 'README', 'x')
  const user = project.owner
  const { username, password } = user
  const session = () =>
    app.nobody.inject({ method: 'POST', url: '/api/v3/session', payload: { login: username, password } })
  const grant = () =>
    app.nobody.inject({ method: 'POST', url: '/oauth/token', payload: { grant_type: 'password', username, password } })
  const git = (secret = password) =>
    app.nobody.inject({
      method: 'GET',
      url: `/${project.path}.git/info/refs?service=git-upload-pack`,
      headers: { authorization: `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}` }
    })
  const doors = async () => [await session(), await grant(), await git()].map(({ statusCode }) => statusCode)
  t.same(await doors(), [201, 200, 200])
  await giveApp(user)
  t.same(await doors(), [401, 401, 401])
  t.same((await session()).json(), {
    message: '401 Unauthorized. You have 2FA enabled. Please use a personal access token to access the API'
  })
  t.match((await grant()).json(), { error: 'invalid_grant', error_description: /personal access token/ })
  const refused = await git()
  t.match(refused.body, 'personal access token')
  t.match(refused.headers, {
    'www-authenticate': 'Basic realm="Gitstead"',
    'content-type': 'text/plain; charset=utf-8'
  })
  t.equal((await git(await app.make.token(user))).statusCode, 200, 'a token works')
  const wrong = { login: username, password: 'wrong password' }
  t.same(
    (await app.nobody.inject({ method: 'POST', url: '/api/v3/session', payload: wrong })).json(),
    { message: '401 Unauthorized' },
    'a wrong password does not reveal it'
  )
})
