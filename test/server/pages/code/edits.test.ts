// Editing one file as a commit.
import { createLock } from '../../../../src/areas/projects/lfs/locks.js'
import { DEVELOPER } from '../../../../src/lib/levels.js'
import { originBy, projectRow } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { codePages, commitOf } from './repository.js'

const { app, make, signedIn } = await codePages(t)

t.test('a file is changed on its branch, with its own line ends', async t => {
  const { project, path, git } = await make()
  git(['fast-import', '--quiet', '--force'], commitOf({ 'dir/a.txt': '\ufeffone\r\ntwo\r\n', 'b.txt': '\none\n' }))
  const owner = await signedIn(project.owner)
  const form = await owner.get(`${path}/edit/master/dir/a.txt`)
  t.match(form.body, />\none\ntwo\n<\/textarea>/)
  const done = await owner.submit(form, 'name="content"', { content: 'one\r\n2\r\n<script>', commit_message: 'Count' })
  t.match([done.status, done.location], [303, `${path}/blob/master/dir/a.txt`])
  t.equal(git(['cat-file', 'blob', 'master:dir/a.txt']), '\ufeffone\r\n2\r\n<script>'.trim())
  t.match(git(['log', '-1', '--format=%s %an', 'master']), `Count ${project.owner.name}`)
  const second = await owner.get(`${path}/edit/master/b.txt`)
  t.match(second.body, '>\n\none\n</textarea>', 'browsers drop the first line end of a field')
  await owner.submit(second, 'name="content"', { content: 'two\r\n' })
  t.equal(git(['cat-file', 'blob', 'master:b.txt']), 'two')
  t.equal(git(['log', '-1', '--format=%s', 'master']), 'Update b.txt')
  await owner.submit(await owner.get(`${path}/edit/master/b.txt`), 'name="content"', { content: '' })
  t.equal(git(['cat-file', '-s', 'master:b.txt']), '0', 'a file may become empty')
})

t.test('a file that somebody else changed is not overwritten, and both texts are shown', async t => {
  const { project, path, git } = await make()
  const owner = await signedIn(project.owner)
  const form = await owner.get(`${path}/edit/master/README.md`)
  git(['fast-import', '--quiet', '--force'], commitOf({ 'README.md': 'theirs </pre>\n' }))
  const tip = git(['rev-parse', 'master'])
  const refused = await owner.submit(form, 'name="content"', { content: 'mine </textarea>', branch_name: 'master' })
  t.equal(refused.status, 409)
  t.match(refused.body, /theirs &lt;\/pre&gt;\n/)
  t.match(refused.body, '\nmine &lt;/textarea&gt;</textarea>')
  t.equal(git(['rev-parse', 'master']), tip)
  const again = await owner.submit(refused, 'name="content"', { content: 'both' })
  t.equal(again.status, 303)
  t.equal(git(['cat-file', 'blob', 'master:README.md']), 'both')
})

t.test('a file that somebody else has locked is not changed', async t => {
  const { project, path, git } = await make()
  const owner = await signedIn(project.owner)
  const other = await app.make.user()
  await app.make.member(project, DEVELOPER, other)
  const form = await owner.get(`${path}/edit/master/README.md`)
  await createLock(await projectRow(project), 'README.md', originBy(other))
  const tip = git(['rev-parse', 'master'])
  const refused = await owner.submit(form, 'name="content"', { content: 'mine' })
  t.match([refused.status, refused.body], [400, `README.md is locked by ${other.username}`])
  t.match(refused.body, 'mine</textarea>')
  t.equal(git(['rev-parse', 'master']), tip)
})

t.test('what was written for a file or branch that is gone is not lost', async t => {
  const { project, path, git } = await make()
  const owner = await signedIn(project.owner)
  await app.make.branch(project, 'doomed')
  const form = await owner.get(`${path}/edit/master/README.md`)
  const other = await owner.get(`${path}/edit/doomed/README.md`)
  git(['update-ref', '-d', 'refs/heads/doomed'])
  await owner.submit(await owner.get(`${path}/delete/master/README.md`), 'name="commit_message"')
  for (const gone of [form, other]) {
    const refused = await owner.submit(gone, 'name="content"', { content: 'long\nwork </textarea>' })
    t.equal(refused.status, 404)
    t.match(refused.body, '\nlong\nwork &lt;/textarea&gt;</textarea>')
    t.notMatch(refused.body, 'authenticity_token</label>')
  }
  const get = await owner.get(`${path}/branches/delete/doomed`)
  t.match([get.status, get.body], [404, 'There is no page here'], 'the address of a form shows a page')
  const foreign = await owner.post(`${path}/edit/doomed/README.md`, { content: 'put here by others' })
  t.notMatch(foreign.body, 'It was not saved')
})

