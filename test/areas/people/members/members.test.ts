import { setTimeout as sleep } from 'node:timers/promises'
import { listMembers } from '../../../../src/areas/people/members/members.queries.js'
import { publicUrl } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { DEVELOPER, GUEST, MASTER, OWNER, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import type { TestUser } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { waitingEvents } from '../../../helpers/published.js'
import { rowsRead } from '../../../helpers/rows-read.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const DAY = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY).toISOString().slice(0, 10)

/** A project and a group of one owner, with the path of their members. */
async function sources(t: Parameters<typeof testApp>[0]) {
  const app = await testApp(t)
  const owner = await app.make.user()
  const project = await app.make.project({ owner })
  const group = await app.make.group({ owner })
  const asker = app.as(owner)
  return {
    app,
    owner,
    asker,
    project: { ...project, members: `/projects/${project.id}/members` },
    group: { ...group, members: `/groups/${group.id}/members` }
  }
}

const viewOf = (user: TestUser, level: number, expiresAt: string | null = null) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  state: 'active',
  avatar_url: null,
  web_url: `${publicUrl()}/${user.username}`,
  access_level: level,
  expires_at: expiresAt
})

t.test('lists of members', async t => {
  const { app, asker, owner, project, group } = await sources(t)
  const guest = await app.make.member(project, GUEST, await app.make.user({ name: 'Rosa Guest' }), inDays(3))
  t.same((await asker.get(project.members)).json(), [viewOf(owner, MASTER), viewOf(guest, GUEST, inDays(3))])
  t.same((await asker.get(group.members)).json(), [viewOf(owner, OWNER)])
  t.same((await asker.get(project.members, { query: 'rosa' })).json(), [viewOf(guest, GUEST, inDays(3))])
  t.same((await asker.get(project.members, { query: guest.email })).json(), [viewOf(guest, GUEST, inDays(3))])
  t.same((await asker.get(project.members, { query: guest.email.slice(0, -2) })).json(), [], 'not by a part of it')
  t.match((await asker.get(project.members, { per_page: 1 })).headers, { 'x-total': '2', 'x-next-page': '2' })
  t.same((await asker.get(`${project.members}/${guest.id}`)).json(), viewOf(guest, GUEST, inDays(3)))
  const missing = await asker.get(`${group.members}/${guest.id}`)
  t.same([missing.statusCode, missing.json()], [404, { message: '404 Not found' }])
})

t.test('a membership that has ended is not in the way of a new one', async t => {
  const { app, asker, project, group } = await sources(t)
  const user = await app.make.member(project, GUEST, undefined, '2020-01-01')
  await app.make.groupMember(group, GUEST, user, '2020-01-01')
  for (const source of [project, group]) {
    const res = await asker.post(source.members, { user_id: user.id, access_level: REPORTER })
    t.same([res.statusCode, res.json()], [201, viewOf(user, REPORTER)])
    t.equal((await app.as(user).get(source.members)).statusCode, 200)
  }
})

t.test('POST by several at the same moment adds one member', async t => {
  const { app, asker, project, group } = await sources(t)
  for (const [source, others] of [
    [project, 201],
    [group, 409]
  ] as const) {
    const user = await app.make.user()
    const add = () => asker.post(source.members, { user_id: user.id, access_level: REPORTER })
    // All of them reach the user's row before any of them continues.
    const held = transact(async () => {
      await row('select id from users where id = ? for update', [user.id])
      await sleep(300)
    })
    await sleep(50)
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(add))
    await held
    const statuses = answers.map(({ statusCode }) => statusCode).sort()
    t.same(statuses, [201, others, others, others, others, others])
  }
})

