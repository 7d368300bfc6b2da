// Passwords of this appliance: how hard a new one must be to guess, and who may use one at all.
import { actorOf, originOf } from '../../../../src/access/actor.js'
import { signInByPassword } from '../../../../src/areas/people/credentials/password-sign-in.js'
import { requireLocalAdmin } from '../../../../src/areas/people/users/last-admin.js'
import { checkChosenPassword } from '../../../../src/areas/people/users/password-rules.js'
import { blockUser } from '../../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../../src/areas/people/users/user-update.js'
import { offerPassword } from '../../../../src/areas/reach/accounts/passwords.js'
import { loadConfig } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { Forbidden, Invalid, Misconfigured } from '../../../../src/errors.js'
import { NO_PASSWORD } from '../../../../src/lib/password-hash.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import t, { type Test } from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const root = await app.make.admin()
const origin = originOf(actorOf({ ...root }, 'private'), '127.0.0.1')

const DEFAULTS = { min_length: 8, strength: 2, strength_for: 'people', local: true, local_for: [] as string[] }
function configure(t: Test, passwords: Partial<typeof DEFAULTS>) {
  loadConfig({ port: 0, identity: { passwords: { ...DEFAULTS, ...passwords } } })
  t.teardown(() => void loadConfig({ port: 0 }))
}
const session = ({ username, password }: TestUser) => app.nobody.post('/session', { login: username, password })
const ada = { username: 'ada-l', name: 'Ada Lovelace', email: 'countess@lovelace.example' }
const body = (username: string, password: string) => ({
  username,
  name: username,
  email: `${username}@example.org`,
  password
})

t.test('a chosen password is not short, common or personal', async t => {
  await t.rejects(checkChosenPassword('short', ada), { message: 'password is too short (minimum is 8 characters)' })
  for (const password of ['password', 'ada-l-lovelace', 'countess1', 'Lovelace2026']) {
    await t.rejects(checkChosenPassword(password, ada), Invalid, password)
  }
  await t.rejects(checkChosenPassword('password', ada), {
    message: 'password is too easy to guess. This is a heavily used password'
  })
  for (const password of ['correct horse battery', 'xK9#mQ2p', 'the ada-l compiler'])
    await checkChosenPassword(password, ada)
  configure(t, { min_length: 12, strength: 0 })
  await t.rejects(checkChosenPassword('eleven char', ada), { message: /minimum is 12 characters/ })
  await checkChosenPassword('password1234', ada)
})

t.test('administrators may set a common password, unless the configuration says otherwise', async t => {
  const admin = app.as(root)
  const { id } = (await admin.post('/users', body('plain-password', '12345678'))).json()
  t.equal((await admin.put(`/users/${id}`, { password: 'password' })).statusCode, 200)
  configure(t, { strength_for: 'everyone' })
  const made = await admin.post('/users', body('easy-password', '12345678'))
  t.equal(made.statusCode, 400)
  t.match(made.json(), { message: { password: [/^is too easy to guess/] } })
  t.equal((await admin.put(`/users/${id}`, { password: 'plain-password' })).statusCode, 400, 'a personal word')
  t.equal((await admin.put(`/users/${id}`, { password: 'correct horse battery' })).statusCode, 200)
})

t.test('a page says why a password is refused, and changing it keeps only the current session', async t => {
  const user = await app.make.user()
  const [browser, other] = [new Browser(base), new Browser(base)]
  for (const each of [browser, other]) t.equal((await each.signIn(user)).status, 303)
  const page = await browser.get('/profile/password')
  const values = { current_password: user.password, password: `${user.username}-${user.username}` }
  const refused = await browser.submit(page, 'current_password', values)
  t.equal(refused.status, 400)
  t.match(refused.body, /id="password-error">New password is too easy to guess/)
  const cookie = browser.cookies.get('_service_session')
  t.equal((await browser.submit(page, 'current_password', { ...values, password: 'a quite long text' })).status, 303)
  t.equal(browser.cookies.get('_service_session'), cookie, 'this browser keeps its session')
  t.equal((await browser.get('/profile')).status, 200)
  t.equal((await other.get('/profile')).status, 302)
})

