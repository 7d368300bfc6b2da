// The lists of issues, and what a visitor does with one by a click.
import { GUEST } from '../../../../src/lib/levels.js'
import { makeIssue } from '../../../areas/planning/discussion/make-discussion.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { browserOf } from './people.js'

const app = await testApp(t)
const base = await listen(app.fastify)

async function subject() {
  const project = await app.make.project({ visibility_level: 20 })
  const owner = await browserOf(base, project.owner)
  return { project, owner, api: app.as(project.owner), path: `/${project.path}`, of: `/projects/${project.id}` }
}

/** The titles of the issues in a list, in its order. */
const titlesOf = ({ body }: { readonly body: string }) =>
  [...body.matchAll(/<a class="title" href="[^"]*\/issues\/\d+">([^<]*)<\/a>/g)].map(([, title]) => title)

t.test('a list has the filters, the tabs and the order of the API', async t => {
  const { project, owner, api, path, of } = await subject()
  t.match((await owner.get(`${path}/issues`)).body, 'There are no issues yet')
  const other = await app.make.member(project, 30)
  await api.post(`${of}/labels`, { name: 'bug', color: '#ff0000' })
  const { id: milestone } = (await api.post(`${of}/milestones`, { title: 'Step' })).json()
  const first = await makeIssue(project, project.owner, { title: 'First <b>', labels: 'bug', milestone_id: milestone })
  await makeIssue(project, other, { title: 'Second', assignee_id: project.owner.id, due_date: '2027-01-31' })
  const third = await makeIssue(project, project.owner, { title: 'Third one' })
  await api.put(`${of}/issues/${third}`, { state_event: 'close' })
  const list = async (query: string) => titlesOf(await owner.get(`${path}/issues?${query}`))
  t.same(await list(''), ['Second', 'First &lt;b&gt;'])
  t.same(await list('sort=asc'), ['First &lt;b&gt;', 'Second'])
  t.same(await list('state=closed'), ['Third one'])
  t.same(await list('state=all'), ['Third one', 'Second', 'First &lt;b&gt;'])
  t.same(await list('labels=bug&author=&search='), ['First &lt;b&gt;'])
  t.same(await list('milestone=Step'), ['First &lt;b&gt;'])
  t.same(await list('search=sec'), ['Second'])
  t.same(await list(`author=${other.username}`), ['Second'])
  t.same(await list(`assignee=${project.owner.username}`), ['Second'])
  t.same(await list('author=nobody-has-this-name'), [])
  await api.post(`${of}/issues/${first}/notes`, { body: 'x' })
  t.same(await list('order_by=updated_at'), ['First &lt;b&gt;', 'Second'])
  const page = await owner.get(`${path}/issues`)
  t.match(page.body, /Open 2<.*Closed 1<.*All 3</s)
  t.match(
    page.body,
    `href="${path}/issues?labels=bug"><svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">`
  )
  t.match(page.body, /fill="#ff0000".*for <a href="[^"]*\/milestones\/1">Step<\/a>/s)
  t.match(page.body, 'due on <time datetime="2027-01-31">')
  const found = await owner.get(`${path}/issues?search=nothing`)
  t.match(found.body, 'No issue matches')
  const few = await countStatements(() => owner.get(`${path}/issues`))
  for (let n = 0; n < 25; n++) await makeIssue(project, project.owner, { title: `Number ${n}`, labels: 'bug' })
  t.ok((await countStatements(() => owner.get(`${path}/issues`))) <= few)
  t.match((await owner.get(`${path}/issues?page=2`)).body, 'Page 2 of 2')
  t.equal((await new Browser(base).get(`${path}/issues`)).status, 404, 'issues are for signed-in users, as in the API')
  await api.put(of, { issues_enabled: false })
  t.equal((await owner.get(`${path}/issues`)).status, 404)
})

t.test('confidential issues stand only in the lists of those who see them', async t => {
  const { project, owner, path } = await subject()
  await makeIssue(project, project.owner, { title: 'Open' })
  await makeIssue(project, project.owner, { title: 'Secret', confidential: true })
  const guest = await browserOf(base, await app.make.member(project, GUEST))
  t.same(titlesOf(await guest.get(`${path}/issues`)), ['Open'])
  t.match((await guest.get(`${path}/issues`)).body, 'Open 1<')
  t.same(titlesOf(await guest.get(`${path}/issues?search=Sec`)), [])
  t.same(titlesOf(await owner.get(`${path}/issues`)), ['Secret', 'Open'])
})

t.test('groups and users have lists of their issues', async t => {
  const user = await app.make.user()
  const group = await app.make.group({ owner: user })
  const project = await app.make.project({ owner: user, group })
  const stranger = await app.make.user()
  const owner = await browserOf(base, project.owner)
  await makeIssue(project, project.owner, { title: 'Of the group', assignee_id: project.owner.id })
  const mine = await app.make.project({ owner: user })
  await makeIssue(mine, project.owner, { title: 'Of mine' })
  t.same(titlesOf(await owner.get(`/groups/${group.path}/issues`)), ['Of the group'])
  t.same(titlesOf(await owner.get('/dashboard/issues')), ['Of mine', 'Of the group'])
  t.same(titlesOf(await owner.get('/dashboard/issues?scope=assigned')), ['Of the group'])
  t.same(titlesOf(await owner.get('/dashboard/issues?scope=assigned&state=closed')), [])
  const theirs = await browserOf(base, stranger)
  t.equal((await theirs.get(`/groups/${group.path}/issues`)).status, 404)
  t.same(titlesOf(await theirs.get('/dashboard/issues')), [])
  t.equal((await new Browser(base).get('/dashboard/issues')).status, 404)
})

t.test('a visitor takes, follows and remembers an issue by a click', async t => {
  const { project, owner, api, path, of } = await subject()
  const id = await makeIssue(project, project.owner, { title: 'One' })
  const issue = async () => (await api.get(`${of}/issues/${id}`)).json()
  const click = async (name: string) => {
    const { location } = await owner.submit(await owner.get(`${path}/issues/1`), name)
    t.equal(location, `${path}/issues/1`)
  }
  await click('/take')
  t.match(await issue(), { assignee: { id: project.owner.id }, subscribed: true })
  await click('/unsubscribe')
  t.match(await issue(), { subscribed: false })
  await click('/subscribe')
  t.match(await issue(), { subscribed: true })
  const before = await owner.get(`${path}/issues/1`)
  await click('/done')
  t.equal((await owner.submit(before, '/done')).status, 303)
  t.match(await issue(), { state: 'opened' })
  await click('/todo')
  t.match((await api.get('/todos')).json(), [{ action_name: 'marked', target: { id } }])
  await click('/done')
  t.same((await api.get('/todos')).json(), [])
})
