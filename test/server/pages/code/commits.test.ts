// Pages of commits: histories, one commit, comparisons.
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { codePages, commitOf } from './repository.js'

const { app, make, signedIn, nobody } = await codePages(t)
const HOSTILE = '<script>alert(1)</script>'

t.test('the history of a branch and of a file', async t => {
  const { project, path, git } = await make()
  for (let at = 0; at < 45; at++) {
    git(['fast-import', '--quiet', '--force'], commitOf({ [`file-${at % 3}`]: `${at}` }, { message: `commit ${at}` }))
  }
  const owner = await signedIn(project.owner)
  const first = await owner.get(`${path}/commits/master`)
  t.match(first.body, '>commit 44</a>')
  t.notMatch(first.body, '>commit 4</a>')
  t.match(first.body, `<a rel="next" href="${path}/commits/master?page=2">Older</a>`)
  const second = await owner.get(`${path}/commits/master?page=2`)
  t.match(second.body, '>commit 4</a>')
  t.notMatch(second.body, 'Older')
  const file = await owner.get(`${path}/commits/master/file-1`)
  t.match(file.body, '>commit 43</a>')
  t.notMatch(file.body, '>commit 44</a>')
  t.match((await owner.get(`${path}/commits/master/none`)).body, 'No commit changed this path')
  t.equal((await owner.get(`${path}/commits`)).location, `${path}/commits/master`)
  t.equal((await owner.get(`${path}/commits/none`)).status, 404)
  t.equal((await owner.get(`${path}/commits/master?page=x`)).status, 400)
})

t.test('a commit with its changes, its statuses and its whole diff', async t => {
  const { project, path, git } = await make()
  const message = `One ${HOSTILE}\n\nBody ${HOSTILE} \u202e\n`
  git(
    ['fast-import', '--quiet', '--force'],
    commitOf({ 'README.md': '# Hello\n<b>new</b>\n', [HOSTILE]: 'x' }, { message })
  )
  const id = git(['rev-parse', 'master'])
  const owner = await signedIn(project.owner)
  const api = app.as(project.owner)
  await api.post(`/projects/${project.id}/statuses/${id}`, {
    state: 'failed',
    name: 'lint',
    target_url: 'https://ci.example.org/1'
  })
  const [, pipeline = ''] =
    /href="[^"]*\/pipelines\/(\d+)" title/.exec((await owner.get(`${path}/commits/master`)).body) ?? []
  const badge = `<a href="${path}/pipelines/${pipeline}" title="Pipeline #${pipeline}"><span class="state bad">failed</span></a>`
  for (const list of ['commits/master', 'branches', `compare/${git(['rev-parse', 'master~1'])}...master`]) {
    t.match((await owner.get(`${path}/${list}`)).body, badge, list)
  }
  for (const sha of [id, id.slice(0, 8), 'master']) {
    const page = await owner.get(`${path}/commit/${sha}`)
    t.equal(page.status, 200)
    t.match(page.body, '2 files changed, 2 lines added, 0 removed')
    t.match(page.body, `<a class="label" href="${path}/tree/master">branch master</a>`)
    t.match(page.body, /<td class="added"><span class="[^\n]*&lt;[^\n]*&gt;[^\n]*new/)
    t.match(
      page.body,
      /<span class="state bad">failed<\/span> <a href="https:\/\/ci.example.org\/1" rel="nofollow noopener">lint/
    )
    t.notMatch(page.body, /<script>|\u202e/)
  }
  await api.post(`/projects/${project.id}/repository/commits/${id}/comments`, { note: `**bold** ${HOSTILE}` })
  const talk = await owner.get(`${path}/commit/${id}`)
  t.match(talk.body, '<strong>bold</strong> &lt;script&gt;')
  const said = await owner.submit(talk, 'name="note"', { note: 'from the page' })
  t.match(said.location, new RegExp(`^${path}/commit/${id}#note_`))
  const lines = await owner.get(`${path}/commit/${id}`)
  const [, note = ''] = /<a href="\?note=(diff-[0-9a-f]+-R2)"/.exec(lines.body) ?? []
  const asked = await owner.get(`${path}/commit/${id}?note=${note}`)
  await owner.submit(asked, 'name="line_type"', { note: 'on the **line**' })
  const placed = await owner.get(`${path}/commit/${id}`)
  t.match(placed.body, /<tr class="notes"><td colspan="3">.*on the <strong>line<\/strong>/s)
  t.match(placed.body, 'on line 2 of README.md')
  t.match(
    placed.body,
    /aria-label="Line 2 of README.md" tabindex="0"><table class="inline"><tr><td>1<\/td><td>1<\/td><td># Hello<\/td><\/tr><tr><td><\/td><td>2<\/td><td class="added">&lt;b&gt;new/
  )
  t.notMatch(placed.body, 'name="line_type"')
  t.match((await owner.get(`${path}/commit/${id}?view=parallel`)).body, '<table class="parallel">')
  const one = await owner.get(`${path}/commit/${id}?file=README.md`)
  t.match(one.body, 'One of 2 changed files')
  const diff = await owner.get(`${path}/commit/${id}.diff`)
  t.equal(diff.headers.get('cache-control'), 'private, no-cache')
  t.match(diff.body, /^diff --git .*\+<b>new<\/b>\n/s)
  t.match([diff.headers.get('content-type'), diff.headers.get('content-security-policy')], [/^text\/plain/, /sandbox/])
  t.match((await owner.get(`${path}/commit/${id.slice(0, 8)}.patch`)).body, /^From [0-9a-f]{40} /)
  for (const wrong of ['0'.repeat(40), 'none', 'none.diff', '--all', 'abcdef.diff']) {
    t.equal((await owner.get(`${path}/commit/${wrong}`)).status, 404, wrong)
  }
  t.equal((await owner.get(`${path}/commit/${id}?view=other`)).status, 400)
})

