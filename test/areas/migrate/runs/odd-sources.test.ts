// Story: one odd record of a source kept a whole project away, or was lost without a word. It comes in another form, or the report names it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { someOrigin } from '../../../helpers/factory.js'
import { type Answer, startForge } from '../forge.js'
import { GITLAB, issue, project } from '../gitlab/v4/conversation.js'
import { startRepository } from '../repository.js'

const app = await testApp(t)
await app.make.admin()
const given = { origin: someOrigin, signal: new AbortController().signal }
const person = (id: number, username: string) => ({ id, username, name: username, state: 'active' })
const dates = { created_at: '2020-01-01T00:00:00.000Z', updated_at: '2020-01-02T00:00:00.000Z' }
const note = (id: number, body: string) => ({ id, body, author: person(1, 'ada'), system: false, ...dates })
const label = (name: string) => ({ id: 1, name, color: '#ff0000', description: null, priority: null })
const milestone = (iid: number, title: string) => ({ id: 30 + iid, iid, title, state: 'active', ...dates })
const pull = (iid: number, more: object) => ({
  ...{ ...issue(iid), title: `Pull ${iid}`, target_project_id: 7, source_branch: 'patch-1', target_branch: 'main' },
  ...more
})

interface Odd {
  readonly repository?: (folder: string) => void
  /** The group here. Default: a new one. */
  readonly place?: { readonly path: string }
  /** Values of the project. */
  readonly [name: string]: unknown
}

let migrations = 0
/** Moves one project with these lists. Returns the report, what `verify` says, and the id here. */
async function move(t: Test, lists: { [name: string]: Answer }, { repository, place, ...more }: Odd = {}) {
  const source = await startRepository(t)
  repository?.(source.folder)
  const answers: { [path: string]: Answer } = {
    version: { version: '17.5.0' },
    user: { id: 1, username: 'root', is_admin: true },
    groups: [],
    'projects/team%2Fsub%2Ftool': {
      ...project,
      avatar_url: null,
      wiki_enabled: false,
      http_url_to_repo: source.url,
      ...more
    },
    ...Object.fromEntries(Object.entries(lists).map(([name, answer]) => [`projects/7/${name}`, answer]))
  }
  const { url, asked } = await startForge(t, answers, GITLAB)
  const { path } = place ?? (await app.make.group({ visibilityLevel: 20 }))
  const name = `odd-${++migrations}`
  const settings = {
    kind: 'gitlab4',
    url: url.href,
    map: { 'team/sub': path },
    people: {},
    rate: 1000,
    keys: false
  }
  await addMigration(name, 'sesame', settings, someOrigin)
  const options = { projects: ['team/sub/tool'], overwrite: false }
  const migrate = async () => runMigration(await findMigration(name), options, given)
  const run = async () => (await migrate()).projects[0]
  const report = await migrate()
  const { projects } = report
  const [moved] = projects
  const verify = async (projects: readonly string[]) => verifyMigration(await findMigration(name), projects, given)
  const [verified] = await verify(options.projects)
  const plan = async (projects: readonly string[]) =>
    planMigration(await findMigration(name), { projects, quick: false }, given)
  const [here] = await rows<{ id: number }>('select project_id as id from migrated_projects order by 1 desc limit 1')
  const skipped = moved && 'skipped' in moved ? moved.skipped.map(({ what, why }) => `${what}: ${why}`) : []
  return { moved, projects, report, verified, skipped, id: here?.id ?? 0, run, plan, verify, answers, asked }
}

const values = async (sql: string, id: number) =>
  (await rows<{ value: unknown }>(`select ${sql}`, [id])).map(({ value }) => value)

t.test('half of an emoji, in names and texts', async t => {
  const half = '\ud83c'
  const { moved, verified, id, run, answers } = await move(t, {
    labels: [label(`bug${half}`)],
    milestones: [milestone(1, `v1${half}`)],
    issues: [issue(1, { title: `Half ${half}`, labels: [`bug${half}`], author: person(5, `eve${half}`) })],
    'issues/1/notes': [note(1, `${half} @eve${half}`)]
  })
  t.match(moved, { result: 'created', counts: { issue: 1, note: 1, label: 1, milestone: 1 } })
  t.match(verified, { different: 0, counts: {} })
  t.same(await values('title as value from issues where project_id = ?', id), ['Half \ufffd'])
  answers['projects/7/issues'] = [issue(1, { author: person(6, '🎉'.repeat(200)) })]
  t.match(await run(), { result: 'replaced' })
  answers['projects/7/issues'] = [issue(2, { author: person(6, '🎉'.repeat(200)) })]
  t.match(await run(), { result: 'replaced' }, 'a person whose name is cut within a character is known again')
})

