// Home, lists of projects, users, groups and search, as a browser without script sees them.
import { runTask } from '../../../src/areas/upkeep/maintenance/maintenance.js'
import { execute, rows } from '../../../src/db/connect/sql.js'
import { testApp } from '../../helpers/app.js'
import { Browser, listen } from '../../helpers/browser.js'
import { someOrigin } from '../../helpers/factory.js'
import t from '../../helpers/tap.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const HOSTILE = '"><script>alert(1)</script>'

const signedIn = async (user: { username: string; password: string }) => {
  const browser = new Browser(base)
  await browser.signIn(user)
  return browser
}

const [ada, bob] = [await app.make.user({ name: HOSTILE }), await app.make.user()]
const [asAda, asBob, nobody] = [await signedIn(ada), await signedIn(bob), new Browser(base)]
const open = await app.make.project({ owner: ada, visibility_level: 20, name: 'open', description: 'What it is for' })
const hidden = await app.make.project({ owner: ada, visibility_level: 0, name: 'hidden' })

t.test(
  'home shows the to-dos, issues and merge requests of its visitor, and the public projects to strangers',
  async t => {
    const issue = (
      await app.as(ada).post(`/projects/${hidden.id}/issues`, { title: HOSTILE, assignee_id: ada.id })
    ).json()
    const made = (await app.as(ada).post(`/projects/${hidden.id}/issues`, { title: 'Of nobody' })).json()
    await app.make.file(hidden, 'a.txt', 'a')
    await app.make.branch(hidden, 'topic')
    await app.make.file(hidden, 'b.txt', 'b', 'topic')
    const mergeRequest = {
      title: `${HOSTILE} merge`,
      source_branch: 'topic',
      target_branch: 'master',
      assignee_id: ada.id
    }
    await app.as(ada).post(`/projects/${hidden.id}/merge_requests`, mergeRequest)
    const home = await asAda.get('/')
    t.equal(
      home.body
        .split('id="merge-requests"')[1]
        ?.match(new RegExp(`class="title" href="/${ada.username}/hidden/merge_requests/1"`, 'g'))?.length,
      1
    )
    t.equal(home.status, 200)
    t.match(home.body, `href="/${ada.username}/hidden/issues/${issue.iid}"`)
    t.notMatch(home.body.split('id="activity"')[0], `/hidden/issues/${made.iid}"`, 'nobody has to work on it')
    t.match(home.body, '/hidden"')
    t.notMatch(home.body, '<script>')
    t.match(home.headers.get('content-security-policy'), "style-src 'self'")
    const strange = await nobody.get('/')
    t.match(strange.body, `href="/${ada.username}/open"`)
    t.notMatch(strange.body, '/hidden"')
    t.notMatch(strange.body, 'What it is for', 'the API does not show descriptions to strangers')
  }
)

t.test('lists of projects have pages and a search', async t => {
  t.match((await asAda.get('/dashboard/projects?search=hidd')).body, '/hidden"')
  t.notMatch((await asAda.get('/dashboard/projects?search=hidd')).body, '/open"')
  t.match((await asBob.get('/dashboard/projects')).body, 'class="empty"')
  t.match((await asAda.get('/explore?per_page=1&search=')).body, 'rel="next"')
  t.match((await nobody.get('/dashboard/projects')).body, 'href="/users/sign_in?return_to=%2Fdashboard%2Fprojects"')
})

t.test('the page of a user shows the projects that the visitor can see', async t => {
  const own = await asAda.get(`/${ada.username}`)
  t.match(own.body, '/hidden"')
  t.notMatch(own.body, '<script>')
  const other = await asBob.get(`/${ada.username.toUpperCase()}`)
  t.equal(other.status, 200)
  t.notMatch(other.body, '/hidden"')
  t.equal((await nobody.get(`/${ada.username}`)).status, 404, 'users are for signed-in users, as in the API')
  t.equal((await asBob.get('/nobody-has-this-name')).status, 404)
})

