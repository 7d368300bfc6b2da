// The pages of labels and milestones.
import { createGroupLabel } from '../../../../src/areas/planning/labels/labels.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { makeIssue } from '../../../areas/planning/discussion/make-discussion.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { browserOf, tokenOf } from './people.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const HOSTILE = '<script>alert(1)</script>"\' onload=x'

async function subject() {
  const project = await app.make.project({ visibility_level: 20 })
  const owner = await browserOf(base, project.owner)
  return { project, owner, api: app.as(project.owner), path: `/${project.path}`, of: `/projects/${project.id}` }
}

t.test('labels are created, changed and deleted with forms', async t => {
  const { owner, api, path, of } = await subject()
  const empty = await owner.get(`${path}/labels`)
  t.match(empty.body, 'There are no labels yet')
  const made = await owner.submit(empty, 'name="color"', { name: HOSTILE, color: '#00ff00', priority: '3' })
  t.equal(made.location, `${path}/labels`)
  const [label] = (await api.get(`${of}/labels`)).json()
  t.match(label, { name: HOSTILE, color: '#00ff00', priority: 3 })
  const list = await owner.get(`${path}/labels`)
  t.match(list.body, /fill="#00ff00"\/><\/svg> &lt;script&gt;/)
  t.notMatch(list.body, '<script>alert')
  const again = await owner.submit(list, 'name="color"', { name: HOSTILE, description: 'kept' })
  t.equal(again.status, 400)
  t.match(again.body, /role="alert">Label already exists.*value="kept"/s)
  t.match((await owner.submit(list, 'name="color"', { name: 'a,b' })).body, 'id="title-error">is invalid')
  const form = await owner.get(`${path}/labels/${label.id}/edit`)
  await owner.submit(form, 'name="version"', { name: 'Bug', color: '#ff0000', priority: '' })
  t.match((await api.get(`${of}/labels`)).json(), [{ id: label.id, name: 'Bug', color: '#ff0000', priority: null }])
  const stale = await owner.submit(form, 'name="version"', { name: 'Mine' })
  t.equal(stale.status, 409)
  t.match(stale.body, /Somebody changed.*Bug.*value="Mine"/s)
  t.equal((await owner.submit(stale, 'name="version"', { name: 'Mine' })).status, 303)
  t.equal((await owner.submit(await owner.get(`${path}/labels`), 'subscribe')).status, 303)
  t.match((await api.get(`${of}/labels`)).json(), [{ name: 'Mine', subscribed: true }])
  await owner.submit(await owner.get(`${path}/labels`), 'unsubscribe')
  t.match((await api.get(`${of}/labels`)).json(), [{ subscribed: false }])
  t.equal((await owner.submit(form, 'Delete the label')).location, `${path}/labels`)
  t.same((await api.get(`${of}/labels`)).json(), [])
})

t.test('readers see labels, and get no forms that would be refused', async t => {
  const { project, api, path, of } = await subject()
  const { id } = (await api.post(`${of}/labels`, { name: 'one', color: '#123456' })).json()
  const guest = await browserOf(base, await app.make.member(project, GUEST))
  const page = await guest.get(`${path}/labels`)
  t.match(page.body, '/subscribe')
  t.notMatch(page.body, /New label|\/edit/)
  const values = { ...tokenOf(page), name: 'two', color: '#123456' }
  t.equal((await guest.post(`${path}/labels`, values)).status, 403)
  t.equal((await guest.post(`${path}/labels/${id}/edit`, values)).status, 403)
  t.equal((await guest.post(`${path}/labels/${id}/delete`, values)).status, 403)
  t.equal((await guest.get(`${path}/labels/${id}/edit`)).status, 404)
  t.equal((await new Browser(base).get(`${path}/labels`)).status, 404, 'labels are for signed-in users, as in the API')
  const other = await subject()
  t.equal((await other.owner.get(`${other.path}/labels/${id}/edit`)).status, 404)
})

t.test('labels of the group are shown, and not changed here', async t => {
  const user = await app.make.user()
  const group = await app.make.group({ owner: user })
  const project = await app.make.project({ owner: user, group })
  const label = await createGroupLabel(group.id, { name: 'shared', color: '#123456' })
  const owner = await browserOf(base, user)
  const page = await owner.get(`/${project.path}/labels`)
  t.match(page.body, /shared<\/a>.*of the group/s)
  t.notMatch(page.body, `/${label}/edit`)
  t.equal((await owner.get(`/${project.path}/labels/${label}/edit`)).status, 404)
  t.equal((await owner.submit(page, '/subscribe')).status, 303)
})