t.test('what the source lists twice comes once', async t => {
  const twice = <T>(...items: readonly T[]) => [...items, ...items]
  const { moved, verified, skipped, id } = await move(t, {
    members: twice({ ...person(1, 'ada'), access_level: 30 }),
    milestones: twice(milestone(1, 'v1')),
    issues: [issue(1, { title: 'First' }), issue(1, { title: 'Second' })],
    'issues/1/notes': [note(1, 'Once')],
    merge_requests: [pull(1, { source_project_id: 7 }), pull(1, { source_project_id: 7, title: 'Other' })],
    'merge_requests/1/notes': [note(2, 'Once as well')],
    protected_branches: twice({ id: 1, name: 'main' }),
    releases: twice({ tag_name: 'v1', description: 'First' }),
    variables: twice({ key: 'KEY', value: 'one' }),
    environments: [
      { name: 'review/a', slug: 'review-a' },
      { name: 'review.a', slug: 'review-a' },
      { name: 'review/a', slug: 'review-b' }
    ]
  })
  t.match(moved, { result: 'created', counts: { issue: 1, merge_request: 1, note: 2, milestone: 1, environment: 2 } })
  t.match(moved, { counts: { protected_branch: 1, release: 1, variable: 1 } })
  for (const each of [
    'issue: another one has the same number',
    'merge request: another one has the same number',
    'milestone: another one has the same iid',
    'protected branch: another one has the same name',
    'release: another one has the same tag',
    'variable: another one has the same key and environment_scope'
  ])
    t.ok(skipped.includes(each), each)
  t.match(verified, { different: 0, counts: {} })
  t.same(await values('title as value from issues where project_id = ?', id), ['First'])
  const slugs = await values('slug as value from environments where project_id = ? order by id', id)
  t.same(slugs, ['review-a', 'review-a-2'])
})

t.test('a label or milestone that cannot come leaves what names it', async t => {
  const { moved, verified, skipped } = await move(t, {
    labels: [label(''), label(' a, b '), label('a b')],
    milestones: [milestone(1, ''), milestone(2, 'v1'), milestone(3, 'v1')],
    boards: [{ id: 1, lists: ['', ' a, b '].map(name => ({ label: { name }, position: 1 })) }],
    issues: [issue(1, { labels: ['', ' a, b '], milestone: { id: 31 } }), issue(2, { milestone: { id: 33 } })]
  })
  t.match(moved, { result: 'created', counts: { label: 1, milestone: 2, board: 1, issue: 2 } })
  t.match(verified, { different: 0, counts: {} })
  for (const each of ['labels (issue)', 'milestones (issue)', 'list of a board'])
    t.ok(skipped.includes(`${each}: the source does not list them, or they did not come`), each)
})

t.test('open merge requests of deleted forks have equal branches', async t => {
  const { moved, verified, skipped, id } = await move(t, {
    merge_requests: [1, 2, 3].map(iid => pull(iid, { source_project_id: null }))
  })
  t.match(moved, { result: 'created', counts: { merge_request: 3 } })
  t.match(verified, { different: 0, counts: {} })
  t.ok(skipped.includes('source of a merge request: another open one has the same branches'))
  const state = "concat(state, ' ', merge_status) as value from merge_requests where target_project_id = ?"
  t.same(await values(state, id), Array(3).fill('opened cannot_be_merged'))
})

t.test('branches whose names are not possible here are named', async t => {
  const repository = (folder: string) => {
    for (const name of ['HEAD', '-x'])
      execFileSync('git', ['update-ref', `refs/heads/${name}`, 'main'], { cwd: folder })
    execFileSync('git', ['update-server-info'], { cwd: folder })
  }
  const { moved, skipped } = await move(t, {}, { repository })
  t.match(moved, { result: 'created' })
  t.match(skipped.join('\n'), /^branches and tags: names such as refs\/heads\/(?:HEAD|-x) are not possible here$/m)
})

t.test('a source that had too much of something is asked again', async t => {
  const labels = Array.from({ length: 4001 }, (_, at) => label(`label ${at}`))
  const { moved, run, answers } = await move(t, { labels })
  t.match(moved, { result: 'failed', error: 'the project has more than 4000 records of the kind label' })
  answers['projects/7/labels'] = labels.slice(1)
  t.match(await run(), { result: 'created', counts: { label: 4000 } })
})

t.test('the report of an unchanged project still says what was left out', async t => {
  const { moved, run } = await move(t, { milestones: [milestone(1, '')] })
  t.match(await run(), { ...moved, result: 'unchanged' })
  t.match(moved, { counts: { milestone: 0 }, skipped: [{ what: 'protected branch' }] })
})

t.test('a project with the path .github', async t => {
  const hidden = { name: '.github', path: '.github', path_with_namespace: 'team/sub/.github' }
  const place = await app.make.group({ visibilityLevel: 20 })
  const { moved, id } = await move(t, {}, { ...hidden, place })
  t.match(moved, { result: 'created', to: /\/\.github$/ })
  t.same(await values("concat(name, ' ', path) as value from projects where id = ?", id), ['github .github'])
  const other = await app.make.group({ visibilityLevel: 20 })
  await app.make.project({ owner: await app.make.admin(), group: other, name: 'github' })
  const second = await move(t, {}, { ...hidden, place: other })
  t.match(second.moved, { result: 'created' })
  t.same(await values('name as value from projects where id = ?', second.id), ['github .github'])
})

