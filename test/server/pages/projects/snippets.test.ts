// Snippets of projects and users: what their pages show, to whom, and what their forms do.
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import t from '../../../helpers/tap.js'
import { codePages } from '../code/repository.js'

const { app, make, signedIn, nobody } = await codePages(t)

async function subject() {
  const made = await make({ visibility_level: 20, snippets_enabled: true })
  const owner = await signedIn(made.project.owner)
  return { ...made, owner, list: `${made.path}/snippets` }
}

const VALUES = { title: 'Fix <b>', file_name: 'a.js', content: 'let a = "<script>"\r\nlet b', visibility_level: '20' }

t.test('a snippet is written, shown, changed and deleted', async t => {
  const { owner, list, project } = await subject()
  t.match((await owner.get(list)).body, 'write the first one')
  const made = await owner.submit(await owner.get(`${list}/new`), `action="${list}"`, VALUES)
  t.equal(made.status, 303)
  const page = made.location ?? ''
  const { body } = await owner.get(page)
  t.match(body, '<h1>Fix &lt;b&gt;</h1>')
  t.match(body, '<tr id="L1"><td><a href="#L1">1</a></td><td><span class="hljs-keyword">let</span> a = ')
  t.notMatch(body, /<script>|let b\r/)
  t.match(body, '<textarea name="note"', 'notes can be written')
  const raw = await owner.get(`${page}/raw`)
  t.equal(raw.body, 'let a = "<script>"\nlet b')
  t.match(raw.headers.get('content-security-policy'), 'sandbox')
  t.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match((await nobody.get(page)).body, 'There is no page here', 'snippets are for signed-in readers')
  const form = await owner.get(`${page}/edit`)
  t.match(form.body, '<textarea id="content-field"')
  t.equal(form.body.split('id="content"').length, 2, 'the id of the main part')
  t.equal((await owner.submit(form, `action="${page}"`, { content: 'new' })).location, page)
  t.equal((await owner.get(`${page}/raw`)).body, 'new')
  await owner.submit(await owner.get(`${page}/edit`), `action="${page}"`, {
    file_name: 'a.md',
    content: '# Title <b>\n#1'
  })
  t.match((await owner.get(page)).body, '<h2>Title &lt;b&gt;</h2>', 'Markdown is formatted')
  const stranger = await signedIn(await app.make.user())
  t.equal((await stranger.get(`${page}/edit`)).status, 404)
  t.notMatch((await stranger.get(page)).body, 'Delete')
  t.match((await stranger.get(list)).body, page)
  t.equal((await stranger.get(`${list}/new`)).status, 404)
  t.equal((await owner.submit(await owner.get(page), `${page}/delete`)).location, list)
  t.equal((await owner.get(page)).status, 404)
  t.ok(project)
})

t.test('a refused or stale form keeps what was entered', async t => {
  const { owner, list } = await subject()
  const refused = await owner.submit(await owner.get(`${list}/new`), `action="${list}"`, {
    ...VALUES,
    file_name: 'a/b <i>'
  })
  t.equal(refused.status, 400)
  t.match(refused.body, 'can contain only letters')
  t.match(refused.body, 'value="a/b &lt;i&gt;"')
  t.match(refused.body, 'let a = &quot;&lt;script&gt;&quot;\nlet b</textarea>')
  const page = (await owner.submit(refused, `action="${list}"`, VALUES)).location ?? ''
  const [first, second] = [await owner.get(`${page}/edit`), await owner.get(`${page}/edit`)]
  t.equal((await owner.submit(first, `action="${page}"`, { content: 'first' })).status, 303)
  const stale = await owner.submit(second, `action="${page}"`, { content: 'second' })
  t.equal(stale.status, 409)
  t.match(stale.body, /<pre [^>]*>first<\/pre>.*second<\/textarea>/s)
  t.equal((await owner.get(`${page}/raw`)).body, 'first')
  t.equal((await owner.submit(stale, `action="${page}"`, { content: 'both' })).status, 303)
  t.equal((await owner.get(`${page}/raw`)).body, 'both')
})

t.test('private snippets are for members, and a switched-off part has no pages', async t => {
  const { project, owner, list } = await subject()
  const form = await owner.get(`${list}/new`)
  const page = (await owner.submit(form, `action="${list}"`, { ...VALUES, visibility_level: '0' })).location ?? ''
  const guest = await signedIn(await app.make.member(project, GUEST))
  t.equal((await guest.get(page)).status, 200)
  const stranger = await signedIn(await app.make.user())
  for (const each of [page, `${page}/raw`]) t.equal((await stranger.get(each)).status, 404)
  t.notMatch((await stranger.get(list)).body, page)
  const reporter = await signedIn(await app.make.member(project, REPORTER))
  t.equal((await reporter.get(`${list}/new`)).status, 200)
  t.equal((await reporter.get(`${page}/edit`)).status, 404, 'only the author and masters change it')
  await app.as(project.owner).put(`/projects/${project.id}`, { snippets_enabled: false })
  for (const each of [list, page, `${page}/raw`]) t.equal((await owner.get(each)).status, 404)
})

t.test('personal snippets have their own pages', async t => {
  const user = await app.make.user()
  const author = await signedIn(user)
  const other = await signedIn(await app.make.user())
  t.match((await author.get('/snippets')).body, 'There are no snippets here yet')
  const pageOf = async (level: string) =>
    (
      await author.submit(await author.get('/snippets/new'), 'action="/snippets"', {
        ...VALUES,
        visibility_level: level
      })
    ).location ?? ''
  const [secret, open] = [await pageOf('0'), await pageOf('20')]
  t.match(secret, /^\/snippets\/\d+$/)
  t.match((await author.get('/snippets')).body, secret)
  t.match((await other.get('/explore/snippets')).body, `href="${open}"`)
  t.notMatch((await other.get('/explore/snippets')).body, secret)
  for (const path of [open, `${open}/raw`]) t.equal((await other.get(path)).status, 200, path)
  for (const path of [secret, `${secret}/raw`, `${open}/edit`]) t.equal((await other.get(path)).status, 404, path)
  for (const path of ['/snippets', open, '/explore/snippets']) t.equal((await nobody.get(path)).status, 404, path)
  const listed = (await app.as(user).get('/snippets')).json()
  for (const { web_url: url } of listed) t.equal((await author.get(new URL(url).pathname)).status, 200, url)
  t.equal((await author.submit(await author.get(`${open}/edit`), `action="${open}"`, { content: 'x' })).location, open)
  t.equal((await author.submit(await author.get(open), `${open}/delete`)).location, '/snippets')
  t.equal((await author.get(open)).status, 404)
})
