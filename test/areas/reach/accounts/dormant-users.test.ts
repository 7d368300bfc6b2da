// Users who do not use the appliance are warned, blocked, and come back with their password.
import { actorOf, originOf } from '../../../../src/access/actor.js'
import { beginSession, byPassword } from '../../../../src/areas/people/credentials/credentials.js'
import { blockUser, unblockUser } from '../../../../src/areas/people/users/user-state.js'
import { dormantUsers } from '../../../../src/areas/reach/accounts/dormant-users.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { daysAgo } from '../../../../src/queue/task.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'
import { mailbox } from '../../../helpers/mails.js'
import { codeOf, giveApp } from '../../../helpers/second-factors.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const mails = mailbox()
const root = await app.make.admin()
const origin = originOf(actorOf({ ...root }, 'private'), '127.0.0.1')

const configure = (days: number) => void loadConfig({ port: 0, identity: { accounts: { dormant_days: days } } })
configure(90)
t.teardown(() => void loadConfig({ port: 0 }))

async function run({ dryRun = false } = {}) {
  const notes: string[] = []
  const { signal } = new AbortController()
  const figures = await dormantUsers.run({ dryRun, signal, count: () => undefined, note: text => notes.push(text) })
  return { warned: figures?.warned, blocked: figures?.blocked, notes }
}
/** Moves everything that happened to a user into the past. */
async function age({ id }: { id: number }, days: number) {
  const back = 'date_sub(%, interval ? day)'
  await execute(
    `update users set created_at = ${back.replace('%', 'created_at')}, current_sign_in_at = ${back.replace('%', 'current_sign_in_at')},
       dormancy_warned_at = ${back.replace('%', 'dormancy_warned_at')} where id = ?`,
    [days, days, days, id]
  )
  await execute(`update user_uses set last_used_at = ${back.replace('%', 'last_used_at')} where user_id = ?`, [
    days,
    id
  ])
}
const stateOf = ({ id }: { id: number }) =>
  row<{ state: string; block_reason: string | null }>('select state, block_reason from users where id = ?', [id])
const session = ({ username, password }: TestUser) => app.nobody.post('/session', { login: username, password })
const DORMANT = { state: 'blocked', block_reason: 'dormant' }
const ACTIVE = { state: 'active', block_reason: null }

async function dormant(): Promise<TestUser> {
  const user = await app.make.user()
  await age(user, 84)
  await run()
  await age(user, 8)
  await run()
  return user
}

t.beforeEach(async () => {
  await execute('delete from password_attempts')
  await mails()
})