t.test('the path of a group leads to its page, for those who may know about it', async t => {
  const group = await app.make.group({ owner: ada, visibilityLevel: 0 })
  await app.as(ada).put(`/groups/${group.id}`, { description: HOSTILE })
  t.equal((await asAda.get(`/${group.path}`)).location, `/groups/${group.path}`)
  t.equal((await asBob.get(`/${group.path}`)).status, 404)
  const page = await asAda.get(`/groups/${group.path}`)
  t.match(page.body, '&lt;script&gt;')
  t.match((await asAda.get(`/groups/${group.path}/group_members`)).body, '>Owner<')
  t.match((await asAda.get('/dashboard/groups')).body, `/groups/${group.path}"`)
  const missing = await asBob.get(`/groups/${group.path}`)
  t.equal(missing.status, 404)
  const other = await asBob.get('/groups/there-is-no-such-group')
  const cut = (body: string) => body.replace(/value="[^"]*"/g, '')
  t.equal(cut(missing.body), cut(other.body), 'the same page as for a group that does not exist')
})

t.test('a project is created, and refused values stay in the form', async t => {
  const form = await asBob.get('/projects/new')
  const made = await asBob.submit(form, 'action="/projects"', { name: 'Made here', visibility_level: '20' })
  t.equal(made.status, 303)
  t.equal(made.location, `/${bob.username}/made-here`)
  const again = await asBob.submit(form, 'action="/projects"', { name: 'Made here', description: HOSTILE })
  t.equal(again.status, 400)
  t.match(again.body, 'class="error"')
  t.match(again.body, 'value="Made here"')
  t.notMatch(again.body, '<script>')
})

t.test('members are added, changed and removed by those who may', async t => {
  const path = `/${ada.username}/hidden/project_members`
  const page = await asAda.get(path)
  const unknown = await asAda.submit(page, 'Add the member', { username: 'nobody-has-it', access_level: '30' })
  t.equal(unknown.status, 400)
  t.match(unknown.body, 'nobody has this username')
  t.match(unknown.body, 'value="nobody-has-it"')
  const added = await asAda.submit(page, 'Add the member', { username: bob.username, access_level: '10' })
  t.equal(added.location, path)
  t.match((await asBob.get(path)).body, 'Leave for good')
  t.notMatch((await asBob.get(path)).body, 'Add the member')
  t.equal((await asBob.submit(page, 'Add the member', { username: ada.username, access_level: '40' })).status, 409)
  const changed = await asAda.submit(await asAda.get(path), `/${bob.id}"`, { access_level: '20' })
  t.equal(changed.status, 303)
  t.match((await asAda.get(path)).body, '<td>Reporter</td>')
  t.equal((await asBob.submit(await asBob.get(path), '/remove')).location, '/')
  t.equal((await asBob.get(path)).status, 404, 'who left a private project cannot open it')
})

t.test('a group is created, with the path of its name', async t => {
  const form = await asBob.get('/groups/new')
  const made = await asBob.submit(form, 'action="/groups"', { name: 'The Band', visibility_level: '10' })
  t.equal(made.location, '/groups/the-band')
  t.match((await asBob.get('/groups/the-band/group_members')).body, '<td>Owner</td>')
  const again = await asBob.submit(form, 'action="/groups"', { name: 'The Band', path: 'the-band' })
  t.equal(again.status, 400)
  t.match(again.body, 'role="alert"')
})

t.test('the search finds only what the visitor may see', async t => {
  await app.as(ada).post(`/projects/${hidden.id}/issues`, { title: 'Needle in private' })
  await app.as(ada).post(`/projects/${open.id}/issues`, { title: 'needle in public' })
  await app.as(ada).post(`/projects/${open.id}/issues`, { title: 'needle for members', confidential: true })
  const mine = await asAda.get('/search?q=NEEDLE&scope=issues')
  t.match(mine.body, 'Needle in private')
  t.match(mine.body, 'needle for members')
  const theirs = await asBob.get('/search?q=NEEDLE&scope=issues')
  t.match(theirs.body, 'needle in public')
  t.notMatch(theirs.body, /in private|for members/)
  t.notMatch((await nobody.get('/search?q=NEEDLE&scope=issues')).body, 'needle in public')
  t.match((await asBob.get(`/search?q=${ada.username}&scope=users`)).body, `href="/${ada.username}"`)
  t.notMatch((await nobody.get('/search?q=hidden')).body, '/hidden"')
  const all = await asBob.get(`/search?q=needle&project=${ada.username}/open`)
  t.match(all.body, 'needle in public', 'without a kind, it looks at all of them')
  t.match(all.body, `href="/${ada.username}/open/search?q=needle"`)
  t.match((await asBob.get('/search?q=needle&scope=merge_requests')).body, 'class="empty"')
  t.equal((await asBob.get(`/search?q=${'x'.repeat(256)}`)).status, 400)
})

