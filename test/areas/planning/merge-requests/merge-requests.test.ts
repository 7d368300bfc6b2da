// Merge requests through the API: their records, lists and changes, and what they show from git.
import { checkMergeability } from '../../../../src/areas/planning/merge-requests/versions/mergeability.js'
import { forkProject } from '../../../../src/areas/projects/imports/forks.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { actorOf, factory, originBy, projectRow, type TestProject } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { insertMilestone, insertRow, makeBranch, makeMergeRequest, makeProject } from './make-merge-requests.js'

const app = await testApp(t)

async function subject(values: Parameters<typeof makeProject>[0] = {}) {
  const project = await makeProject(values)
  const path = `/projects/${project.id}/merge_requests`
  return { project, owner: app.as(project.owner), path }
}

const body = { source_branch: 'feature', target_branch: 'master', title: 'Add a feature' }

t.test('a follow-up issue gets its title from the merge request', async t => {
  const project = await makeProject({ visibility_level: 20 })
  const { iid } = await makeMergeRequest(project, { title: 'Say "hello"' })
  const path = `/projects/${project.id}/issues`
  const ask = (body: object, by = project.owner) => app.as(by).post(path, body)
  const follows = { merge_request_for_resolving_discussions: iid }
  t.match((await ask(follows)).json(), { title: 'Follow-up from "Say "hello""', description: null })
  t.match((await ask({ ...follows, title: 'Own' })).json(), { title: 'Own' })
  t.match((await ask({ title: 'Own', merge_request_for_resolving_discussions: 77 })).json(), { title: 'Own' })
  await execute('update merge_requests set title = ? where target_project_id = ?', ['😀'.repeat(255), project.id])
  t.match((await ask(follows)).json().title, /^Follow-up from "(😀){118}…"$/u)
  await execute('update projects set merge_requests_enabled = false where id = ?', [project.id])
  t.equal((await ask(follows, await app.make.user())).statusCode, 400)
})

t.test('a merge request is created, shown and listed with all its fields', async t => {
  const { project, owner, path } = await subject()
  const assignee = await app.make.member(project, DEVELOPER)
  const res = await owner.post(path, {
    ...body,
    description: 'for *all*',
    assignee_id: assignee.id,
    labels: 'b, a',
    remove_source_branch: true
  })
  t.equal(res.statusCode, 201)
  const record = res.json()
  t.match(record, {
    id: Number,
    iid: 1,
    project_id: project.id,
    source_project_id: project.id,
    target_project_id: project.id,
    title: 'Add a feature',
    description: 'for *all*',
    state: 'opened',
    source_branch: 'feature',
    target_branch: 'master',
    author: { id: project.owner.id },
    assignee: { id: assignee.id },
    labels: ['a', 'b'],
    milestone: null,
    work_in_progress: false,
    merge_when_build_succeeds: false,
    merge_status: 'unchecked',
    sha: /^[0-9a-f]{40}$/,
    merge_commit_sha: null,
    subscribed: true,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    should_remove_source_branch: null,
    force_remove_source_branch: true,
    web_url: new RegExp(`/${project.path}/merge_requests/1$`),
    created_at: String,
    updated_at: String
  })
  await app.runJobs()
  const shown = (await owner.get(`${path}/${record.id}`)).json()
  t.equal(shown.merge_status, 'can_be_merged', 'a job checked it')
  t.same((await owner.get(path)).json(), [shown])
  t.same((await owner.get(`/projects/${project.id}/merge_request/${record.id}`)).json(), shown)
  t.equal((await owner.get(`${path}/${record.id + 999}`)).statusCode, 404)
})

t.test('a check finds a push that came while the merge request was being created', async t => {
  const { project, owner, path } = await subject()
  const { id, head_sha: seen } = await makeMergeRequest(project)
  await factory.file(project, 'later.txt', 'later', 'feature')
  await app.runJobs()
  const { sha } = (await owner.get(`${path}/${id}`)).json()
  t.not(sha, seen)
  // As if the push had been handled before the row of the merge request existed.
  await execute("update merge_requests set head_sha = ?, merge_status = 'unchecked' where id = ?", [seen, id])
  await checkMergeability([id], new AbortController().signal)
  await app.runJobs()
  t.match((await owner.get(`${path}/${id}`)).json(), { sha, merge_status: 'can_be_merged' })
})

