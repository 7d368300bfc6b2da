// The page of a merge request: what it shows to whom, and the form that merges.
import { execute } from '../../../../src/db/connect/sql.js'
import { DEVELOPER, GUEST, REPORTER } from '../../../../src/lib/levels.js'
import {
  makeBranch,
  makeMergeRequest,
  makeProject
} from '../../../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { signedIn } from './signed-in.js'

const app = await testApp(t)
const base = await listen(app.fastify)

async function subject(values: Parameters<typeof makeMergeRequest>[1] = {}) {
  const project = await makeProject()
  const mergeRequest = await makeMergeRequest(project, values)
  await app.runJobs()
  const owner = await signedIn(base, project.owner)
  const api = app.as(project.owner)
  const record = `/projects/${project.id}/merge_requests/${mergeRequest.id}`
  return { project, mergeRequest, owner, api, record, path: `/${project.path}/merge_requests/${mergeRequest.iid}` }
}

t.test('its tabs show the texts, commits, changes and pipelines', async t => {
  const { owner, path, project, api } = await subject({
    title: 'Add <script>alert(1)</script>',
    description: 'Closes #1, *really* <img src=x onerror=alert(1)>',
    labels: 'bug'
  })
  await api.post(`/projects/${project.id}/issues`, { title: 'Broken & old' })
  const page = await owner.get(path)
  t.equal(page.status, 200)
  t.match(page.body, '<h1>Add &lt;script&gt;alert(1)&lt;/script&gt; (!1)</h1>')
  t.match(page.body, '<em>really</em> &lt;img src=x')
  t.match(page.body, `href="/${project.path}/tree/feature">feature</a>`)
  t.match(page.body, /A merge closes\s+<a href="[^"]*\/issues\/1" title="Broken &amp; old">#1<\/a>/)
  t.match(page.body, 'The branches merge without conflicts')
  t.match(page.body, />Commits 1<.*>Changes 1</s)
  t.notMatch(page.body, /<img src=x|<script>|style=/)
  const commits = await owner.get(`${path}/commits`)
  const [, head = ''] = new RegExp(`href="/${project.path}/commit/([0-9a-f]{40})"`).exec(commits.body) ?? []
  t.notMatch(commits.body, 'title="Pipeline')
  await api.post(`/projects/${project.id}/statuses/${head}`, { state: 'success', name: 'lint', ref: 'feature' })
  t.match(
    (await owner.get(`${path}/commits`)).body,
    new RegExp(`<a href="/${project.path}/pipelines/\\d+" title="Pipeline #\\d+"><span class="state good">success`)
  )
  for (const tab of ['diffs', 'changes', 'diffs?view=parallel']) {
    const changes = await owner.get(`${path}/${tab}`)
    t.match(changes.body, /class="added">feature</, tab)
    t.match(changes.body, new RegExp(`href="/${project.path}/blob/[0-9a-f]{40}/feature.txt"`))
  }
  t.match((await owner.get(`${path}/pipelines`)).body, 'state good">success')
  t.equal((await owner.get(`/${project.path}/merge_requests/99`)).status, 404)
  t.equal((await owner.get(`${path}/diffs?version=999999`)).status, 404)
})

t.test('its tabs answer when git has no longer its commits', async t => {
  const { owner, path, mergeRequest, api, record } = await subject({ labels: 'one' })
  const missing = 'f'.repeat(40)
  await execute('update merge_request_versions set start_sha = ?, base_sha = ? where merge_request_id = ?', [
    missing,
    missing,
    mergeRequest.id
  ])
  const tabs = ['', '/commits', '/diffs', '/diffs?view=parallel', '/pipelines', '/edit']
  for (const tab of tabs) t.equal((await owner.get(`${path}${tab}`)).status, 200, tab)
  await execute('update merge_request_versions set head_sha = ? where merge_request_id = ?', [missing, mergeRequest.id])
  await execute('update merge_requests set head_sha = ? where id = ?', [missing, mergeRequest.id])
  for (const tab of tabs) t.equal((await owner.get(`${path}${tab}`)).status, 200, tab)
  // Its branch is still there.
  t.equal((await api.put(`${record}/merge`)).statusCode, 200)
})

