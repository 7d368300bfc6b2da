// Hooks of projects: their API, the events of pushes, and that the API of system hooks does not show these hooks.
import { setTimeout as sleep } from 'node:timers/promises'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { personalProjects } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { addDelivery } from '../../../../src/areas/ground/hooks/deliveries.js'
import { hooksHealth } from '../../../../src/areas/ground/hooks/hooks.queries.js'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { loadConfig, publicUrl } from '../../../../src/config.js'
import { execute, rows, type Value } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { Hook } from '../../../../src/db/models/index.js'
import { refValue, ZERO } from '../../../../src/git/refs/refs.js'
import { encrypt } from '../../../../src/secrets.js'
import { BODY_LIMIT } from '../../../../src/webhooks/body.js'
import { git } from '../../../git/history.js'
import { testApp } from '../../../helpers/app.js'
import { testDatabase } from '../../../helpers/database.js'
import { originBy, projectRow, someOrigin, type TestProject } from '../../../helpers/factory.js'
import t, { type Test } from '../../../helpers/tap.js'
import { receiver } from '../../../webhooks/receiver.js'

interface Push {
  object_kind: string
  ref: string
  after: string
  checkout_sha: string | null
  message: string | null
  total_commits_count: number
  commits: { id: string; message: string; added: string[]; modified: string[]; removed: string[] }[]
}

await testDatabase()
process.env.GITSTEAD_HOOKS_ALLOW = '127.0.0.1'
loadConfig({ port: 0 })

const app = await testApp(t)
const admin = app.as(await app.make.admin())

t.beforeEach(async () => {
  await app.runJobs()
  for (const table of ['jobs', 'hooks', 'hook_deliveries', 'hook_attempts']) await execute(`delete from ${table}`)
})

/** Starts a receiver and adds a hook of the project for it. */
async function hooked(t: Test, project: TestProject, flags: { pushEvents?: boolean; tagPushEvents?: boolean } = {}) {
  const { port, received } = await receiver(t, response => response.end())
  const { id } = await Hook.create({
    projectId: project.id,
    url: `http://127.0.0.1:${port}/`,
    tokenEncrypted: encrypt('the token'),
    ...flags
  })
  return { id, received, pushes: () => received.map(({ body }) => JSON.parse(body) as Push) }
}

async function repositoryOf(project: TestProject) {
  const path = await ensureRepository({ id: project.id, storage: 'default' })
  const tip = (await refValue(path, 'refs/heads/master')) ?? ''
  const row = await projectRow(project)
  const move = (ref: string, old: string, next: string) =>
    moveRefs(row, [{ ref, old, new: next }], originBy(project.owner))
  return { path, tip, move }
}

/** Adds `count` commits after `parent`, each with a new file. Returns the id of the last one. */
function commitAll(repository: string, parent: string, count: number): string {
  const commits = Array.from({ length: count }, (_, at) => {
    const head = `commit refs/internal/new\ncommitter A <a@b> ${1_700_000_000 + at} +0000\n`
    const from = at === 0 ? `from ${parent}\n` : ''
    return `${head}data 2\n${String(at).padStart(2, '0')}\n${from}M 100644 inline f${at}\ndata 1\nx\n`
  })
  git(repository, ['fast-import', '--quiet', '--force'], commits.join(''))
  return git(repository, ['rev-parse', 'refs/internal/new'])
}

t.test('the hooks of a project receive a push with its commits', async t => {
  const [project, other] = [await app.make.project(), await app.make.project()]
  const [mine, foreign] = [await hooked(t, project), await hooked(t, other)]
  await app.make.file(project, 'docs/one', '1')
  await app.runJobs()
  t.equal(foreign.received.length, 0)
  t.match(mine.received, [
    {
      headers: {
        'x-gitstead-event': 'Push Hook',
        'x-gitlab-event': 'Push Hook',
        'x-gitstead-token': 'the token',
        'webhook-id': /^[0-9a-f-]{36}\.\d+$/
      }
    }
  ])
  const [push] = mine.pushes()
  t.match(push, {
    object_kind: 'push',
    before: ZERO,
    ref: 'refs/heads/master',
    project_id: project.id,
    user_id: project.owner.id,
    total_commits_count: 1
  })
  t.same(push?.commits, [
    {
      id: push?.after,
      message: 'Add docs/one',
      timestamp: push?.commits.map(commit => (commit as { timestamp?: string }).timestamp)[0],
      url: `${publicUrl()}/${project.path}/commit/${push?.after}`,
      author: { name: project.owner.name, email: project.owner.email },
      added: ['docs/one'],
      modified: [],
      removed: []
    }
  ])
})