t.test('a file is created and deleted, and a new branch leads to a merge request', async t => {
  const { project, path, git } = await make()
  const owner = await signedIn(project.owner)
  const form = await owner.get(`${path}/new/master/docs`)
  t.equal(form.body.split('id="content"').length, 2, 'the id of the main part')
  t.match(form.body, 'value="docs/"')
  const values = { file_path: 'docs/é <b>.md', content: 'text', branch_name: 'feature/docs' }
  const made = await owner.submit(form, 'name="content"', values)
  t.match(made.location, `${path}/merge_requests/new?merge_request%5Bsource_branch%5D=feature%2Fdocs`)
  t.match(made.location, 'merge_request%5Btarget_branch%5D=master')
  t.equal(git(['cat-file', 'blob', 'feature/docs:docs/é <b>.md']), 'text')
  t.equal(git(['rev-list', '--count', 'master..feature/docs']), '1')
  const taken = await owner.submit(await owner.get(`${path}/new/master/docs`), 'name="content"', values)
  t.match([taken.status, taken.body], [400, /Branch already exists/])
  t.match(taken.body, 'value="docs/é &lt;b&gt;.md"')
  const wrong = await owner.submit(await owner.get(`${path}/new/master/docs`), 'name="content"', {
    ...values,
    file_path: '../x',
    branch_name: 'master'
  })
  t.match([wrong.status, wrong.body], [400, /The file path is invalid/])
  const removal = await owner.get(`${path}/delete/master/README.md`)
  const gone = await owner.submit(removal, 'name="commit_message"', { commit_message: 'Away' })
  t.match([gone.status, gone.location], [303, `${path}/tree/master`])
  t.equal(git(['ls-tree', '--name-only', 'master']), '')
  t.equal((await owner.get(`${path}/delete/master/README.md`)).status, 404)
})

t.test('the first file of an empty project', async t => {
  const project = await app.make.project()
  const owner = await signedIn(project.owner)
  t.match((await owner.get(`/${project.path}/tree/master`)).body, `<a href="/${project.path}/new/master">`)
  const form = await owner.get(`/${project.path}/new/master`)
  const made = await owner.submit(form, 'name="content"', { file_path: 'a', content: '1' })
  t.match([made.status, made.location], [303, `/${project.path}/blob/master/a`])
})

t.test('who may edit, and what', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const files = { latin: Buffer.from([0xe9]), binary: 'a\0b', large: 'x'.repeat(600_000) }
  git(['fast-import', '--quiet', '--force'], commitOf(files))
  git(['tag', 'v1', 'master'])
  const owner = await signedIn(project.owner)
  for (const name of Object.keys(files))
    t.match((await owner.get(`${path}/edit/master/${name}`)).body, 'cannot be edited here')
  for (const wrong of ['edit/v1/README.md', 'edit/master/none', 'edit/none/README.md', 'new/v1']) {
    t.equal((await owner.get(`${path}/${wrong}`)).status, 404, wrong)
  }
  const developer = await signedIn(await app.make.member(project, DEVELOPER))
  const form = await developer.get(`${path}/edit/master/README.md`)
  t.match(form.body, /value="user-\d+-patch"/, 'the default branch is protected')
  const refused = await developer.submit(form, 'name="content"', { content: 'x', branch_name: 'master' })
  t.match([refused.status, refused.body], [400, /You are not allowed to push into this branch/])
  t.match(refused.body, '\nx</textarea>')
  const stranger = await signedIn(await app.make.user())
  t.equal((await stranger.get(`${path}/edit/master/README.md`)).status, 404)
  const token = /name="authenticity_token" value="([^"]+)"/.exec((await stranger.get('/explore')).body)?.[1] ?? ''
  const forged = { authenticity_token: token, content: 'x', branch_name: 'master' }
  t.equal((await stranger.post(`${path}/edit/master/README.md`, forged)).status, 403)
})