t.test('a change of 100,000 lines stays small, and says what is left out', async t => {
  const { project, path, git } = await make()
  const files = Object.fromEntries(
    Array.from({ length: 30 }, (_, at) => [`f${at}`, `line ${at}\n`.repeat(at === 0 ? 90_000 : 350)])
  )
  git(['fast-import', '--quiet', '--force'], commitOf(files))
  const owner = await signedIn(project.owner)
  const page = await owner.get(`${path}/commit/master`)
  t.match(page.body, '30 files changed')
  t.match(page.body, 'The changes of this file are too large to show')
  t.match(page.body, 'this page is full')
  t.match(page.body, /<a href="[^"]*\.diff">the whole diff<\/a>/)
  t.ok(page.body.length < 600_000, `${page.body.length}`)
  t.equal((await owner.get(`${path}/commit/master.diff`)).status, 404, 'only ids have one')
})

t.test('what two commits differ in', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  git(['fast-import', '--quiet', '--force'], commitOf({ new: 'x\n' }, { branch: 'feature/x', message: HOSTILE }))
  const owner = await signedIn(project.owner)
  const page = await owner.get(`${path}/compare/master...feature/x`)
  t.match(page.body, /<h2>1 commit<\/h2>/)
  t.match(page.body, '<td class="added">x</td>')
  t.match(page.body, 'merge_request%5Bsource_branch%5D=feature%2Fx&amp;merge_request%5Btarget_branch%5D=master')
  t.notMatch(page.body, '<script>')
  t.match((await owner.get(`${path}/compare/feature/x...master`)).body, 'has no commits that')
  t.match((await owner.get(`${path}/compare/master...master`)).body, 'the same commit')
  t.equal((await owner.get(`${path}/compare?to=feature%2Fx`)).location, `${path}/compare/master...feature/x`)
  t.match((await owner.get(`${path}/compare`)).body, 'value="master"')
  const unknown = await owner.get(`${path}/compare/master...none`)
  t.equal(unknown.status, 404)
  t.match(unknown.body, /name="from"[^>]* value="master".*name="to"[^>]* value="none"/s, 'what was entered stays')
  t.equal((await owner.get(`${path}/compare/master`)).status, 404)
})