t.test('POST adds a member, who then has the level', async t => {
  const { app, asker, project, group } = await sources(t)
  for (const source of [project, group]) {
    const user = await app.make.user()
    const res = await asker.post(source.members, { user_id: user.id, access_level: REPORTER, expires_at: inDays(1) })
    t.equal(res.statusCode, 201)
    t.same(res.json(), viewOf(user, REPORTER, inDays(1)))
    t.equal((await app.as(user).get(source.members)).statusCode, 200)
    t.match((await waitingEvents('member.added')).at(-1), {
      member: { access_level: REPORTER, user: { id: user.id }, source: { id: source.id } }
    })
    t.match(await row('select target_id, changes from audit_events order by id desc limit 1'), {
      target_id: String(source.id),
      changes: new RegExp(`"user":{"after":"${user.username}"}`)
    })
  }
})

t.test('POST of somebody who is a member, or has asked', async t => {
  const { app, asker, project, group } = await sources(t)
  const user = await app.make.user()
  const body = { user_id: user.id, access_level: GUEST }
  await asker.post(project.members, body)
  const again = await asker.post(project.members, { ...body, access_level: MASTER })
  t.same([again.statusCode, again.json()], [201, viewOf(user, GUEST)], 'a project gives the member unchanged')
  await asker.post(group.members, body)
  const conflict = await asker.post(group.members, body)
  t.same([conflict.statusCode, conflict.json()], [409, { message: 'Member already exists' }])

  const requester = await app.make.accessRequest('project', project)
  t.equal((await asker.post(project.members, { user_id: requester.id, access_level: DEVELOPER })).statusCode, 201)
  t.same((await asker.get(`/projects/${project.id}/access_requests`)).json(), [], 'the request is accepted')
})

t.test('bad members', async t => {
  const { app, asker, project, group } = await sources(t)
  const { id: user_id } = await app.make.user()
  const answer = async (path: string, body: object) => {
    const res = await asker.post(path, body)
    return [res.statusCode, res.json().message]
  }
  const unknown = [422, 'Access level is not known']
  t.same(await answer(project.members, { user_id, access_level: 50 }), unknown)
  t.same(await answer(project.members, { user_id, access_level: 15 }), unknown)
  t.same(await answer(group.members, { user_id, access_level: 60 }), unknown)
  t.same(await answer(group.members, { user_id, access_level: -10 }), unknown)
  t.same(await answer(group.members, { user_id: 4_000_000_000, access_level: 10 }), [404, '404 User Not Found'])
  t.equal((await answer(group.members, { access_level: 10 }))[0], 400)
  t.equal((await answer(group.members, { user_id, access_level: 'high' }))[0], 400)
  t.equal((await answer(group.members, { user_id, access_level: 10, expires_at: 'soon' }))[0], 400)
  t.equal((await answer(group.members, { user_id, access_level: 10, expires_at: '2027-02-31' }))[0], 400)
  t.same(await answer(group.members, { user_id, access_level: 10, expires_at: inDays(0) }), [
    400,
    { expires_at: ['must be in the future'] }
  ])
  t.equal((await asker.get(group.members)).headers['x-total'], '1')
})

t.test('PUT changes the level and the end', async t => {
  const { app, asker, project, group } = await sources(t)
  for (const source of [project, group]) {
    const { id } = await app.make.user()
    await asker.post(source.members, { user_id: id, access_level: GUEST, expires_at: inDays(2) })
    const one = `${source.members}/${id}`
    t.match((await asker.put(one, { access_level: DEVELOPER })).json(), { access_level: 30, expires_at: inDays(2) })
    t.match((await asker.put(one, { access_level: DEVELOPER, expires_at: '' })).json(), { expires_at: null })
    t.equal((await asker.put(one, { access_level: 70 })).statusCode, 422)
    t.equal((await asker.put(one, {})).statusCode, 400)
    t.equal((await asker.put(`${source.members}/4000000000`, { access_level: 10 })).statusCode, 404)
  }
})

