// Automatic notes: about changes, and about mentions elsewhere. Mentions make people take part.
import t from 'tap'
import { GUEST, REPORTER } from '../../../src/lib/levels.js'
import { type Asker, testApp } from '../../helpers/app.js'
import { makeMergeRequest, makeProject } from '../merge-requests/make-merge-requests.js'

const app = await testApp(t)

async function subject(values: Parameters<typeof app.make.project>[0] = {}) {
  const project = await app.make.project(values)
  const owner = app.as(project.owner)
  const issues = `/projects/${project.id}/issues`
  const open = async (body: object = {}, asker: Asker = owner) =>
    (await asker.post(issues, { title: 'An issue', ...body })).json()
  return { project, owner, issues, open }
}

/** The automatic notes of something, as a user sees them. */
async function said(asker: Asker, path: string) {
  await app.runJobs()
  const notes = (await asker.get(`${path}/notes`, { per_page: 100 })).json()
  return notes.filter(({ system }: { system: boolean }) => system).map(({ body }: { body: string }) => body)
}

t.test('changes of an issue', async t => {
  const { project, owner, issues, open } = await subject()
  const { id } = await open({ labels: 'old' })
  const path = `${issues}/${id}`
  await owner.post(`/projects/${project.id}/milestones`, { title: 'Version 1' })
  const [milestone] = (await owner.get(`/projects/${project.id}/milestones`)).json()
  await owner.put(path, { title: 'Better' })
  await owner.put(path, { assignee_id: project.owner.id, milestone_id: milestone.id, labels: 'bug,two words' })
  await owner.put(path, { assignee_id: 0, milestone_id: 0, due_date: '2027-01-02', confidential: true })
  await owner.post(`${path}/time_estimate`, { duration: '3h' })
  await owner.post(`${path}/add_spent_time`, { duration: '90m' })
  await owner.put(path, { state_event: 'close' })
  await owner.put(path, { state_event: 'reopen', description: 'x' })
  await owner.put(path, { title: 'Better' })
  t.same(
    (await said(owner, path)).sort(),
    [
      'Added 1h 30m of time spent',
      'Added ~bug ~"two words" and removed ~old labels',
      'Assignee removed',
      'Changed due date to 2027-01-02',
      'Changed the description',
      'Changed time estimate to 3h',
      'Changed title from **An issue** to **Better**',
      'Made the issue confidential',
      'Milestone changed to %"Version 1"',
      'Milestone removed',
      `Reassigned to @${project.owner.username}`,
      'Status changed to closed',
      'Status changed to reopened'
    ].sort()
  )
  const [note] = (await owner.get(`${path}/notes`)).json()
  t.match(note, { system: true, author: { id: project.owner.id } })
  t.equal((await owner.get(path)).json().user_notes_count, 0)
  const kept = await owner.put(`${path}/notes/${note.id}`, { body: 'x' })
  t.same([kept.statusCode, kept.json()], [200, note])
})

t.test('mentions elsewhere, once each', async t => {
  const { project, owner, issues, open } = await subject()
  const target = await open()
  const path = `${issues}/${target.id}`
  const from = await open({ title: 'Like #1', description: 'See #1, #1 and `#3`; not #2 itself, nor #77' })
  await owner.post(`${issues}/${from.id}/notes`, { body: 'As #1 says' })
  const note = (await owner.post(`${path}/notes`, { body: 'nothing' })).json()
  await owner.put(`${path}/notes/${note.id}`, { body: 'see #2' })
  t.same(await said(owner, path), ['mentioned in #2'])
  t.same(await said(owner, `${issues}/${from.id}`), ['mentioned in #1'])
  const elsewhere = await subject({ owner: project.owner })
  await elsewhere.open({ description: `${project.path}#1` })
  t.same(await said(owner, path), ['mentioned in #2', `mentioned in ${elsewhere.project.path}#1`])
})

