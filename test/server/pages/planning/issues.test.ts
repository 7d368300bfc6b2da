// The lists of issues, and what a visitor does with one by a click.
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { makeIssue } from '../../../areas/planning/discussion/make-discussion.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { browserOf, tokenOf } from './people.js'

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
  // A new address, because the page of a known one may be kept.
  const few = await countStatements(() => owner.get(`${path}/issues?few=1`))
  for (let n = 0; n < 25; n++) await makeIssue(project, project.owner, { title: `Number ${n}`, labels: 'bug' })
  t.ok((await countStatements(() => owner.get(`${path}/issues?many=1`))) <= few)
  t.match((await owner.get(`${path}/issues?page=2`)).body, 'Page 2 of 2')
  t.equal((await new Browser(base).get(`${path}/issues`)).status, 404, 'issues are for signed-in users, as in the API')
  await api.put(of, { issues_enabled: false })
  t.equal((await owner.get(`${path}/issues`)).status, 404)
})

t.test('a title cannot turn the direction of what follows it, and its author takes part', async t => {
  const { project, owner, path } = await subject()
  await makeIssue(project, project.owner, { title: 'One \u202e two' })
  const { body } = await owner.get(`${path}/issues/1`)
  t.match(body, '<h1>One [U+202E] two (#1)</h1>')
  t.match(
    body,
    new RegExp(`<h2>Participants</h2>\\s*<div class="row"><a class="user" href="/${project.owner.username}">`)
  )
  const list = await owner.get(`${path}/issues`)
  t.same(titlesOf(list), ['One [U+202E] two'])
  t.notMatch(body + list.body, '\u202e')
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
  const labelled = await owner.get(`/groups/${group.path}/issues?labels=bug&state=all`)
  t.match(labelled.body, /name="state" value="all".*value="bug"/s)
  t.same(titlesOf(labelled), [])
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

t.test('an issue is opened with a form, which keeps what was entered', async t => {
  const { project, owner, api, path, of } = await subject()
  const member = await app.make.member(project, REPORTER)
  await api.post(`${of}/labels`, { name: 'bug', color: '#ff0000' })
  const { id: milestone } = (await api.post(`${of}/milestones`, { title: 'Step' })).json()
  const form = await owner.get(`${path}/issues/new?issue[title]=${encodeURIComponent('"><b>')}&description=Why`)
  t.match(form.body, /value="&quot;&gt;&lt;b&gt;".*\n?Why<\/textarea>/s)
  const plan = {
    description: 'One\r\ntwo',
    confidential: 'true',
    assignee_id: String(member.id),
    milestone_id: String(milestone),
    'labels[]': 'bug',
    due_date: '2027-01-31'
  }
  const refused = await owner.submit(form, 'name="title"', { ...plan, title: '' })
  t.equal(refused.status, 400)
  t.match(refused.body, /id="title-error">can&#39;t be blank.*One\ntwo<\/textarea>.* checked> Confidential/s)
  t.match(
    refused.body,
    /<option value="\d+" selected>.*<option value="\d+" selected>.*value="bug" checked>.*2027-01-31/s
  )
  const made = await owner.submit(refused, 'name="title"', { ...plan, title: 'New <i>' })
  t.equal(made.location, `${path}/issues/1`)
  t.match((await api.get(`${of}/issues`)).json(), [
    {
      title: 'New <i>',
      description: 'One\ntwo',
      confidential: true,
      assignee: { id: member.id },
      milestone: { id: milestone },
      labels: ['bug'],
      due_date: '2027-01-31'
    }
  ])
  t.match((await owner.get(`${path}/issues/1`)).body, /<h1>New &lt;i&gt; \(#1\).*>confidential<.*One<br>\ntwo/s)
  const stranger = await browserOf(base, await app.make.user())
  const theirs = await stranger.get(`${path}/issues/new`)
  t.notMatch(theirs.body, /assignee_id|name="due_date"/)
  t.equal((await stranger.submit(theirs, 'name="title"', { title: 'Theirs' })).location, `${path}/issues/2`)
  t.equal((await new Browser(base).get(`${path}/issues/new`)).status, 404)
})

t.test('a form changes what it shows, and a stale one changes nothing', async t => {
  const { project, owner, api, path, of } = await subject()
  await api.post(`${of}/labels`, { name: 'bug', color: '#ff0000' })
  const id = await makeIssue(project, project.owner, { title: 'One', description: 'Old', labels: 'bug' })
  const issue = async () => (await api.get(`${of}/issues/${id}`)).json()
  const form = await owner.get(`${path}/issues/1/edit`)
  const shown = { title: 'One', description: 'Old', 'labels[]': 'bug' }
  await api.put(`${of}/issues/${id}`, { description: 'Theirs' })
  const planned = await owner.submit(form, 'name="version"', { ...shown, due_date: '2027-01-31' })
  t.equal(planned.location, `${path}/issues/1`)
  t.match(
    await issue(),
    { description: 'Theirs', due_date: '2027-01-31', labels: ['bug'] },
    'texts that are not edited stay'
  )
  const stale = await owner.submit(form, 'name="version"', { ...shown, title: 'Mine', due_date: '' })
  t.equal(stale.status, 409)
  t.match(stale.body, /Theirs<\/pre>.*value="Mine".*Old<\/textarea>/s)
  t.match(await issue(), { title: 'One', description: 'Theirs', due_date: '2027-01-31' })
  const saved = await owner.submit(stale, 'name="version"', { ...shown, title: 'Mine', description: '', due_date: '' })
  t.equal(saved.location, `${path}/issues/1`)
  t.match(await issue(), { title: 'Mine', description: null, due_date: '2027-01-31' })
})

t.test('a form changes only what the visitor has changed', async t => {
  const { project, owner, api, path, of } = await subject()
  for (const name of ['a', 'b', 'c']) await api.post(`${of}/labels`, { name, color: '#ff0000' })
  const { id: milestone } = (await api.post(`${of}/milestones`, { title: 'Step' })).json()
  const id = await makeIssue(project, project.owner, { title: 'One', labels: 'a,b' })
  const form = await owner.get(`${path}/issues/1/edit`)
  await api.put(`${of}/issues/${id}`, { milestone_id: milestone, labels: 'a,b,c', assignee_id: project.owner.id })
  await api.put(`${of}/issues/${id}`, { due_date: '2027-01-31', confidential: true })
  const sent = { title: 'One', assignee_id: '0', milestone_id: '0', 'labels[]': 'a', new_labels: 'd' }
  t.equal((await owner.submit(form, 'name="version"', sent)).location, `${path}/issues/1`)
  t.match((await api.get(`${of}/issues/${id}`)).json(), {
    milestone: { id: milestone },
    assignee: { id: project.owner.id },
    due_date: '2027-01-31',
    confidential: true,
    labels: ['a', 'c', 'd']
  })
})

t.test('only those who may change an issue get the form', async t => {
  const { project, path } = await subject()
  const guest = await app.make.member(project, GUEST)
  await makeIssue(project, project.owner, { title: 'One' })
  await makeIssue(project, guest, { title: 'Two' })
  const browser = await browserOf(base, guest)
  const page = await browser.get(`${path}/issues/1`)
  t.notMatch(page.body, /\/edit"|\/take"|value="close"/)
  t.equal((await browser.get(`${path}/issues/1/edit`)).status, 404)
  const values = { ...tokenOf(page), title: 'x' }
  t.equal((await browser.post(`${path}/issues/1/edit`, values)).status, 403)
  t.equal((await browser.post(`${path}/issues/1/delete`, values)).status, 403)
  const own = await browser.get(`${path}/issues/2/edit`)
  t.notMatch(own.body, /assignee_id|Move this issue|Delete this issue/)
  t.equal((await browser.submit(own, 'name="version"', { title: 'Own', description: '' })).status, 303)
  t.match((await browser.get(`${path}/issues/2`)).body, '<h1>Own (#2)')
})

t.test('an issue moves to another project, and is deleted', async t => {
  const { project, owner, path, of, api } = await subject()
  const target = await app.make.project({ owner: project.owner })
  const hidden = await app.make.project()
  await makeIssue(project, project.owner, { title: 'One' })
  const form = await owner.get(`${path}/issues/1/edit`)
  for (const to of ['no/where', hidden.path]) {
    const refused = await owner.submit(form, '/move"', { to })
    t.match(refused.body, 'id="to-error">is not a project that you can see')
  }
  t.equal((await owner.submit(form, '/move"', { to: project.path })).status, 400)
  const moved = await owner.submit(form, '/move"', { to: target.path })
  t.equal(moved.location, `/${target.path}/issues/1`)
  t.match((await owner.get(`${path}/issues/1`)).body, `moved to <a href="/${target.path}/issues/1">`)
  const deleted = await owner.submit(await owner.get(`${path}/issues/1/edit`), 'Delete the issue')
  t.equal(deleted.location, `${path}/issues`)
  t.same((await api.get(`${of}/issues`)).json(), [])
})