t.test('system hooks receive the same push in their own format', async t => {
  const project = await app.make.project()
  await app.runJobs()
  const mine = await hooked(t, project)
  const { port, received } = await receiver(t, response => response.end())
  await admin.post('/hooks', { url: `http://127.0.0.1:${port}/` })
  await app.make.file(project, 'one', '1')
  await app.runJobs()
  t.equal(mine.received.length, 1)
  t.match(received, [{ headers: { 'x-gitstead-event': 'System Hook' } }])
  t.match(JSON.parse(received[0]?.body ?? ''), { event_name: 'push', commits: [], total_commits_count: 0 })
})

t.test('the payload contains the last twenty of many commits, oldest first', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'one', '1')
  const { path, tip, move } = await repositoryOf(project)
  await app.runJobs()
  const { pushes } = await hooked(t, project)
  const after = commitAll(path, tip, 30)
  await move('refs/heads/master', tip, after)
  await app.runJobs()
  const [push] = pushes()
  t.equal(push?.total_commits_count, 30)
  t.same(
    push?.commits.map(({ message, added }) => [message, ...added]),
    Array.from({ length: 20 }, (_, at) => [String(at + 10), `f${at + 10}`])
  )
})

t.test(
  'a new branch lists the commits that the default branch lacks; a reset or deleted branch lists no commits',
  async t => {
    const project = await app.make.project()
    await app.make.file(project, 'one', '1')
    const { path, tip, move } = await repositoryOf(project)
    await app.runJobs()
    const { pushes } = await hooked(t, project)
    const made = commitAll(path, tip, 2)
    for (const [old, next] of [
      [ZERO, made],
      [made, tip],
      [tip, ZERO]
    ] as const) {
      await move('refs/heads/side', old, next)
      await app.runJobs()
    }
    t.match(pushes(), [
      { before: ZERO, ref: 'refs/heads/side', after: made, total_commits_count: 2, commits: [{}, { id: made }] },
      { before: made, after: tip, checkout_sha: tip, total_commits_count: 0, commits: [] },
      { before: tip, after: ZERO, checkout_sha: null, total_commits_count: 0, commits: [] }
    ])
  }
)

t.test('the flag selects tags, and their event contains the tagged commit', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'one', '1')
  await app.runJobs()
  const [all, none] = [
    await hooked(t, project, { pushEvents: false, tagPushEvents: true }),
    await hooked(t, project, { pushEvents: true })
  ]
  const { path, tip, move } = await repositoryOf(project)
  git(path, ['tag', '-a', '-m', 'The first', 'draft', tip])
  const tag = git(path, ['rev-parse', 'refs/tags/draft'])
  await move('refs/tags/v1', ZERO, tag)
  await app.runJobs()
  await move('refs/tags/v1', tag, ZERO)
  await app.make.file(project, 'two', '2')
  await app.runJobs()
  t.equal(none.received.length, 1)
  t.same(
    all.received.map(({ headers }) => headers['x-gitstead-event']),
    ['Tag Push Hook', 'Tag Push Hook']
  )
  t.match(all.pushes(), [
    {
      object_kind: 'tag_push',
      after: tag,
      checkout_sha: tip,
      message: 'The first\n',
      total_commits_count: 1,
      commits: [{ id: tip, added: ['one'] }]
    },
    { object_kind: 'tag_push', after: ZERO, checkout_sha: null, commits: [], total_commits_count: 0 }
  ])
})

t.test('the event of a ref that points to no commit has no commits', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'one', '1')
  await app.runJobs()
  const { pushes } = await hooked(t, project, { tagPushEvents: true })
  const { path, tip, move } = await repositoryOf(project)
  await move('refs/tags/file', ZERO, git(path, ['rev-parse', `${tip}:one`]))
  await move('refs/notes/file', ZERO, git(path, ['rev-parse', `${tip}:one`]))
  await app.runJobs()
  t.match(pushes(), [
    { ref: 'refs/tags/file', commits: [], total_commits_count: 0 },
    { ref: 'refs/notes/file', commits: [], total_commits_count: 0 }
  ])
  t.same(await rows('select error from jobs where error is not null'), [])
})

t.test('a push whose old commit was pruned is still an event', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'one', '1')
  await app.make.file(project, 'two', '2')
  await app.runJobs()
  const { pushes } = await hooked(t, project)
  const { path, tip, move } = await repositoryOf(project)
  const first = git(path, ['rev-parse', `${tip}~1`])
  await move('refs/heads/master', tip, first)
  git(path, ['prune', '--expire=now'])
  await app.runJobs()
  // The server may still know the old commit, and then also that the push has brought none.
  t.match(pushes(), [{ before: tip, after: first, total_commits_count: Number }])
})

