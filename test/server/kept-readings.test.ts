// Kept readings of pages: what they save, and that no change leaves an old page.
import { mock } from 'node:test'
import { execute } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'
import { DEVELOPER, GUEST } from '../../src/lib/levels.js'
import { ago, timed } from '../../src/server/pages/components.js'
import { makeMergeRequest, makeProject } from '../areas/planning/merge-requests/make-merge-requests.js'
import { testApp } from '../helpers/app.js'
import { type Browser, listen } from '../helpers/browser.js'
import { countStatements } from '../helpers/statements.js'
import t, { type Test } from '../helpers/tap.js'
import { browserOf } from './pages/planning/people.js'

const app = await testApp(t)
const base = await listen(app.fastify)
let count = 0

/** The page without the tokens of its forms, which differ each time, and without its own address. */
async function shown(browser: Browser, path: string) {
  const { status, body } = await browser.get(path)
  return {
    status,
    body: body
      .replaceAll(/name="authenticity_token" value="[^"]*"/g, '')
      .replaceAll(/again=\d+&(amp;)?/g, '')
      .replaceAll(/(\?|&|&amp;)again=\d+/g, '')
  }
}

/** Another parameter makes another reading. */
const fresh = (browser: Browser, path: string) =>
  shown(browser, `${path}${path.includes('?') ? '&' : '?'}again=${++count}`)

/** Reads twice, so that everything is kept that can be. */
async function keep(browsers: readonly Browser[], paths: readonly string[]): Promise<void> {
  for (const browser of browsers) for (const path of paths) for (const _ of [1, 2]) await browser.get(path)
}

async function compare(t: Test, browsers: readonly Browser[], paths: readonly string[], why: string): Promise<void> {
  for (const browser of browsers) {
    for (const path of paths) t.same(await shown(browser, path), await fresh(browser, path), `${why}: ${path}`)
  }
}

t.test('pages take about half of the statements while nothing changes, and show the same', async t => {
  const project = await app.make.project()
  const api = app.as(project.owner)
  const owner = await browserOf(base, project.owner)
  const { id } = (await api.post(`/projects/${project.id}/issues`, { title: 'x', labels: 'one' })).json()
  await api.post(`/projects/${project.id}/issues/${id}/notes`, { body: 'Well' })
  await app.runJobs()
  const path = `/${project.path}/issues/1`
  t.match((await owner.get(path)).body, '<p>Well</p>')
  for (const each of [path, `/${project.path}/issues`]) {
    const first = await shown(owner, each)
    const again = await countStatements(async () => t.same(await shown(owner, each), first))
    const whole = await countStatements(() => fresh(owner, each))
    t.ok(2 * again <= whole + 1, `${each}: ${again} statements instead of ${whole}`)
    const long = `${each}?long=${'x'.repeat(500)}`
    await owner.get(long)
    t.ok((await countStatements(() => owner.get(long))) > again, 'a very long address')
  }
})

t.test('each change shows at once', async t => {
  const project = await app.make.project()
  const admin = app.as(await app.make.admin())
  const author = await app.make.member(project, DEVELOPER)
  const guest = await app.make.member(project, GUEST)
  const api = app.as(project.owner)
  const issues = `/projects/${project.id}/issues`
  const { id } = (await app.as(author).post(issues, { title: 'of the author', labels: 'a' })).json()
  const { id: other } = (await api.post(issues, { title: 'the other one' })).json()
  const note = (await api.post(`${issues}/${id}/notes`, { body: 'Well, see #2, ~a and @newcomer' })).json().id
  await app.runJobs()
  const browsers = [await browserOf(base, project.owner), await browserOf(base, author), await browserOf(base, guest)]
  const pathsIn = (path: string) => [`/${path}/issues/1`, `/${path}/issues`, `/${path}/issues?state=all&labels=a`]
  let paths = pathsIn(project.path)
  const changes: { readonly [what: string]: () => Promise<unknown> } = {
    'a note': () => api.post(`${issues}/${id}/notes`, { body: 'Another one' }),
    'an edited note': () => api.put(`${issues}/${id}/notes/${note}`, { body: 'Better: #2, ~a and @newcomer' }),
    'an award': () => api.post(`${issues}/${id}/award_emoji?name=tada`),
    'an award of a note': () => app.as(author).post(`${issues}/${id}/notes/${note}/award_emoji?name=tada`),
    'a title that a note names': () => api.put(`${issues}/${other}`, { title: 'renamed' }),
    'a user whom a note names': () => app.make.user({ username: 'newcomer' }),
    'the colour of a label': () => api.put(`/projects/${project.id}/labels`, { name: 'a', color: '#00ff00' }),
    'a mention in another issue': () => api.post(`${issues}/${other}/notes`, { body: 'See #1' }),
    'the jobs after that': () => app.runJobs(),
    'a confidential issue that mentions it': () =>
      api.post(issues, { title: 'secret', description: 'See #1', confidential: true }),
    'the jobs of this issue': () => app.runJobs(),
    'a new name': () => admin.put(`/users/${author.id}`, { name: 'Renamed' }),
    'a new username': () => admin.put(`/users/${author.id}`, { username: 'renamed-of-readings' }),
    'a to-do': () => api.post(`${issues}/${id}/todo`),
    'a closed issue': () => api.put(`${issues}/${id}`, { state_event: 'close' }),
    'a higher level': () => api.put(`/projects/${project.id}/members/${guest.id}`, { access_level: DEVELOPER }),
    'a lower level': () => api.put(`/projects/${project.id}/members/${guest.id}`, { access_level: GUEST }),
    'an archived project': () => api.post(`/projects/${project.id}/archive`),
    'a project that is not archived': () => api.post(`/projects/${project.id}/unarchive`),
    'another path': async () => {
      const { path_with_namespace: path } = (await api.put(`/projects/${project.id}`, { path: 'readings' })).json()
      paths = pathsIn(path)
    },
    'a write by another program': () =>
      transact(() => execute("update issues set title = 'by hand' where id = ?", [id], project.id)),
    'a confidential issue': () => api.put(`${issues}/${id}`, { confidential: true }),
    'a removed member': () => api.delete(`/projects/${project.id}/members/${author.id}`),
    'a deleted issue': () => api.delete(`${issues}/${id}`)
  }
  for (const [what, change] of Object.entries(changes)) {
    await keep(browsers, paths)
    await change()
    await compare(t, browsers, paths, what)
  }
})

