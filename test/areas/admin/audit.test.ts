// What the audit keeps of a change, and what it never keeps.
import t from 'tap'
import { changesBetween } from '../../../src/areas/admin/audit.js'
import { rows } from '../../../src/db/sql.js'
import { testApp } from '../../helpers/app.js'

interface Row {
  actor_name: string
  acting_as: string | null
  via: string
  address: string | null
  action: string
  target_name: string
  changes: string
}

const events = (action: string) =>
  rows<Row>('select * from audit_events where action = ? order by id desc limit 1', [action])

t.test('a change is kept with who made it, from where, and what it was', async t => {
  const app = await testApp(t)
  const root = await app.make.admin()
  const body = { username: 'ada', name: 'Ada', email: 'ada@example.org', password: 'a long password' }
  t.equal((await app.as(root).post('/users', body)).statusCode, 201)
  const [event] = await events('user.create')
  t.match(event, {
    actor_name: root.username,
    acting_as: null,
    via: 'private',
    address: '127.0.0.1',
    target_name: 'ada'
  })
  const changes = JSON.parse(event?.changes ?? '') as object
  t.match(changes, { email: { after: 'ada@example.org' }, password: { after: '[changed]' } })
  t.notMatch(event?.changes, 'a long password')
})

t.test('who acts as somebody else is named, and so is the other', async t => {
  const app = await testApp(t)
  const [root, other] = [await app.make.admin(), await app.make.admin()]
  const hook = await app
    .as(root, { sudo: other.username })
    .post('/hooks', { url: 'https://example.org/', token: 'shh' })
  t.equal(hook.statusCode, 201)
  const [event] = await events('hook.create')
  t.match(event, { actor_name: root.username, acting_as: other.username })
  t.notMatch(event?.changes, 'shh')
})

t.test('a change that is refused leaves no event', async t => {
  const app = await testApp(t)
  const root = await app.make.admin()
  const count = async () => (await rows('select id from audit_events')).length
  const before = await count()
  const body = { username: root.username, name: 'Ada', email: 'other@example.org', password: 'a long password' }
  t.equal((await app.as(root).post('/users', body)).statusCode, 409)
  t.equal(await count(), before)
})

t.test('only what differs is a change', async t => {
  t.same(changesBetween({ a: 1, b: [1], c: 'x' }, { a: 2, b: [1], d: null }), {
    a: { before: 1, after: 2 },
    c: { before: 'x' },
    d: { after: null }
  })
})