t.test('what was written when the session had ended is sent after signing in again', async t => {
  const eve = await app.make.user()
  const browser = await signedIn(eve)
  const form = await browser.get('/projects/new')
  await execute('delete from sessions where user_id = ?', [eve.id])
  const asked = await browser.submit(form, 'action="/projects"', { name: 'Not lost' })
  t.equal(asked.status, 401)
  const signIn = await browser.submit(asked, '/users/sign_in', { login: eve.username, password: eve.password })
  t.equal(signIn.status, 200)
  t.match(signIn.body, 'value="Not lost"')
  const sent = await browser.submit(signIn, 'action="/projects"')
  t.equal(sent.location, `/${eve.username}/not-lost`)
})

t.test('a form from elsewhere changes nothing', async t => {
  const values = { name: 'Forged' }
  const browser = await signedIn(bob)
  for (const [name, value] of [
    ['origin', 'https://evil.example'],
    ['sec-fetch-site', 'cross-site']
  ] as const) {
    const { status } = await browser.post('/projects', values, { [name]: value })
    t.equal(status, 403)
    const stranger = await nobody.post('/projects', values, { [name]: value })
    t.equal(stranger.status, 401)
    t.notMatch(stranger.body, 'Forged', 'the form of another site is not kept for later')
  }
  const shown = await browser.post('/projects', values)
  t.equal(shown.status, 409, 'without a sign of the origin, the visitor is asked')
  t.equal((await app.as(bob).get('/projects', { search: 'Forged' })).json().length, 0)
})

t.test('a form that is sent twice changes something once', async t => {
  const form = await asBob.get('/projects/new')
  const twice = await Promise.all(
    [1, 2].map(() => asBob.submit(form, 'action="/projects"', { name: 'Twice', path: 'twice' }))
  )
  t.same(
    twice.map(({ status }) => status),
    [303, 303],
    'the second one is not an error'
  )
  const other = await asBob.submit(form, 'action="/projects"', { name: 'Other', path: 'other' })
  t.equal(other.location, `/${bob.username}/other`, 'the same page can send something else')
  t.equal((await app.as(bob).get('/projects', { search: 'twice' })).json().length, 1)
  const refused = await asBob.submit(form, 'action="/projects"', { name: 'x', path: 'other' })
  const again = await asBob.submit(form, 'action="/projects"', { name: 'x', path: 'other' })
  t.same([refused.status, again.status], [400, 400], 'a form that changed nothing is not remembered')
})

t.test('marks of sent forms are removed after a day', async t => {
  await runTask('old_sent_forms', {}, someOrigin)
  t.not((await rows('select id from sent_forms')).length, 0)
  await execute('update sent_forms set created_at = ?', [new Date(Date.now() - 86_400_001)])
  await runTask('old_sent_forms', {}, someOrigin)
  t.same(await rows('select id from sent_forms'), [])
})

t.test('only the own page without projects offers to create one', async t => {
  const idle = await app.make.user()
  t.match((await (await signedIn(idle)).get(`/${idle.username}`)).body, 'href="/projects/new"')
  const page = await asBob.get(`/${idle.username}`)
  t.match(page.body, 'There are no projects here')
  t.notMatch(page.body, 'href="/projects/new"')
})

t.test('a name without letters for a path asks for one', async t => {
  const page = await asBob.submit(await asBob.get('/projects/new'), 'action="/projects"', { name: 'Проект' })
  t.equal(page.status, 400)
  t.match(page.body, 'id="path-error">Enter a path: the name has no letters for one.')
  t.match(page.body, 'value="Проект"')
})
