// The lists of merge requests.
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { insertRow, makeMergeRequest, makeProject } from '../../../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import type { TestUser } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { signedIn } from './signed-in.js'

const app = await testApp(t)
const base = await listen(app.fastify)

const browserOf = (user: TestUser): Promise<Browser> => signedIn(base, user)

const titlesIn = (html: string) => [...html.matchAll(/<a class="title"[^>]*>([^<]*)</g)].map(([, title]) => title)

t.test('the list of a project has tabs, filters and pages', async t => {
  const project = await makeProject()
  const path = `/${project.path}/merge_requests`
  const owner = await browserOf(project.owner)
  const empty = await owner.get(path)
  t.equal(empty.status, 200)
  t.match(empty.body, 'There are no merge requests yet')
  t.match(empty.body, `<a class="button main end" href="${path}/new">`)
  await makeMergeRequest(project, { title: 'Add <b>bold</b>', labels: 'bug "x",ui' })
  const other = await app.make.member(project, DEVELOPER)
  const { id } = await insertRow(project, other)
  await execute('update merge_requests set title = ?, assignee_id = ? where id = ?', ['Fix it', project.owner.id, id])
  await insertRow(project, other, 'merged')
  await insertRow(project, other, 'closed')
  const page = await owner.get(path)
  t.same(titlesIn(page.body), ['Fix it', 'Add &lt;b&gt;bold&lt;/b&gt;'], 'open ones, newest first')
  t.match(page.body, /Open 2<.*Merged 1<.*Closed 1<.*All 4</s)
  t.match(page.body, /href="[^"]*labels=bug\+%22x%22"/)
  t.notMatch(page.body, /<b>bold/)
  const titles = async (query: string) => titlesIn((await owner.get(`${path}?${query}`)).body)
  t.same(await titles('search=FIX'), ['Fix it'])
  t.same(await titles(`author=${other.username}`), ['Fix it'])
  t.same(await titles(`assignee=${project.owner.username}`), ['Fix it'])
  t.same((await titles(`labels=ui`)).length, 1)
  t.same(await titles('milestone=No+Milestone&sort=asc'), ['Add &lt;b&gt;bold&lt;/b&gt;', 'Fix it'])
  t.equal((await titles('state=all&order_by=updated_at')).length, 4)
  t.match((await owner.get(`${path}?search=nothing`)).body, 'No merge request matches')
  t.match((await owner.get(`${path}?per_page=1&sort=asc`)).body, /rel="next" href="[^"]*page=2"/)
  const few = await countStatements(() => owner.get(`${path}?per_page=1&state=all&sort=asc`))
  t.equal(
    await countStatements(() => owner.get(`${path}?state=all&sort=asc`)),
    few,
    'a longer page needs no more statements'
  )
})

t.test('whom the API refuses gets the page of something that does not exist', async t => {
  const project = await makeProject({ visibility_level: 20 })
  await makeMergeRequest(project, { title: 'Secret' })
  const path = `/${project.path}/merge_requests`
  t.equal((await new Browser(base).get(path)).status, 404, 'the API requires an account')
  const stranger = await browserOf(await app.make.user())
  const seen = await stranger.get(path)
  t.equal(seen.status, 200)
  t.notMatch(seen.body, '/merge_requests/new"')
  const hidden = await makeProject()
  t.equal((await stranger.get(`/${hidden.path}/merge_requests`)).status, 404)
  const guest = await browserOf(await app.make.member(hidden, GUEST))
  t.equal((await guest.get(`/${hidden.path}/merge_requests`)).status, 404)
  await app.as(project.owner).put(`/projects/${project.id}`, { merge_requests_enabled: false })
  t.equal((await stranger.get(path)).status, 404)
})

t.test('the visitor’s own merge requests of all projects that the visitor may read', async t => {
  const [project, other] = [await makeProject(), await makeProject()]
  const user = await app.make.member(project, REPORTER)
  await app.make.member(other, GUEST)
  const mine = await insertRow(project, user)
  await insertRow(other, user)
  await insertRow(project, user, 'merged')
  const { id } = await insertRow(project, project.owner)
  await execute('update merge_requests set title = ?, assignee_id = ? where id = ?', ['For you', user.id, id])
  await execute('update merge_requests set title = ? where id = ?', ['From you', mine.id])
  const browser = await browserOf(user)
  const page = await browser.get('/dashboard/merge_requests')
  t.same(titlesIn(page.body), ['From you'])
  t.match(page.body, `${project.path}!`)
  t.same(titlesIn((await browser.get('/dashboard/merge_requests?scope=assigned')).body), ['For you'])
  t.equal(titlesIn((await browser.get('/dashboard/merge_requests?state=all')).body).length, 2)
  t.equal((await new Browser(base).get('/dashboard/merge_requests')).status, 404)
})
