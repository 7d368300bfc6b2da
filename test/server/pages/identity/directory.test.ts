// People of a directory on the pages of their account.
import t from 'tap'
import { passwordSource } from '../../../../src/areas/people/credentials/password-sign-in.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { mailbox } from '../../../helpers/mails.js'
import { configureDirectory, testDirectory } from '../../../helpers/slapd.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const directory = await testDirectory(t)
await directory.addPerson('ada', { mail: 'ada@company.example' })

const mails = mailbox()

const identityOf = (userId: number) =>
  row<{ extern_uid: string }>("select extern_uid from identities where user_id = ? and provider = 'company'", [userId])

t.test('a user connects an account with the password of the directory', async t => {
  configureDirectory(t, directory)
  const owner = await app.make.user({ username: 'ada', email: 'ada@company.example', password: 'their own secret' })
  const browser = new Browser(base)
  await browser.signIn({ username: 'ada', password: 'their own secret' })
  const fresh = await browser.get('/profile/identities')
  t.match(fresh.body, 'only Company decides about your password here')
  t.notMatch(fresh.body, 'name="confirmation"')
  const right = { login: 'ada', password: 'the password of ada' }
  for (const values of [
    { ...right, password: 'wrong' },
    { ...right, password: '' },
    { ...right, login: '*' }
  ]) {
    const refused = await browser.submit(fresh, 'company/password', values)
    t.equal(refused.status, 401)
    t.match(refused.body, 'The name or the password there is wrong')
  }
  // Later, an open session is not enough.
  await execute('update sessions set created_at = ? where user_id = ?', [new Date(Date.now() - 3_600_000), owner.id])
  const form = await browser.get('/profile/identities')
  for (const confirmation of ['', 'wrong', 'the password of ada']) {
    t.equal((await browser.submit(form, 'company/password', { ...right, confirmation })).status, 400)
  }
  t.equal(await identityOf(owner.id), undefined)
  const connected = await browser.submit(form, 'company/password', { ...right, confirmation: 'their own secret' })
  t.equal(connected.location, '/profile/identities')
  t.match(await identityOf(owner.id), { extern_uid: await directory.idOf('uid=ada,ou=people,dc=example,dc=org') })
  t.match(await row("select changes from audit_events where action = 'user.update' order by id desc limit 1"), {
    changes: /identity company/
  })
  const again = new Browser(base)
  t.equal((await again.signIn({ username: 'ada', password: 'their own secret' })).status, 401)
  t.equal((await again.signIn({ username: 'ada', password: 'the password of ada' })).status, 303)
  t.notMatch((await again.get('/profile/identities')).body, 'Connect Company')
})

t.test('nobody gets a password of the appliance past the directory', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('grace')
  const browser = new Browser(base)
  t.equal((await browser.signIn({ username: 'grace', password: 'the password of grace' })).status, 303)
  const profile = await browser.get('/profile')
  const refused = await browser.submit(profile, '/users/sign_out').then(() => browser.get('/users/password/new'))
  await browser.submit(refused, '/users/password', { email: 'grace@example.org' })
  t.strictSame(
    (await mails()).filter(({ subject }) => /password/i.test(subject)),
    []
  )
  const person = await row<{ id: number }>("select id from users where username = 'grace'")
  const root = await app.make.admin()
  const set = await app.as(root).put(`/users/${person?.id}`, { password: 'set by an administrator' })
  t.equal(set.statusCode, 200)
  t.equal((await new Browser(base).signIn({ username: 'grace', password: 'set by an administrator' })).status, 401)
})

t.test('the identity of another user stays theirs', async t => {
  configureDirectory(t, directory)
  await directory.addPerson('mary')
  await new Browser(base).signIn({ username: 'mary', password: 'the password of mary' })
  const thief = await app.make.user({ username: 'thief', password: 'their own secret' })
  const browser = new Browser(base)
  await browser.signIn({ username: 'thief', password: 'their own secret' })
  const form = await browser.get('/profile/identities')
  const values = { login: 'mary', password: 'the password of mary' }
  const refused = await browser.submit(form, 'company/password', values)
  t.equal(refused.status, 409)
  t.match(refused.body, 'already connected with another user')
  t.equal(await identityOf(thief.id), undefined)
  t.equal(await (await passwordSource()).identityOf('nowhere', values), null)
  await directory.stop()
  t.equal((await browser.submit(form, 'company/password', values)).status, 503)
})