t.test('the API of system hooks does not show project hooks', async t => {
  const project = await app.make.project()
  const { id } = await hooked(t, project)
  await app.make.file(project, 'one', '1')
  await app.runJobs()
  const [delivery] = await rows<{ id: number }>('select id from hook_deliveries where hook_id = ?', [id])
  t.ok(delivery)
  t.same((await admin.get('/hooks')).json(), [])
  for (const path of [`/hooks/${id}`, `/hooks/${id}/deliveries`, `/hooks/${id}/deliveries/${delivery?.id}`]) {
    t.equal((await admin.get(path)).statusCode, 404, path)
  }
  t.equal((await admin.post(`/hooks/${id}/deliveries/${delivery?.id}/redeliver`)).statusCode, 404)
  t.equal((await admin.delete(`/hooks/${id}`)).statusCode, 404)
  t.equal((await hooksHealth()).size, 0)
  t.equal((await rows('select id from hooks')).length, 1)
})

t.test('large texts and lists are shortened, and the payload says so', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'one', '1')
  const { path, tip, move } = await repositoryOf(project)
  await app.runJobs()
  const { received, pushes } = await hooked(t, project, { tagPushEvents: true })
  const tagger = 'tagger A <a@b> 1700000000 +0000'
  const text = `object ${tip}\ntype commit\ntag v1\n${tagger}\n\n${'\u0001é"'.repeat(4_500_000)}`
  const tag = git(path, ['hash-object', '-t', 'tag', '-w', '--stdin'], text)
  await move('refs/tags/v1', ZERO, tag)
  const names = Array.from({ length: 2000 }, (_, at) => `M 100644 inline ${'n'.repeat(150)}${at}\ndata 1\nx\n`)
  const message = '\u0001'.repeat(20_000)
  const commits = Array.from({ length: 20 }, (_, at) => {
    const from = at === 0 ? `from ${tip}\n` : 'deleteall\n'
    const files = names.map(line => line.replace('nnn', `${at}`)).join('')
    return `commit refs/internal/new\ncommitter A <a@b> 1700000000 +0000\ndata 20000\n${message}\n${from}${files}`
  })
  git(path, ['fast-import', '--quiet', '--force'], commits.join(''))
  await move('refs/heads/master', tip, git(path, ['rev-parse', 'refs/internal/new']))
  await app.runJobs()
  t.same(await rows('select error from jobs where error is not null'), [])
  const [tagged, pushed] = pushes() as (Push & { shortened?: string[] })[]
  t.match(tagged?.message, /\[shortened: the whole message has \d+ bytes\]\n$/)
  t.same(tagged?.shortened, ['message'])
  t.match(pushed, { total_commits_count: 20, commits: [{}] })
  for (const field of ['message', 'added', 'removed']) t.ok(pushed?.shortened?.includes(`commits.10.${field}`), field)
  for (const { body } of received) t.ok(Buffer.byteLength(body) <= BODY_LIMIT)
})

t.test('a project that is removed twice is two events', async t => {
  const { port, received } = await receiver(t, response => response.end())
  await admin.post('/hooks', { url: `http://127.0.0.1:${port}/`, push_events: false })
  const project = await app.make.project()
  const [snapshot] = await personalProjects(project.owner.id)
  if (!snapshot) throw new Error('the project is not there')
  const [stored] = await rows<Record<string, Value>>('select * from projects where id = ?', [project.id])
  for (let times = 0; times < 2; times++) {
    await removeProjects([snapshot], someOrigin)
    await app.runJobs()
    // Restored from a backup, it has the same id.
    const values = Object.entries(stored ?? {}).filter(([column]) => !column.endsWith('_key'))
    const columns = values.map(([column]) => column).join(', ')
    await execute(
      `insert into projects (${columns}) values (${values.map(() => '?').join(', ')})`,
      values.map(([, value]) => value)
    )
  }
  const told = received.map(({ body }) => (JSON.parse(body) as { event_name: string }).event_name)
  t.equal(told.filter(event => event === 'project_destroy').length, 2)
})

t.test('the removal of a project cancels the deliveries that wait for its hooks', async t => {
  const project = await app.make.project()
  const { id, received } = await hooked(t, project)
  await app.make.file(project, 'one', '1')
  await execute('delete from jobs where name = ?', ['hook.deliver'])
  const delivery = await addDelivery({ id, url: 'http://127.0.0.1:9/' }, { key: 'k', event: 'push', body: '{}' })
  await removeProjects(await personalProjects(project.owner.id), someOrigin)
  t.match(await rows('select state from hook_deliveries where id = ?', [delivery]), [{ state: 'canceled' }])
  await app.runJobs()
  t.equal(received.length, 0)
})

t.test('the removal of a project removes its hooks', async t => {
  const project = await app.make.project()
  const { received } = await hooked(t, project)
  await app.make.file(project, 'one', '1')
  await removeProjects(await personalProjects(project.owner.id), someOrigin)
  await app.runJobs()
  t.equal(received.length, 0)
  t.same(await rows('select id from hooks'), [])
})