t.test('passwords are switched off for all but the named administrators', async t => {
  const user = await app.make.user()
  const chief = await app.make.admin({ username: 'chief' })
  configure(t, { local: false, local_for: ['CHIEF'] })
  await mails()
  const refused = await session(user)
  t.equal(refused.statusCode, 403)
  t.match(refused.json().message, /Passwords of this appliance are switched off/)
  t.equal((await session({ ...user, password: 'a guess' })).statusCode, 401, 'a guess learns nothing')
  t.equal((await session(root)).statusCode, 403, 'an administrator who is not named')
  t.equal((await session(chief)).statusCode, 201)
  for (const door of ['git', 'oauth'] as const) {
    const asked = signInByPassword(user.username, user.password, { address: '127.0.0.1', door })
    await t.rejects(asked, Forbidden, door)
  }
  const grant = { grant_type: 'password', username: user.username, password: user.password }
  t.equal((await app.nobody.inject({ method: 'POST', url: '/oauth/token', payload: grant })).statusCode, 401)
  t.equal((await app.as(user).get('/user')).statusCode, 200, 'tokens work')

  const browser = new Browser(base)
  const page = await browser.get('/users/sign_in')
  t.match(page.body, '<summary>Sign in with a password')
  t.notMatch(page.body, '/users/sign_up')
  t.notMatch(page.body, '/users/password/new')
  t.match(await browser.signIn(user), { status: 403, body: /Passwords of this appliance are switched off/ })
  t.equal((await new Browser(base).get('/users/sign_up')).status, 403)
  for (const { email } of [user, chief]) {
    const forgetful = new Browser(base)
    const form = await forgetful.get('/users/password/new')
    t.match((await forgetful.submit(form, '/users/password/new', { email })).body, 'a mail is on its way')
  }
  t.match(await mails(), [{ to: chief.email }])
  await t.rejects(offerPassword({ ...user, state: 'active' }, origin), Invalid)
})

t.test('a link for a new password that was sent before does not work any more', async t => {
  const user = await app.make.user()
  const browser = new Browser(base)
  await browser.submit(await browser.get('/users/password/new'), '/users/password/new', { email: user.email })
  const [mail] = await mails()
  configure(t, { local: false, local_for: ['somebody'] })
  t.equal((await browser.get(mail?.link ?? '')).status, 403)
})

t.test('the last administrator who needs no provider stays', async t => {
  const [named, other] = [await app.make.admin({ username: 'named' }), await app.make.admin()]
  configure(t, { local: false, local_for: ['named'] })
  await requireLocalAdmin()
  await t.rejects(updateUser(named.id, { admin: false }, origin), { message: /without a provider cannot be demoted/ })
  await t.rejects(updateUser(named.id, { username: 'renamed' }, origin), { message: /cannot be renamed/ })
  await updateUser(named.id, { username: 'Named' }, origin)
  await t.rejects(blockUser(named.id, origin), Forbidden)
  t.equal((await app.as(root).delete(`/users/${named.id}`)).statusCode, 403)
  await updateUser(other.id, { admin: false }, origin)
  configure(t, { local: false, local_for: ['nobody'] })
  await t.rejects(requireLocalAdmin(), Misconfigured)
  configure(t, { local: false, local_for: ['named'] })
  await execute('update users set password_hash = ? where id = ?', [NO_PASSWORD, named.id])
  await t.rejects(requireLocalAdmin(), Misconfigured, 'an administrator of a provider has no password')
})

t.test('the configuration must name an administrator', async t => {
  const wrong = { identity: { passwords: { ...DEFAULTS, local: false } } }
  t.throws(() => loadConfig(wrong), {
    message: /^configuration: identity.passwords.local_for must name an administrator when identity.passwords.local is/
  })
  t.throws(() => loadConfig({ identity: { passwords: { ...DEFAULTS, strength: 5 } } }), { message: /from 0 to 4/ })
})
