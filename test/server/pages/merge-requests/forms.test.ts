// The forms that open and change merge requests.
import { DEVELOPER, REPORTER } from '../../../../src/lib/levels.js'
import {
  insertMilestone,
  makeBranch,
  makeMergeRequest,
  makeProject
} from '../../../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../../../helpers/app.js'
import { listen } from '../../../helpers/browser.js'
import t from '../../../helpers/tap.js'
import { signedIn } from './signed-in.js'

const app = await testApp(t)
const base = await listen(app.fastify)

t.test('a merge request is opened from the address that a push prints', async t => {
  const project = await makeProject()
  const owner = await signedIn(base, project.owner)
  const milestone = await insertMilestone(project)
  await app.as(project.owner).post(`/projects/${project.id}/labels`, { name: 'a "b" <c>', color: '#ff0000' })
  const path = `/${project.path}/merge_requests`
  const form = await owner.get(`${path}/new?merge_request%5Bsource_branch%5D=feature`)
  t.equal(form.status, 200)
  t.match(form.body, '<input id="title" name="title" maxlength="255" required value="Add feature.txt"')
  t.match(form.body, '1 commit<')
  t.match(form.body, /class="added">feature</)
  const made = await owner.submit(form, 'name="title"', {
    title: 'Mine',
    description: 'one\r\ntwo',
    assignee_id: String(project.owner.id),
    milestone_id: String(milestone),
    'labels[]': 'a "b" <c>',
    new_labels: 'more, and more',
    remove_source_branch: 'true'
  })
  t.equal(made.status, 303)
  t.equal(made.location, `${path}/1`)
  const [record] = (await app.as(project.owner).get(`/projects/${project.id}/merge_requests`)).json()
  t.match(record, {
    title: 'Mine',
    description: 'one\ntwo',
    target_branch: 'master',
    assignee: { id: project.owner.id },
    milestone: { id: milestone },
    labels: ['a "b" <c>', 'and more', 'more'],
    force_remove_source_branch: true
  })
  const second = await owner.get(`${path}/new?merge_request%5Bsource_branch%5D=feature`)
  t.match([second.status, second.location], [302, made.location])
})

t.test('branches are chosen first, and wrong ones are named', async t => {
  const project = await makeProject()
  const owner = await signedIn(base, project.owner)
  const path = `/${project.path}/merge_requests/new`
  const choice = await owner.get(path)
  t.match(choice.body, '<option value="feature">')
  const ask = (from: string, into: string) =>
    owner.get(
      `${path}?${new URLSearchParams({ 'merge_request[source_branch]': from, 'merge_request[target_branch]': into })}`
    )
  t.match((await ask('nothing', 'master')).body, 'source branch does not exist')
  t.match((await ask('feature', '<b>')).body, 'target branch does not exist')
  t.match((await ask('feature', 'feature')).body, 'You can not use same project/branch')
  t.match((await ask('master', 'feature')).body, 'has no commits that the target branch does not have')
  t.equal((await owner.get(`${path}?merge_request=1&file=x`)).status, 400)
  const form = await ask('feature', 'master')
  const refused = await owner.submit(form, 'name="title"', { title: '', description: 'kept <i>' })
  t.equal(refused.status, 400)
  t.match(refused.body, `id="title-error">can&#39;t be blank`)
  t.match(refused.body, 'kept &lt;i&gt;</textarea>')
  const { iid } = await makeMergeRequest(project, { title: 'First <b>' })
  const open = `/${project.path}/merge_requests/${iid}`
  t.equal((await ask('feature', 'master')).location, open, 'the one that is open')
  const second = await owner.submit(form, 'name="title"', { title: 'Second', description: 'kept <u>' })
  t.equal(second.status, 400)
  t.match(second.body, `open already: <a href="${open}">First &lt;b&gt;</a>`)
  t.match(second.body, 'kept &lt;u&gt;</textarea>')
  const reporter = await signedIn(base, await app.make.member(project, REPORTER))
  t.equal((await reporter.get(path)).status, 404)
})

