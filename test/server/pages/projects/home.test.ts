// The page of a project, its members, and its stars and forks.
import { once } from 'node:events'
import { get } from 'node:http'
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST } from '../../../../src/lib/levels.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { codePages } from '../code/repository.js'

const { app, base, make, signedIn, nobody } = await codePages(t)

t.test('it shows what a project is, how to get it, and its files', async t => {
  const { project, path } = await make({
    visibility_level: 20,
    description: 'Tools <b>',
    tag_list: ['one', 'two']
  } as object)
  await app.make.file(project, 'src/a.ts', 'let a\n')
  await app.make.file(project, 'src/b.ts', 'let b\n')
  await app.make.file(project, 'c.py', 'c\n')
  await app.as(project.owner).post(`/projects/${project.id}/issues`, { title: 'First' })
  await app.as(project.owner).put(`/projects/${project.id}/repository/files`, {
    file_path: 'README.md',
    branch_name: 'master',
    content: '# Title <script>\n\nSee #1, [b](src/b.ts) and ![x](x.png)\n',
    commit_message: 'Explain'
  })
  const owner = await signedIn(project.owner)
  const { status, body, headers } = await owner.get(path)
  t.equal(status, 200)
  t.match(headers.get('content-security-policy'), "script-src 'self'")
  t.match(body, 'Tools &lt;b&gt;')
  t.match(body, `<a href="${path}/tree/master/src">src/</a>`)
  t.match(body, />Explain<\/a>/, 'the last commit of a file')
  t.match(body, /<h2 id="md-title-script">Title &lt;script&gt;/)
  t.match(body, `<a href="${path}/issues/1" title="First">#1</a>`)
  t.match(body, `<a href="${path}/blob/master/src/b.ts" rel="nofollow noopener">b</a>`)
  t.match(body, `<img src="${path}/raw/master/x.png" alt="x" loading="lazy">`)
  t.match(body, /value="http[^"]*\.git" aria-label="URL for git over HTTP"/)
  t.match(body, /value="[^"]*git@[^"]*\.git" aria-label="Address for git over SSH"/)
  t.match(body, / TypeScript 67 %<.* Python 33 %</s)
  t.match(body, `<link rel="alternate" type="application/atom+xml" href="${path}/activity.atom">`)
  t.notMatch(body, /<script>|style=|onclick/)
  const stranger = await signedIn(await app.make.user())
  t.notMatch((await stranger.get(path)).body, 'New file')
  const visitor = (await nobody.get(path)).body
  t.match(visitor, 'Title &lt;script&gt;')
  t.notMatch(visitor, '/star"', 'nobody has no stars to give')
  t.notMatch(visitor, `${path}/issues/1"`, 'issues are for signed-in readers')
})

t.test('it is a 404 to whom the API does not show the project', async t => {
  const { project, path } = await make()
  const stranger = await signedIn(await app.make.user())
  for (const page of ['', '/activity', '/activity.atom', '/project_members', '/forks/new']) {
    t.equal((await stranger.get(path + page)).status, 404, page)
    t.equal((await nobody.get(path + page)).status, 404, page)
  }
  const guest = await signedIn(await app.make.member(project, GUEST))
  const { status, body } = await guest.get(path)
  t.equal(status, 200)
  t.notMatch(body, /README|Clone|forks\/new/, 'guests may not read the files')
})

t.test('an empty project shows how to push', async t => {
  const project = await app.make.project()
  const owner = await signedIn(project.owner)
  t.match(
    (await owner.get(`/${project.path}`)).body,
    /git remote add origin http[^\n]*\ngit branch -M master\ngit push -u origin master/
  )
  const reporter = await signedIn(await app.make.member(project, 20))
  const { body } = await reporter.get(`/${project.path}`)
  t.match(body, 'This project has no commits yet.')
  t.notMatch(body, 'git push')
})

t.test('a project that is being copied says so', async t => {
  const { project, path } = await make()
  const owner = await signedIn(project.owner)
  await execute("update projects set import_state = 'waiting' where id = ?", [project.id])
  t.match((await owner.get(path)).body, 'The repository is being copied.')
  await execute("update projects set import_state = 'failed', import_error = 'no <host>' where id = ?", [project.id])
  t.match((await owner.get(path)).body, 'could not be copied: no &lt;host&gt;')
})