t.test('each change of a merge request shows at once', async t => {
  const project = await makeProject()
  const api = app.as(project.owner)
  const admin = app.as(await app.make.admin())
  const author = await app.make.member(project, DEVELOPER)
  await app.make.branch(project, 'other')
  const mergeRequest = await makeMergeRequest(project, {})
  const { iid, source_branch: branch } = mergeRequest
  const at = `/projects/${project.id}/merge_requests/${mergeRequest.id}`
  const page = `/${project.path}/merge_requests/${iid}`
  const owner = await browserOf(base, project.owner)
  const lists = [`/${project.path}/merge_requests`, `/${project.path}/merge_requests?state=all&labels=one`]
  const paths = [...lists, page, `${page}/diffs`, `${page}/diffs?view=parallel`, `${page}/commits`, `${page}/pipelines`]
  const changes: { readonly [what: string]: () => Promise<unknown> } = {
    'the jobs after that': () => app.runJobs(),
    'a new title': () => api.put(at, { title: 'renamed' }),
    'a label': () => api.put(at, { labels: 'one' }),
    'a note': () => app.as(author).post(`${at}/notes`, { body: 'Well' }),
    'a note on a line': async () => {
      const { insertId } = await transact(() =>
        execute(
          `insert into notes (project_id, noteable_type, noteable_id, author_id, note, path, line, line_type, created_at, updated_at)
           values (?, 'MergeRequest', ?, ?, 'About this line', ?, 1, 'new', now(3), now(3))`,
          [project.id, mergeRequest.id, author.id, 'feature.txt'],
          project.id
        )
      )
      t.match((await owner.get(`${page}/diffs`)).body, `note_${insertId}`)
    },
    'a push': () => app.make.file(project, 'pushed.txt', 'one\n', branch),
    'the jobs of the push': () => app.runJobs(),
    'another target': () => api.put(at, { target_branch: 'other' }),
    'a new name': () => admin.put(`/users/${author.id}`, { name: 'Renamed' }),
    'a closed one': () => api.put(at, { state_event: 'close' }),
    'a reopened one': () => api.put(at, { state_event: 'reopen' }),
    'a merge': () => api.put(`${at}/merge`),
    'the jobs of the merge': () => app.runJobs(),
    'no merge requests': () => api.put(`/projects/${project.id}`, { merge_requests_enabled: false })
  }
  for (const [what, change] of Object.entries(changes)) {
    await keep([owner], paths)
    await change()
    await compare(t, [owner], paths, what)
  }
})

t.test('readers do not get the reading of each other', async t => {
  const project = await app.make.project({ visibility_level: 20 })
  const api = app.as(project.owner)
  const owner = await browserOf(base, project.owner)
  const guest = await browserOf(base, await app.make.user())
  await api.post(`/projects/${project.id}/issues`, { title: 'open', confidential: true })
  const path = `/${project.path}/issues/1`
  await keep([owner], [path])
  t.equal((await guest.get(path)).status, 404)
  t.equal((await owner.get(path)).status, 200)
})

t.test('HTML is valid until the words of a distance change', t => {
  const now = Date.UTC(2026, 0, 1)
  mock.timers.enable({ apis: ['Date'], now })
  t.teardown(() => mock.timers.reset())
  const [MINUTE, HOUR, DAY, MONTH, YEAR] = [60, 3600, 86_400, 2_592_000, 31_536_000]
  const ages = [0, 1, 59, 60, 61, 119, 2 * MINUTE, HOUR - 1, HOUR, HOUR + 1, 5 * HOUR, DAY - 1, DAY, MONTH - 1, MONTH]
  for (const age of [...ages, 12 * MONTH, 12 * MONTH + DAY, YEAR - 1, YEAR, 2 * YEAR - 1, 30 * YEAR]) {
    mock.timers.setTime(now)
    const then = new Date(now - age * 1000 - 300)
    const { html, until } = timed(() => ago(then))
    mock.timers.setTime(until - 1)
    t.equal(ago(then), html, `${age} seconds: the same`)
    mock.timers.setTime(until)
    t.not(ago(then), html, `${age} seconds: other words`)
  }
  mock.timers.setTime(now)
  const old = new Date(now - 3 * YEAR * 1000)
  const first = timed(() => ago(old) + ago(new Date(now - 90_000)) + ago(null))
  t.equal(first.until, now + 30_000, 'the first of them')
  t.equal(timed(() => timed(() => ago(new Date(now))).html + ago(old)).until, now + MINUTE * 1000, 'one in another')
  t.ok(timed(() => ago(new Date(now + 90_000))).until <= now, 'a moment to come')
  t.equal(timed(() => 'x').until, Number.POSITIVE_INFINITY)
  t.end()
})