t.test('commits, changes and versions come from git', async t => {
  const { project, owner, path } = await subject()
  const { id, head_sha: head } = await makeMergeRequest(project)
  const one = `${path}/${id}`
  t.match((await owner.get(`${one}/commits`)).json(), [{ id: head, title: 'Add feature.txt' }])
  t.match((await owner.get(`${one}/changes`)).json(), {
    id,
    changes: [{ new_path: 'feature.txt', new_file: true, diff: /\+feature/ }]
  })
  await app.make.file(project, 'more.txt', 'more\n', 'feature')
  await app.runJobs()
  const versions = (await owner.get(`${one}/versions`)).json()
  t.match(versions, [
    { merge_request_id: id, state: 'collected', real_size: '2' },
    { head_commit_sha: head, base_commit_sha: String, start_commit_sha: String, real_size: '1' }
  ])
  const [newest, oldest] = versions
  t.equal((await owner.get(one)).json().sha, newest.head_commit_sha)
  t.match((await owner.get(`${one}/versions/${oldest.id}`)).json(), {
    ...oldest,
    commits: [{ id: head }],
    diffs: [{ new_path: 'feature.txt' }]
  })
  t.equal((await owner.get(`${one}/versions/0`)).statusCode, 404)
  // Everything still works after the branches are deleted.
  await execute("update projects set default_branch = 'other' where id = ?", [project.id])
  for (const branch of ['feature', 'master']) {
    await execute('delete from protected_branches where project_id = ?', [project.id])
    t.equal((await owner.delete(`/projects/${project.id}/repository/branches/${branch}`)).statusCode, 200)
  }
  await app.runJobs()
  t.equal((await owner.get(`${one}/changes`)).json().changes.length, 2)
  t.equal((await owner.get(`${one}/commits`)).json().length, 2)
  t.equal((await owner.put(`${one}/merge`)).statusCode, 405)
})

t.test('a merge request whose commits are missing shows what is there', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  const [version] = (await owner.get(`${path}/${id}/versions`)).json()
  const parts = ['', '/changes', '/closes_issues', '/versions', `/versions/${version.id}`]
  for (const [column, commits] of [
    ['start_sha', 1],
    ['base_sha', 0],
    ['head_sha', 0]
  ] as const) {
    await execute(`update merge_request_versions set ${column} = ? where id = ?`, ['f'.repeat(40), version.id])
    for (const part of parts) t.equal((await owner.get(`${path}/${id}${part}`)).statusCode, 200, `${column} ${part}`)
    t.equal((await owner.get(`${path}/${id}/commits`)).json().length, commits, column)
  }
})

t.test('invalid values at creation are refused by name', async t => {
  const { project, owner, path } = await subject()
  const stranger = await app.make.project()
  await makeMergeRequest(project)
  await makeBranch(project, 'second')
  const cases: [object, number, object][] = [
    [{ title: 'x', source_branch: 'feature' }, 400, { error: 'target_branch is missing' }],
    [{ ...body, target_branch: '' }, 400, { error: 'target_branch is empty' }],
    [{ ...body, title: ' ' }, 400, { message: { title: ["can't be blank"] } }],
    [{ ...body, title: 'x'.repeat(10_000) }, 400, { message: { title: [/255/] } }],
    [{ ...body, description: 'x'.repeat(300_000) }, 400, { message: { description: [/262144/] } }],
    [{ ...body, source_branch: 'none' }, 400, { message: { source_branch: ['does not exist'] } }],
    [{ ...body, target_branch: '../../x' }, 400, { message: { target_branch: ['does not exist'] } }],
    [
      { ...body, target_branch: 'feature' },
      422,
      { error: ['You can not use same project/branch for source and target'] }
    ],
    [{ ...body, target_project_id: stranger.id }, 404, { message: '404 Project Not Found' }],
    [{ ...body, target_project_id: 999_999_999 }, 404, { message: '404 Project Not Found' }],
    [{ ...body, assignee_id: 'x' }, 400, { error: 'assignee_id is invalid' }],
    [{ ...body, labels: 'x'.repeat(300), source_branch: 'second' }, 400, { message: { labels: [String] } }],
    [body, 409, { message: ['Cannot Create: This merge request already exists: ["Add a feature"]'] }]
  ]
  for (const [input, status, answer] of cases) {
    const res = await owner.post(path, input)
    t.equal(res.statusCode, status, JSON.stringify(input).slice(0, 80))
    t.match(res.json(), answer)
  }
  const other = await makeProject()
  await app.make.member(other, REPORTER, project.owner)
  const foreign = await owner.post(path, { ...body, source_branch: 'second', target_project_id: other.id })
  t.equal(foreign.statusCode, 422)
  t.same(foreign.json().error, ['Source project is not a fork of the target project'])
  const dropped = await owner.post(path, {
    ...body,
    source_branch: 'second',
    milestone_id: 999_999,
    assignee_id: 999_999
  })
  t.equal(dropped.statusCode, 201)
  t.match(dropped.json(), { milestone: null, assignee: null })
})