t.test('a path that another project has here is named with a remedy', async t => {
  const owner = await app.make.user()
  const place = await app.make.group({ owner, path: 'taken' })
  await app.make.project({ owner, group: place, name: 'Tool' })
  const { moved } = await move(t, {}, { place })
  const error =
    'taken/tool exists here: rename one of the two projects, or choose another namespace with migrate add --map'
  t.match(moved, { result: 'failed', error })
})

t.test('a page of one line is no empty repository, and a wiki that breaks is no missing one', async t => {
  const page = '<html>Sign in</html>'
  const repository = (folder: string) => writeFileSync(join(folder, 'info/refs'), page)
  const { moved } = await move(t, {}, { repository })
  t.match(moved, { result: 'failed', error: /cannot be cloned: it does not answer as git does$/ })
  const wiki = (folder: string) => {
    mkdirSync(join(folder, '../tool.wiki.git/info'), { recursive: true })
    writeFileSync(join(folder, '../tool.wiki.git/info/refs'), page)
  }
  const { projects } = await move(t, {}, { repository: wiki, wiki_enabled: true })
  t.match(projects, [{ result: 'created' }, { from: 'team/sub/tool.wiki', result: 'failed' }])
  const without = await move(t, {}, { wiki_enabled: true })
  t.equal(without.projects.length, 1)
  t.match(without.report.skipped, [{ what: 'wikis' }])
})

t.test('files that the source could not give come with a later run', async t => {
  const names = Array.from({ length: 30 }, (_, at) => `uploads/${at.toString(16).padStart(32, '0')}/a.txt`)
  const uploads = (answer: Answer) => Object.fromEntries(names.map(name => [name, answer]))
  const description = names.map(name => `[a](/${name})`).join(' ')
  const { moved, run, answers, asked } = await move(t, { issues: [issue(1, { description })], ...uploads(503) })
  t.match(moved, { result: 'created', files: 0 })
  t.ok(asked().filter(url => url?.includes('/uploads/')).length < 100, 'a source that fails is not asked for each file')
  t.match(await run(), { result: 'unchanged', files: 0 })
  for (const [name, answer] of Object.entries(uploads('content'))) answers[`projects/7/${name}`] = answer
  t.match(await run(), { result: 'replaced', files: 30 })
  t.match(await run(), { result: 'unchanged', files: 30 })
})

t.test('a project that cannot be read or compared does not hide the others', async t => {
  const { plan, verify, answers } = await move(t, {})
  const other = { ...project, id: 8, path_with_namespace: 'team/sub/other', http_url_to_repo: 'file:///etc' }
  answers['projects/team%2Fsub%2Fother'] = other
  t.match(await verify(['team/sub/other', 'team/sub/tool']), [
    { from: 'team/sub/other', to: null, error: null },
    { from: 'team/sub/tool', different: 0, error: null }
  ])
  answers['projects/7/labels'] = { message: 'not today' }
  answers['projects/team%2Fsub%2Fsecond'] = { ...(answers['projects/team%2Fsub%2Ftool'] as object), id: 9 }
  t.match(await verify(['team/sub/tool', 'team/sub/second']), [
    { from: 'team/sub/tool', to: null, error: /labels\S* is not a list$/ },
    { from: 'team/sub/tool', to: null, error: null }
  ])
  const { projects, problems } = await plan(['team/sub/tool', 'team/sub/second'])
  t.match(projects, [{ path: 'team/sub/tool', counts: { project: 1 } }])
  t.match(problems, [/^team\/sub\/tool: \S*labels\S* is not a list$/, /^team\/sub\/tool and .* would both be /])
})

t.test('numbers leave room for new records', async t => {
  const { moved, skipped } = await move(t, { issues: [issue(0), issue(2_000_000_000), issue(2_147_483_647)] })
  t.match(moved, { result: 'created', counts: { issue: 1 } })
  t.ok(skipped.includes('issue: the source sends it in another form than its API describes'))
})

t.test('a default branch that is missing, and an empty repository', async t => {
  const branch = 'default_branch as value from projects where id = ?'
  const missing = await move(t, {}, { default_branch: 'gone' })
  t.match(missing.verified, { different: 0, counts: {} })
  t.same(await values(branch, missing.id), ['main'])
  const repository = (folder: string) => {
    const refs = execFileSync('git', ['for-each-ref', '--format=delete %(refname)'], { cwd: folder })
    execFileSync('git', ['update-ref', '--stdin'], { cwd: folder, input: refs })
    execFileSync('git', ['update-server-info'], { cwd: folder })
  }
  const empty = await move(t, { issues: [issue(1)] }, { repository })
  t.match(empty.moved, { result: 'created', refs: 0, counts: { issue: 1 } })
  t.match(empty.verified, { different: 0, counts: {} })
  t.same(await values(branch, empty.id), [null])
})
