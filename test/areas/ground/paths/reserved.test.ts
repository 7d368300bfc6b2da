// The story: after a group was renamed, a stranger could create its old path, and clones with the old address read the
// repositories of the stranger.
import { setTimeout as pause } from 'node:timers/promises'
import { redirectNamespace } from '../../../../src/areas/ground/paths/redirects.js'
import { freePath, listReservedPaths } from '../../../../src/areas/ground/paths/reserved.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { OWNER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'

const app = await testApp(t)
let number = 0

/** A renamed group and its owner. */
async function renamed() {
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
  await app.make.project({ owner, group })
  const old = group.path
  const path = `new-place-${++number}`
  t.equal((await app.as(owner).put(`/groups/${group.id}`, { path })).statusCode, 200)
  return { owner, group, old, path }
}

const create = (user: { privateToken: string }, path: string) =>
  app.as(user as never).post('/groups', { name: 'again', path })
const age = (old: string, days: number) =>
  execute('update namespace_redirects set created_at = ? where path_key = lower(?)', [
    new Date(Date.now() - days * 86_400_000),
    old
  ])

t.test('the old path of a group is refused to others', async t => {
  const { old } = await renamed()
  const [stranger, admin] = [await app.make.user(), await app.make.admin()]
  const refused = await create(stranger, old.toUpperCase())
  t.equal(refused.statusCode, 400)
  t.match(
    refused.json().message,
    /"path":\["is reserved until \d{4}-\d\d-\d\d for the group or user that had it before"\]/
  )
  t.equal((await create(admin, old)).statusCode, 400, 'administrators free it first')

  const own = await app.make.group({ owner: stranger })
  const moved = await app.as(stranger).put(`/groups/${own.id}`, { path: old })
  t.equal(moved.statusCode, 400)
  t.match(moved.json().message.path, [/^is reserved until/])
  t.equal((await app.as(stranger).get(`/groups/${own.id}`)).json().path, own.path)

  const user = await app
    .as(admin)
    .post('/users', { username: old, name: 'x', email: `${old}@x.org`, password: 'long enough' })
  t.equal(user.statusCode, 400)
  t.match(user.json().message.username, [/^is reserved until/])
  const username = await app.as(admin).put(`/users/${stranger.id}`, { username: old })
  t.equal(username.statusCode, 400)
})

t.test('the group and its owners may take it', async t => {
  const { owner, group, old, path } = await renamed()
  t.equal((await app.as(owner).put(`/groups/${group.id}`, { path: old })).statusCode, 200)
  t.equal((await app.as(owner).put(`/groups/${group.id}`, { path })).statusCode, 200)
  const other = await app.make.user()
  await app.as(owner).post(`/groups/${group.id}/members`, { user_id: other.id, access_level: OWNER })
  t.equal((await create(other, old)).statusCode, 201)
  t.equal(await row('select 1 from namespace_redirects where path_key = lower(?)', [old]), undefined)
})

t.test('the old username is refused to others', async t => {
  const [user, stranger, admin] = [await app.make.user(), await app.make.user(), await app.make.admin()]
  const old = user.username
  await app.make.project({ owner: user })
  await app.as(admin).put(`/users/${user.id}`, { username: 'another-name' })
  t.equal((await create(stranger, old)).statusCode, 400)
  t.equal((await create(user, old)).statusCode, 201)
})

t.test('a year later anybody may take it', async t => {
  const { old } = await renamed()
  const stranger = await app.make.user()
  await age(old, 364)
  t.equal((await create(stranger, old)).statusCode, 400)
  await age(old, 366)
  t.equal((await create(stranger, old)).statusCode, 201)
})

t.test('with reserved_days 0, anybody may take it at once', async t => {
  const { old } = await renamed()
  const stranger = await app.make.user()
  process.env.GITSTEAD_PATHS_RESERVED_DAYS = '0'
  t.teardown(() => {
    delete process.env.GITSTEAD_PATHS_RESERVED_DAYS
    loadConfig({ port: 0 })
  })
  loadConfig({ port: 0 })
  await runTask('old_redirects', {}, someOrigin)
  t.ok(
    await row('select 1 from namespace_redirects where path_key = lower(?)', [old]),
    'until then it leads to the group'
  )
  t.equal((await create(stranger, old)).statusCode, 201)
})