t.test('only one of several concurrent requests creates a merge request', async t => {
  const { owner, path } = await subject()
  const made = await Promise.all(Array.from({ length: 5 }, () => owner.post(path, body)))
  t.same(made.map(({ statusCode }) => statusCode).sort(), [201, 409, 409, 409, 409])
})

t.test('lists are filtered, sorted and counted, with the same number of statements for any length', async t => {
  const { project, owner, path } = await subject()
  const states = ['opened', 'reopened', 'closed', 'merged', 'opened']
  const ids: number[] = []
  for (const state of states) ids.push((await insertRow(project, project.owner, state)).id)
  await execute('update merge_requests set deleted_at = now() where id = ?', [ids[4] ?? 0])
  const [opened = 0, reopened = 0, closed = 0, merged = 0] = ids
  await execute("update merge_requests set updated_at = '2030-01-01' where id = ?", [opened])
  const listed = async (query: Record<string, string | number | number[]>) => {
    const res = await owner.get(path, query)
    const found = (res.json() as { id: number }[]).map(({ id }) => id)
    return { found, total: Number(res.headers['x-total']) }
  }
  const iid = (await rows<{ iid: number }>('select iid from merge_requests where id = ?', [closed]))[0]?.iid ?? 0
  const cases: [Parameters<typeof listed>[0], number[], number][] = [
    [{}, [merged, closed, reopened, opened], 4],
    [{ state: 'all', sort: 'asc' }, [opened, reopened, closed, merged], 4],
    [{ state: 'opened' }, [reopened, opened], 2],
    [{ state: 'closed' }, [closed], 1],
    [{ state: 'merged' }, [merged], 1],
    [{ order_by: 'updated_at' }, [opened, merged, closed, reopened], 4],
    [{ iid }, [closed], 1],
    [{ iid: [iid, 999_999] }, [closed], 1],
    [{ iid: 999_999 }, [], 0],
    [{ per_page: 1, page: 2 }, [closed], 4],
    [{ per_page: 2, page: 9 }, [], 4]
  ]
  for (const [query, found, total] of cases) t.same(await listed(query), { found, total }, JSON.stringify(query))
  for (const [name, value] of [
    ['state', 'x'],
    ['order_by', 'title'],
    ['sort', 'up'],
    ['iid', 'x']
  ] as const) {
    t.equal((await owner.get(path, { [name]: value })).statusCode, 400)
  }
  const few = await countStatements(() => owner.get(path, { per_page: 1 }))
  const many = await countStatements(() => owner.get(path, { per_page: 99 }))
  t.equal(many, few)
})

t.test('a merge request is changed, closed and reopened', async t => {
  const { project, owner, path } = await subject()
  await makeBranch(project, 'other')
  const { id } = await makeMergeRequest(project)
  const one = `${path}/${id}`
  const put = async (change: object) => (await owner.put(one, change)).json()
  t.match(await put({ title: 'WIP: more', description: 'why', labels: 'x' }), {
    title: 'WIP: more',
    description: 'why',
    labels: ['x'],
    work_in_progress: true
  })
  t.match(await put({ labels: '', title: '[wip] x' }), { labels: [], work_in_progress: true })
  t.match(await put({ title: 'wipe out', source_branch: 'ignored' }), {
    work_in_progress: false,
    source_branch: 'feature'
  })
  t.match(await put({ source_branch: 'ignored' }), { source_branch: 'feature' })
  t.match(await put({ target_branch: 'other' }), { target_branch: 'other', merge_status: 'unchecked' })
  t.equal((await owner.get(`${one}/versions`)).json().length, 2)
  t.match(await put({ state_event: 'reopen' }), { state: 'opened' }, 'an event in the wrong state does nothing')
  t.match(await put({ state_event: 'merge' }), { state: 'opened' })
  t.match(await put({ state_event: 'close' }), { state: 'closed' })
  t.match(await put({ state_event: 'close', title: 'y' }), { state: 'closed', title: 'y' })
  t.match(await put({ state_event: 'reopen' }), { state: 'reopened' })
  const wrong: [object, number][] = [
    [{}, 400],
    [{ title: '' }, 400],
    [{ target_branch: '' }, 400],
    [{ target_branch: 'none' }, 400],
    [{ target_branch: 'feature' }, 422],
    [{ state_event: 'x' }, 400]
  ]
  for (const [change, status] of wrong) {
    t.equal((await owner.put(one, change)).statusCode, status, JSON.stringify(change))
  }
  await put({ state_event: 'close' })
  await makeMergeRequest(project, { target_branch: 'other' })
  t.equal((await owner.put(one, { state_event: 'reopen' })).statusCode, 409, 'another merge request is open')
})

