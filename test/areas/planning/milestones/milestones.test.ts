// Milestones through the API.
import { rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  return { project, owner: app.as(project.owner), milestones: `/projects/${project.id}/milestones` }
}

t.test('a milestone is created, changed, closed and activated, and the feed shows it', async t => {
  const { project, owner, milestones } = await subject()
  const created = await owner.post(milestones, {
    title: 'v1',
    description: 'first',
    start_date: '2027-01-01',
    due_date: '2027-02-01'
  })
  t.equal(created.statusCode, 201)
  const record = created.json()
  t.match(record, {
    id: Number,
    iid: 1,
    project_id: project.id,
    title: 'v1',
    description: 'first',
    state: 'active',
    created_at: String,
    updated_at: String,
    start_date: '2027-01-01',
    due_date: '2027-02-01'
  })
  const one = `${milestones}/${record.id}`
  t.same((await owner.get(one)).json(), record)
  t.match((await owner.put(one, { title: 'v1.0', due_date: '' })).json(), { title: 'v1.0', due_date: null })
  t.match((await owner.put(one, { state_event: 'close' })).json(), { state: 'closed' })
  t.match((await owner.put(one, { state_event: 'close' })).json(), { state: 'closed' }, 'a second event is ignored')
  t.match((await owner.put(one, { state_event: 'activate' })).json(), { state: 'active', title: 'v1.0' })
  t.equal((await owner.put(one, {})).statusCode, 200)
  await app.runJobs()
  const feed = await rows(
    "select action, target_title from activity_events where target_type = 'Milestone' order by id"
  )
  t.same(feed, [
    { action: 'opened', target_title: 'v1' },
    { action: 'closed', target_title: 'v1.0' },
    { action: 'opened', target_title: 'v1.0' }
  ])
})

t.test('the list has filters and pages', async t => {
  const { owner, milestones } = await subject()
  for (const title of ['a', 'b', 'c']) await owner.post(milestones, { title })
  const [, second] = (await owner.get(milestones)).json()
  await owner.put(`${milestones}/${second.id}`, { state_event: 'close' })
  const titles = async (query: Record<string, string | number | number[]>) =>
    (await owner.get(milestones, query)).json().map(({ title }: { title: string }) => title)
  t.same(await titles({}), ['a', 'b', 'c'])
  t.same(await titles({ state: 'active' }), ['a', 'c'])
  t.same(await titles({ state: 'closed' }), ['b'])
  t.same(await titles({ iid: 3 }), ['c'])
  t.same(await titles({ iid: [1, 2] }), ['a', 'b'])
  t.same(await titles({ iid: 99 }), [])
  const page = await owner.get(milestones, { per_page: 2, page: 2 })
  t.match(page.headers, { 'x-total': '3', 'x-total-pages': '2' })
  t.match(page.json(), [{ title: 'c' }])
  t.match((await owner.get(milestones, { state: 'odd' })).json(), { error: 'state does not have a valid value' })
})

t.test('invalid values', async t => {
  const { owner, milestones } = await subject()
  const { id } = (await owner.post(milestones, { title: 'there' })).json()
  const other = (await owner.post(milestones, { title: 'other' })).json()
  const cases: [object, object][] = [
    [{ title: ' ' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(10_000) }, { message: { title: [/255/] } }],
    [{ title: 'x', description: 'x'.repeat(262_145) }, { message: { description: [/262144/] } }],
    [{ title: 'there' }, { message: { title: ['has already been taken'] } }],
    [
      { title: 'x', start_date: '2027-02-01', due_date: '2027-02-01' },
      { message: { start_date: ["Can't be greater than due date"] } }
    ],
    [{ title: 'x', due_date: '2027-02-30' }, { error: 'due_date is invalid' }]
  ]
  for (const [body, answer] of cases) {
    for (const res of [await owner.post(milestones, body), await owner.put(`${milestones}/${other.id}`, body)]) {
      t.equal(res.statusCode, 400, JSON.stringify(body).slice(0, 60))
      t.match(res.json(), answer)
    }
  }
  t.match((await owner.post(milestones, {})).json(), { error: 'title is missing' })
  t.equal((await owner.put(`${milestones}/${id}`, { title: 'there' })).statusCode, 200, 'it may keep its title')
  const foreign = await subject()
  for (const res of [
    await foreign.owner.get(`${foreign.milestones}/${id}`),
    await owner.get(`${milestones}/999999`),
    await owner.put(`${milestones}/999999`, { title: 'x' })
  ]) {
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Not found' })
  }
  t.match((await owner.post(milestones, { title: 'next' })).json(), { iid: 3 }, 'refused requests took no number')
})

t.test('a milestone of a project whose issues are switched off shows none', async t => {
  const { project, owner, milestones } = await subject()
  const { id } = (await owner.post(milestones, { title: 'v1' })).json()
  await owner.post(`/projects/${project.id}/issues`, { title: 'x', milestone_id: id })
  const issues = `${milestones}/${id}/issues`
  t.equal((await owner.get(issues)).json().length, 1)
  await owner.put(`/projects/${project.id}`, { issues_enabled: false })
  const off = await owner.get(issues)
  t.same([off.statusCode, off.json(), off.headers['x-total']], [200, [], '0'])
})