t.test('a user is warned, then blocked, and comes back with the password', async t => {
  const user = await app.make.user()
  const used = await app.make.user()
  await beginSession(byPassword({ ...user }), { address: '127.0.0.1', userAgent: 'test' })
  t.same(await run(), { warned: 0, blocked: 0, notes: [] })
  for (const each of [user, used]) await age(each, 84)
  await execute('insert into user_uses (user_id, last_used_at) values (?, ?)', [used.id, daysAgo(3)])
  t.same(await run({ dryRun: true }), { warned: 1, blocked: 0, notes: [] })
  t.same(await mails(), [], 'a dry run does nothing')
  t.same(await run(), { warned: 1, blocked: 0, notes: [] })
  t.match(await mails(), [
    { to: user.email, subject: `Your account ${user.username} will be blocked`, text: /blocked in 7 days/ }
  ])
  await age(user, 6)
  t.same(await run(), { warned: 0, blocked: 0, notes: [] }, 'the notice has not passed')
  await age(user, 2)
  t.same(await run({ dryRun: true }), { warned: 0, blocked: 1, notes: [] })
  t.same(await run(), { warned: 0, blocked: 1, notes: [] })
  t.same(await run(), { warned: 0, blocked: 0, notes: [] }, 'a second run changes nothing')
  t.same(await stateOf(user), DORMANT)
  t.same(await stateOf(used), ACTIVE)
  t.same(await rows('select id from sessions where user_id = ?', [user.id]), [])
  t.match(await row("select via, changes from audit_events where action = 'user.block' and target_id = ?", [user.id]), {
    via: 'schedule',
    changes: /"block_reason":\{"after":"dormant"\}/
  })
  t.equal((await app.as(user).get('/user')).statusCode, 401, 'tokens do not work')
  t.match((await app.as(root).get(`/users/${user.id}`)).json(), { state: 'blocked' })

  t.equal((await session({ ...user, password: 'a guess' })).statusCode, 401)
  t.same(await stateOf(user), DORMANT)
  t.match(await new Browser(base).signIn(user), { status: 303 })
  t.same(await stateOf(user), ACTIVE)
  t.match(
    await row("select actor_name, changes from audit_events where action = 'user.unblock' and target_id = ?", [
      user.id
    ]),
    {
      actor_name: user.username,
      changes: /"block_reason":\{"before":"dormant"/
    }
  )
  t.same(await run(), { warned: 0, blocked: 0, notes: [] })
})

t.test('a user who comes back after the warning is not blocked, and warned again later', async t => {
  const user = await app.make.user()
  await age(user, 84)
  t.match(await run(), { warned: 1 })
  await age(user, 6)
  await execute('insert into user_uses (user_id, last_used_at) values (?, ?)', [user.id, new Date()])
  await age(user, 5)
  t.match(await run(), { warned: 0, blocked: 0 })
  await age(user, 80)
  t.match(await run(), { warned: 1, blocked: 0 })
  t.equal((await mails()).length, 2)
})

t.test('nobody is blocked without a warning', async t => {
  const user = await app.make.user()
  await age(user, 1000)
  t.match(await run(), { warned: 1, blocked: 0 })
  t.same(await stateOf(user), ACTIVE)
  configure(2)
  t.teardown(() => configure(90))
  t.match((await mails())[0]?.text, 'blocked in 7 days')
  await age(user, 1)
  t.match(await run(), { blocked: 1 })
  configure(0)
  t.equal(
    await dormantUsers.run({
      dryRun: false,
      signal: new AbortController().signal,
      count: () => undefined,
      note: () => undefined
    }),
    undefined
  )
})

t.test('an administrator decides for good', async t => {
  const [blocked, unblocked, forgetful] = [await dormant(), await dormant(), await dormant()]
  t.equal(await blockUser(blocked.id, origin), true)
  t.equal((await session(blocked)).statusCode, 401)
  t.same(await stateOf(blocked), { state: 'blocked', block_reason: null })
  t.equal(await unblockUser(unblocked.id, origin), true)
  await run()
  t.same(await stateOf(unblocked), ACTIVE)
  await mails()
  const browser = new Browser(base)
  await browser.submit(await browser.get('/users/password/new'), '/users/password/new', { email: forgetful.email })
  const [mail] = await mails()
  t.equal(mail?.to, forgetful.email)
  const password = 'correct horse battery'
  t.equal((await browser.submit(await browser.get(mail?.link ?? ''), '/users/password/edit', { password })).status, 200)
  t.same(await stateOf(forgetful), DORMANT)
  t.equal((await session({ ...forgetful, password })).statusCode, 201)
})

t.test('with a second factor, the password does not make an account active', async t => {
  const user = await dormant()
  await execute("update users set state = 'active', block_reason = null where id = ?", [user.id])
  const { secret } = await giveApp(user)
  await execute("update users set state = 'blocked', block_reason = 'dormant' where id = ?", [user.id])
  const browser = new Browser(base)
  const { location } = await browser.signIn(user)
  t.equal(location, '/users/sign_in/two_factor')
  t.same(await stateOf(user), DORMANT)
  t.equal((await app.as(user).get('/user')).statusCode, 401)
  t.equal((await session(user)).statusCode, 401, 'the API takes no password then')
  t.same(await stateOf(user), DORMANT)
  const done = await browser.submit(await browser.get(location ?? ''), 'name="code"', { code: codeOf(secret) })
  t.equal(done.status, 303)
  t.same(await stateOf(user), ACTIVE)
  t.equal((await browser.get('/profile')).status, 200)
})

t.test('the last administrator stays', async t => {
  await age(root, 84)
  await run()
  await age(root, 8)
  const { blocked, notes } = await run()
  t.equal(blocked, 0)
  t.same(notes, [`${root.username}: the last active administrator cannot be blocked`])
  t.same(await stateOf(root), ACTIVE)
})
