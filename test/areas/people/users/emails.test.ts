import { setTimeout as pause } from 'node:timers/promises'
import { addEmail, checkAddressFree } from '../../../../src/areas/people/users/emails.js'
import { createUser } from '../../../../src/areas/people/users/users.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { Conflict, Taken } from '../../../../src/errors.js'
import { type Asker, testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'

const TAKEN = { message: { email: ['has already been taken'] } }
const NOBODY = { message: '404 User Not Found' }
const NO_EMAIL = { message: '404 Email Not Found' }

let count = 0
const address = () => `address-${++count}@example.com`

t.test('addresses of one’s own account', async t => {
  const app = await testApp(t)
  const [user, other] = [await app.make.user(), await app.make.user()]
  const [asker, stranger] = [app.as(user), app.as(other)]

  t.test('POST adds one, GET lists them oldest first and without pages', async t => {
    const [first, second] = [address(), address()]
    const made = await asker.post('/user/emails', { email: first, id: 9, user_id: other.id })
    t.equal(made.statusCode, 201)
    t.same(made.json(), { id: made.json().id, email: first })
    const next = await asker.post('/user/emails', { email: second })
    const list = await asker.get('/user/emails', { per_page: 1 })
    t.same(list.json(), [made.json(), next.json()], 'without the primary address')
    t.notOk(list.headers['x-total'])
    t.same((await asker.get(`/user/emails/${made.json().id}`)).json(), made.json())
    t.same((await stranger.get('/user/emails')).json(), [])
  })

  t.test('POST refuses a taken address, regardless of its owner and spelling', async t => {
    const mine = address()
    await asker.post('/user/emails', { email: mine })
    for (const who of [asker, stranger]) {
      for (const email of [mine, mine.toUpperCase(), user.email, other.email, other.email.toUpperCase()]) {
        const res = await who.post('/user/emails', { email })
        t.equal(res.statusCode, 400, email)
        t.same(res.json(), TAKEN, email)
      }
    }
    t.equal((await rows('select id from emails where user_id = ?', [other.id])).length, 0, 'and adds nothing')
  })

  t.test('POST refuses a text that is not an address', async t => {
    const wrong = [
      'nobody',
      '@',
      'a@',
      '@b',
      'a@b@c',
      'a b@c',
      'a@b\r\nBcc: c@d',
      'a\0@b',
      'a,b@c',
      '<a@b>',
      '"a"@b',
      ' a@b'
    ]
    for (const email of wrong) {
      const res = await asker.post('/user/emails', { email })
      t.equal(res.statusCode, 400, JSON.stringify(email))
      t.same(res.json(), { message: { email: ['is invalid'] } }, JSON.stringify(email))
    }
  })

  t.test('POST refuses a value that is not text, is missing or is too long', async t => {
    const cases: [object, string][] = [
      [{}, 'email is missing'],
      [{ email: null }, 'email is missing'],
      [{ email: '' }, 'email is empty'],
      [{ email: [address()] }, 'email is invalid'],
      [{ email: { a: address() } }, 'email is invalid']
    ]
    for (const [body, error] of cases) {
      const res = await asker.post('/user/emails', body)
      t.equal(res.statusCode, 400)
      t.match(res.json(), { error })
    }
    const long = await asker.post('/user/emails', { email: `${'x'.repeat(251)}@b.cd` })
    t.same([long.statusCode, long.json()], [400, { message: { email: ['is too long (maximum is 255 characters)'] } }])
    t.match((await asker.post('/user/emails', {})).json(), { message: '400 (Bad request) "email" not given' })
  })

  t.test('DELETE removes it permanently, and others can take it', async t => {
    const email = address()
    const { id } = (await asker.post('/user/emails', { email })).json()
    const res = await asker.delete(`/user/emails/${id}`)
    t.equal(res.statusCode, 200)
    t.same(res.json(), { id, email })
    t.equal((await asker.delete(`/user/emails/${id}`)).statusCode, 404)
    t.equal((await stranger.post('/user/emails', { email })).statusCode, 201)
  })

  t.test('an address of another user is not found', async t => {
    const { id } = (await asker.post('/user/emails', { email: address() })).json()
    for (const number of [id, 999999, 0, -1, 4294967296]) {
      for (const ask of [stranger.get, stranger.delete]) {
        const res = await ask(`/user/emails/${number}`)
        t.equal(res.statusCode, 404, String(number))
        t.same(res.json(), NO_EMAIL)
      }
    }
    t.equal((await asker.get(`/user/emails/${id}`)).statusCode, 200, 'and it stays')
    t.equal((await asker.get('/user/emails/first')).statusCode, 400)
  })

  t.test('a list of any length takes two statements', async t => {
    t.equal(await countStatements(() => asker.get('/user/emails')), 2, 'one for the caller, one for the list')
  })

  t.test('a user may have a thousand', async t => {
    const hoarder = await app.make.user()
    const values = Array.from({ length: 999 }, (_, at) => `(${hoarder.id}, 'hoard-${at}@example.com', now())`)
    await execute(`insert into emails (user_id, email, created_at) values ${values.join(', ')}`)
    t.equal((await app.as(hoarder).post('/user/emails', { email: address() })).statusCode, 201)
    const res = await app.as(hoarder).post('/user/emails', { email: address() })
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: { email: ['is one too many (maximum is 1000)'] } })
  })

  t.test('nobody and blocked users may not', async t => {
    const blocked = app.as(await app.make.user({ blocked: true }))
    for (const who of [app.nobody, blocked]) {
      const answers = await Promise.all([
        who.get('/user/emails'),
        who.get('/user/emails/1'),
        who.post('/user/emails', { email: address() }),
        who.delete('/user/emails/1')
      ])
      for (const { statusCode } of answers) t.equal(statusCode, 401)
    }
  })
})