t.test('a hook is added, read, changed, listed and removed by the API', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/hooks`
  const created = await owner.post(path, { url: 'https://user:secret@hooks.example.org/in', token: 'x' })
  t.equal(created.statusCode, 201)
  const { id, created_at } = created.json()
  const record = {
    id,
    url: 'https://user:redacted@hooks.example.org/in',
    created_at,
    push_events: true,
    tag_push_events: false,
    enable_ssl_verification: true,
    project_id: project.id,
    issues_events: false,
    merge_requests_events: false,
    note_events: false,
    build_events: false,
    pipeline_events: false,
    wiki_page_events: false
  }
  t.same(created.json(), record)
  t.same((await owner.get(`${path}/${id}`)).json(), record)
  const flags = {
    push_events: false,
    tag_push_events: true,
    issues_events: true,
    merge_requests_events: true,
    note_events: true,
    build_events: true,
    pipeline_events: true,
    wiki_page_events: true,
    enable_ssl_verification: false
  }
  const url = 'https://hooks.example.org/other'
  const changed = await owner.put(`${path}/${id}`, { url, ...flags })
  t.equal(changed.statusCode, 200)
  t.same(changed.json(), { ...record, url, ...flags })
  t.same((await owner.put(`${path}/${id}`, { url, token: '' })).json(), changed.json(), 'the rest stays')
  const disabled = await owner.put(`${path}/${id}`, { url, enabled: false })
  t.same(disabled.json(), { ...changed.json(), enabled: false })
  t.same((await owner.put(`${path}/${id}`, { url, enabled: true })).json(), changed.json())
  t.equal((await Hook.findByPk(id))?.tokenEncrypted, null)
  const list = await owner.get(path)
  t.same(list.json(), [changed.json()])
  t.equal(list.headers['x-total'], '1')
  const other = await app.make.project({ owner: project.owner })
  t.same((await owner.get(`/projects/${other.id}/hooks/${id}`)).json(), { message: '404 Not found' })
  t.same((await owner.delete(`${path}/${id}`)).json(), changed.json())
  const again = await owner.delete(`${path}/${id}`)
  t.same([again.statusCode, again.json()], [404, { message: `404 Error deleting hook ${id} Not Found` }])
  t.equal((await owner.put(`${path}/${id}`, { url })).statusCode, 404)
})

t.test('of several requests that delete a hook at the same moment, one does', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/hooks`
  const { id } = (await owner.post(path, { url: 'http://one.example.org' })).json()
  const held = transact(async () => {
    await rows('select id from hooks where id = ? for update', [id])
    await sleep(300)
  })
  await sleep(50)
  const answers = await Promise.all([1, 2, 3, 4].map(() => owner.delete(`${path}/${id}`)))
  await held
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404, 404])
  t.equal((await rows("select id from audit_events where action = 'hook.delete' and target_id = ?", [id])).length, 1)
})

t.test('wrong URLs are refused, and a project has at most a hundred hooks', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}/hooks`
  t.match((await owner.post(path, {})).json(), { error: 'url is missing' })
  for (const url of ['', 'ftp://example.org', 'example.org', 'http://', 'javascript:alert(1)', 'http://a b/']) {
    const res = await owner.post(path, { url })
    t.same([res.statusCode, res.json().message], [422, 'Invalid url given'], url)
  }
  const url = 'https://hooks.example.org/'
  t.match((await owner.post(path, { url, push_events: 'maybe' })).json(), { error: 'push_events is invalid' })
  await Hook.bulkCreate(Array.from({ length: 99 }, () => ({ projectId: project.id, url })))
  const { id } = (await owner.post(path, { url })).json()
  const full = await owner.post(path, { url })
  t.equal(full.statusCode, 400)
  t.match(full.json(), { message: { base: [/100 hooks: remove one first/] } })
  t.equal((await owner.put(`${path}/${id}`, { url: 'nonsense' })).statusCode, 422)
})

t.test('a hook from the API receives the events of its flags, and a new URL ends its rest', async t => {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const { port, received } = await receiver(t, response => response.end())
  const path = `/projects/${project.id}/hooks`
  const { id } = (await owner.post(path, { url: 'http://127.0.0.1:9/', push_events: false })).json()
  await execute('update hooks set failures = 9, resting_until = now() + interval 1 hour where id = ?', [id])
  await owner.put(`${path}/${id}`, { url: `http://127.0.0.1:${port}/`, push_events: true })
  await app.make.file(project, 'one', '1')
  await app.runJobs()
  t.match(received, [{ headers: { 'x-gitstead-event': 'Push Hook' } }])
})
