// A project moves from one Gitstead to another. The source listens here, and the target is the same appliance: other namespaces of it.
import t from 'tap'
import { openChanges, settleChanges } from '../../../../src/areas/code/refs/ref-changes.js'
import {
  addMigration,
  findMigration,
  removeMigration,
  type Settings
} from '../../../../src/areas/migrate/runs/migrations.js'
import { type Moved, moveProject } from '../../../../src/areas/migrate/runs/move-project.js'
import {
  assignConfirmed,
  assignPlaceholder,
  requirePlaceholder
} from '../../../../src/areas/migrate/runs/placeholders.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { type RunOptions, runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { INSTANCE, openSession, withPart } from '../../../../src/areas/migrate/runs/session.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { wikiRecords } from '../../../../src/areas/migrate/runs/wikis.js'
import { publicUrl } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { ZERO } from '../../../../src/git/refs/refs.js'
import { someOrigin } from '../../../helpers/factory.js'
import { formOf } from '../../projects/uploads/form.js'
import { answersOf } from '../../upkeep/project-archives/compare.js'
import { makeEverything } from '../../upkeep/project-archives/make-archives.js'
import { ownSource } from '../own-source.js'

const { app, url } = await ownSource(t)
const requests: { method: string; url: string }[] = []
/** Ends the run at the request with this number. */
const kill = { at: 0, ending: new AbortController() }
app.fastify.server.prependListener('request', ({ method = '', url = '' }) => {
  requests.push({ method, url })
  if (requests.length === kill.at) kill.ending.abort(new Error('killed'))
})

const { project, group, stranger, developer } = await makeEverything(app)
const owner = app.as(project.owner)
const upload = await owner.inject({
  method: 'POST',
  url: `/api/v3/projects/${project.id}/uploads`,
  ...formOf('plan.txt', 'the plan')
})
const { markdown } = upload.json()
await owner.post(`/projects/${project.id}/issues`, {
  title: 'With a file',
  description: `See ${markdown}, ${url}/${project.path}/issues/1 and @${stranger.username}: #2 \`#2\``
})
const admin = await app.make.admin()

const settingsFor = (namespace: string): Settings => ({
  kind: 'gitlab3',
  url,
  map: { [group.path]: namespace },
  people: {},
  rate: 1000,
  keys: false
})
interface Running extends Partial<RunOptions> {
  readonly signal?: AbortSignal
}
const run = async (name: string, { signal = new AbortController().signal, ...options }: Running = {}) => {
  requests.length = 0
  const all = { projects: [project.path], overwrite: false, ...options }
  return runMigration(await findMigration(name), all, { origin: someOrigin, signal })
}
const prepare = async (name: string) => {
  // A new source for the database, so that the tests do not know each other's projects.
  await execute('delete from migrated_projects')
  const place = await app.make.group({ owner: project.owner })
  await addMigration(name, admin.privateToken, settingsFor(place.path), someOrigin)
  return `${place.path}/${project.path.split('/')[1]}`
}
const verified = async (name: string) => {
  const given = { origin: someOrigin, signal: new AbortController().signal }
  const [found] = await verifyMigration(await findMigration(name), [project.path], given)
  return found
}
const answers = async (path: string) => {
  const { id } = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json()
  return answersOf({
    ask: async (below: string) => {
      const res = await owner.get(`/projects/${id}${below}`)
      const isJson = String(res.headers['content-type']).includes('json')
      return { status: res.statusCode, total: res.headers['x-total'] ?? null, body: isJson ? res.json() : res.body }
    },
    path,
    base: publicUrl()
  })
}
/** Without git, which asks in its own way. */
const isPage = ({ url }: { url: string }) => url.startsWith('/api/') || url.includes('/uploads/')
/** The links of the last issue change, which the test looks at below. */
const plain = (answer: unknown) =>
  JSON.parse(
    JSON.stringify(answer ?? null)
      .replace(/\/uploads\/\w{32}/g, '/uploads')
      .replaceAll('BASE/PATH/issues/1', '#1')
  )
/** What API v3 does not show, and so does not move. */
const MISSING = /^\/(pipelines|builds|deployments)|^(pipelines|builds)|commits\/master\/(comments|statuses)/

