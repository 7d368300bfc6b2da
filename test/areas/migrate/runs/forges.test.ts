// Projects move here from a GitLab and a Gitea, which replay conversations, with repositories that git really fetches from them. Then
// every field of every record here is compared with the source.
import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { planMigration } from '../../../../src/areas/migrate/runs/plan.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import { type Answer, type ForgeOptions, startForge } from '../forge.js'
import * as gitea from '../gitea/conversation.js'
import * as gitlab from '../gitlab/v4/conversation.js'

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({})
const app = await testApp(t)
const admin = app.as(await app.make.admin())
const ada = await app.make.user({ username: 'ada-here', email: 'ada@example.com' })
const signal = new AbortController().signal

/** Makes a bare repository that a server of plain files can give to git. Returns the ids of its commits. */
function makeRepository(t: Test) {
  const folder = t.testdir()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim()
  const tree = (text: string) => {
    const blob = execFileSync('git', ['-C', folder, 'hash-object', '-w', '--stdin'], {
      input: text,
      encoding: 'utf8'
    }).trim()
    return execFileSync('git', ['-C', folder, 'mktree'], {
      input: `100644 blob ${blob}\tb.c\n`,
      encoding: 'utf8'
    }).trim()
  }
  git('init', '-q', '--bare', '-b', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join('')
  const first = git('commit-tree', tree(lines), '-m', 'First')
  const second = git('commit-tree', tree(`${lines}more\n`), '-p', first, '-m', 'Second')
  git('update-ref', 'refs/heads/main', first)
  git('update-ref', 'refs/tags/v1', first)
  git('update-ref', 'refs/tags/v2', first)
  for (const ref of ['refs/merge-requests/1/head', 'refs/pull/3/head']) git('update-ref', ref, second)
  git('update-server-info')
  return { folder, first, second }
}

/** Starts a forge whose answers name its own repository and commits. */
async function subject(t: Test, answers: { [path: string]: Answer }, options: ForgeOptions) {
  const { folder, first, second } = makeRepository(t)
  const files = (path: string) => {
    if (/\/(?:attachments|releases\/download)\//.test(path)) return Buffer.from(path)
    const file = join(folder, /^\/[\w/]*\/tool\.git(\/[\w/.-]+)$/.exec(path)?.[1] ?? '/none')
    return statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : undefined
  }
  const own: { [path: string]: Answer } = {}
  const forge = await startForge(t, own, { ...options, files })
  const place = (value: Answer) =>
    typeof value === 'function' || value === undefined
      ? value
      : JSON.parse(
          JSON.stringify(value)
            .replaceAll('https://git.example.com', forge.url.origin)
            .replaceAll('a'.repeat(40), second)
            .replaceAll('d'.repeat(40), first)
        )
  for (const [path, value] of Object.entries(answers)) own[path] = place(value)
  return { forge, own, second }
}

async function migrate(
  t: Test,
  name: string,
  { kind, url, path, namespace }: { kind: string; url: URL; path: string; namespace: string }
) {
  const group = await app.make.group({ visibilityLevel: 20 })
  await addMigration(
    name,
    'sesame',
    {
      kind,
      url: url.href,
      map: { [namespace]: group.path },
      people: {},
      rate: 1000,
      keys: false,
      trust: true
    },
    someOrigin
  )
  const report = await runMigration(
    await findMigration(name),
    { projects: [path], overwrite: false },
    { origin: someOrigin, signal }
  )
  t.match(report.projects, [{ result: 'created', to: `${group.path}/tool` }], JSON.stringify(report))
  const verified = await verifyMigration(await findMigration(name), [path], { origin: someOrigin, signal })
  t.match(verified, [{ to: `${group.path}/tool`, counts: {}, different: 0, differences: [], refs: [] }])
  t.ok((verified[0]?.compared ?? 0) > 15, 'many records')
  const again = await runMigration(
    await findMigration(name),
    { projects: [path], overwrite: false },
    { origin: someOrigin, signal }
  )
  t.match(again.projects, [{ result: 'unchanged' }], 'a second run finds nothing new')
  return { to: `${group.path}/tool`, report }
}

const get = async (to: string, path: string) => (await admin.get(`/projects/${encodeURIComponent(to)}${path}`)).json()

t.test('a project of GitLab is here with every field', async t => {
  const { forge, own, second } = await subject(t, gitlab.conversation(), gitlab.GITLAB)
  own['projects/7/avatar'] = 404
  const { to, report } = await migrate(t, 'from-gitlab', {
    kind: 'gitlab4',
    url: forge.url,
    path: 'team/sub/tool',
    namespace: 'team/sub'
  })
  t.match(await get(to, ''), {
    name: 'Tool',
    description: 'A tool',
    visibility_level: 10,
    tag_list: ['c', 'tools'],
    default_branch: 'main'
  })
  const [issue] = await get(to, '/issues?iid=1')
  t.match(issue, {
    title: 'Issue 1',
    confidential: true,
    author: { username: 'ada-here' },
    created_at: '2020-01-01T00:00:00.000Z',
    milestone: { title: 'Q1' },
    labels: ['bug']
  })
  const [old] = await get(to, '/issues?iid=2')
  t.match(old, { state: 'closed', created_at: '1969-07-20T20:17:40.000Z', author: { username: 'ghost' } })
  const [merged] = await get(to, '/merge_requests?iid=1')
  t.match(merged, { state: 'merged', sha: second, source_branch: 'feature', author: { username: 'ada-here' } })
  const changes = await get(to, `/merge_requests/${merged.id}/changes`)
  t.match(changes.changes, [{ new_path: 'b.c', diff: /\+more/ }])
  t.match(await get(to, '/hooks'), [{ url: 'https://ci.example.com/hook', push_events: true }])
  t.match(await rows('select enabled from hooks where url = ?', ['https://ci.example.com/hook']), [{ enabled: 0 }])
  t.same(report.placeholders.toSorted(), ['bob', 'cleo'])
  t.ok(forge.received.every(({ method }) => method === 'GET'))
})

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')

t.test('projects whose paths no forge gives are refused by name, and the others come', async t => {
  await execute('delete from migrated_projects')
  const { forge, own } = await subject(t, gitlab.conversation(), gitlab.GITLAB)
  const good = own['projects/team%2Fsub%2Ftool'] as object
  const wrong = [
    '../evil',
    'team/../evil',
    'team//evil',
    '/evil',
    'evil',
    'team/',
    'team/ev\u0000il',
    'team/a\nb',
    'team/evil.git',
    'a\\b/evil'
  ]
  own.projects = [...wrong.map((path, at) => ({ ...good, id: 100 + at, path_with_namespace: path })), good]
  own['projects/7/avatar'] = 404
  const group = await app.make.group({ visibilityLevel: 20 })
  const map = { 'team/sub': group.path }
  const settings = { kind: 'gitlab4', url: forge.url.href, map, people: {}, rate: 1000, keys: false }
  const migration = await addMigration('wrong-paths', 'sesame', settings, someOrigin)
  const given = { origin: someOrigin, signal }
  const error = 'its path at the source is refused: it is not NAMESPACE/PROJECT'
  const { problems } = await planMigration(migration, { projects: [], quick: true }, given)
  t.match(
    problems,
    wrong.map(path => new RegExp(`^${escaped(`${path}: ${error}`)}`))
  )
  const { projects } = await runMigration(migration, { projects: [], overwrite: false }, given)
  t.match(projects, [
    ...wrong.map(path => ({ from: path, result: 'failed', error: new RegExp(`^${error}`) })),
    { from: 'team/sub/tool', result: 'created' }
  ])
})

t.test('a repository of Gitea is here with every field', async t => {
  const { forge, second } = await subject(t, gitea.conversation(), gitea.GITEA)
  const { to } = await migrate(t, 'from-gitea', { kind: 'gitea', url: forge.url, path: 'team/tool', namespace: 'team' })
  const [issue] = await get(to, '/issues?iid=1')
  t.match(issue, { title: 'Issue 1', labels: ['bug bad'], milestone: { title: 'v2' }, due_date: '2024-02-29' })
  t.match(issue.description, /!3/, 'the number of a pull request')
  const [, file] = /\((\/uploads\/\w{32}\/a_b_1_\.png)\)/.exec(issue.description) ?? []
  t.equal((await admin.inject({ url: `/${to}${file}` })).body, `/team/tool/attachments/${gitea.UUID}`)
  const [merged] = await get(to, '/merge_requests?iid=3')
  t.match(merged, { state: 'merged', sha: second, author: { username: 'ada-here' } })
  const notes = await get(to, `/merge_requests/${merged.id}/notes`)
  t.ok(notes.some(({ body }: { body: string }) => body === 'Requested changes'))
  t.ok(forge.received.every(({ method }) => method === 'GET'))
  t.equal(ada.username, 'ada-here')
})