t.test('empty texts and null clear the plan of a merge request, like that of an issue', async t => {
  const { project, owner, path } = await subject()
  const milestoneId = await insertMilestone(project)
  const given = { milestone_id: milestoneId, assignee_id: project.owner.id, labels: 'x', description: 'why' }
  const { id } = await makeMergeRequest(project)
  const none = { milestone: null, assignee: null, labels: [] }
  for (const empty of ['', null]) {
    t.match((await owner.put(`${path}/${id}`, given)).json(), { milestone: { id: milestoneId }, labels: ['x'] })
    const plan = { milestone_id: empty, assignee_id: empty, labels: empty, description: empty }
    t.match((await owner.put(`${path}/${id}`, plan)).json(), { ...none, description: empty }, JSON.stringify(empty))
  }
  await makeBranch(project, 'other')
  const branches = { source_branch: 'other', target_branch: 'master', title: 'More' }
  const made = await owner.post(path, { ...branches, milestone_id: '', assignee_id: '', labels: null })
  t.equal(made.statusCode, 201)
  t.match(made.json(), none)
})

t.test('authors and assignees may change their own merge requests; others need the level Developer', async t => {
  const { project, path } = await subject({ visibility_level: 20 })
  const author = await app.make.user()
  const assignee = await app.make.member(project, GUEST)
  const { id } = await insertRow(project, author)
  await execute('update merge_requests set assignee_id = ? where id = ?', [assignee.id, id])
  const reporter = await app.make.member(project, REPORTER)
  for (const [user, status] of [
    [author, 200],
    [assignee, 200],
    [reporter, 403]
  ] as const) {
    const res = await app.as(user).put(`${path}/${id}`, { title: `by ${user.id}`, labels: 'dropped' })
    t.equal(res.statusCode, status)
    if (status === 200) t.match(res.json(), { title: `by ${user.id}`, labels: [] })
  }
})

t.test('a deleted merge request is hidden everywhere', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  const before = (await owner.get(`${path}/${id}`)).json()
  const res = await owner.delete(`${path}/${id}`)
  t.equal(res.statusCode, 200)
  t.same(res.json(), before)
  for (const gone of [await owner.get(`${path}/${id}`), await owner.delete(`${path}/${id}`)]) {
    t.equal(gone.statusCode, 404)
    t.same(gone.json(), { message: '404 Not found' })
  }
  t.same((await owner.get(path)).json(), [])
  t.equal((await owner.post(path, body)).json().iid, 2, 'a new merge request can be created')
})

async function makeFork(project: TestProject): Promise<TestProject> {
  const owner = await app.make.member(project, REPORTER)
  const id = await forkProject(await projectRow(project), undefined, actorOf(owner), originBy(owner))
  await app.runJobs()
  return { id, path: `${owner.username}/${project.path.split('/')[1]}`, owner, storage: project.storage }
}

t.test('the changes of a fork stay after the fork is deleted', async t => {
  const { project, owner, path } = await subject()
  const fork = await makeFork(project)
  await makeBranch(fork, 'from-fork')
  const forker = app.as(fork.owner)
  const res = await forker.post(`/projects/${fork.id}/merge_requests`, {
    ...body,
    source_branch: 'from-fork',
    target_project_id: project.id,
    labels: 'dropped'
  })
  t.equal(res.statusCode, 201)
  const { id } = res.json()
  t.match(res.json(), { project_id: project.id, source_project_id: fork.id, labels: [] })
  await app.runJobs()
  const one = `${path}/${id}`
  t.match((await owner.get(one)).json(), { merge_status: 'can_be_merged' })
  await app.make.file(fork, 'later.txt', 'later\n', 'from-fork')
  await app.runJobs()
  t.equal((await owner.get(`${one}/versions`)).json().length, 2)
  t.equal((await forker.put(`${one}/merge`)).statusCode, 401)
  t.equal((await forker.delete(`/projects/${fork.id}`)).statusCode, 200)
  await app.runJobs()
  t.equal(await findProject(fork.id, actorOf(fork.owner)), undefined)
  t.match((await owner.get(one)).json(), { source_project_id: fork.id, state: 'opened' })
  t.equal((await owner.get(`${one}/changes`)).json().changes.length, 2)
  t.equal((await owner.put(`${one}/merge`)).statusCode, 405)
  t.match((await owner.put(one, { state_event: 'close' })).json(), { state: 'closed' })
  t.match((await owner.put(one, { state_event: 'reopen' })).json(), { state: 'closed' }, 'nothing is left to merge')
})