t.test('a project comes whole, and the source is only read', async t => {
  const path = await prepare('whole')
  const plan = await planMigration(
    await findMigration('whole'),
    { projects: [project.path], quick: false },
    { origin: someOrigin, signal: new AbortController().signal }
  )
  t.match(plan, { source: { is_admin: true }, projects: [{ path: project.path, counts: { issue: 4 }, files: 2 }] })
  t.same(plan.unmatched, [])
  const report = await run('whole')
  t.match(report.projects, [{ result: 'created', from: project.path, to: path }])
  t.ok(requests.length > 5)
  t.ok(
    requests.every(({ method, url }) => method === 'GET' || url.endsWith('/git-upload-pack')),
    'only reads'
  )
  const [before, after] = [await answers(project.path), await answers(path)]
  for (const [name, answer] of Object.entries(before))
    if (!MISSING.test(name)) t.same(plain(after[name]), plain(answer), name || 'the project')
  const issue = (await owner.get(`/projects/${encodeURIComponent(path)}/issues?iid=4`)).json()[0]
  t.match(issue.description, new RegExp(`/uploads/\\w{32}/plan\\.txt\\), #1 and @${stranger.username}: #2 \`#2\`$`))
  const file = /\((\/uploads\/[^)]*)\)/.exec(issue.description)?.[1]
  t.equal((await owner.inject({ url: `/${path}${file}` })).body, 'the plan')
})

t.test('a second run asks once for each page and writes nothing; a change replaces the project', async t => {
  const path = await prepare('again')
  const first = await run('again')
  const pages = requests.filter(({ url }) => url.startsWith('/api/')).length
  const state = () =>
    rows(
      `select (select max(id) from projects) as project, (select max(id) from audit_events) as audit,
         (select max(id) from issues) as issue, (select max(id) from jobs) as job, (select max(id) from members) as member`
    )
  const before = await state()
  const second = await run('again')
  t.match(second.projects, [{ result: 'unchanged', to: path, skipped: [...(first.projects[0] as Moved).skipped] }])
  t.equal(requests.filter(isPage).length, pages, 'one request for each page, and none for a file')
  t.same(await state(), before)

  const [one] = (await owner.get(`/projects/${project.id}/issues?iid=1`)).json()
  await owner.post(`/projects/${project.id}/issues/${one.id}/notes`, { body: 'Written between two runs' })
  await app.runJobs()
  const old = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json().id
  t.match((await run('again')).projects, [{ result: 'replaced', to: path }])
  const { id } = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json()
  t.not(id, old)
  const [here] = (await owner.get(`/projects/${id}/issues?iid=1`)).json()
  const notes = (await owner.get(`/projects/${id}/issues/${here.id}/notes`)).json()
  t.match(notes.filter(({ system }: { system: boolean }) => !system).at(-1), {
    body: 'Written between two runs',
    author: { username: project.owner.username }
  })
  t.match((await run('again')).projects, [{ result: 'unchanged' }])
})

t.test('a project that somebody has changed here is replaced only on request', async t => {
  const path = await prepare('changed')
  await run('changed')
  await app.runJobs()
  const { id } = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json()
  await owner.post(`/projects/${id}/issues`, { title: 'Only here' })
  t.match((await run('changed')).projects, [{ result: 'unchanged' }], 'as long as nothing is new there')
  await owner.post(`/projects/${project.id}/labels`, { name: `new ${id}`, color: '#123456' })
  const refused = await run('changed')
  t.match(refused.projects, [{ result: 'failed', error: new RegExp(`^${path} was changed here since it came`) }])
  t.equal((await owner.get(`/projects/${id}/issues`)).json()[0].title, 'Only here')
  t.match((await run('changed', { overwrite: true })).projects, [{ result: 'replaced' }])
  t.not((await owner.get(`/projects/${encodeURIComponent(path)}/issues`)).json()[0].title, 'Only here')
})

t.test(
  'a project that another migration has brought is replaced only on request, or when that one is removed',
  async t => {
    const path = await prepare('mine')
    await run('mine')
    const other = await app.make.group({ owner: project.owner })
    await addMigration('theirs', admin.privateToken, settingsFor(other.path), someOrigin)
    const idOf = async (at: string) => (await owner.get(`/projects/${encodeURIComponent(at)}`)).json().id
    const id = await idOf(path)
    const error = `${path} came with the migration mine: run that one, or replace the project with --overwrite`
    t.match((await run('theirs')).projects, [{ result: 'failed', error }])
    t.equal(await idOf(path), id)
    t.match((await run('mine')).projects, [{ result: 'unchanged', to: path }])
    const there = `${other.path}/${project.path.split('/')[1]}`
    t.match((await run('theirs', { overwrite: true })).projects, [{ result: 'replaced', to: there }])
    t.equal(await idOf(path), undefined)
    t.match((await run('mine')).projects, [{ result: 'failed', error: /came with the migration theirs/ }])
    await removeMigration(await findMigration('theirs'), someOrigin)
    t.match((await run('mine')).projects, [{ result: 'replaced', to: path }])
  }
)