t.test('a group keeps an owner, and a personal project its own', async t => {
  const { app, asker, owner, project, group } = await sources(t)
  const own = `${group.members}/${owner.id}`
  t.equal((await asker.delete(own)).statusCode, 403)
  t.equal((await asker.put(own, { access_level: MASTER })).statusCode, 403)
  t.equal((await asker.put(own, { access_level: OWNER, expires_at: inDays(1) })).statusCode, 403)
  t.equal((await asker.delete(`${project.members}/${owner.id}`)).statusCode, 403)
  t.equal((await asker.put(`${project.members}/${owner.id}`, { access_level: GUEST })).statusCode, 403)
  await app.make.groupMember(group, OWNER, undefined, '2020-01-01')
  t.equal((await asker.delete(own)).statusCode, 403, 'an owner whose membership has ended does not count')
  await app.make.groupMember(group, OWNER)
  t.equal((await asker.delete(own)).statusCode, 200)
  t.equal((await asker.get(group.members)).statusCode, 404)
})

t.test('two owners cannot both leave', async t => {
  const { app, owner, group } = await sources(t)
  const other = await app.make.groupMember(group, OWNER)
  const leave = (user: TestUser) => app.as(user).delete(`${group.members}/${user.id}`)
  const answers = await Promise.all([leave(owner), leave(other)])
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 403])
  t.equal(
    (await rows('select id from members where source_type = ? and source_id = ?', ['namespace', group.id])).length,
    1
  )
})

t.test('DELETE', async t => {
  const { app, asker, project, group } = await sources(t)
  const user = await app.make.member(project, GUEST)
  await app.make.groupMember(group, GUEST, user)
  const answer = async (by: typeof asker, path: string) => {
    const res = await by.delete(path)
    return [res.statusCode, res.json()]
  }
  const stranger = await app.make.user()
  t.same(await answer(asker, `${project.members}/${stranger.id}`), [
    200,
    { message: 'Access revoked', id: stranger.id }
  ])
  t.same(await answer(asker, `${group.members}/${stranger.id}`), [
    404,
    { message: `404 Member: user_id:${stranger.id} Not Found` }
  ])
  t.same(await answer(app.as(user), `${project.members}/${user.id}`), [200, viewOf(user, GUEST)], 'one may leave')
  t.same(await answer(asker, `${group.members}/${user.id}`), [200, viewOf(user, GUEST)])
  t.equal((await app.as(user).get(group.members)).statusCode, 404, 'the level is gone at once')
  t.match((await waitingEvents('member.removed')).at(-1), {
    expired: false,
    member: { user: { id: user.id }, source: { type: 'namespace', id: group.id } }
  })
})

t.test('a list takes a fixed number of statements, and its last page shows its members', async t => {
  const { app, asker, project, group } = await sources(t)
  for (const { members, add } of [
    { members: project.members, add: () => app.make.member(project, GUEST) },
    { members: group.members, add: () => app.make.groupMember(group, GUEST) }
  ]) {
    const cost = () => countStatements(() => asker.get(members))
    await add()
    const few = await cost()
    const last = [await add(), await add(), await add()].at(-1)
    t.equal(await cost(), few, members)
    const page = await asker.get(members, { per_page: 2, page: 3 })
    t.equal(page.headers['x-total'], '5')
    t.match(page.json(), [{ id: last?.id, username: last?.username }])
    t.match((await asker.get(members, { query: last?.username ?? '' })).json(), [{ id: last?.id }])
  }
})

t.test('a page in the middle of 10,000 members is read from its place on, not from the first member', async t => {
  const { group } = await sources(t)
  await execute(
    `insert into users (username, name, email, password_hash, created_at, updated_at)
     select concat('crowd', seq), concat('Crowd ', seq), concat('crowd', seq, '@example.org'), 'x', now(), now() from ${numbersTo(10_000)}`
  )
  await execute(
    `insert into members (source_type, source_id, user_id, access_level, created_at, updated_at)
     select 'namespace', ?, id, ?, now(), now() from users where username like 'crowd%'`,
    [group.id, GUEST]
  )
  // With fresh statistics, the database would otherwise pass all members before the page.
  await rows('analyze table members, users')
  const source = { type: 'namespace', id: group.id } as const
  const page = () => listMembers(source, { page: 400 })
  const { items } = await page()
  t.equal(items.length, 20)
  const read = await rowsRead(async () => t.same((await page()).items, items))
  t.ok(read < 300, `${read} entries of indexes and rows`)
})
