// Automatic notes about changes and about mentions in other records. Users who are mentioned take part.
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { type Asker, testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
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

/** Returns the automatic notes of something, as a user sees them. */
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

t.test('of times that are logged at the same moment, each note names its own', async t => {
  const { owner, issues, open } = await subject()
  const { id } = await open()
  const path = `${issues}/${id}`
  await Promise.all(['1h', '2h', '4h', '8h'].map(duration => owner.post(`${path}/add_spent_time`, { duration })))
  t.same((await said(owner, path)).sort(), [
    'Added 1d of time spent',
    'Added 1h of time spent',
    'Added 2h of time spent',
    'Added 4h of time spent'
  ])
  t.equal((await owner.get(`${path}/time_stats`)).json().human_total_time_spent, '1d 7h')
  await owner.post(`${path}/add_spent_time`, { duration: '-90m' })
  await owner.post(`${path}/reset_spent_time`)
  t.same((await said(owner, path)).slice(4), ['Subtracted 1h 30m of time spent', 'Subtracted 1d 5h 30m of time spent'])
})

t.test('mentions in other records, once each', async t => {
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

t.test('only a list with notes about mentions looks for the records that contain them', async t => {
  const { owner, issues, open } = await subject()
  const { id } = await open()
  const path = `${issues}/${id}`
  await owner.put(path, { state_event: 'close' })
  t.same(await said(owner, path), ['Status changed to closed'])
  const without = await countStatements(() => owner.get(`${path}/notes?again=1`))
  await open({ description: 'See #1' })
  t.same(await said(owner, path), ['Status changed to closed', 'mentioned in #2'])
  t.equal(await countStatements(() => owner.get(`${path}/notes?again=2`)), without + 2, 'the page and its total, again')
})

t.test('users see no notes about mentions in records that they may not see', async t => {
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
  const first = await stranger.get(`${path}/notes`, { per_page: 1 })
  t.match([first.json().length, first.json()[0].body], [1, 'mentioned in #3'], 'the page is full')
  t.equal(first.headers['x-total'], '1', 'hidden notes are not counted')
  t.equal((await owner.get(`${path}/notes`)).headers['x-total'], '3')
  const [note] = (await owner.get(`${path}/notes`)).json()
  t.equal((await stranger.get(`${path}/notes/${note.id}`)).statusCode, 404)
  const reporter = app.as(await app.make.member(project, REPORTER))
  t.same(await said(reporter, path), ['mentioned in #2', 'mentioned in #3'])
  // A text writes no notes on records that its author may not read.
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

t.test('a merge request tells its story', async t => {
  const project = await makeProject()
  const owner = app.as(project.owner)
  const { id } = await makeMergeRequest(project)
  const path = `/projects/${project.id}/merge_requests/${id}`
  const pushed = async (branch: string) => {
    const { insertId } = await execute(
      `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
       values (?, 'feature', false, ?, repeat('0', 40), 'running', 'push', now(), now())`,
      [project.id, (await owner.get(path)).json().sha]
    )
    await owner.put(`${path}/merge`, { merge_when_build_succeeds: true })
    await app.runJobs()
    await app.make.file(project, `${insertId}.txt`, 'x', branch)
    return said(owner, path)
  }
  const waits = /^Enabled an automatic merge when the build for [0-9a-f]{8} succeeds$/
  const one = /^Added 1 commit:\n\n\* [0-9a-f]{8} - \S.*$/
  const first = await pushed('feature')
  t.match(first, [waits, one, /^Canceled the automatic merge$/])
  t.equal(first.length, 3)
  t.match((await pushed('master')).slice(3), [waits], 'a push to the target adds nothing')
  await owner.put(`${path}/cancel_merge_when_build_succeeds`)
  t.same((await said(owner, path)).slice(4), ['Canceled the automatic merge'])
  const commits = (await owner.get(`/projects/${project.id}/repository/commits`, { ref_name: 'master' })).json()
  await app.make.branch(project, 'other', commits[1].id)
  await owner.put(path, { target_branch: 'other' })
  t.same((await said(owner, path)).slice(5), ['Changed target branch from `master` to `other`'])
})

t.test('commits of pushes', async t => {
  const project = await makeProject()
  const other = await app.make.project({ visibility_level: 20 })
  const owner = app.as(project.owner)
  const base = `/projects/${project.id}`
  const open = async (title: string) => (await owner.post(`${base}/issues`, { title })).json()
  const [one, two, secret] = [await open('One'), await open('Two'), await open('Three')]
  const elsewhere = (await app.as(other.owner).post(`/projects/${other.id}/issues`, { title: 'Theirs' })).json()
  const { id: mergeRequest } = await makeMergeRequest(project)
  const pusher = await app.make.member(project, DEVELOPER)
  await owner.put(`${base}/issues/${secret.id}`, { confidential: true })
  const commit = async (branch: string, message: string, by: Asker = app.as(pusher)) => {
    const actions = [{ action: 'create', file_path: `${branch}-${message.length}`, content: 'x' }]
    const body = { branch_name: branch, commit_message: message, actions, author_email: project.owner.email }
    return (await by.post(`${base}/repository/commits`, body)).json().id
  }
  const first = await commit('feature', `Like #1, #1 and !1\n\n${other.path}#1, #77, \`#2\` and nothing@else`)
  const notes = async (id: number) => said(owner, `${base}/issues/${id}`)
  t.same(await notes(one.id), [`mentioned in commit ${first}`])
  t.same(await notes(two.id), [])
  const added = `Added 1 commit:\n\n* ${first.slice(0, 8)} - Like #1, #1 and !1`
  t.same((await said(owner, `${base}/merge_requests/${mergeRequest}`)).sort(), [added, `mentioned in commit ${first}`])
  const [note] = (await owner.get(`${base}/issues/${one.id}/notes`)).json()
  t.equal(note.author.id, pusher.id, 'the note belongs to the pusher, not to the author of the commit')
  const path = `/projects/${other.id}/issues/${elsewhere.id}`
  t.same(await said(owner, path), [`mentioned in commit ${project.path}@${first}`])
  t.same(await said(app.as(other.owner), path), [], 'other users do not see the name of a private project')

  // A new branch contains the same commit, and a merge brings it to the default branch.
  await owner.post(`${base}/repository/branches`, { branch_name: 'again', ref: 'feature' })
  const merged = (await owner.put(`${base}/merge_requests/${mergeRequest}/merge`)).json().merge_commit_sha
  const closing = await commit('master', 'Fixes #2', owner)
  t.same(await notes(one.id), [`mentioned in commit ${first}`])
  t.same((await notes(two.id)).sort(), ['Status changed to closed', `mentioned in commit ${closing}`])
  t.same(
    (await said(owner, `${base}/merge_requests/${mergeRequest}`)).sort(),
    [added, 'Status changed to merged', `mentioned in commit ${first}`, `mentioned in commit ${merged}`].sort()
  )

  // The owner of another project, who is a guest here, pushes there. The push neither shows nor writes anything about
  // records that are hidden from guests.
  await app.make.member(project, GUEST, other.owner)
  const body = { file_path: 'a', branch_name: 'master', content: 'x', commit_message: `${project.path}#1` }
  const theirs = `/projects/${other.id}/repository/files`
  await app.as(other.owner).post(theirs, body)
  t.same(await notes(one.id), [`mentioned in commit ${first}`], 'the first push creates no notes')
  const message = ['#1', '#3', '!1'].map(name => `${project.path}${name}`).join(' ')
  await app.as(other.owner).post(theirs, { ...body, file_path: 'b', commit_message: message })
  t.match(await notes(one.id), [
    `mentioned in commit ${first}`,
    /^mentioned in commit user-\d+\/project-\d+@[0-9a-f]{40}$/
  ])
  t.same(await notes(secret.id), ['Made the issue confidential'])
  t.equal((await said(owner, `${base}/merge_requests/${mergeRequest}`)).length, 4)
})

t.test('users whom a text mentions take part', async t => {
  const { project, owner, issues, open } = await subject()
  const [one, two, grouped, nobody] = [
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST),
    await app.make.member(project, GUEST)
  ]
  const group = await app.make.group({ visibilityLevel: 20 })
  const hidden = await app.make.group()
  await app.make.groupMember(group, GUEST, grouped)
  await app.make.groupMember(hidden, GUEST, nobody)
  const { id } = await open({ description: `for @${one.username.toUpperCase()} and \`@${nobody.username}\`` })
  await owner.post(`${issues}/${id}/notes`, { body: `@${two.username} @${group.path} @${hidden.path} @no-such-user` })
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

t.test('users whom a text names take part at once, until they unsubscribe', async t => {
  const { project, owner, issues, open } = await subject()
  const [one, two, three] = [
    await app.make.member(project, DEVELOPER),
    await app.make.member(project, DEVELOPER),
    await app.make.member(project, DEVELOPER)
  ]
  const { id } = await open({ description: `@${one.username}` })
  const path = `${issues}/${id}`
  const subscribed = async (user: object) => (await app.as(user as typeof one).get(path)).json().subscribed
  t.same([await subscribed(one), await subscribed(two)], [true, false])
  const note = (await owner.post(`${path}/notes`, { body: `@${two.username}` })).json()
  t.ok(await subscribed(two))
  await owner.put(`${path}/notes/${note.id}`, { body: `@${three.username}` })
  t.ok(await subscribed(three))
  await app.as(one).delete(`${path}/subscription`)
  await owner.post(`${path}/notes`, { body: `@${one.username}` })
  await app.runJobs()
  t.notOk(await subscribed(one))
})

t.test('both issues of a move get a note', async t => {
  const from = await subject()
  const to = await subject({ owner: from.project.owner })
  const issue = await from.open()
  const moved = (await from.owner.post(`${from.issues}/${issue.id}/move`, { to_project_id: to.project.id })).json()
  t.same(await said(from.owner, `${from.issues}/${issue.id}`), [`Moved to ${to.project.path}#1`])
  t.same(await said(from.owner, `${to.issues}/${moved.id}`), [`Moved from ${from.project.path}#1`])
})
