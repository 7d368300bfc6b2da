// What the audit keeps of a change, and what it never keeps.
import { changesBetween } from '../../../../src/areas/ground/audit/audit.js'
import { beginSession } from '../../../../src/areas/people/credentials/credentials.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

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

t.test('an event has who made the change, from where, and what changed', async t => {
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

t.test('an event names the administrator who acts as a user, and the user', async t => {
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

t.test('only attributes that differ are changes', async t => {
  t.same(changesBetween({ a: 1, b: [1], c: 'x' }, { a: 2, b: [1], d: null }), {
    a: { before: 1, after: 2 },
    c: { before: 'x' },
    d: { after: null }
  })
})

t.test('GET /audit_events', async t => {
  const app = await testApp(t)
  const [root, other] = [await app.make.admin(), await app.make.admin()]
  const asker = app.as(root)
  for (const name of ['one', 'two', 'three']) await asker.post('/hooks', { url: `https://${name}.example.org/` })
  const [{ id }] = (await app.as(other).post('/hooks', { url: 'https://four.example.org/', token: 'shh-shh' })).json()
  await execute("update audit_events set created_at = '2026-01-31 12:00:00' where target_name like '%two%'")
  const names = async (query: Record<string, string | number>) =>
    (await asker.get('/audit_events', { action: 'hook.create', ...query }))
      .json()
      .map((event: { target_name: string }) => /\w+/.exec(event.target_name.slice(8))?.[0])

  t.test('shows who changed what, newest first, in pages', async t => {
    const res = await asker.get('/audit_events', { per_page: 1 })
    t.equal(res.statusCode, 200)
    t.match(res.headers, { 'x-per-page': '1', 'x-next-page': '2' })
    t.same(res.json(), [
      {
        ...res.json()[0],
        actor_id: other.id,
        actor_name: other.username,
        acting_as: null,
        via: 'private',
        address: '127.0.0.1',
        action: 'hook.create',
        target_type: 'hook',
        target_id: String(id),
        target_name: 'https://four.example.org/',
        changes: { url: { after: 'https://four.example.org/' }, token: { after: '[changed]' } }
      }
    ])
    t.same(Object.keys(res.json()[0]).length, 12)
    t.match(res.json()[0].created_at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  })

  t.test('filters by actor, action, target and time', async t => {
    t.same(await names({ actor: root.username, per_page: 3 }), ['three', 'two', 'one'])
    t.same(await names({ target_type: 'hook', target_id: id }), ['four'])
    t.same(await names({ target_type: 'user', target_id: id }), [])
    t.same(await names({ until: '2026-02-01' }), ['two'])
    t.same(await names({ since: '2026-01-31T12:00:00Z', until: '2026-01-31T12:00:00.001Z' }), ['two'])
    t.same(await names({ since: '2026-01-31', until: '2026-01-31T12:00:00' }), [])
    t.notOk((await names({ since: '2026-02-01' })).includes('two'))
    t.same(await names({ actor: "' or 1=1 --" }), [])
    t.equal((await asker.get('/audit_events', { action: 'é' })).statusCode, 400, 'no action has such a name')
    t.same(await names({ actor: `${root.username} ` }), [])
  })

  t.test('refuses a text that is not a time', async t => {
    for (const since of ['yesterday', '2026-02-30', '1', '2026-01-01T25:00Z', '2026-13-01']) {
      const res = await asker.get('/audit_events', { since })
      t.equal(res.statusCode, 400, since)
      t.match(res.json(), { error: 'since is invalid' })
    }
    t.equal((await asker.get('/audit_events?actor[]=x&actor[]=y')).statusCode, 400)
  })

  t.test('takes two statements for any number of events', async t => {
    await asker.get('/audit_events')
    const few = await countStatements(() => asker.get('/audit_events', { per_page: 1 }))
    t.equal(await countStatements(() => asker.get('/audit_events', { per_page: 100 })), few)
  })
})

t.test('sign-ins are found by their provider and second factor', async t => {
  const app = await testApp(t)
  const [root, user] = [await app.make.admin(), await app.make.user()]
  const browser = { address: '127.0.0.1', userAgent: 'test' }
  const signIn = (provider: string | null, factor: string | null) =>
    beginSession({ user: { ...user, admin: false, external: false }, provider, factor }, browser)
  await signIn(null, 'totp')
  await signIn('okta', null)
  await signIn('o"%_\\', 'totp')
  const found = async (query: Record<string, string>) =>
    (await app.as(root).get('/audit_events', { actor: user.username, ...query })).json() as Row[]
  t.match(await found({ provider: 'okta' }), [{ action: 'session.create', changes: { provider: { after: 'okta' } } }])
  t.equal((await found({ provider: 'okta' })).length, 1)
  t.match(await found({ provider: 'password' }), [
    { changes: { provider: { after: 'password' }, factor: { after: 'totp' } } }
  ])
  t.equal((await found({ factor: 'totp' })).length, 2)
  t.equal((await found({ provider: 'o"%_\\' })).length, 1)
  t.equal((await found({ provider: '%' })).length, 0)
  t.equal((await found({ provider: 'okta', factor: 'totp' })).length, 0)
})
