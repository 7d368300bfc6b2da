// Pages of branches, tags and releases, and their forms.
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { codePages, commitOf } from './repository.js'

const { app, make, signedIn, nobody } = await codePages(t)

t.test('branches with their distance from the default branch', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  await app.make.branch(project, 'feature/old')
  git(['fast-import', '--quiet', '--force'], commitOf({ new: '1' }))
  git(
    ['fast-import', '--quiet', '--force'],
    commitOf({ other: '1' }, { branch: 'feature/new', from: 'refs/heads/feature/old^0' })
  )
  git(['update-ref', 'refs/heads/<b>', 'refs/heads/feature/old'])
  const owner = await signedIn(project.owner)
  const page = await owner.get(`${path}/branches`)
  t.match(
    page.body,
    /master<\/a> <span class="label">default<\/span> <a class="label" href="[^"]*\/settings\/branches">protected<\/a>/
  )
  t.match(page.body, '1 ahead, 1 behind')
  t.match(page.body, '0 ahead, 1 behind')
  t.match(page.body, `href="${path}/tree/feature/new"`)
  t.match(page.body, `href="${path}/compare/master...feature/new"`)
  t.match(page.body, 'merge_request%5Bsource_branch%5D=feature%2Fnew')
  t.match(page.body, '&lt;b&gt;')
  t.notMatch(page.body, '<b>')
  t.notMatch((await owner.get(`${path}/branches?search=NEW`)).body, 'feature/old')
  for (let at = 0; at < 20; at++) git(['update-ref', `refs/heads/many/${at}`, 'refs/heads/master'])
  t.match((await owner.get(`${path}/branches`)).body, `<a rel="next" href="${path}/branches?page=2">`)
  const few = await countStatements(() => owner.get(`${path}/branches?search=old`))
  t.equal(await countStatements(() => owner.get(`${path}/branches`)), few, 'a longer page needs no more statements')
})

t.test('a branch is made and deleted', async t => {
  const { project, path, git } = await make()
  const owner = await signedIn(project.owner)
  const form = await owner.get(`${path}/branches`)
  const made = await owner.submit(form, 'name="branch_name"', { branch_name: 'feature/x', ref: 'master' })
  t.match([made.status, made.location], [303, `${path}/tree/feature/x`])
  const refused = await owner.submit(form, 'name="branch_name"', { branch_name: 'a..b', ref: 'master' })
  t.equal(refused.status, 400)
  t.match(refused.body, /<p role="alert" id="refused">Branch name is invalid<\/p>/)
  t.match(refused.body, 'value="a..b"')
  const page = await owner.get(`${path}/branches`)
  const gone = await owner.submit(page, '/branches/delete/feature/x')
  t.match([gone.status, gone.location], [303, `${path}/branches`])
  t.equal(git(['for-each-ref', '--format=%(refname)', 'refs/heads']), 'refs/heads/master')
  t.equal((await owner.post(`${path}/branches/delete/master`, {})).status, 409, 'without the token of a form')
})

t.test('tags, and their release notes', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const owner = await signedIn(project.owner)
  const form = await owner.get(`${path}/tags`)
  t.match(form.body, 'There are no tags yet')
  const values = { tag_name: 'v/1', ref: 'master', message: 'One <b>', release_description: '**Good** <script>' }
  const made = await owner.submit(form, 'name="tag_name"', values)
  t.match([made.status, made.location], [303, `${path}/tags/v/1`])
  t.equal(git(['cat-file', '-t', 'refs/tags/v/1']), 'tag')
  for (const page of ['tags', 'tags/v/1', 'releases/v/1']) {
    const shown = await nobody.get(`${path}/${page}`)
    t.match(shown.body, '<strong>Good</strong> &lt;script&gt;', page)
    t.match(shown.body, 'One &lt;b&gt;')
  }
  const page = await owner.get(`${path}/tags/v/1`)
  t.equal((await owner.submit(page, 'name="description"', { description: 'Better' })).location, `${path}/tags/v/1`)
  t.match((await nobody.get(`${path}/tags`)).body, 'Better')
  t.equal((await owner.submit(await owner.get(`${path}/tags`), 'name="tag_name"', values)).status, 400)
  t.equal((await owner.submit(page, '/tags/delete/v/1')).location, `${path}/tags`)
  t.equal((await owner.get(`${path}/tags/v/1`)).status, 404)
})

t.test('readers see what the API shows them, and only developers see forms', async t => {
  const open = await make({ visibility_level: 20 })
  const closed = await make()
  const stranger = await signedIn(await app.make.user())
  t.equal((await nobody.get(`${open.path}/branches`)).status, 404, 'branches are for signed-in users')
  t.equal((await nobody.get(`${open.path}/tags`)).status, 200)
  for (const page of ['branches', 'tags']) {
    t.notMatch((await stranger.get(`${open.path}/${page}`)).body, /Create|Delete/)
    t.equal((await stranger.get(`${closed.path}/${page}`)).status, 404)
  }
  const form = await stranger.get(`${open.path}/tags`)
  const token = /name="authenticity_token" value="([^"]+)"/.exec(form.body)?.[1] ?? ''
  const forged = await stranger.post(`${open.path}/branches`, {
    authenticity_token: token,
    branch_name: 'x',
    ref: 'master'
  })
  t.equal(forged.status, 403)
})