t.test('a sysadmin frees it', async t => {
  const { old, path } = await renamed()
  t.match(
    (await listReservedPaths()).filter(each => each.path === old),
    [{ path: old, leads_to: path, kind: 'group', reserved_until: Date }]
  )
  t.match(await freePath(old, someOrigin), { path: old, leads_to: path })
  await t.rejects(freePath(old, someOrigin), { message: `no old path is called "${old}"` })
  t.equal((await create(await app.make.user(), old)).statusCode, 201)
  t.match(await rows("select target_name from audit_events where action = 'path.free'"), [{ target_name: old }])
})

t.test('the upkeep removes redirects whose reservation has ended', async t => {
  const [{ old: expired }, { old: reserved }] = [await renamed(), await renamed()]
  await age(expired, 366)
  await runTask('old_redirects', {}, someOrigin)
  t.equal(await row('select 1 from namespace_redirects where path_key = lower(?)', [expired]), undefined)
  t.ok(await row('select 1 from namespace_redirects where path_key = lower(?)', [reserved]))
})

t.test('an empty group that was renamed within a day reserves nothing', async t => {
  const [owner, stranger] = [await app.make.user(), await app.make.user()]
  const group = await app.make.group({ owner })
  const rename = (path: string) => app.as(owner).put(`/groups/${group.id}`, { path })
  const names = ['first', 'second', 'third'].map(name => `${name}-${++number}`)
  for (const name of names) t.equal((await rename(name)).statusCode, 200)
  t.equal((await app.as(owner).get(`/groups/${names[0]}`)).json().id, group.id, 'it redirects')
  t.same(
    (await listReservedPaths()).filter(({ path }) => names.includes(path)),
    []
  )
  for (const name of names.slice(0, 2)) t.equal((await create(stranger, name)).statusCode, 201)

  const dayAgo = new Date(Date.now() - 86_400_000)
  await execute('update namespace_redirects set created_at = ? where namespace_id = ?', [dayAgo, group.id])
  t.equal((await rename('fourth')).statusCode, 200)
  t.equal((await create(stranger, names[2] ?? '')).statusCode, 400, 'a day with the path is enough')
})

t.test('a group reserves its ten newest old paths', async t => {
  const { owner, group, old } = await renamed()
  const rename = (path: string) => app.as(owner).put(`/groups/${group.id}`, { path })
  const names = Array.from({ length: 11 }, (_, at) => `name-${at}-${++number}`)
  for (const name of names.slice(0, 9)) t.equal((await rename(name)).statusCode, 200)
  const stranger = await app.make.user()
  t.equal((await create(stranger, old)).statusCode, 400, 'the tenth')
  for (const name of names.slice(9)) t.equal((await rename(name)).statusCode, 200)
  t.equal((await app.as(owner).get(`/groups/${old}`)).json().id, group.id, 'it still redirects')
  t.equal((await create(stranger, old)).statusCode, 201)
  t.equal((await create(stranger, names[0] ?? '')).statusCode, 400)
})

t.test('a path that a rename is just about to leave is refused to others', async t => {
  const [admin, stranger] = [await app.make.admin(), await app.make.user()]
  const takers = {
    'a new user': (username: string) =>
      app.as(admin).post('/users', { username, name: 'x', email: `${username}@x.org`, password: 'long enough' }),
    'a new username': (username: string) => app.as(admin).put(`/users/${stranger.id}`, { username })
  }
  for (const [about, take] of Object.entries(takers)) {
    const group = await app.make.group({ owner: await app.make.user() })
    let isHeld = false
    const renaming = transact(async () => {
      await execute('update namespaces set path = ?, created_at = ? where id = ?', [
        `left-${group.path}`,
        new Date(0),
        group.id
      ])
      isHeld = true
      await until('the other one waits', async () => {
        // The server updates this information only when nobody has read it for 100 ms.
        await pause(250)
        const waiting = `select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'
          and trx_mysql_thread_id in (select id from information_schema.processlist where db = database())`
        return (await rows(waiting)).length
      })
      await redirectNamespace(group.path, group.id)
    })
    await until('the group is locked', () => isHeld)
    const taking = take(group.path)
    await renaming
    t.match((await taking).json(), { message: { username: [/^is reserved until/] } }, about)
  }
})
