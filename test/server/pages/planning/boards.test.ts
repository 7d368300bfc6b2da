// The board of a project.
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
  const api = app.as(project.owner)
  const of = `/projects/${project.id}`
  const label = async (name: string) => (await api.post(`${of}/labels`, { name, color: '#ff0000' })).json().id
  return { project, owner, api, of, label, path: `/${project.path}/boards` }
}

/** The titles of the issues in each list of a board. */
const cardsOf = ({ body }: { readonly body: string }) =>
  body
    .split(/<section aria-labelledby="list-/)
    .slice(1)
    .map(section => [...section.matchAll(/<a class="title"[^>]*>([^<]*)</g)].map(([, title]) => title))

t.test('lists are added, ordered and removed', async t => {
  const { owner, api, of, path, label } = await subject()
  t.match((await owner.get(path)).body, 'Create a label</a>')
  t.same((await owner.get(path)).status, 200)
  const [first, second] = [await label('<b>"first'), await label('second')]
  t.equal((await owner.submit(await owner.get(path), '/lists"', { label_id: String(first) })).location, path)
  await owner.submit(await owner.get(path), '/lists"', { label_id: String(second) })
  const page = await owner.get(path)
  t.match(page.body, '&lt;b&gt;&quot;first')
  t.notMatch(page.body, /<b>"first|name="label_id"/)
  const [board] = (await api.get(`${of}/boards`)).json()
  const names = async () =>
    (await api.get(`${of}/boards`)).json()[0].lists.map((list: { label: { name: string } }) => list.label.name)
  t.same(await names(), ['<b>"first', 'second'])
  t.match(page.body, /<details><summary aria-label="Remove the list second">/, 'one click removes nothing')
  await owner.submit(page, 'first to the right')
  t.same(await names(), ['second', '<b>"first'])
  await owner.submit(await owner.get(`${path}/${board.id}`), 'Remove the list second')
  t.same(await names(), ['<b>"first'])
  t.equal((await owner.get(`${path}/${board.id + 1}`)).status, 404)
})

t.test('cards stand in their lists, and move with a form', async t => {
  const { project, owner, api, of, path, label } = await subject()
  for (const name of ['doing', 'done', 'other']) {
    const id = await label(name)
    if (name !== 'other') await owner.submit(await owner.get(path), '/lists"', { label_id: String(id) })
  }
  const issue = await makeIssue(project, project.owner, { title: 'One', labels: 'other' })
  await makeIssue(project, project.owner, { title: 'Two <i>', labels: 'doing' })
  const closed = await makeIssue(project, project.owner, { title: 'Three' })
  await api.put(`${of}/issues/${closed}`, { state_event: 'close' })
  t.same(cardsOf(await owner.get(path)), [['One'], ['Two &lt;i&gt;'], [], ['Three']])
  const [{ lists }] = (await api.get(`${of}/boards`)).json()
  const [doing, done] = lists.map(({ id }: { id: number }) => String(id))
  const read = async () => (await api.get(`${of}/issues/${issue}`)).json()
  const move = async (from: string, to: string) => {
    const token = tokenOf(await owner.get(path))
    t.equal((await owner.post(`${path}/cards`, { ...token, iid: '1', from, to })).location, path)
  }
  await move('opened', doing)
  t.match(await read(), { labels: ['doing', 'other'], state: 'opened' })
  await move(doing, done)
  t.match(await read(), { labels: ['done', 'other'] })
  await move(done, 'closed')
  t.match(await read(), { labels: ['other'], state: 'closed' })
  await move('closed', doing)
  t.match(await read(), { labels: ['doing', 'other'], state: 'reopened' })
  t.same(cardsOf(await owner.get(path)), [[], ['Two &lt;i&gt;', 'One'], [], ['Three']])
  const few = await countStatements(() => owner.get(path))
  for (let n = 0; n < 25; n++) await makeIssue(project, project.owner, { title: `N${n}`, labels: 'doing' })
  const many = await owner.get(path)
  t.match(many.body, `href="/${project.path}/issues?labels=doing">More issues`)
  t.equal(cardsOf(many)[1]?.length, 20)
  t.equal(await countStatements(() => owner.get(path)), few)
})

t.test('readers see the cards that they may see, and get no forms', async t => {
  const { project, owner, path, label } = await subject()
  const id = await label('doing')
  await owner.submit(await owner.get(path), '/lists"', { label_id: String(id) })
  await makeIssue(project, project.owner, { title: 'Open', labels: 'doing' })
  await makeIssue(project, project.owner, { title: 'Secret', labels: 'doing', confidential: true })
  const guest = await browserOf(base, await app.make.member(project, GUEST))
  const page = await guest.get(path)
  t.same(cardsOf(page), [[], ['Open'], []])
  t.notMatch(page.body, '/cards"')
  const token = tokenOf(page)
  t.equal((await guest.post(`${path}/cards`, { ...token, iid: '1', from: 'opened', to: 'closed' })).status, 403)
  t.equal((await guest.post(`${path}/lists`, { ...token, label_id: '1' })).status, 403)
  const reporter = await browserOf(base, await app.make.member(project, REPORTER))
  const theirs = await reporter.get(path)
  t.same(cardsOf(theirs), [[], ['Secret', 'Open'], []])
  t.notMatch(theirs.body, 'Remove the list')
  const bad = { ...tokenOf(theirs), iid: '1', from: 'opened', to: 'elsewhere' }
  t.equal((await reporter.post(`${path}/cards`, bad)).status, 400)
  t.equal((await reporter.post(`${path}/cards`, { ...bad, to: '999999' })).status, 404)
  t.equal((await new Browser(base).get(path)).status, 404)
})