t.test('a commit is applied to another branch', async t => {
  const { project, path, git } = await make()
  await app.make.branch(project, 'stable')
  git(['fast-import', '--quiet', '--force'], commitOf({ fix: 'x\n' }, { message: 'Fix it' }))
  const id = git(['rev-parse', 'master'])
  const owner = await signedIn(project.owner)
  const page = await owner.get(`${path}/commit/${id}`)
  const unknown = await owner.submit(page, 'cherry_pick', { branch: HOSTILE })
  t.equal(unknown.status, 400)
  t.match(unknown.body, /<details open>.*id="branch-error">there is no such branch/s)
  t.notMatch(unknown.body, '<script>alert')
  const picked = await owner.submit(page, 'cherry_pick', { branch: 'stable' })
  t.match([picked.status, picked.location], [303, `${path}/commit/${git(['rev-parse', 'stable'])}`])
  t.equal(git(['log', '-1', '--format=%s', 'stable']), 'Fix it')
  const again = await owner.submit(await owner.get(`${path}/commit/${id}`), 'cherry_pick', { branch: 'stable' })
  t.equal(again.status, 400)
  t.match(again.body, 'cannot cherry-pick this commit automatically')
  const reporter = await signedIn(await app.make.member(project, 20))
  t.notMatch((await reporter.get(`${path}/commit/${id}`)).body, 'Cherry-pick')
})

t.test('readers see what the API shows them', async t => {
  const open = await make({ visibility_level: 20 })
  const closed = await make()
  const stranger = await signedIn(await app.make.user())
  for (const page of ['commits/master', 'commit/master', 'commits', 'commit/master.diff']) {
    t.equal((await nobody.get(`${open.path}/${page}`)).status, 404, page)
    t.equal((await stranger.get(`${closed.path}/${page}`)).status, 404, page)
  }
  t.equal((await stranger.get(`${open.path}/commits/master`)).status, 200)
  t.equal((await nobody.get(`${open.path}/compare/master...master`)).status, 200)
  t.equal((await stranger.get(`${closed.path}/compare/master...master`)).status, 404)
})

t.test('lists show the state of pipelines with one statement, and the link to its readers', async t => {
  const { project, path, git } = await make({ visibility_level: 20 })
  const before = git(['rev-parse', 'master'])
  git(['fast-import', '--quiet', '--force'], commitOf({ new: '1' }))
  git(['fast-import', '--quiet', '--force'], commitOf({ new: '2' }))
  const owner = await signedIn(project.owner)
  const api = app.as(project.owner)
  const report = (id: string, state: string, ref: string) =>
    api.post(`/projects/${project.id}/statuses/${id}`, { state, name: 'lint', ref })
  const few = await countStatements(() => owner.get(`${path}/commits/master`))
  await report(before, 'failed', 'master')
  await report(git(['rev-parse', 'master~1']), 'success', 'master')
  await report(git(['rev-parse', 'master~1']), 'running', 'other')
  const list = await owner.get(`${path}/commits/master`)
  t.match(list.body, /state bad">failed.*/s)
  t.match(list.body, 'state busy">running', 'of all branches and tags together')
  t.notMatch(list.body, 'state good')
  t.equal(await countStatements(() => owner.get(`${path}/commits/master`)), few)
  await api.put(`/projects/${project.id}`, { builds_enabled: false })
  const stranger = await signedIn(await app.make.user())
  const seen = await stranger.get(`${path}/commits/master`)
  t.match(seen.body, 'state bad">failed', 'as the API shows it with the commit')
  t.notMatch(seen.body, 'title="Pipeline')
  t.match((await nobody.get(`${path}/compare/${before}...master`)).body, '<h2>2 commits</h2>')
  t.notMatch((await nobody.get(`${path}/compare/${before}...master`)).body, /class="state/)
})