t.test('addresses of others', async t => {
  const app = await testApp(t)
  const [user, other] = [await app.make.user(), await app.make.user()]
  const root = await app.make.admin()
  const admin = app.as(root)

  t.test('an administrator adds, lists and deletes them', async t => {
    const email = address()
    const made = await admin.post(`/users/${user.id}/emails`, { email })
    t.equal(made.statusCode, 201)
    t.same((await admin.get(`/users/${user.id}/emails`)).json(), [made.json()])
    t.same((await app.as(user).get('/user/emails')).json(), [made.json()])
    t.same((await admin.post(`/users/${user.id}/emails`, { email })).json(), TAKEN)
    const path = `/users/${user.id}/emails/${made.json().id}`
    t.same((await admin.delete(path)).json(), { id: made.json().id, email })
    t.same((await admin.delete(path)).json(), NO_EMAIL)
  })

  t.test('only addresses of the user that the path names', async t => {
    const { id } = (await admin.post(`/users/${user.id}/emails`, { email: address() })).json()
    t.same((await admin.delete(`/users/${other.id}/emails/${id}`)).json(), NO_EMAIL)
    for (const nobody of ['999999', '0', 'abc', '1.5']) {
      const answers = await Promise.all([
        admin.get(`/users/${nobody}/emails`),
        admin.post(`/users/${nobody}/emails`, { email: address() }),
        admin.delete(`/users/${nobody}/emails/${id}`)
      ])
      for (const res of answers) {
        t.equal(res.statusCode, 404, nobody)
        t.same(res.json(), NOBODY)
      }
    }
  })

  t.test('the user may not, not even for the own account', async t => {
    const self: Asker = app.as(user)
    t.equal((await self.get(`/users/${user.id}/emails`)).statusCode, 403)
    t.equal((await self.post(`/users/${user.id}/emails`, { email: address() })).statusCode, 403)
    t.equal((await self.delete(`/users/${user.id}/emails/1`)).statusCode, 403)
  })

  t.test('the audit has each change, and names who acted as whom', async t => {
    const email = address()
    const { id } = (await app.as(root, { sudo: user.username }).post('/user/emails', { email })).json()
    await admin.delete(`/users/${user.id}/emails/${id}`)
    const events = await rows<{ action: string; actor_name: string; acting_as: string | null; changes: string }>(
      "select action, actor_name, acting_as, changes from audit_events where target_type = 'email' and target_id = ? order by id",
      [String(id)]
    )
    t.match(events, [
      { action: 'email.create', actor_name: root.username, acting_as: user.username },
      { action: 'email.delete', actor_name: root.username, acting_as: null }
    ])
    t.same(JSON.parse(events[0]?.changes ?? ''), { user: { after: user.username } })
  })
})

t.test('a primary address cannot be another address of any user', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const admin = app.as(await app.make.admin())
  const body = (email: string) => ({ email, username: `taker-${++count}`, name: 'Taker', password: 'long enough' })

  t.test('POST /users refuses an address that a user has besides the primary one', async t => {
    const email = address()
    await addEmail(user, { email }, someOrigin)
    for (const text of [email, email.toUpperCase()]) {
      const res = await admin.post('/users', body(text))
      t.equal(res.statusCode, 409)
      t.same(res.json(), { message: 'Email has already been taken' })
    }
  })

  t.test('the check leaves no rows, and lets a user keep the address', async t => {
    const email = address()
    await transact(() => checkAddressFree(email))
    await transact(() => checkAddressFree(user.email, user.id))
    await t.rejects(
      transact(() => checkAddressFree(user.email)),
      Conflict
    )
    t.equal(await row('select id from emails where email in (?, ?)', [email, user.email]), undefined)
  })

  t.test('while one request takes an address, the second waits, and is then refused', async t => {
    const email = address()
    let goOn = () => {}
    const held = new Promise<void>(resolve => {
      goOn = resolve
    })
    let claimed = () => {}
    const started = new Promise<void>(resolve => {
      claimed = resolve
    })
    const taking = transact(async () => {
      await checkAddressFree(email, user.id)
      claimed()
      await held
      await execute('update users set email = ? where id = ?', [email, user.id])
    })
    await started
    const adding = addEmail(await app.make.user(), { email }, someOrigin)
    const creating = createUser(body(email), someOrigin)
    adding.catch(() => undefined)
    creating.catch(() => undefined)
    await until('both wait', async () => {
      // The server reads this table again only when nobody has read it for 100 ms.
      await pause(250)
      const waiting = "select trx_id from information_schema.innodb_trx where trx_query like 'insert into emails%'"
      return (await rows(waiting)).length >= 2
    })
    goOn()
    await taking
    await t.rejects(adding, new Taken('email'))
    await t.rejects(creating, new Conflict('Email has already been taken'))
    t.equal(await row('select id from emails where email = ?', [email]), undefined)
  })

  t.test('when many users want one address at once, only one gets it', async t => {
    const email = address()
    const askers = await Promise.all(Array.from({ length: 6 }, () => app.make.user()))
    const tries = [
      ...askers.map(asker => addEmail(asker, { email }, someOrigin)),
      ...Array.from({ length: 4 }, () => createUser(body(email), someOrigin))
    ]
    const outcomes = await Promise.allSettled(tries)
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') t.match(outcome.reason, { message: /already been taken/ })
    }
  })
})