t.test('each version can be read, and more labels or issues need no more statements', async t => {
  const { owner, path, project, mergeRequest, api } = await subject({ labels: 'one' })
  await app.make.file(project, 'later.txt', 'later\n', 'feature')
  await app.runJobs()
  const newest = await owner.get(`${path}/diffs`)
  t.match(newest.body, />Version 2 of 2</)
  t.match(newest.body, 'later.txt')
  const [, old = ''] = /href="([^"]*\/diffs\?version=\d+)"/.exec(newest.body) ?? []
  const first = await owner.get(old)
  t.match(first.body, />Version 1 of 2</)
  t.notMatch(first.body, 'later.txt')
  const few = await countStatements(() => owner.get(path))
  const change = (values: object) => api.put(`/projects/${project.id}/merge_requests/${mergeRequest.id}`, values)
  await change({ labels: 'one,two,three,four' })
  t.equal(await countStatements(() => owner.get(path)), few)
  for (const title of ['a', 'b', 'c']) await api.post(`/projects/${project.id}/issues`, { title })
  await change({ description: 'Closes #1' })
  const one = await countStatements(() => owner.get(path))
  await change({ description: 'Closes #1, #2 and #3' })
  t.equal(await countStatements(() => owner.get(path)), one, 'however many issues it closes')
  t.match((await owner.get(path)).body, /A merge closes .*#1<.*#2<.*#3</)
})

t.test('whom the API refuses gets the page of something that does not exist', async t => {
  const { path, project } = await subject({ title: 'Secret' })
  const [guest, stranger] = [await app.make.member(project, GUEST), await app.make.user()]
  for (const browser of [new Browser(base), await signedIn(base, guest), await signedIn(base, stranger)]) {
    for (const tab of ['', '/commits', '/diffs', '/pipelines']) {
      const page = await browser.get(path + tab)
      t.equal(page.status, 404)
      t.notMatch(page.body, 'Secret')
    }
  }
})

t.test('it is merged with a message, and the branch is removed', async t => {
  const { owner, path, api, record, project } = await subject()
  const page = await owner.get(path)
  t.match(page.body, 'Merge branch &#39;feature&#39; into &#39;master&#39;')
  const merged = await owner.submit(page, '/merge"', {
    merge_commit_message: 'Mine\r\n\r\nwith lines',
    should_remove_source_branch: 'true'
  })
  t.equal(merged.status, 303)
  t.equal(merged.location, path)
  const after = (await api.get(record)).json()
  t.match(after, { state: 'merged' })
  const commit = (await api.get(`/projects/${project.id}/repository/commits/${after.merge_commit_sha}`)).json()
  t.equal(commit.message.trimEnd(), 'Mine\n\nwith lines')
  t.equal((await api.get(`/projects/${project.id}/repository/branches/feature`)).statusCode, 404)
  const shown = await owner.get(path)
  t.match(shown.body, new RegExp(`Merged by <a class="user"[^>]*>${project.owner.name}</a> as <a href="[^"]*/commit/`))
  t.notMatch(shown.body, '/merge"')
  const again = await owner.submit(page, '/merge"')
  t.equal(again.status, 406, 'a second time changes nothing')
})

t.test('a merge after a push is refused, and the message stays', async t => {
  const { owner, path, api, record, project } = await subject()
  const page = await owner.get(path)
  await app.make.file(project, 'later.txt', 'later\n', 'feature')
  const refused = await owner.submit(page, '/merge"', { merge_commit_message: 'My <b>message' })
  t.equal(refused.status, 409)
  t.match(refused.body, 'has new commits since you opened this page')
  t.match(refused.body, 'My &lt;b&gt;message</textarea>')
  t.match((await api.get(record)).json(), { state: 'opened' })
  t.equal((await owner.submit(refused, '/merge"')).status, 303, 'the page that was refused has the new commit')
})

