// The six operations of notification settings, and the levels in the records of projects.
import { addEmail } from '../../../../src/areas/people/users/emails.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const OFF = {
  new_note: false,
  new_issue: false,
  reopen_issue: false,
  close_issue: false,
  reassign_issue: false,
  new_merge_request: false,
  reopen_merge_request: false,
  close_merge_request: false,
  reassign_merge_request: false,
  merge_merge_request: false,
  failed_pipeline: false,
  success_pipeline: false
}

t.test('the global setting has a level and an address', async t => {
  const user = await app.make.user()
  const asker = app.as(user)
  const path = '/notification_settings'
  t.same((await asker.get(path)).json(), { level: 'participating', notification_email: user.email })
  t.same((await asker.put(path, { level: 'watch' })).json(), { level: 'watch', notification_email: user.email })
  const { id } = await addEmail(user, { email: `Other-${user.email}` }, someOrigin)
  const chosen = (await asker.put(path, { notification_email: `other-${user.email}` })).json()
  t.same(chosen, { level: 'watch', notification_email: `Other-${user.email}` })
  await asker.delete(`/user/emails/${id}`)
  t.equal((await asker.get(path)).json().notification_email, user.email, 'a deleted address is not used')
  for (const email of [(await app.make.user()).email, 'x', '']) {
    const refused = await asker.put(path, { level: 'mention', notification_email: email })
    t.equal(refused.statusCode, 400, email)
    t.same(refused.json(), { message: { notification_email: ['is not an email you own'] } })
  }
  t.equal((await asker.get(path)).json().level, 'watch', 'a refused change changes nothing')
})

t.test('projects and groups have levels, and events with the level custom', async t => {
  const project = await app.make.project()
  const group = await app.make.group({ owner: project.owner })
  const asker = app.as(project.owner)
  for (const path of [`/projects/${project.id}`, `/groups/${group.path}`].map(of => `${of}/notification_settings`)) {
    t.same((await asker.get(path)).json(), { level: 'global' })
    t.same((await asker.put(path, { level: 'watch', new_note: true })).json(), { level: 'watch' })
    t.same((await asker.get(path)).json(), { level: 'watch' })
    t.same((await asker.put(path, { level: 'custom' })).json(), { level: 'custom', events: OFF }, 'events were cleared')
    const custom = { level: 'custom', events: { ...OFF, close_issue: true, success_pipeline: true } }
    t.same((await asker.put(path, { close_issue: true, success_pipeline: '1' })).json(), custom)
    t.same((await asker.put(path, { level: 'disabled' })).json(), { level: 'disabled' })
    t.same((await asker.put(path, { level: 'custom', success_pipeline: false })).json(), {
      level: 'custom',
      events: { ...OFF, close_issue: true }
    })
    t.same((await asker.put(path)).json().level, 'custom', 'an empty change changes nothing')
  }
})

t.test('wrong levels and values are refused', async t => {
  const { id, owner } = await app.make.project()
  for (const path of [`/projects/${id}/notification_settings`, '/notification_settings']) {
    for (const level of ['Watch', 'all', '', '2']) {
      const answer = await app.as(owner).put(path, { level })
      t.equal(answer.statusCode, 400)
      t.same(answer.json(), { message: `'${level}' is not a valid level` })
    }
    t.match((await app.as(owner).put(path, { new_note: 'maybe' })).json(), { error: 'new_note is invalid' })
    t.match((await app.as(owner).get(path)).json(), { level: /global|participating/ })
  }
})

t.test('records of projects show the levels of the caller, without an extra statement', async t => {
  const owner = await app.make.user()
  const group = await app.make.group({ owner })
  const [one, two] = [await app.make.project({ owner }), await app.make.project({ owner, group })]
  const asker = app.as(owner)
  const list = async () =>
    (await asker.get('/projects', { order_by: 'id', sort: 'asc' }))
      .json()
      .map((found: { permissions: object }) => found.permissions)
  const before = await countStatements(list)
  await asker.put(`/projects/${one.id}/notification_settings`, { level: 'mention' })
  await asker.put(`/groups/${group.id}/notification_settings`, { level: 'custom' })
  await app.as(await app.make.user()).put('/notification_settings', { level: 'disabled' })
  const expected = [
    { project_access: { access_level: 40, notification_level: 4 }, group_access: null },
    { project_access: null, group_access: { access_level: 50, notification_level: 5 } }
  ]
  t.match((await asker.get(`/projects/${one.id}`)).json().permissions, expected[0])
  t.match((await asker.get(`/projects/${two.id}`)).json().permissions.group_access, { notification_level: 5 })
  t.match(await list(), expected)
  for (let more = 0; more < 3; more++) await app.make.project({ owner })
  t.equal(await countStatements(list), before)
})