t.test('an old path leads to the page', async t => {
  const { project, path } = await make()
  const owner = await signedIn(project.owner)
  await app.as(project.owner).put(`/projects/${project.id}`, { path: 'renamed' })
  t.equal((await owner.get(path)).location, `/${project.owner.username}/renamed`)
})

t.test('the address of a clone leads to the page, and never to another host', async t => {
  const { path } = await make({ visibility_level: 20 })
  t.equal((await nobody.get(`${path}.git`)).location, path)
  // Browsers would write a slash instead of the backslash.
  const [answer] = await once(get({ port: new URL(base).port, path: '/\\evil.example/x.git' }), 'response')
  answer.resume()
  t.same([answer.statusCode, answer.headers.location], [404, undefined])
})

t.test('the link back of a failure never leads to another host', async t => {
  for (const path of ['/\\evil.example/x', '//evil.example/x', '/\\/evil.example/x']) {
    const options = { port: new URL(base).port, path: `${path}/labels?page=x`, headers: { accept: 'text/html' } }
    const [answer] = await once(get(options), 'response')
    let body = ''
    for await (const part of answer) body += part
    t.notMatch(body, /href="[/\\]{2}|href="\/\\/, path)
    t.match(body, 'href="/', path)
  }
})

t.test('stars are given and taken, also twice', async t => {
  const { project, path } = await make({ visibility_level: 10 })
  const fan = await signedIn(await app.make.user())
  for (let count = 0; count < 2; count++) {
    const page = await fan.get(path)
    if (count === 0) t.equal((await fan.submit(page, `${path}/star`)).location, path)
    else t.match(page.body, /Unstar.*1 star</s)
  }
  const page = await fan.get(path)
  const token = { authenticity_token: /name="authenticity_token" value="([^"]*)"/.exec(page.body)?.[1] ?? '' }
  t.equal((await fan.post(`${path}/star`, token)).status, 303)
  t.equal((await app.as(project.owner).get(`/projects/${project.id}`)).json().star_count, 1)
  await fan.submit(page, `${path}/unstar`)
  t.match((await fan.get(path)).body, />Star<.*0 stars</s)
  t.equal((await fan.post(`${path}/star`, {})).status, 409, 'without the token of the page')
  t.equal((await app.as(project.owner).get(`/projects/${project.id}`)).json().star_count, 0)
})

t.test('a project is forked into a namespace of the visitor', async t => {
  const { path } = await make({ visibility_level: 10 })
  const user = await app.make.user()
  const fan = await signedIn(user)
  const form = await fan.get(`${path}/forks/new`)
  t.match(form.body, new RegExp(`<option value="\\d+" selected>${user.username}</option>`))
  const made = await fan.submit(form, `${path}/forks`)
  t.equal(made.location, `/${user.username}/${path.split('/')[2]}`)
  t.match((await fan.get(made.location ?? '')).body, `A fork of <a href="${path}">`)
  const again = await fan.submit(await fan.get(`${path}/forks/new`), `${path}/forks`)
  t.equal(again.status, 409)
  t.match(again.body, 'role="alert"')
})

t.test('members are listed with their levels', async t => {
  const { project, path } = await make({ visibility_level: 20 })
  const member = await app.make.member(project, DEVELOPER)
  const browser = await signedIn(await app.make.user())
  const { body } = await browser.get(`${path}/project_members`)
  t.match(body, new RegExp(`href="/${member.username}">.*<td>Developer</td>`, 's'))
  t.equal((await nobody.get(`${path}/project_members`)).status, 404, 'members are for signed-in readers')
})

t.test('more files and references need no more statements', async t => {
  const { project, path } = await make()
  const owner = await signedIn(project.owner)
  const few = await countStatements(() => owner.get(path))
  for (const name of ['a.ts', 'b.ts', 'c/d.ts']) await app.make.file(project, name, name)
  await app.runJobs()
  await owner.get(path)
  t.equal(await countStatements(() => owner.get(path)), few)
})
