// Issues that merges and pushes close, and the hook events of merge requests.
import { createIssue } from '../../../../src/areas/planning/issues/creation.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { Hook } from '../../../../src/db/models/index.js'
import { GUEST } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makeBranch, makeMergeRequest, makeProject } from './make-merge-requests.js'

const app = await testApp(t)

async function subject() {
  const project = await makeProject()
  return { project, owner: app.as(project.owner), path: `/projects/${project.id}` }
}

const makeIssue = async (project: TestProject, title: string, by: TestUser = project.owner) =>
  createIssue(await projectRow(project), { title }, actorOf(by))

const states = async (project: TestProject) =>
  (
    await rows<{ iid: number; state: string }>('select iid, state from issues where project_id = ? order by iid', [
      project.id
    ])
  ).map(({ state }) => state)

t.test('a merge into the default branch closes the issues that it names', async t => {
  const { project, owner, path } = await subject()
  for (const title of ['one', 'two', 'three', 'four']) await makeIssue(project, title)
  await app.make.file(project, 'more.txt', 'x', 'feature')
  const description = 'Fixes #1 and #3.\n\n> closes #4\n\n`closes #2` CLOSES #2'
  const { id } = await makeMergeRequest(project, { description })
  const res = await owner.get(`${path}/merge_requests/${id}/closes_issues`)
  t.equal(res.headers['x-total'], '2')
  t.match(res.json(), [{ iid: 1 }, { iid: 3 }])
  t.equal((await owner.get(`${path}/merge_requests/${id}/closes_issues`, { per_page: 1, page: 2 })).json()[0].iid, 3)
  const merged = await owner.put(`${path}/merge_requests/${id}/merge`)
  t.equal(merged.statusCode, 200)
  t.same(await states(project), ['closed', 'opened', 'closed', 'opened'])
  const [commit] = (await owner.get(`${path}/repository/commits`)).json()
  t.match(commit.message, 'Closes #1 and #3\n')
  await app.runJobs({ until: new Date(Date.now() + 60_000) })
  const told = await rows("select id from activity_events where project_id = ? and action = 'closed'", [project.id])
  t.equal(told.length, 2, 'each issue has one event')
})

t.test('of a long message, a merge reads as much as a push', async t => {
  const { project, owner, path } = await subject()
  await makeIssue(project, 'one')
  await makeIssue(project, 'two')
  const res = await owner.post(`${path}/repository/files`, {
    file_path: 'long.txt',
    branch_name: 'feature',
    content: 'long',
    commit_message: `Closes #2\n\n${'long '.repeat(2000)}\n\nCloses #1`
  })
  t.equal(res.statusCode, 201)
  const { id } = await makeMergeRequest(project)
  t.same(
    (await owner.get(`${path}/merge_requests/${id}/closes_issues`)).json().map(({ iid }: { iid: number }) => iid),
    [2]
  )
})

t.test('a merge into another branch closes nothing', async t => {
  const { project, owner, path } = await subject()
  await makeIssue(project, 'one')
  await makeBranch(project, 'stable')
  const { id } = await makeMergeRequest(project, { target_branch: 'stable', description: 'Closes #1' })
  t.same((await owner.get(`${path}/merge_requests/${id}/closes_issues`)).json(), [])
  await owner.put(`${path}/merge_requests/${id}/merge`)
  await app.runJobs()
  t.same(await states(project), ['opened'])
})

t.test('a push to the default branch closes issues with the rights of the pusher', async t => {
  const { project, owner, path } = await subject()
  const other = await makeProject()
  await app.make.member(other, GUEST, project.owner)
  await makeIssue(project, 'one')
  await makeIssue(other, 'not theirs')
  await makeIssue(other, 'their own', project.owner)
  const commit = (message: string, name: string) =>
    owner.post(`${path}/repository/files`, {
      file_path: name,
      branch_name: 'master',
      content: name,
      commit_message: message
    })
  await commit(`resolves #1, ${other.path}#1 and ${other.path}#2`, 'a')
  await app.runJobs()
  t.same(await states(project), ['closed'])
  t.same(await states(other), ['opened', 'closed'])
})

t.test('hooks get each step, with the values at that time', async t => {
  const { project, owner, path } = await subject()
  const hook = await Hook.create({
    projectId: project.id,
    url: 'http://127.0.0.1:9/',
    mergeRequestsEvents: true,
    pushEvents: false
  })
  const { id, head_sha: head } = await makeMergeRequest(project, { assignee_id: project.owner.id, description: 'why' })
  const one = `${path}/merge_requests/${id}`
  await owner.put(one, { title: 'Another' })
  await owner.put(one, { title: 'Another' })
  await owner.put(one, { state_event: 'close' })
  await owner.put(one, { state_event: 'reopen', title: 'Another' })
  await owner.post(`${one}/time_estimate`, { duration: '1h' })
  await app.make.file(project, 'push.txt', 'x', 'feature')
  await app.runJobs()
  await owner.put(`${one}/merge`)
  await app.runJobs()
  const sent = await rows<{ payload: string }>('select payload from hook_deliveries where hook_id = ? order by id', [
    hook.id
  ])
  const payloads = sent.map(({ payload }) => JSON.parse(payload))
  t.same(
    payloads.map(({ object_attributes: { action, state } }) => [action, state]),
    [
      ['open', 'opened'],
      ['update', 'opened'],
      ['update', 'opened'],
      ['close', 'closed'],
      ['reopen', 'reopened'],
      ['update', 'reopened'],
      ['update', 'reopened'],
      ['merge', 'merged']
    ]
  )
  const [opened] = payloads
  const push = payloads.at(-2)
  t.equal(push.object_attributes.oldrev, head)
  t.notOk('oldrev' in opened.object_attributes)
  t.same(Object.keys(opened), ['object_kind', 'user', 'project', 'object_attributes', 'repository', 'assignee'])
  const { owner: user } = project
  t.match(opened, {
    object_kind: 'merge_request',
    user: { name: user.name, username: user.username, avatar_url: null },
    assignee: { username: user.username },
    project: { path_with_namespace: project.path, default_branch: 'master' },
    repository: { name: String, url: String }
  })
  const { source, target, last_commit: last, created_at, updated_at, title, url, ...rest } = opened.object_attributes
  t.match([created_at, updated_at], [/^\d{4}-.*Z$/, /^\d{4}-.*Z$/])
  t.same(source, target)
  t.match(last, { id: head, message: 'Add feature.txt', author: { name: user.name } })
  t.equal(title, 'Add a feature')
  t.match(url, new RegExp(`/${project.path}/merge_requests/1$`))
  t.same(rest, {
    id,
    target_branch: 'master',
    source_branch: 'feature',
    source_project_id: project.id,
    author_id: user.id,
    assignee_id: user.id,
    milestone_id: null,
    state: 'opened',
    merge_status: 'unchecked',
    target_project_id: project.id,
    iid: 1,
    description: 'why',
    position: 0,
    locked_at: null,
    updated_by_id: null,
    merge_error: null,
    merge_params: {},
    merge_when_build_succeeds: false,
    merge_user_id: null,
    merge_commit_sha: null,
    deleted_at: null,
    in_progress_merge_commit_sha: null,
    lock_version: 0,
    time_estimate: 0,
    work_in_progress: false,
    action: 'open'
  })
  await execute('delete from hooks where id = ?', [hook.id])
})
