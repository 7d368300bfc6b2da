// Slash commands that do not apply, that a note repeats, and that several users write at the same moment.
import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makeMergeRequest, makeProject } from '../merge-requests/make-merge-requests.js'

const app = await testApp(t)

async function subject(values: { visibility_level?: 0 | 20 } = {}) {
  const project = await makeProject(values)
  const owner = app.as(project.owner)
  for (const name of ['a', 'b', 'c']) await owner.post(`/projects/${project.id}/labels`, { name, color: '#fff' })
  const { id } = (await owner.post(`/projects/${project.id}/issues`, { title: 'One' })).json()
  return { project, owner, path: `/projects/${project.id}/issues/${id}` }
}

t.test('all labels that several notes add at the same moment stay', async t => {
  const { project, owner, path } = await subject()
  const mergeRequest = await makeMergeRequest(project)
  for (const one of [path, `/projects/${project.id}/merge_requests/${mergeRequest.id}`]) {
    await Promise.all(['a', 'b', 'c'].map(name => owner.post(`${one}/notes`, { body: `/label ~${name}` })))
    t.same((await owner.get(one)).json().labels, ['a', 'b', 'c'])
    await Promise.all(['a', 'c'].map(name => owner.post(`${one}/notes`, { body: `/unlabel ~${name}` })))
    t.same((await owner.get(one)).json().labels, ['b'])
    await owner.post(`${one}/notes`, { body: '/unlabel\n/label ~c ~a\n/unlabel ~c\n/label ~b' })
    t.same((await owner.get(one)).json().labels, ['a', 'b'])
    await owner.post(`${one}/notes`, { body: '/label ~a\n/relabel ~c' })
    t.same((await owner.get(one)).json().labels, ['c'])
  }
})

t.test('commands that do not apply stay in the text, and the others run', async t => {
  const { project, owner, path } = await subject()
  const stranger = await app.make.user()
  const lines = [
    `/assign @${stranger.username}`,
    '/due 2027-02-30',
    '/spend 1h',
    '/spend -2h',
    '/award :thumbsup:',
    '/close'
  ]
  const note = await owner.post(`${path}/notes`, { body: lines.join('\n') })
  t.equal(note.statusCode, 201)
  t.equal(note.json().body, [lines[0], lines[1], lines[3], lines[4]].join('\n'))
  t.match((await owner.get(path)).json(), { state: 'closed', due_date: null, assignee: null, upvotes: 0 })
  t.match((await owner.get(`${path}/time_stats`)).json(), { total_time_spent: 3600 })
  const member = app.as(await app.make.member(project, GUEST))
  t.match((await member.post(`${path}/notes`, { body: 'x\n/award :thumbsup:' })).json(), { body: 'x' })
  t.match((await owner.get(path)).json(), { upvotes: 1 })
})

t.test('/merge accepts a merge request like the API', async t => {
  const { project, owner, path: issue } = await subject()
  const { id } = await makeMergeRequest(project)
  const path = `/projects/${project.id}/merge_requests/${id}`
  const reporter = app.as(await app.make.member(project, REPORTER))
  t.equal((await reporter.post(`${path}/notes`, { body: '/merge' })).json().body, '/merge', 'without the right')
  t.equal((await owner.post(`${issue}/notes`, { body: '/merge' })).json().body, '/merge', 'on an issue')
  await owner.post(`${path}/notes`, { body: '/wip' })
  t.equal((await owner.post(`${path}/notes`, { body: '/merge' })).json().body, '/merge', 'work in progress')
  await owner.post(`${path}/notes`, { body: '/wip' })
  t.equal((await owner.post(`${path}/notes`, { body: 'no\n/merge\n/close' })).json().body, 'no')
  t.equal((await owner.get(path)).json().state, 'closed', 'a merge request that the same note closes is not merged')
  t.equal((await owner.post(`${path}/notes`, { body: '/merge' })).json().body, '/merge', 'closed')
  await owner.put(path, { state_event: 'reopen' })
  const note = await owner.post(`${path}/notes`, { body: 'Fine.\n/merge' })
  t.same([note.statusCode, note.json().body], [201, 'Fine.'])
  t.match((await owner.get(path)).json(), { state: 'merged', merge_commit_sha: /^[0-9a-f]{40}$/ })
})

t.test('several notes with /merge at once are all written', async t => {
  const project = await makeProject()
  const owner = app.as(project.owner)
  const { id } = await makeMergeRequest(project)
  const path = `/projects/${project.id}/merge_requests/${id}`
  const texts = ['one', 'two', 'three', 'four']
  const answers = await Promise.all(texts.map(text => owner.post(`${path}/notes`, { body: `${text}\n/merge` })))
  t.same(
    answers.map(({ statusCode }) => statusCode),
    texts.map(() => 201)
  )
  t.same(
    answers.map(answer => answer.json().body.split('\n')[0]),
    texts
  )
  t.match((await owner.get(path)).json(), { state: 'merged' })
})

t.test('/merge waits for a running build', async t => {
  const { project, owner } = await subject()
  const { id, head_sha: sha } = await makeMergeRequest(project)
  await execute(
    `insert into pipelines (project_id, ref, tag, sha, before_sha, status, source, created_at, updated_at)
     values (?, 'feature', false, ?, repeat('0', 40), 'running', 'push', now(3), now(3))`,
    [project.id, sha]
  )
  const path = `/projects/${project.id}/merge_requests/${id}`
  t.equal((await owner.post(`${path}/notes`, { body: '/merge' })).statusCode, 404, 'only a command')
  t.match((await owner.get(path)).json(), { state: 'opened', merge_when_build_succeeds: true })
})

t.test('times and emoji add up', async t => {
  const { owner, path } = await subject()
  const body = '/spend 1h\n/spend 30m\n/spend -90m\n/spend 2h\n/award :tada:\n/award :smile:'
  t.equal((await owner.post(`${path}/notes`, { body })).statusCode, 404, 'only commands')
  t.match((await owner.get(`${path}/time_stats`)).json(), { total_time_spent: 7200 })
  t.match((await owner.get(`${path}/award_emoji`)).json(), [{ name: 'tada' }, { name: 'smile' }])
  await owner.post(`${path}/notes`, { body: '/remove_time_spent\n/spend 5m' })
  t.match((await owner.get(`${path}/time_stats`)).json(), { total_time_spent: 300 })
})