t.test('what somebody may not see shows nothing of itself', async t => {
  const { project, owner, issues, open } = await subject({ visibility_level: 20 })
  const target = await open()
  const secret = await open({ confidential: true, description: 'like #1' })
  const path = `${issues}/${target.id}`
  const hidden = await subject({ owner: project.owner })
  await hidden.open({ description: `${project.path}#1` })
  await open({ description: '#1' })
  const all = await said(owner, path)
  t.same(all, ['mentioned in #2', `mentioned in ${hidden.project.path}#1`, 'mentioned in #3'])
  const stranger = app.as(await app.make.user())
  t.same(await said(stranger, path), ['mentioned in #3'])
  const [note] = (await owner.get(`${path}/notes`)).json()
  t.equal((await stranger.get(`${path}/notes/${note.id}`)).statusCode, 404)
  const reporter = app.as(await app.make.member(project, REPORTER))
  t.same(await said(reporter, path), ['mentioned in #2', 'mentioned in #3'])
  // An author writes into nothing that the author may not read.
  await open({ description: `see ${hidden.project.path}#1 and #${secret.iid}` }, stranger)
  t.same(await said(owner, `${hidden.issues}/${(await owner.get(hidden.issues)).json()[0].id}`), [])
  t.same(await said(owner, `${issues}/${secret.id}`), [])
})

t.test('merge requests', async t => {
  const project = await makeProject()
  const owner = app.as(project.owner)
  const base = `/projects/${project.id}`
  const issue = (await owner.post(`${base}/issues`, { title: 'One', description: 'by !1' })).json()
  const { id, iid } = await makeMergeRequest(project, { description: 'Closes #1' })
  const path = `${base}/merge_requests/${id}`
  await owner.put(path, { title: 'Other' })
  await owner.post(`${path}/notes`, { body: 'Well done' })
  await owner.put(path, { state_event: 'close' })
  t.same(await said(owner, `${base}/issues/${issue.id}`), [`mentioned in !${iid}`])
  t.same((await said(owner, path)).sort(), [
    'Changed title from **Add a feature** to **Other**',

    'Status changed to closed',
    'mentioned in #1'
  ])
  t.equal((await owner.get(path)).json().user_notes_count, 1)
  t.match((await owner.get(`${path}/comments`)).json().at(-1), { author: { id: project.owner.id } })
  t.match((await owner.post(`${path}/comments`, { note: 'old form' })).json(), {
    note: 'old form',
    author: { id: project.owner.id }
  })
})

t.test('those whom a text mentions take part', async t => {
  const { project, owner, issues, open } = await subject()
  const [one, two, grouped, nobody] = [
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST)
  ]
  const group = await app.make.group()
  await app.make.groupMember(group, GUEST, grouped)
  const { id } = await open({ description: `for @${one.username.toUpperCase()} and \`@${nobody.username}\`` })
  await owner.post(`${issues}/${id}/notes`, { body: `@${two.username} @${group.path} @no-such-user` })
  await app.runJobs()
  for (const [user, subscribed] of [
    [one, true],
    [two, true],
    [grouped, true],
    [nobody, false]
  ] as const) {
    t.equal((await app.as(user).get(`${issues}/${id}`)).json().subscribed, subscribed, user.name)
  }
  await owner.post(`${issues}/${id}/notes`, { body: '@all' })
  await app.runJobs()
  t.ok((await app.as(nobody).get(`${issues}/${id}`)).json().subscribed)
})

t.test('a move is told on both sides', async t => {
  const from = await subject()
  const to = await subject({ owner: from.project.owner })
  const issue = await from.open()
  const moved = (await from.owner.post(`${from.issues}/${issue.id}/move`, { to_project_id: to.project.id })).json()
  t.same(await said(from.owner, `${from.issues}/${issue.id}`), [`Moved to ${to.project.path}#1`])
  t.same(await said(from.owner, `${to.issues}/${moved.id}`), [`Moved from ${from.project.path}#1`])
})
