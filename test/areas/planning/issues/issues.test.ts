// Issues through the API: records, rules and lists.
import { publicUrl } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { waitingEvents } from '../../../helpers/published.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

async function subject(values: { visibility_level?: 20 } = {}) {
  const project = await app.make.project(values)
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}`
  const issues = `${path}/issues`
  const create = async (body: object = {}, by = owner) => (await by.post(issues, { title: 'x', ...body })).json()
  const titles = async (query: Record<string, string | number | number[]> = {}, by = owner, of = issues) =>
    (await by.get(of, query)).json().map(({ title }: { title: string }) => title)
  return { project, owner, path, issues, create, titles }
}

t.test('an issue is created with all its attributes', async t => {
  const { project, owner, path, issues } = await subject()
  const assignee = await app.make.member(project, DEVELOPER)
  const milestone = (await owner.post(`${path}/milestones`, { title: 'v1' })).json()
  const created = await owner.post(issues, {
    title: ' First ',
    description: 'about it',
    assignee_id: assignee.id,
    milestone_id: milestone.id,
    labels: 'b, a,B,a,,',
    due_date: '2027-03-04',
    confidential: true,
    created_at: '2020-01-02T03:04:05Z'
  })
  t.equal(created.statusCode, 201)
  const user = ({ id, name, username }: { id: number; name: string; username: string }) => ({
    name,
    username,
    id,
    state: 'active',
    avatar_url: null,
    web_url: `${publicUrl()}/${username}`
  })
  const { id, updated_at, ...record } = created.json()
  t.same(record, {
    iid: 1,
    project_id: project.id,
    title: 'First',
    description: 'about it',
    state: 'opened',
    created_at: '2020-01-02T03:04:05.000Z',
    labels: ['B', 'a', 'b'],
    milestone,
    assignee: user(assignee),
    author: user(project.owner),
    subscribed: true,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    due_date: '2027-03-04',
    confidential: true,
    web_url: `${publicUrl()}/${project.path}/issues/1`
  })
  t.same((await owner.get(`${issues}/${id}`)).json(), created.json())
  t.match((await owner.get(`${path}/labels`)).json(), [{ name: 'B', color: '#428BCA' }, { name: 'a' }, { name: 'b' }])
  t.match((await owner.get(path)).json(), { open_issues_count: 1 })
})

t.test('an issue is changed, closed and reopened', async t => {
  const { project, owner, path, issues, create } = await subject()
  const { id } = await create({ labels: 'a,b', assignee_id: project.owner.id, due_date: '2027-01-01' })
  const one = `${issues}/${id}`
  const put = async (body: object) => (await owner.put(one, body)).json()
  t.match(await put({ title: 'y', description: 'z', labels: 'b,c' }), {
    title: 'y',
    description: 'z',
    labels: ['b', 'c']
  })
  t.match(await put({ labels: '', assignee_id: 0, due_date: '', description: '' }), {
    labels: [],
    assignee: null,
    due_date: null,
    description: null
  })
  t.match(await put({ state_event: 'close', title: 'w' }), { state: 'closed', title: 'w' })
  t.match(await put({ state_event: 'close' }), { state: 'closed' })
  t.match((await owner.get(path)).json(), { open_issues_count: 0 })
  t.match(await put({ state_event: 'reopen' }), { state: 'reopened' })
  t.match(await put({ state_event: 'reopen' }), { state: 'reopened' })
  t.match((await owner.get(path)).json(), { open_issues_count: 1 })
  t.match(await put({ confidential: true }), { confidential: true })
  t.match(await put({ updated_at: '2020-01-01', title: 'then' }), { updated_at: '2020-01-01T00:00:00.000Z' })
  t.match(await row('select lock_version, updated_by_id from issues where id = ?', [id]), {
    lock_version: 8,
    updated_by_id: project.owner.id
  })
})

t.test('values that only reporters may set are silently ignored for other users', async t => {
  const { owner, path, issues, create } = await subject({ visibility_level: 20 })
  const author = await app.make.user()
  const stranger = app.as(author)
  const milestone = (await owner.post(`${path}/milestones`, { title: 'v1' })).json()
  const plan = {
    labels: 'new',
    milestone_id: milestone.id,
    assignee_id: author.id,
    due_date: '2027-01-01',
    created_at: '2020-01-01'
  }
  const bare = { labels: [], milestone: null, assignee: null, due_date: null, author: { id: author.id } }
  const issue = await create(plan, stranger)
  t.match(issue, bare)
  t.not(issue.created_at.slice(0, 4), '2020')
  t.same((await owner.get(`${path}/labels`)).json(), [])
  const one = `${issues}/${issue.id}`
  const { created_at: _, ...change } = plan
  t.match((await stranger.put(one, { ...change, title: 'own', updated_at: '2020-01-01' })).json(), {
    ...bare,
    title: 'own'
  })
  t.equal((await stranger.put(one, { labels: 'new' })).statusCode, 200)
  t.match((await stranger.put(one, { state_event: 'close', confidential: true })).json(), {
    state: 'closed',
    confidential: true
  })
  const other = await create({}, owner)
  t.equal((await stranger.put(`${issues}/${other.id}`, { title: 'no' })).statusCode, 403)
  await owner.put(`${issues}/${other.id}`, { assignee_id: author.id })
  t.match((await stranger.put(`${issues}/${other.id}`, { title: 'assigned' })).json(), { title: 'assigned' })
})

t.test('assignees and milestones that do not fit are ignored', async t => {
  const { project, owner, issues, create } = await subject()
  const stranger = await app.make.user()
  const blocked = await app.make.user({ blocked: true })
  await app.make.member(project, DEVELOPER, blocked)
  for (const id of [stranger.id, blocked.id, 999_999, -1]) {
    t.match(await create({ assignee_id: id }), { assignee: null }, `${id}`)
  }
  const { id } = await create({ assignee_id: project.owner.id })
  t.match((await owner.put(`${issues}/${id}`, { assignee_id: stranger.id })).json(), {
    assignee: { id: project.owner.id }
  })
  const other = await subject()
  const foreign = (await other.owner.post(`${other.path}/milestones`, { title: 'v1' })).json()
  t.match(await create({ milestone_id: foreign.id }), { milestone: null })
  t.match(await create({ assignee_id: '', milestone_id: '' }), { milestone: null, assignee: null })
})

t.test('invalid values and missing issues', async t => {
  const { owner, issues, create } = await subject()
  const { id } = await create()
  const cases: [object, object][] = [
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(10_000) }, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ title: 'x', description: 'é'.repeat(300_000) }, { message: { description: [/262144/] } }],
    [{ title: 'x', labels: `a,${'x'.repeat(256)}` }, { message: { labels: [/255/] } }],
    [{ title: 'x', labels: Array.from({ length: 101 }, (_, at) => at).join() }, { message: { labels: [/100/] } }],
    [{ title: 'x', due_date: 'soon' }, { error: 'due_date is invalid' }],
    [{ title: 'x', assignee_id: 'me' }, { error: 'assignee_id is invalid' }],
    [{ title: 'x', confidential: 'perhaps' }, { error: 'confidential is invalid' }]
  ]
  for (const [body, answer] of cases) {
    for (const res of [await owner.post(issues, body), await owner.put(`${issues}/${id}`, body)]) {
      t.equal(res.statusCode, 400, JSON.stringify(body).slice(0, 60))
      t.match(res.json(), answer)
    }
  }
  for (const body of [{}, { title: null }, { merge_request_for_resolving_discussions: 77 }]) {
    t.match((await owner.post(issues, body)).json(), { error: 'title is missing' }, JSON.stringify(body))
  }
  t.match((await owner.post(issues, { title: 'x', created_at: 'then' })).json(), { error: 'created_at is invalid' })
  for (const body of [{}, { updated_at: '2020-01-01' }]) {
    const res = await owner.put(`${issues}/${id}`, body)
    t.equal(res.statusCode, 400)
    t.match(res.json(), { error: /^title, description, .* are missing, at least one parameter must be provided$/ })
  }
  t.match((await owner.put(`${issues}/${id}`, { state_event: 'odd' })).json(), {
    error: 'state_event does not have a valid value'
  })
  t.match(await create({ description: 'x'.repeat(262_144) }), { iid: 2 }, 'refused requests took no number')
  const other = await subject()
  for (const res of [
    await owner.get(`${issues}/${2 ** 40}`),
    await other.owner.get(`${other.issues}/${id}`),
    await owner.put(`${issues}/999999`, { title: 'x' })
  ]) {
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Not found' })
  }
  t.same((await owner.delete(`${issues}/999999`)).json(), { message: '404 Issue Not Found' })
  t.equal((await owner.get(`${issues}/x`)).statusCode, 400)
})

t.test('only its author, its assignee and reporters see a confidential issue', async t => {
  const { project, owner, path, issues, create } = await subject({ visibility_level: 20 })
  const author = await app.make.user()
  const assignee = await app.make.user()
  const issue = await create({ confidential: true, title: 'secret' }, app.as(author))
  await owner.put(`${issues}/${issue.id}`, { assignee_id: assignee.id })
  const stranger = await app.make.user()
  const cases: [object, boolean][] = [
    [author, true],
    [assignee, true],
    [await app.make.member(project, REPORTER), true],
    [await app.make.admin(), true],
    [stranger, false],
    [await app.make.member(project, GUEST), false]
  ]
  for (const [user, sees] of cases) {
    const by = app.as(user as typeof author)
    t.equal((await by.get(`${issues}/${issue.id}`)).statusCode, sees ? 200 : 404)
    const list = await by.get(issues)
    t.equal(list.json().length, sees ? 1 : 0)
    t.equal(list.headers['x-total'], sees ? '1' : '0')
    if (sees) continue
    t.equal((await by.put(`${issues}/${issue.id}`, { title: 'x' })).statusCode, 404)
    t.equal((await by.post(`${issues}/${issue.id}/subscription`)).statusCode, 404)
    t.same((await by.get(issues, { iid: issue.iid })).json(), [])
    t.equal((await by.get(issues, { labels: 'x' })).headers['x-total'], '0')
  }
  const counted = async (user: object, count: number) => {
    const by = app.as(user as typeof author)
    t.match((await by.get(path)).json(), { open_issues_count: count })
    const list = (await by.get('/projects/visible', { per_page: 100 })).json()
    t.match(
      list.find(({ id }: { id: number }) => id === project.id),
      { open_issues_count: count }
    )
  }
  await counted(stranger, 0)
  await counted(await app.make.member(project, GUEST), 0)
  await counted(await app.make.member(project, REPORTER), 1)
  await create({ title: 'open to all' })
  await counted(stranger, 1)
  await counted(await app.make.admin(), 2)
})

t.test('lists of a project have filters, orders and pages', async t => {
  const { owner, path, issues, create, titles } = await subject()
  const milestone = (await owner.post(`${path}/milestones`, { title: 'v1' })).json()
  const a = await create({ title: 'a', labels: 'one', created_at: '2020-01-01' })
  await create({ title: 'b', labels: 'one,two', milestone_id: milestone.id, created_at: '2022-01-01' })
  const c = await create({ title: 'c', labels: 'two', created_at: '2021-01-01' })
  await owner.put(`${issues}/${c.id}`, { state_event: 'close', updated_at: '2030-01-01' })
  await owner.put(`${issues}/${a.id}`, { state_event: 'close', updated_at: '2029-01-01' })
  await owner.put(`${issues}/${a.id}`, { state_event: 'reopen', updated_at: '2029-01-01' })
  const cases: [Record<string, string | number | number[]>, string[]][] = [
    [{}, ['b', 'c', 'a']],
    [{ sort: 'asc' }, ['a', 'c', 'b']],
    [{ order_by: 'updated_at' }, ['c', 'a', 'b']],
    [{ order_by: 'updated_at', sort: 'asc', state: 'opened' }, ['b', 'a']],
    [{ state: 'opened' }, ['b', 'a']],
    [{ state: 'closed' }, ['c']],
    [{ state: 'all' }, ['b', 'c', 'a']],
    [{ labels: 'one' }, ['b', 'a']],
    [{ labels: 'one, two' }, ['b', 'c', 'a']],
    [{ labels: 'one,two', state: 'closed' }, ['c']],
    [{ labels: 'none' }, []],
    [{ labels: 'one,none' }, ['b', 'a']],
    [{ milestone: 'v1' }, ['b']],
    [{ milestone: 'none' }, []],
    [{ milestone: 'No Milestone' }, ['c', 'a']],
    [{ milestone: 'v1', labels: 'one' }, ['b']],
    [{ iid: 3 }, ['c']],
    [{ iid: [1, 2] }, ['b', 'a']],
    [{ iid: a.id + 1000 }, []],
    [{ per_page: 2, page: 2 }, ['a']],
    [{ per_page: 2, page: 9 }, []]
  ]
  for (const [query, expected] of cases) t.same(await titles(query), expected, JSON.stringify(query))
  for (const [query, total] of [
    [{}, 3],
    [{ state: 'opened' }, 2],
    [{ labels: 'one' }, 2],
    [{ page: 9 }, 3]
  ] as const) {
    t.equal((await owner.get(issues, query)).headers['x-total'], String(total), JSON.stringify(query))
  }
  for (const query of ['state=odd', 'sort=odd', 'order_by=title', 'iid=x', 'per_page=x']) {
    t.equal((await owner.get(`${issues}?${query}`)).statusCode, 400, query)
  }
  t.same(await titles({}, owner, `${path}/milestones/${milestone.id}/issues`), ['b'])
})

t.test('lists of a group, and of the own issues of a user', async t => {
  const group = await app.make.group({ visibilityLevel: 20 })
  const admin = app.as(await app.make.admin())
  const open = await app.make.project({ owner: await app.make.admin(), group, visibility_level: 20 })
  const hidden = await app.make.project({ owner: await app.make.admin(), group })
  const other = await subject({ visibility_level: 20 })
  const user = await app.make.user()
  const by = app.as(user)
  const make = async (id: number, title: string, body = {}, as = admin) =>
    (await as.post(`/projects/${id}/issues`, { title, ...body })).json()
  await make(open.id, 'both', { labels: 'x,y' })
  await make(open.id, 'one', { labels: 'x' })
  await make(open.id, 'secret', { confidential: true })
  await make(hidden.id, 'hidden', { labels: 'x,y' })
  const done = await make(open.id, 'done', {}, by)
  await by.put(`/projects/${open.id}/issues/${done.id}`, { state_event: 'close' })
  await other.create({ title: 'elsewhere' }, by)
  await make(open.id, 'own secret', { confidential: true }, by)
  const list = `/groups/${group.id}/issues`
  t.same(await other.titles({}, by, list), ['own secret', 'one', 'both'], 'open issues without a state')
  t.same(await other.titles({ state: 'all' }, by, list), ['own secret', 'done', 'one', 'both'])
  t.same(await other.titles({ labels: 'x,y' }, by, list), ['both'], 'all labels')
  t.same(await other.titles({ labels: 'x,y' }, admin, list), ['hidden', 'both'])
  t.equal((await by.get(list)).headers['x-total'], '3')
  await app.make.member(open, REPORTER, user)
  t.same(await other.titles({}, by, list), ['own secret', 'secret', 'one', 'both'], 'reporters see confidential issues')
  t.same((await by.get('/groups/999999/issues')).json(), { message: '404 Group Not Found' })
  t.same(await other.titles({}, by, '/issues'), ['own secret', 'elsewhere', 'done'])
  t.same(await other.titles({ state: 'closed' }, by, '/issues'), ['done'])
  await execute('update projects set visibility_level = 0 where id = ?', [other.project.id])
  t.same(await other.titles({}, by, '/issues'), ['own secret', 'done'], 'only in projects that the user can see')
  await execute('update projects set issues_enabled = 0 where id = ?', [open.id])
  t.same(await other.titles({}, by, '/issues'), [])
  t.same(await other.titles({}, by, list), [])
})

t.test('a project whose issues are switched off', async t => {
  const { project, owner, path, issues, create } = await subject()
  const { id } = await create()
  await execute('update projects set issues_enabled = 0 where id = ?', [project.id])
  const list = await owner.get(issues)
  t.equal(list.statusCode, 200)
  t.same(list.json(), [])
  t.equal((await owner.get(`${issues}/${id}`)).statusCode, 404)
  t.equal((await owner.post(issues, { title: 'x' })).statusCode, 403)
  t.equal((await owner.put(`${issues}/${id}`, { title: 'x' })).statusCode, 403)
  t.equal((await owner.delete(`${issues}/${id}`)).statusCode, 403)
  t.notOk('open_issues_count' in (await owner.get(path)).json())
})

t.test('owners delete an issue with everything that belongs to it', async t => {
  const { project, owner, path, issues, create } = await subject()
  const { id } = await create({ labels: 'a', confidential: true })
  await owner.post(`${issues}/${id}/add_spent_time`, { duration: '1h' })
  await owner.delete(`${issues}/${id}/subscription`)
  const reporter = app.as(await app.make.member(project, REPORTER))
  t.equal((await reporter.delete(`${issues}/${id}`)).statusCode, 403)
  const deleted = await owner.delete(`${issues}/${id}`)
  t.equal(deleted.statusCode, 200)
  t.match(deleted.json(), { id, iid: 1, labels: ['a'] })
  t.equal((await owner.get(`${issues}/${id}`)).statusCode, 404)
  for (const table of ['label_links', 'timelogs', 'subscriptions']) {
    t.same(await rows(`select * from ${table} where target_type = 'Issue' and target_id = ?`, [id]), [], table)
  }
  t.match((await owner.get(path)).json(), { open_issues_count: 0 })
  t.equal((await owner.get(issues)).headers['x-total'], '0')
  t.match(await create(), { iid: 2 }, 'its number is not reused')
})

t.test('subscriptions', async t => {
  const { project, issues, create } = await subject({ visibility_level: 20 })
  const author = app.as(project.owner)
  const stranger = app.as(await app.make.user())
  const { id } = await create()
  const one = `${issues}/${id}/subscription`
  t.equal((await author.post(one)).statusCode, 304, 'a participant is already subscribed')
  t.match((await author.delete(one)).json(), { id, subscribed: false })
  t.equal((await author.delete(one)).statusCode, 304)
  t.equal((await stranger.delete(one)).statusCode, 304)
  const answers = await Promise.all([1, 2, 3, 4].map(() => stranger.post(one)))
  const [subscribed, ...others] = answers.sort((first, second) => first.statusCode - second.statusCode)
  t.equal(subscribed?.statusCode, 201)
  t.match(subscribed?.json(), { subscribed: true })
  t.same(
    others.map(({ statusCode }) => statusCode),
    [304, 304, 304],
    'only one of several concurrent requests changes it'
  )
  t.match((await stranger.get(issues)).json(), [{ subscribed: true }])
  t.match((await author.get(issues)).json(), [{ subscribed: false }])
})

t.test('time tracking', async t => {
  const { project, owner, issues, create } = await subject({ visibility_level: 20 })
  const { id } = await create()
  const one = `${issues}/${id}`
  const none = { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null }
  t.same((await owner.get(`${one}/time_stats`)).json(), none)
  const estimated = await owner.post(`${one}/time_estimate`, { duration: '3h30m' })
  t.equal(estimated.statusCode, 200)
  t.same(estimated.json(), { ...none, time_estimate: 12_600, human_time_estimate: '3h 30m' })
  const spent = await owner.post(`${one}/add_spent_time`, { duration: '1d 2h' })
  t.equal(spent.statusCode, 201)
  t.match(spent.json(), { total_time_spent: 36_000, human_total_time_spent: '1d 2h' })
  t.match((await owner.post(`${one}/add_spent_time`, { duration: '-1d' })).json(), { total_time_spent: 7200 })
  const below = await owner.post(`${one}/add_spent_time`, { duration: '-3h' })
  t.equal(below.statusCode, 400)
  t.same(below.json(), { message: { time_spent: ['Time to subtract exceeds the total time spent'] } })
  for (const path of ['time_estimate', 'add_spent_time']) {
    t.same((await owner.post(`${one}/${path}`, { duration: 'soon' })).json(), {
      message: { duration: ['is not a duration'] }
    })
    t.match((await owner.post(`${one}/${path}`)).json(), { error: 'duration is missing' })
  }
  t.match((await owner.post(`${one}/reset_time_estimate`)).json(), { time_estimate: 0, total_time_spent: 7200 })
  const reset = await owner.post(`${one}/reset_spent_time`)
  t.equal(reset.statusCode, 200)
  t.same(reset.json(), none)
  const guest = app.as(await app.make.member(project, GUEST))
  t.equal((await guest.get(`${one}/time_stats`)).statusCode, 200)
  t.equal((await guest.post(`${one}/add_spent_time`, { duration: '1h' })).statusCode, 403)
})

t.test('50 writers at once get 50 numbers in a row', async t => {
  const { issues, owner, path } = await subject()
  const made = await Promise.all(Array.from({ length: 50 }, () => owner.post(issues, { title: 'x', labels: 'a,b' })))
  const numbers = made.map(res => res.json().iid).sort((a, b) => a - b)
  t.same(
    numbers,
    Array.from({ length: 50 }, (_, at) => at + 1)
  )
  t.match((await owner.get(path)).json(), { open_issues_count: 50 })
  t.equal((await owner.get(issues)).headers['x-total'], '50')
})

t.test('issues that are created together are the same as separate ones', async t => {
  const { project, issues, owner } = await subject()
  const writers = [
    owner,
    app.as(await app.make.member(project, GUEST)),
    app.as(await app.make.member(project, REPORTER))
  ]
  const bodies = Array.from({ length: 24 }, (_, at) => ({
    title: `issue ${at}`,
    description: at % 4 === 0 ? `for @${project.owner.username}` : `text ${at}`,
    confidential: at % 3 === 0,
    ...(at % 5 === 0 && { labels: `label-${at}` })
  }))
  const asked = bodies.map((body, at) => writers[at % 3]?.post(issues, body))
  const made = (await Promise.all(asked)).map(res => res?.json())
  for (const [at, record] of made.entries()) {
    t.match(record, { title: `issue ${at}`, description: bodies[at]?.description, confidential: at % 3 === 0 })
    t.same((await writers[at % 3]?.get(`${issues}/${record.id}`))?.json(), record)
  }
  t.equal(new Set(made.map(({ iid }) => iid)).size, 24)
  t.match(
    await row(
      'select sum(opened) as opened, sum(opened_confidential) as secret from issue_counts where project_id = ?',
      [project.id]
    ),
    {
      opened: '24',
      secret: '8'
    }
  )
  const told = (await waitingEvents('issue.changed')) as { issue: { id: number } }[]
  const mine = told.map(({ issue }) => issue.id).filter(id => made.some(issue => issue.id === id))
  const listed = await rows<{ id: number }>(
    "select target_id as id from activity_events where project_id = ? and target_type = 'Issue'",
    [project.id]
  )
  t.same(
    [...mine, ...listed.map(({ id }) => id)].sort(),
    made.map(({ id }) => id).sort(),
    'each issue has one event, or is in the activity'
  )
  t.equal(mine.length, 6, 'only issues with mentions need an event')
})

t.test('one issue takes two statements', async t => {
  const { owner, issues } = await subject()
  const { id } = (await owner.post(issues, { title: 'x', labels: 'one' })).json()
  t.match((await owner.get(`${issues}/${id}`)).json(), { id, labels: ['one'], subscribed: true })
  t.equal(await countStatements(() => owner.get(`${issues}/${id}`)), 1, 'the answer is kept')
  t.equal(await countStatements(() => owner.get(`${issues}/${id}?again=1`)), 2)
})

t.test('a list runs as many statements for many issues as for one', async t => {
  const { owner, issues, create } = await subject()
  const body = { labels: 'a,b' }
  await create(body)
  const few = await countStatements(() => owner.get(issues))
  for (let number = 0; number < 5; number++) await create(body)
  t.equal(await countStatements(() => owner.get(issues)), few)
})

t.test('the issues of a deleted user are deleted, and issues assigned to the user stay', async t => {
  const { project, owner, path, issues, create } = await subject()
  const user = await app.make.member(project, DEVELOPER)
  await create({ title: 'gone', labels: 'a' }, app.as(user))
  await create({ title: 'kept', assignee_id: user.id })
  const admin = app.as(await app.make.admin())
  t.equal((await admin.delete(`/users/${user.id}`)).statusCode, 200)
  const list = await owner.get(issues)
  t.match(list.json(), [{ title: 'kept', assignee: null }])
  t.equal(list.headers['x-total'], '1')
  t.match((await owner.get(path)).json(), { open_issues_count: 1 })
  await app.runJobs()
  t.match(await row('select assignee_id from issues where project_id = ?', [project.id]), { assignee_id: null })
})
