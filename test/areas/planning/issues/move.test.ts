// Issues that move, and the hook events and feed entries of issues.
import { setTimeout as pause } from 'node:timers/promises'
import { addLabels } from '../../../../src/areas/planning/labels/label-links.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { Hook } from '../../../../src/db/models/index.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const issues = `/projects/${project.id}/issues`
  const create = async (body: object = {}) => (await owner.post(issues, { title: 'x', ...body })).json()
  const hook = (values: object) => Hook.create({ projectId: project.id, url: 'http://127.0.0.1:9/', ...values })
  return { project, owner, issues, create, hook }
}

interface Payload {
  readonly event: string
  readonly payload: string
}

/** Returns the events that the hooks of a project got, in order. */
async function sent(id: number) {
  await app.runJobs()
  const found = await rows<Payload>(
    'select d.event, d.payload from hook_deliveries d join hooks h on h.id = d.hook_id where h.project_id = ? order by d.id',
    [id]
  )
  return found.map(({ event, payload }) => ({ event, ...JSON.parse(payload) }))
}

t.test('an issue moves', async t => {
  const from = await subject()
  const to = await app.make.project({ owner: from.project.owner })
  const issues = `/projects/${to.id}/issues`
  const author = await app.make.member(from.project, REPORTER)
  await from.owner.post(issues, { title: 'first', labels: 'kept' })
  for (const { id } of [from.project, to]) await from.owner.post(`/projects/${id}/milestones`, { title: 'v1' })
  const [milestone] = (await from.owner.get(`/projects/${from.project.id}/milestones`)).json()
  const body = {
    title: 'moves',
    description: 'about #9 and `#9`',
    labels: 'kept,lost',
    milestone_id: milestone.id,
    assignee_id: author.id,
    due_date: '2027-01-01',
    confidential: true
  }
  const old = (await app.as(author).post(from.issues, body)).json()
  await from.owner.post(`${from.issues}/${old.id}/notes`, { body: 'like !8' })
  await app.runJobs()
  await from.hook({ confidentialIssuesEvents: true })
  await Hook.create({ projectId: to.id, url: 'http://127.0.0.1:9/', confidentialIssuesEvents: true })
  const moved = await from.owner.post(`${from.issues}/${old.id}/move`, { to_project_id: to.id })
  t.equal(moved.statusCode, 201)
  t.match(moved.json(), {
    iid: 2,
    project_id: to.id,
    title: 'moves',
    description: `about ${from.project.path}#9 and \`#9\``,
    state: 'opened',
    labels: ['kept'],
    milestone: { title: 'v1', project_id: to.id },
    assignee: null,
    author: { id: author.id },
    due_date: '2027-01-01',
    confidential: true,
    created_at: old.created_at
  })
  t.match((await from.owner.get(`${issues}/${moved.json().id}/notes`)).json(), [
    { body: `like ${from.project.path}!8` }
  ])
  t.match((await from.owner.get(`${from.issues}/${old.id}`)).json(), { state: 'closed', labels: ['kept', 'lost'] })
  t.match((await from.owner.get(`/projects/${from.project.id}`)).json(), { open_issues_count: 0 })
  t.match((await from.owner.get(`/projects/${to.id}`)).json(), { open_issues_count: 2 })
  const action = (state: string, name: string) => [{ object_attributes: { action: name, state } }]
  t.match(await sent(from.project.id), action('closed', 'close'))
  t.match(await sent(to.id), action('opened', 'open'))
  const again = await from.owner.post(`${from.issues}/${old.id}/move`, { to_project_id: to.id })
  t.equal(again.statusCode, 400)
  t.same(again.json(), { message: 'Cannot move issue due to insufficient permissions!' })
})

t.test('a move includes a change of the issue just before it', async t => {
  const from = await subject()
  const to = await app.make.project({ owner: from.project.owner })
  await from.owner.post(`/projects/${to.id}/labels`, { name: 'new', color: '#fff' })
  const { id } = await from.create({ description: 'old' })
  await from.owner.post(`/projects/${from.project.id}/labels`, { name: 'new', color: '#fff' })
  const LOCKED = "select trx_id from information_schema.innodb_trx where trx_state = 'LOCK WAIT'"
  let isHeld = false
  const change = transact(async () => {
    await row('select id from issues where id = ? for update', [id])
    isHeld = true
    await until('the move waits', async () => {
      // The server updates this information only when nobody has read it for 100 ms.
      await pause(250)
      return (await rows(LOCKED)).length
    })
    await execute("update issues set description = 'new', assignee_id = author_id where id = ?", [id])
    const [label] = await rows<{ id: number }>('select id from labels where project_id = ?', [from.project.id])
    await addLabels('Issue', { id, projectId: from.project.id }, [label?.id ?? 0])
  })
  await until('the issue is locked', () => isHeld)
  const move = from.owner.post(`${from.issues}/${id}/move`, { to_project_id: to.id })
  await change
  t.match((await move).json(), { description: 'new', labels: ['new'], assignee: { id: from.project.owner.id } })
})

