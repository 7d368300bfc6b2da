// The story: after a group was renamed, a stranger could create its old path, and clones with the old address read the
// repositories of the stranger.
import { freePath, listReservedPaths } from '../../../../src/areas/ground/paths/reserved.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { OWNER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
let number = 0

/** A renamed group and its owner. */
async function renamed() {
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
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