t.test('a fork proposes its branch to its source', async t => {
  const project = await makeProject({ visibility_level: 20 })
  const user = await app.make.user()
  await app.as(user).post(`/projects/fork/${project.id}`)
  await app.runJobs()
  const [fork] = (await app.as(user).get('/projects/owned')).json()
  await app.make.branch({ ...fork, path: fork.path_with_namespace, owner: user }, 'mine')
  await app.make.file({ ...fork, path: fork.path_with_namespace, owner: user }, 'mine.txt', 'mine\n', 'mine')
  const browser = await signedIn(base, user)
  const form = await browser.get(
    `/${fork.path_with_namespace}/merge_requests/new?merge_request%5Bsource_branch%5D=mine`
  )
  t.match(form.body, `${project.path}:master`)
  t.match(form.body, /class="added">mine</)
  t.notMatch(form.body, 'name="assignee_id"', 'the visitor is no developer there')
  const made = await browser.submit(form, 'name="title"', { title: 'From a fork' })
  t.equal(made.location, `/${project.path}/merge_requests/1`)
  const page = await browser.get(`/${project.path}/merge_requests/1`)
  t.match(page.body, `${fork.path_with_namespace}:mine</a>`)
})

t.test('texts and plan are changed, and a stale form shows both texts', async t => {
  const project = await makeProject()
  const { id, iid } = await makeMergeRequest(project, { description: 'old', labels: 'one,two' })
  await makeBranch(project, 'other')
  const record = `/projects/${project.id}/merge_requests/${id}`
  const owner = await signedIn(base, project.owner)
  const path = `/${project.path}/merge_requests/${iid}`
  const form = await owner.get(`${path}/edit`)
  t.match(form.body, /<textarea id="description"[^>]*>\nold<\/textarea>/)
  t.match(form.body, /value="one" checked/)
  const saved = await owner.submit(form, 'name="title"', {
    title: 'New',
    description: 'new',
    'labels[]': 'one',
    target_branch: 'other',
    remove_source_branch: 'true'
  })
  t.equal(saved.status, 303)
  t.match((await app.as(project.owner).get(record)).json(), {
    title: 'New',
    description: 'new',
    labels: ['one'],
    target_branch: 'other',
    force_remove_source_branch: true
  })
  const stale = await owner.submit(form, 'name="title"', {
    title: 'Mine <b>',
    description: 'mine & <i>',
    target_branch: 'other'
  })
  t.equal(stale.status, 409)
  t.match(
    stale.body,
    /<p class="title">New<\/p>[\s\S]*>new<\/pre>[\s\S]*value="Mine &lt;b&gt;"[\s\S]*mine &amp; &lt;i&gt;<\/textarea>/
  )
  t.match((await app.as(project.owner).get(record)).json(), { title: 'New' })
  t.equal((await owner.submit(stale, 'name="title"', { title: 'Both', description: '' })).status, 303)
  t.match((await app.as(project.owner).get(record)).json(), { title: 'Both', description: '' })
  const wrong = await owner.submit(await owner.get(`${path}/edit`), 'name="title"', {
    title: 'x',
    target_branch: 'nowhere'
  })
  t.equal(wrong.status, 400)
  t.match(wrong.body, 'id="target_branch-error">does not exist')
})

t.test('the author changes the texts only, and others do not get the form', async t => {
  const project = await makeProject({ visibility_level: 20 })
  const author = await app.make.member(project, DEVELOPER)
  const body = { source_branch: 'feature', target_branch: 'master', title: 'Mine' }
  const { iid } = (await app.as(author).post(`/projects/${project.id}/merge_requests`, body)).json()
  await app.as(project.owner).delete(`/projects/${project.id}/members/${author.id}`)
  const browser = await signedIn(base, author)
  const path = `/${project.path}/merge_requests/${iid}`
  const form = await browser.get(`${path}/edit`)
  t.equal(form.status, 200)
  t.notMatch(form.body, 'name="labels[]"')
  t.equal((await browser.submit(form, 'name="title"', { title: 'Changed', description: 'x' })).status, 303)
  t.match((await browser.get(path)).body, '<h1>Changed (!1)</h1>')
  const stranger = await signedIn(base, await app.make.user())
  t.equal((await stranger.get(`${path}/edit`)).status, 404)
  t.equal((await stranger.get(path)).status, 200)
})