t.test('only users who may change a merge request can subscribe and log time', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  const one = `${path}/${id}`
  t.equal((await owner.post(`${one}/subscription`)).statusCode, 304, 'the author takes part')
  t.match((await owner.delete(`${one}/subscription`)).json(), { subscribed: false })
  t.equal((await owner.delete(`${one}/subscription`)).statusCode, 304)
  const again = await owner.post(`${one}/subscription`)
  t.equal(again.statusCode, 201)
  t.match(again.json(), { subscribed: true })
  t.match((await owner.post(`${one}/time_estimate`, { duration: '3h30m' })).json(), { human_time_estimate: '3h 30m' })
  t.match((await owner.post(`${one}/add_spent_time`, { duration: '1h' })).json(), { total_time_spent: 3600 })
  t.match((await owner.get(`${one}/time_stats`)).json(), { time_estimate: 12_600, total_time_spent: 3600 })
  t.equal((await owner.post(`${one}/add_spent_time`, { duration: '-2h' })).statusCode, 400)
  t.match((await owner.post(`${one}/reset_spent_time`)).json(), { total_time_spent: 0 })
  t.match((await owner.post(`${one}/reset_time_estimate`)).json(), { time_estimate: 0, human_time_estimate: null })
})

t.test('a project without merge requests refuses all requests', async t => {
  const { project, owner, path } = await subject()
  const { id } = await makeMergeRequest(project)
  await execute('update projects set merge_requests_enabled = false where id = ?', [project.id])
  for (const res of [await owner.get(path), await owner.get(`${path}/${id}`), await owner.put(`${path}/${id}/merge`)]) {
    t.equal(res.statusCode, 403)
  }
})

t.test('far pages equal the result of the plain statement, after every change', async t => {
  const { project, owner, path } = await subject()
  await execute(
    `insert into merge_requests (iid, target_project_id, source_project_id, target_branch, source_branch, title, state, author_id,
       created_at, updated_at)
     select 1000 + seq, ?, ?, 'master', concat('gone-', seq), 'x', elt(1 + seq mod 3, 'opened', 'closed', 'closed'), ?,
       '2020-01-01' + interval (seq * 7919 mod 400) second, '2021-01-01' + interval (seq * 104729 mod 500) second from ${numbersTo(600)}`,
    [project.id, project.id, project.owner.id]
  )
  const ids = await rows<{ id: number }>('select id from merge_requests where target_project_id = ? order by id', [
    project.id
  ])
  const one = (at: number) => `${path}/${ids[at]?.id}`
  const changes: readonly (() => Promise<unknown>)[] = [
    async () => undefined,
    () => owner.put(one(7), { state_event: 'close' }),
    () => owner.put(one(90), { title: 'changed' }),
    () => owner.post(`${one(300)}/notes`, { body: 'changed' }),
    () => owner.post(`${one(400)}/add_spent_time`, { duration: '1h' }),
    () => owner.put(one(11), { labels: 'new' }),
    () => owner.delete(one(200)),
    () => owner.put(one(7), { state_event: 'reopen' })
  ]
  for (const [step, change] of changes.entries()) {
    await change()
    for (const order_by of ['created_at', 'updated_at'] as const) {
      for (const [sort, page, state] of [
        ['desc', 12, 'all'],
        ['desc', 11, 'all'],
        ['asc', 25, 'all'],
        ['desc', 14, 'closed'],
        ['desc', 10, 'opened']
      ] as const) {
        const where = `target_project_id = ? and phase ${state === 'all' ? "<> 'deleted'" : `= '${state}'`}`
        const wanted = await rows<{ id: number }>(
          `select id from merge_requests where ${where} order by ${order_by} ${sort}, id ${sort} limit 20 offset ${(page - 1) * 20}`,
          [project.id]
        )
        const list = (await owner.get(path, { order_by, sort, state, page })).json()
        t.same(
          list.map(({ id }: { id: number }) => id),
          wanted.map(({ id }) => id),
          `step ${step}: page ${page} of ${state} by ${order_by} ${sort}`
        )
      }
    }
  }
})
