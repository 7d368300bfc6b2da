// Labels through the API: of projects and groups, their priorities, subscriptions and counts.

import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makeLabel } from './make-labels.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project({ visibility_level: 20 })
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}`
  return { project, owner, path, labels: `${path}/labels` }
}

t.test('a label is created, listed, changed and deleted', async t => {
  const { owner, labels } = await subject()
  const created = await owner.post(labels, { name: ' bug ', color: '#d9534f', description: 'wrong', priority: 2 })
  t.equal(created.statusCode, 201)
  const record = {
    id: created.json().id,
    name: 'bug',
    color: '#d9534f',
    description: 'wrong',
    open_issues_count: 0,
    closed_issues_count: 0,
    open_merge_requests_count: 0,
    subscribed: false,
    priority: 2
  }
  t.same(created.json(), record)
  const list = await owner.get(labels)
  t.same(list.json(), [record])
  t.notOk('x-total' in list.headers, 'the list has no pages')
  const changed = await owner.put(labels, { name: 'bug', new_name: 'defect', color: '#fff', priority: null })
  t.equal(changed.statusCode, 200)
  t.same(changed.json(), { ...record, name: 'defect', color: '#fff', priority: null })
  t.match((await owner.put(labels, { name: 'defect', priority: 0 })).json(), { priority: 0 })
  const removed = await owner.inject({ method: 'PUT', url: `/api/v3${labels}?name=defect&priority=` })
  t.match(removed.json(), { name: 'defect', priority: null }, 'an empty priority in a form removes it')
  const deleted = await owner.delete(labels, { name: 'defect' })
  t.equal(deleted.statusCode, 200)
  t.match(deleted.json(), { id: record.id, name: 'defect' })
  t.same((await owner.get(labels)).json(), [])
})

t.test('invalid values', async t => {
  const { owner, labels } = await subject()
  await owner.post(labels, { name: 'there', color: '#fff' })
  const cases: [string, object, number, object][] = [
    ['post', { name: 'x' }, 400, { error: 'color is missing' }],
    ['post', { color: '#fff' }, 400, { error: 'name is missing' }],
    ['post', { name: 'a, b', color: '#fff' }, 400, { message: { title: ['is invalid'] } }],
    ['post', { name: ' ', color: '#fff' }, 400, { message: { title: ["can't be blank"] } }],
    ['post', { name: 'x'.repeat(256), color: '#fff' }, 400, { message: { title: [/255/] } }],
    ['post', { name: 'x', color: 'red' }, 400, { message: { color: ['must be a valid color code'] } }],
    ['post', { name: 'x', color: '#fff', priority: -1 }, 400, { message: { priority: [/greater/] } }],
    ['post', { name: 'x', color: '#fff', priority: 'odd' }, 400, { error: 'priority is invalid' }],
    ['post', { name: 'there', color: '#000' }, 409, { message: 'Label already exists' }],
    ['put', { name: 'none', color: '#fff' }, 404, { message: '404 Label not found Not Found' }],
    ['put', { name: 'there' }, 400, { error: /^new_name, color, description, priority are missing/ }],
    ['put', { new_name: 'there' }, 400, { error: 'name is missing' }],
    ['put', { name: 'there', new_name: 'a,b' }, 400, { message: { title: ['is invalid'] } }],
    ['delete', { name: 'none' }, 404, { message: '404 Label Not Found' }],
    ['delete', {}, 400, { error: 'name is missing' }]
  ]
  for (const [method, body, status, answer] of cases) {
    const res = await owner[method as 'post' | 'put' | 'delete'](labels, body as Record<string, string>)
    t.equal(res.statusCode, status, `${method} ${JSON.stringify(body).slice(0, 60)}`)
    t.match(res.json(), answer)
  }
  t.equal((await owner.get(labels)).json().length, 1)
})

t.test('labels of the group are listed, used and subscribed to, but not changed', async t => {
  const group = await app.make.group({ visibilityLevel: 20 })
  const project = await app.make.project()
  const grouped = await app.make.project({ owner: await app.make.admin(), group })
  const owner = app.as(grouped.owner)
  const labels = `/projects/${grouped.id}/labels`
  const id = await makeLabel({ group: group.id }, 'shared')
  await owner.post(labels, { name: 'own', color: '#fff' })
  t.match((await owner.get(labels)).json(), [{ name: 'own' }, { name: 'shared', id }])
  t.equal((await owner.post(labels, { name: 'shared', color: '#fff' })).statusCode, 409)
  t.equal((await owner.put(labels, { name: 'shared', color: '#fff' })).statusCode, 404)
  t.equal((await owner.delete(labels, { name: 'shared' })).statusCode, 404)
  t.match((await owner.post(`${labels}/shared/subscription`)).json(), { id, subscribed: true })
  t.same((await app.as(project.owner).get(`/projects/${project.id}/labels`)).json(), [])
  const issue = await owner.post(`/projects/${grouped.id}/issues`, { title: 'x', labels: 'shared,own' })
  t.same(issue.json().labels, ['own', 'shared'])
  t.match((await owner.get(labels)).json(), [{ open_issues_count: 1 }, { open_issues_count: 1 }])
  t.match((await app.as(await app.make.admin()).get(labels)).json()[1], { subscribed: false })
})

t.test('a subscription by id or title', async t => {
  const { project, owner, labels } = await subject()
  const id = await makeLabel({ project: project.id }, 'a/b c')
  const stranger = app.as(await app.make.user())
  for (const name of [id, encodeURIComponent('a/b c')]) {
    const one = `${labels}/${name}/subscription`
    const subscribed = await stranger.post(one)
    t.equal(subscribed.statusCode, 201)
    t.match(subscribed.json(), { id, subscribed: true })
    t.equal((await stranger.post(one)).statusCode, 304)
    t.match((await owner.get(labels)).json(), [{ subscribed: false }])
    const ended = await stranger.delete(one)
    t.equal(ended.statusCode, 200)
    t.match(ended.json(), { subscribed: false })
    t.equal((await stranger.delete(one)).statusCode, 304)
  }
  const missing = await stranger.post(`${labels}/none/subscription`)
  t.equal(missing.statusCode, 404)
  t.same(missing.json(), { message: '404 Label Not Found' })
})

t.test('concurrent changes of a label all take effect', async t => {
  const { owner, labels } = await subject()
  for (let round = 0; round < 5; round++) {
    const name = `label ${round}`
    await owner.post(labels, { name, color: '#fff' })
    const changes = [{ color: '#000' }, { description: 'new' }, { priority: 3 }]
    await Promise.all(changes.map(change => owner.put(labels, { name, ...change })))
    const record = (await owner.get(labels)).json().find((label: { name: string }) => label.name === name)
    t.match(record, { color: '#000', description: 'new', priority: 3 })
  }
})

t.test('only one of several concurrent requests deletes a label', async t => {
  const { owner, labels } = await subject()
  await owner.post(labels, { name: 'a', color: '#fff' })
  const answers = await Promise.all([1, 2, 3, 4].map(() => owner.delete(labels, { name: 'a' })))
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404, 404])
})

t.test('counts contain only records that the caller sees, with a fixed number of statements', async t => {
  const { project, owner, labels, path } = await subject()
  const post = (body: object) => owner.post(`${path}/issues`, { title: 'x', labels: 'one, two', ...body })
  await post({})
  await post({ confidential: true })
  const { id } = (await post({ confidential: true })).json()
  await owner.put(`${path}/issues/${id}`, { state_event: 'close' })
  const guest = app.as(await app.make.member(project, GUEST))
  const reporter = app.as(await app.make.member(project, REPORTER))
  t.match((await guest.get(labels)).json(), [
    { name: 'one', open_issues_count: 1, closed_issues_count: 0 },
    { name: 'two', open_issues_count: 1 }
  ])
  t.match((await reporter.get(labels)).json()[0], { open_issues_count: 2, closed_issues_count: 1 })
  t.equal(await countStatements(() => reporter.get(labels)), 1, 'the answer is kept')
  for (let number = 0; number < 5; number++) await owner.post(labels, { name: `more ${number}`, color: '#fff' })
  t.equal(await countStatements(() => reporter.get(labels)), 2, 'one for the token and the project, one for the labels')
})

t.test('counts of many issues are cached, but a new label has its own', async t => {
  const { project, owner, labels, path } = await subject()
  await owner.post(labels, { name: 'frequent', color: '#fff' })
  const [label] = (await owner.get(labels)).json()
  const first = (await owner.post(`${path}/issues`, { title: 'x' })).json().id
  const numbers = Array.from({ length: 1000 }, (_, at) => first + 1000 + at)
  await execute(
    `insert into issues (id, project_id, iid, title, state, author_id, created_at, updated_at)
     values ${numbers.map(id => `(${id}, ${project.id}, ${id}, 'x', 'opened', ${project.owner.id}, now(), now())`).join(', ')}`
  )
  await execute(
    `insert into label_links (target_type, target_id, label_id, of_project, of_author, of_created_at)
     select 'Issue', id, ?, project_id, author_id, created_at from issues where project_id = ? and id > ?`,
    [label.id, project.id, first]
  )
  t.match((await owner.get(labels)).json(), [{ open_issues_count: 1000, closed_issues_count: 0 }])
  await owner.put(`${path}/issues/${first}`, { labels: 'frequent' })
  t.match((await owner.get(labels)).json(), [{ open_issues_count: 1000 }], 'for five seconds')
  await owner.put(`${path}/issues/${first}`, { labels: 'frequent, new' })
  t.match((await owner.get(labels)).json(), [{ open_issues_count: 1001 }, { name: 'new', open_issues_count: 1 }])
})