t.test('refused moves', async t => {
  const { project, owner, issues, create } = await subject()
  const { id } = await create()
  const move = (issue: number, to: number, by = owner) => by.post(`${issues}/${issue}/move`, { to_project_id: to })
  const hidden = await app.make.project()
  const seen = await app.make.project({ visibility_level: 20 })
  const guest = await app.make.member(project, GUEST)
  const off = await app.make.project({ owner: project.owner })
  await execute('update projects set issues_enabled = 0 where id = ?', [off.id])
  const insufficient = 'Cannot move issue due to insufficient permissions!'
  const own = await app.make.project({ owner: guest })
  const cases = [
    [await move(id, project.id), 400, 'Cannot move issue to project it originates from!'],
    [await move(id, hidden.id), 404, '404 Project Not Found'],
    [await move(id, 999_999), 404, '404 Project Not Found'],
    [await move(999_999, seen.id), 404, '404 Issue Not Found'],
    [await move(id, seen.id), 400, insufficient],
    [await move(id, off.id), 400, insufficient],
    [await move(id, own.id, app.as(guest)), 400, insufficient]
  ] as const
  for (const [res, status, message] of cases) {
    t.equal(res.statusCode, status)
    t.same(res.json(), { message })
  }
  t.match((await owner.post(`${issues}/${id}/move`)).json(), { error: 'to_project_id is missing' })
})

t.test('hooks and the feed get changes of issues', async t => {
  const { project, owner, issues, create, hook } = await subject()
  await hook({ issuesEvents: true, pushEvents: false })
  const { id } = await create({ description: 'd', assignee_id: project.owner.id, due_date: '2027-01-01' })
  const put = (body: object) => owner.put(`${issues}/${id}`, body)
  await put({ title: 'x' })
  await put({ state_event: 'close' })
  await put({ state_event: 'close' })
  await put({ state_event: 'reopen', title: 'z' })
  await owner.post(`${issues}/${id}/time_estimate`, { duration: '1h' })
  await create({ confidential: true, title: 'secret' })
  await owner.delete(`${issues}/${id}`)
  const all = await sent(project.id)
  t.same(
    all.map(({ event, object_attributes: { action, state } }) => [event, action, state]),
    [
      ['issue', 'open', 'opened'],
      ['issue', 'update', 'opened'],
      ['issue', 'close', 'closed'],
      ['issue', 'update', 'reopened'],
      ['issue', 'reopen', 'reopened'],
      ['issue', 'update', 'reopened']
    ]
  )
  const feed = await rows(
    'select action, target_type, target_id, target_title from activity_events where project_id = ? and target_type is not null order by created_at, id',
    [project.id]
  )
  const target = { target_type: 'Issue', target_id: id }
  t.match(feed, [
    { action: 'opened', ...target, target_title: 'x' },
    { action: 'closed', ...target },
    { action: 'opened', ...target, target_title: 'z' },
    { action: 'opened', target_title: 'secret' }
  ])
})

t.test('the payload of an issue, field by field', async t => {
  const { project, owner, create, hook } = await subject()
  await hook({ issuesEvents: true, pushEvents: false })
  const issue = await create({ description: 'd', assignee_id: project.owner.id, due_date: '2027-01-01' })
  const [{ event, ...payload }] = (await sent(project.id)) as [Record<string, unknown>]
  const user = { name: project.owner.name, username: project.owner.username, avatar_url: null }
  const record = (await owner.get(`/projects/${project.id}`)).json()
  t.same(payload, {
    object_kind: 'issue',
    user,
    project: {
      name: record.name,
      description: record.description,
      web_url: record.web_url,
      avatar_url: null,
      git_ssh_url: record.ssh_url_to_repo,
      git_http_url: record.http_url_to_repo,
      namespace: record.namespace.name,
      visibility_level: 0,
      path_with_namespace: record.path_with_namespace,
      default_branch: null,
      homepage: record.web_url,
      url: record.ssh_url_to_repo,
      ssh_url: record.ssh_url_to_repo,
      http_url: record.http_url_to_repo
    },
    object_attributes: {
      id: issue.id,
      title: 'x',
      assignee_id: project.owner.id,
      author_id: project.owner.id,
      project_id: project.id,
      created_at: issue.created_at,
      updated_at: issue.updated_at,
      position: 0,
      branch_name: null,
      description: 'd',
      milestone_id: null,
      state: 'opened',
      iid: 1,
      updated_by_id: null,
      confidential: false,
      deleted_at: null,
      due_date: '2027-01-01',
      moved_to_id: null,
      time_estimate: 0,
      lock_version: 0,
      url: issue.web_url,
      action: 'open'
    },
    repository: payload.repository,
    assignee: user
  })
})