t.test('a branch that moved here counts as a change, and one that moved there is brought', async t => {
  const path = await prepare('moved')
  await run('moved')
  await app.runJobs()
  await app.make.file(project, 'later.txt', 'pushed after the first run\n')
  t.match((await run('moved')).projects, [{ result: 'replaced' }])
  const { id } = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json()
  const file = await owner.get(`/projects/${id}/repository/files`, { file_path: 'later.txt', ref: 'master' })
  t.equal(file.statusCode, 200)
  await owner.post(`/projects/${id}/repository/branches`, { branch_name: 'own', ref: 'master' })
  await app.make.file(project, 'last.txt', 'pushed after the second run\n')
  t.match((await run('moved')).projects, [{ result: 'failed', error: /was changed here/ }])
})

t.test('a project is not replaced while git may accept a push', async t => {
  const path = await prepare('pushed')
  await run('pushed')
  await app.runJobs()
  const { id } = (await owner.get(`/projects/${encodeURIComponent(path)}`)).json()
  await owner.post(`/projects/${project.id}/labels`, { name: `pushed ${id}`, color: '#123456' })
  const [stored] = await rows<{ storage: string }>('select storage from projects where id = ?', [id])
  const here = { id, storage: stored?.storage ?? '' }
  const push = { ref: 'refs/heads/arriving', old: ZERO, new: 'a'.repeat(40) }
  const open = await openChanges(here, null, 'push', [push])
  t.match((await run('pushed')).projects, [{ result: 'failed', error: /was changed here/ }])
  t.equal((await owner.get(`/projects/${encodeURIComponent(path)}`)).json().id, id)
  await settleChanges(here, open, [])
  t.match((await run('pushed')).projects, [{ result: 'replaced' }], 'git has refused the push')
})

t.test('people without an account get placeholders, which somebody takes over', async t => {
  const path = await prepare('people')
  await execute('delete from migrated_people')
  // The source no longer proves the address.
  await execute('update users set email_confirmed_at = null, confirmed_at = null where id = ?', [stranger.id])
  const third = async () => (await owner.get(`/projects/${project.id}/issues?iid=3`)).json()[0].id
  await owner.put(`/projects/${project.id}/issues/${await third()}`, { assignee_id: stranger.id })
  await app.runJobs()
  const report = await run('people')
  const [placeholder] = report.placeholders
  t.same((await verified('people'))?.differences, [])
  t.equal(placeholder, `${stranger.username}-2`)
  const second = async () => (await owner.get(`/projects/${encodeURIComponent(path)}/issues?iid=2`)).json()[0]
  t.match((await second()).author, { username: placeholder, state: 'blocked' })
  const signIn = await app.nobody.post('/session', { login: placeholder, password: '' })
  t.not(signIn.statusCode, 201)
  const found = (await app.as(admin).get('/users', { username: String(placeholder) })).json()[0]
  t.equal((await app.as(admin).put(`/users/${found.id}/unblock`)).statusCode, 403)

  const { unmatched, matched } = await planMigration(
    await findMigration('people'),
    { projects: [project.path], quick: false },
    { origin: someOrigin, signal: new AbortController().signal }
  )
  t.same([unmatched, matched[stranger.username]], [[], placeholder], 'a plan knows them')
  // Takes part in the first issue as well, so that both have rows of it.
  const person = developer
  await assignPlaceholder(await requirePlaceholder(String(placeholder)), person.username, someOrigin)
  await app.runJobs()
  t.match((await second()).author, { username: person.username })
  t.same(await rows('select id from users where username = ?', [String(placeholder)]), [])
  const { differences, counts } = (await verified('people')) ?? {}
  t.same(differences, [], 'also not the texts that mention the person')
  t.same(counts, {})
  await run('people', { overwrite: true })
  t.match((await second()).author, { username: person.username }, 'later runs know the person')
})

t.test('an address that somebody confirms later brings the records of its placeholder', async t => {
  const path = await prepare('confirmed')
  await execute('delete from migrated_people')
  const late = await app.make.user({ email: 'late@example.org' })
  await execute('update users set email_confirmed_at = null where id = ?', [late.id])
  await execute(
    "update users set email = 'late-there@example.org', email_confirmed_at = ?, confirmed_at = ? where id = ?",
    [null, new Date(), stranger.id]
  )
  const [placeholder] = (await run('confirmed')).placeholders
  t.equal(placeholder, `${stranger.username}-2`)
  t.same(await assignConfirmed(someOrigin, new AbortController().signal), { assigned: [], refused: [] })
  await execute("update users set email = 'other@example.org' where id = ?", [stranger.id])
  await execute("update users set email = 'late-there@example.org', email_confirmed_at = ? where id = ?", [
    new Date(),
    late.id
  ])
  t.same(await assignConfirmed(someOrigin, new AbortController().signal), {
    assigned: [{ placeholder, user: late.username }],
    refused: []
  })
  const [issue] = (await owner.get(`/projects/${encodeURIComponent(path)}/issues?iid=2`)).json()
  t.match(issue.author, { username: late.username })
})