t.test('milestones are created, changed, closed and activated with forms', async t => {
  const { owner, api, path, of } = await subject()
  t.match((await owner.get(`${path}/milestones`)).body, 'There are no milestones yet')
  const form = await owner.get(`${path}/milestones/new`)
  const wrong = { title: HOSTILE, description: 'kept *so*', start_date: '2027-02-01', due_date: '2027-01-01' }
  const refused = await owner.submit(form, 'name="title"', wrong)
  t.equal(refused.status, 400)
  t.match(refused.body, /kept \*so\*<\/textarea>.*id="start_date-error">Can&#39;t be greater than due date/s)
  const made = await owner.submit(refused, 'name="title"', { ...wrong, due_date: '2027-03-01' })
  t.equal(made.location, `${path}/milestones/1`)
  const page = await owner.get(`${path}/milestones/1`)
  t.match(page.body, /<h1>&lt;script&gt;.*2027-02-01.*2027-03-01.*kept <em>so<\/em>/s)
  t.notMatch(page.body, '<script>alert')
  const edit = await owner.get(`${path}/milestones/1/edit`)
  await owner.submit(edit, 'name="version"', { title: 'One', description: 'theirs' })
  t.match((await api.get(`${of}/milestones`)).json(), [
    { title: 'One', description: 'theirs', start_date: '2027-02-01', due_date: '2027-03-01' }
  ])
  const stale = await owner.submit(edit, 'name="version"', { title: 'Two', description: 'mine' })
  t.equal(stale.status, 409)
  t.match(stale.body, /theirs<\/pre>.*mine<\/textarea>/s)
  await owner.submit(page, '/close')
  t.match((await api.get(`${of}/milestones`)).json(), [{ title: 'One', state: 'closed' }])
  t.match((await owner.get(`${path}/milestones`)).body, /No milestone matches|Closed 1/)
  await owner.submit(await owner.get(`${path}/milestones/1`), '/activate')
  t.match((await api.get(`${of}/milestones`)).json(), [{ state: 'active' }])
  t.equal((await owner.get(`${path}/milestones/2`)).status, 404)
})

t.test('a milestone counts and lists only the issues that the reader sees', async t => {
  const { project, api, path, of } = await subject()
  const { id } = (await api.post(`${of}/milestones`, { title: 'Step' })).json()
  const closed = await makeIssue(project, project.owner, { title: 'Open issue', milestone_id: id })
  await makeIssue(project, project.owner, { title: 'Other issue', milestone_id: id })
  await makeIssue(project, project.owner, { title: 'Secret', milestone_id: id, confidential: true })
  await api.put(`${of}/issues/${closed}`, { state_event: 'close' })
  const as = async (level: number) => browserOf(base, await app.make.member(project, level))
  const [guest, reporter, developer] = [await as(GUEST), await as(REPORTER), await as(DEVELOPER)]
  const seen = await guest.get(`${path}/milestones/1`)
  t.match(seen.body, /50% done: 1 of 2 issues closed.*Issues 2/s)
  t.notMatch(seen.body, 'Secret')
  t.match((await reporter.get(`${path}/milestones/1`)).body, /33% done: 1 of 3 issues.*Secret/s)
  t.match((await guest.get(`${path}/milestones`)).body, '50% done')
  t.notMatch((await developer.get(`${path}/milestones`)).body, 'New milestone')
  t.equal((await developer.get(`${path}/milestones/new`)).status, 404)
  const token = tokenOf(await developer.get(`${path}/milestones`))
  t.equal((await developer.post(`${path}/milestones`, { ...token, title: 'x' })).status, 403)
  t.equal((await new Browser(base).get(`${path}/milestones`)).status, 404)
  const owner = await browserOf(base, project.owner)
  const few = await countStatements(() => owner.get(`${path}/milestones`))
  for (let n = 0; n < 10; n++) await api.post(`${of}/milestones`, { title: `M${n}` })
  t.ok((await countStatements(() => owner.get(`${path}/milestones`))) <= few)
  t.match((await owner.get(`${path}/milestones/1?tab=merge_requests`)).body, 'No merge request is planned')
})
