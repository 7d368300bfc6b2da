// Accounts that people create for themselves, and that an administrator must approve.
import { actorOf, originOf } from '../../../../src/access/actor.js'
import { createPerson } from '../../../../src/areas/people/identity/provision.js'
import { approveUser } from '../../../../src/areas/people/users/suspension.js'
import { rejectUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { Conflict } from '../../../../src/errors.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { mailbox } from '../../../helpers/mails.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const root = await app.make.admin()
const origin = originOf(actorOf({ ...root }, 'private'), '127.0.0.1')

loadConfig({ port: 0, identity: { accounts: { approval: true } } })
t.teardown(() => void loadConfig({ port: 0 }))

async function signUp(username: string) {
  const who = {
    username,
    name: `${username} <b>`,
    email: `${username}@example.org`,
    password: 'correct horse battery'
  }
  const browser = new Browser(base)
  await browser.submit(await browser.get('/users/sign_up'), '/users/sign_up', who)
  const [mail] = await mails()
  const page = await browser.get(mail?.link ?? '')
  const done = await browser.submit(page, 'confirm', { password: who.password })
  const { id = 0 } = (await row<{ id: number }>('select id from users where username = ?', [username])) ?? {}
  return { ...who, id, done }
}
const session = ({ username, password }: { username: string; password: string }) =>
  app.nobody.post('/session', { login: username, password })

t.beforeEach(async () => {
  await execute('delete from password_attempts')
  await mails()
})

t.test('a person signs up, waits, and is approved', async t => {
  const who = await signUp('waits')
  t.match(who.done.body, 'An administrator must approve your account')
  t.match(await mails(), [
    { to: root.email, subject: 'Approve the account waits?', text: /gitstead users approve waits\n/, html: /&lt;b&gt;/ }
  ])
  const refused = await session(who)
  t.equal(refused.statusCode, 403)
  t.match(refused.json().message, /An administrator must approve your account first/)
  t.equal((await session({ ...who, password: 'a guess' })).statusCode, 401, 'a guess learns nothing')
  t.match(await new Browser(base).signIn(who), { status: 403, body: /An administrator must approve/ })
  t.match((await app.as(root).get(`/users/${who.id}`)).json(), { state: 'blocked' })
  await approveUser(who, origin)
  t.match(await mails(), [{ to: who.email, subject: 'Your account waits is approved' }])
  t.equal((await session(who)).statusCode, 201)
  await t.rejects(approveUser(who, origin), Conflict)
  t.match(
    await row("select actor_name, changes from audit_events where action = 'user.unblock' order by id desc limit 1"),
    {
      actor_name: root.username,
      changes: /"block_reason":\{"before":"pending approval"/
    }
  )
})

t.test('the API approves with unblock, and blocks for good', async t => {
  const [one, other] = [await signUp('api-one'), await signUp('api-two')]
  await mails()
  const admin = app.as(root)
  t.equal((await admin.put(`/users/${one.id}/unblock`)).json(), true)
  t.match(await mails(), [{ to: one.email, subject: /is approved/ }])
  t.equal((await admin.put(`/users/${other.id}/block`)).json(), true)
  t.equal((await admin.put(`/users/${other.id}/block`)).json(), false)
  t.equal((await session(other)).statusCode, 401, 'a blocked user does not wait for anything')
  await t.rejects(approveUser(other, origin), Conflict)
})

t.test('a rejected account is deleted, and the person gets a mail', async t => {
  const who = await signUp('rejected')
  await mails()
  await rejectUser(who, origin)
  t.match(await mails(), [{ to: who.email, subject: 'Your account rejected is not approved' }])
  t.equal(await row('select 1 from users where id = ?', [who.id]), undefined)
  const user = await app.make.user()
  await t.rejects(rejectUser(user, origin), Conflict)
  t.ok(await row('select 1 from users where id = ?', [user.id]))
})

t.test('accounts of a provider wait, too', async t => {
  const person = {
    provider: 'id',
    externUid: '7',
    username: 'provided',
    name: 'P',
    email: 'provided@example.org',
    emailVerified: true
  }
  const { id } = await createPerson(person, { approval: true }, origin)
  t.match(await row('select state, block_reason from users where id = ?', [id]), {
    state: 'blocked',
    block_reason: 'pending approval'
  })
  t.match(await mails(), [{ to: root.email, subject: 'Approve the account provided?' }])
  await approveUser({ id, username: 'provided' }, origin)
  t.match(await row('select state, block_reason from users where id = ?', [id]), {
    state: 'active',
    block_reason: null
  })
})