t.test('a run that ends at any request continues, and brings the same', async t => {
  const whole = await prepare('undisturbed')
  await run('undisturbed')
  const total = requests.length
  const expected = await answers(whole)
  const path = await prepare('disturbed')
  for (let part = 1; part < 8; part++) {
    Object.assign(kill, { at: Math.ceil(total / 8), ending: new AbortController() })
    const { signal } = kill.ending
    await run('disturbed', { signal }).catch((error: Error) => t.match(error.message, /killed|aborted/))
  }
  kill.at = 0
  t.match((await run('disturbed')).projects, [{ to: path }])
  const found = await answers(path)
  for (const [name, answer] of Object.entries(expected)) t.same(plain(found[name]), plain(answer), name)
  await app.runJobs()
  t.same(await rows('select * from project_removals'), [], 'nothing of the ended runs is left')
})

t.test('verify compares both sides record by record', async t => {
  const path = await prepare('verified')
  t.match(await verified('verified'), { from: project.path, to: null })
  await run('verified')
  const same = await verified('verified')
  t.match(same, { to: path, different: 0, differences: [], counts: {}, refs: [] })
  t.ok((same?.compared ?? 0) > 30)
  const [issue] = (await owner.get(`/projects/${encodeURIComponent(path)}/issues?iid=1`)).json()
  await owner.put(`/projects/${issue.project_id}/issues/${issue.id}`, { title: 'Changed here' })
  await app.make.file(project, 'newer.txt', 'only there\n')
  t.match(await verified('verified'), { differences: ['issue 1: title, updated_at'], refs: ['refs/heads/master'] })
})

t.test('verify finds the same record in another order, and names one that is missing', async t => {
  const path = await prepare('ordered')
  // The source lists issues by this time, and an archive has them by their numbers.
  const first = 'update issues set created_at = ? where project_id = ? and iid = 1'
  const [{ created_at: before } = { created_at: null }] = await rows<{ created_at: Date }>(
    'select created_at from issues where project_id = ? and iid = 1',
    [project.id]
  )
  await execute(first, [new Date(), project.id])
  await run('ordered')
  t.match(await verified('ordered'), { to: path, different: 0, differences: [], counts: {} })
  const [issue] = (await owner.get(`/projects/${encodeURIComponent(path)}/issues?iid=2`)).json()
  t.equal((await app.as(admin).delete(`/projects/${issue.project_id}/issues/${issue.id}`)).statusCode, 200)
  const lacking = await verified('ordered')
  t.match(lacking?.counts, { issue: { here: (lacking?.counts.issue?.there ?? 0) - 1 } })
  t.ok(lacking?.differences.includes('issue 2: is not here'), JSON.stringify(lacking?.differences))
  await execute(first, [before, project.id])
})

t.test('the wiki of a project becomes a project of its own', async t => {
  const path = await prepare('wiki')
  const report = await run('wiki')
  t.match(report.skipped, [{ what: 'wikis', count: 1 }], 'this source has no wiki with pages')
  const pages = await app.make.project({ owner: project.owner, name: 'pages' })
  await app.make.file(pages, 'home.md', '# Welcome\n')
  const given = { origin: someOrigin, signal: new AbortController().signal }
  const session = { ...(await openSession(await findMigration('wiki'), given)), login: admin.username }
  const parent = await withPart(session, INSTANCE, ({ source }) => source.project(project.path))
  const cloneUrl = `${url}/${pages.path}.git`
  const wiki = { ...parent, id: 'the wiki', path: `${parent.path}.wiki`, cloneUrl, avatarUrl: null }
  const moved = await moveProject(session, wiki, {
    namespace: path.split('/')[0] ?? '',
    username: project.owner.username,
    overwrite: false,
    pathOf: () => null,
    records: wikiRecords(session, parent)
  })
  t.match(moved, { to: `${path}.wiki`, result: 'created', counts: { issue: 0, member: 2 } })
  const found = (await owner.get(`/projects/${encodeURIComponent(moved.to)}`)).json()
  t.match(found, { issues_enabled: false, visibility_level: 0, default_branch: 'master' })
  const file = await owner.get(`/projects/${found.id}/repository/files`, { file_path: 'home.md', ref: 'master' })
  t.equal(Buffer.from(file.json().content, 'base64').toString(), '# Welcome\n')
})