t.test('nobody sees a form that would be refused', async t => {
  const { path, project, mergeRequest, owner, api, record } = await subject()
  const reporter = await signedIn(base, await app.make.member(project, REPORTER))
  const page = await reporter.get(path)
  t.equal(page.status, 200)
  t.match(page.body, /You may not merge into .*project_members">(Developer|Master)s of the project<\/a> may/)
  t.notMatch(page.body, /action="[^"]*\/(merge|take)"/)
  t.notMatch(page.body, `${path}/edit`)
  const form = Object.fromEntries(
    [...page.body.matchAll(/name="(authenticity_token)" value="([^"]*)"/g)].map(m => m.slice(1))
  )
  t.equal((await reporter.post(`${path}/merge`, form)).status, 403)
  t.equal((await owner.post(`${path}/merge`, {})).status, 409, 'a form without its token is shown again')
  await api.put(record, { title: 'WIP: later' })
  const unfinished = await owner.get(path)
  t.match(unfinished.body, 'The title marks it as work in progress')
  t.notMatch(unfinished.body, '/merge"')
  await api.put(record, { title: 'Ready' })
  await execute("update merge_requests set merge_status = 'cannot_be_merged' where id = ?", [mergeRequest.id])
  t.match((await owner.get(path)).body, 'The branches have conflicts')
  t.notMatch((await owner.get(path)).body, 'data-live')
  t.match((await reporter.get(path)).body, /You may not merge into.*The branches have conflicts/s)
  await execute("update merge_requests set merge_status = 'unchecked' where id = ?", [mergeRequest.id])
  t.match((await owner.get(path)).body, / data-live .*It is being checked/s, 'the page renews it')
  await api.put(record, { state_event: 'close' })
  t.match((await owner.get(path)).body, 'It is closed, and was not merged')
})

t.test('it waits for its pipeline, and the wait can be canceled', async t => {
  const { owner, path, api, record, project, mergeRequest } = await subject()
  await app.make.file(project, '.gitstead-ci.yml', 'job: { script: x }\n', 'feature')
  await app.runJobs()
  await execute("update pipelines set status = 'running' where project_id = ?", [project.id])
  const page = await owner.get(path)
  t.match(page.body, /<a href="[^"]*\/pipelines\/\d+">Pipeline #/)
  t.match(
    page.body,
    /class="main">Merge when the pipeline succeeds<\/button>\s*<button>Merge now</,
    'waiting is the main thing'
  )
  t.equal((await owner.submit(page, '/merge"', { merge_when_build_succeeds: 'true' })).status, 303)
  t.match((await api.get(record)).json(), { state: 'opened', merge_when_build_succeeds: true })
  const waiting = await owner.get(path)
  t.match(waiting.body, 'It will be merged when the pipeline succeeds')
  t.equal((await owner.submit(waiting, '/cancel_merge')).status, 303)
  t.match((await api.get(record)).json(), { merge_when_build_succeeds: false })
  t.equal((await owner.submit(waiting, '/cancel_merge')).status, 303, 'twice')
  const developer = await app.make.member(project, DEVELOPER)
  const other = await signedIn(base, developer)
  t.match((await other.get(`${path}/pipelines`)).body, /<td><a href="[^"]*\/pipelines\/\d+">/)
  t.equal((await other.submit(await other.get(path), '/take')).status, 303)
  t.match((await api.get(record)).json(), { assignee: { id: developer.id } })
  t.ok(mergeRequest.iid)
})

t.test('large changes stay within limits and say what is left out', async t => {
  const { owner, path, project } = await subject()
  const lines = Array.from({ length: 100_000 }, (_, at) => `line ${at}`).join('\n')
  await makeBranch(project, 'large', lines)
  await makeMergeRequest(project, { source_branch: 'large' })
  const page = await owner.get(path.replace(/1$/, '2/diffs'))
  t.equal(page.status, 200)
  t.ok(page.body.length < 100_000, String(page.body.length))
  t.match(page.body, /too large to show|Show the changes of/)
})
