// Users who are deleted while their contributions stay, under the name of the ghost user.
import { ghostUser } from '../../../../src/areas/people/users/ghost/ghost-user.js'
import { blockUser, unblockUser } from '../../../../src/areas/people/users/user-state.js'
import { updateUser } from '../../../../src/areas/people/users/user-update.js'
import { applianceCounts } from '../../../../src/areas/upkeep/maintenance/counts.queries.js'
import { deleteUser, deleteUserKeeping, deletionOf } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { Forbidden } from '../../../../src/errors.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin, type TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const root = await app.make.admin()
const admin = app.as(root)
const owner = await app.make.user()
const project = await app.make.project({ owner, snippets_enabled: true })
const api = `/projects/${project.id}`

async function contributor(): Promise<TestUser> {
  const user = await app.make.user()
  await app.make.member(project, 40, user)
  return user
}
async function contribute(user: TestUser) {
  const asks = app.as(user)
  const issue = (await asks.post(`${api}/issues`, { title: 'An issue', assignee_id: user.id })).json()
  const note = (await asks.post(`${api}/issues/${issue.id}/notes`, { body: 'A note' })).json()
  const snippet = { title: 'S', file_name: 's', code: 's', visibility_level: 0 }
  const shared = (await asks.post(`${api}/snippets`, snippet)).json()
  const own = (await asks.post('/snippets', { ...snippet, content: 's' })).json()
  return { issue, note, shared, own }
}
const ghost = () =>
  row<{ id: number; username: string; state: string }>(
    "select id, username, state from users where block_reason = 'ghost'"
  )

t.test('the contributions of a deleted user belong to the ghost', async t => {
  await app.make.user({ username: 'ghost' })
  const user = await contributor()
  const { issue, note, shared, own } = await contribute(user)
  const before = await applianceCounts()
  t.match(await deletionOf(user, { keeps: true }), {
    goes: { issues: 0, notes: 0, snippets: 1, memberships: 1 },
    given: { issues: 1, notes: 1, snippets: 1, merge_requests: 0 }
  })
  t.match(await deletionOf(user), { goes: { issues: 1, notes: 1, snippets: 2 } })
  t.same(await deleteUserKeeping(user.id, someOrigin), [])
  await app.runJobs()
  const found = await ghost()
  t.match(found, { username: 'ghost1', state: 'blocked' }, 'somebody has the name ghost')
  const author = { id: found?.id, username: 'ghost1', name: 'Ghost User', state: 'blocked' }
  const reader = app.as(owner)
  t.match((await reader.get(`${api}/issues/${issue.id}`)).json(), { author, assignee: null })
  t.match((await reader.get(`${api}/issues/${issue.id}/notes/${note.id}`)).json(), { author, body: 'A note' })
  t.match((await reader.get(`${api}/snippets/${shared.id}`)).json(), { author })
  t.equal(await row('select 1 from snippets where id = ?', [own.id]), undefined, 'a personal snippet is deleted')
  t.equal((await admin.get(`/users/${user.id}`)).statusCode, 404)
  t.match(
    await row("select changes from audit_events where action = 'user.give_contributions' and target_id = ?", [user.id]),
    {
      changes: /"issues":\{"after":1\}/
    }
  )

  const listed = (await admin.get('/users', { per_page: 100 })).json()
  t.notOk(
    listed.some(({ id }: { id: number }) => id === found?.id),
    'lists leave the ghost out'
  )
  t.equal((await applianceCounts()).users.total, before.users.total - 1, 'and so do counts')
  const other = await contributor()
  await contribute(other)
  await deleteUserKeeping(other.id, someOrigin)
  t.equal((await rows("select id from users where block_reason = 'ghost'")).length, 1, 'there is one ghost')
})

t.test('two commands at once make one ghost', async t => {
  await execute('delete from namespaces where owner_id in (select id from users where block_reason = ?)', ['ghost'])
  await execute("delete from issues where author_id in (select id from users where block_reason = 'ghost')")
  await execute("delete from users where block_reason = 'ghost'")
  const made = await Promise.all(Array.from({ length: 5 }, () => ghostUser(someOrigin)))
  t.equal(new Set(made).size, 1)
})

t.test('nobody becomes, changes or deletes the ghost', async t => {
  const id = await ghostUser(someOrigin)
  await t.rejects(unblockUser(id, someOrigin), Forbidden)
  await t.rejects(blockUser(id, someOrigin), Forbidden)
  await t.rejects(updateUser(id, { name: 'x' }, someOrigin), Forbidden)
  await t.rejects(deleteUser(id, someOrigin), Forbidden)
  await t.rejects(deleteUserKeeping(id, someOrigin), Forbidden)
  t.equal((await admin.put(`/users/${id}`, { password: 'a new password' })).statusCode, 403)
  t.equal((await admin.delete(`/users/${id}`)).statusCode, 403)
  const { username = '' } = (await ghost()) ?? {}
  for (const password of ['', '!', 'ghost']) {
    t.not((await app.nobody.post('/session', { login: username, password })).statusCode, 201)
  }
  t.equal((await admin.get('/user', { sudo: username })).statusCode, 403)
})

t.test('a killed deletion continues with the next call', async t => {
  const user = await contributor()
  const { issue } = await contribute(user)
  await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
     select project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at from notes,
       (select 1 from information_schema.columns limit 700) many where author_id = ?`,
    [user.id]
  )
  const total = async (id: number) =>
    Number((await row<{ total: number }>('select count(*) as total from notes where author_id = ?', [id]))?.total)
  t.equal(await total(user.id), 701)
  // What a kill after the first batch leaves.
  const id = await ghostUser(someOrigin)
  await blockUser(user.id, someOrigin)
  await execute('update notes set author_id = ? where author_id = ? order by author_id limit 500', [id, user.id])
  const before = await total(id)
  t.same(await deleteUserKeeping(user.id, someOrigin), [])
  t.equal(await total(user.id), 0)
  t.equal((await total(id)) - before, 201)
  t.match(await row('select author_id from issues where id = ?', [issue.id]), { author_id: id })
})

t.test('a refused deletion gives nothing away', async t => {
  const user = await contributor()
  const { issue } = await contribute(user)
  const group = await app.make.group({ owner: user })
  t.same(await deleteUserKeeping(user.id, someOrigin), [group.path])
  t.match(await row('select author_id from issues where id = ?', [issue.id]), { author_id: user.id })
  t.match(await row('select state from users where id = ?', [user.id]), { state: 'active' })
  await t.rejects(deleteUserKeeping(root.id, someOrigin), Forbidden)
  t.equal(await deleteUserKeeping(999_999, someOrigin), null)
})
