// Migrations by API. The source is this Gitstead itself, as in runs/run.test.ts, or a port that never answers.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { workOnMigration } from '../../../../src/areas/migrate/migrations/work.js'
import { findMigration, placeOf, requireMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import { folderOf, workingOn } from '../../../../src/areas/migrate/runs/work-folder.js'
import { insertPlaceholder } from '../../../../src/areas/people/users/ghost/placeholders.js'
import { machineUid } from '../../../../src/cluster/machines.js'
import { config } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { NotHere } from '../../../../src/errors.js'
import { retryJobs } from '../../../../src/queue/administer.js'
import { claimJobs, failJob } from '../../../../src/queue/claim.js'
import { reapProcesses, registerProcess } from '../../../../src/queue/processes.js'
import { encrypt } from '../../../../src/secrets.js'
import { testDatabase } from '../../../helpers/database.js'
import { someOrigin } from '../../../helpers/factory.js'
import type { Test } from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'
import { gitstead } from '../../../scenarios/appliance.js'
import { ownSource } from '../own-source.js'

const { databaseUrl } = await testDatabase()
const { app, url } = await ownSource(t)

const maker = await app.make.user()
const group = await app.make.group({ owner: maker, visibilityLevel: 20 })
const project = await app.make.project({ owner: maker, group, name: 'engine', visibility_level: 20 })
const owner = app.as(project.owner)
const stranger = await app.make.user()
await app.make.file(project, 'README.md', 'The engine\n')
await owner.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
await app.as(stranger).post(`/projects/${project.id}/issues`, { title: 'Broken' })
await owner.post(`/projects/${project.id}/issues`, { title: 'Slow' })
await app.runJobs()

const admin = await app.make.admin()
const asker = app.as(admin)
const signal = new AbortController().signal
const soon = () => new Date(Date.now() + 60_000)

interface Shown {
  readonly id: number
  readonly state: string
  readonly busy: boolean
}

/** Prepares a migration into a new group, as if no other had come. */
async function prepare(name: string, more: object = {}) {
  await execute('delete from migrated_projects')
  const place = await app.make.group({ owner: project.owner, visibilityLevel: 20 })
  const map = { [group.path]: place.path }
  const made = await asker.post('/migrations', { name, kind: 'gitlab3', url, token: admin.privateToken, map, ...more })
  t.equal(made.statusCode, 201, made.body)
  const { id } = made.json() as Shown
  return { id, path: `/migrations/${id}`, to: `${place.path}/engine` }
}
const shown = async (path: string) => (await asker.get(path)).json() as Shown
const only = { projects: [project.path] }

/** A source that accepts connections, and says nothing. */
async function silentSource(t: Test): Promise<string> {
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer(socket => sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a project moves by API, from the plan to the verification', async t => {
  const { path, to, id } = await prepare('old')
  t.match(await shown(path), {
    id,
    name: 'old',
    kind: 'gitlab3',
    url,
    state: 'new',
    work: null,
    result: null,
    busy: false
  })
  const asked = await asker.post(`${path}/plan`, only)
  t.equal(asked.statusCode, 202)
  t.match(asked.json(), { state: 'waiting', work: 'plan', projects: [project.path] })
  t.ok((await app.runJobs()).includes('migration.work'))
  t.match(await shown(path), {
    state: 'succeeded',
    error: null,
    progress: null,
    result_of: 'plan',
    result: { whole: true, report: { projects: [{ path: project.path, counts: { issue: 2 } }], unmatched: [] } }
  })
  t.equal((await owner.get(`/projects/${encodeURIComponent(to)}`)).statusCode, 404)

  t.equal((await asker.post(`${path}/run`, only)).statusCode, 202)
  await app.runJobs()
  t.match(await shown(path), {
    state: 'succeeded',
    result_of: 'run',
    result: { report: { projects: [{ from: project.path, to, result: 'created' }] } }
  })
  t.equal((await owner.get(`/projects/${encodeURIComponent(to)}/issues`)).json().length, 2)

  t.equal((await asker.post(`${path}/verify`, only)).statusCode, 202)
  await app.runJobs()
  t.match(await shown(path), { result_of: 'verify', result: { report: [{ to, different: 0, refs: [] }] } })

  const events = await rows<{ action: string; changes: string; actor_name: string }>(
    "select action, changes, actor_name from audit_events where target_type = 'migration' and target_id = ? order by id",
    [id]
  )
  t.same(
    events.map(({ action }) => action),
    ['migration.create', 'migration.plan', 'migration.run', 'migration.verify']
  )
  t.ok(events.every(({ actor_name }) => actor_name === admin.username))
  const texts = [
    asked.body,
    (await asker.get(path)).body,
    (await asker.get('/migrations')).body,
    JSON.stringify(events)
  ]
  for (const text of texts) t.notMatch(text, admin.privateToken, 'the token is nowhere')
  t.match((await asker.get('/migrations', { per_page: 1 })).headers, { 'x-total': '1', 'x-per-page': '1' })
})

t.test('a run whose project fails is partial, and one whose source refuses the token fails', async t => {
  const { path, to } = await prepare('partial')
  await asker.delete(`/groups/${to.split('/')[0]}`)
  await asker.post(`${path}/run`, only)
  await app.runJobs()
  t.match(await shown(path), { state: 'partial', result: { report: { projects: [{ result: 'failed' }] } } })
  const wrong = await prepare('wrong', { token: 'wrong-token' })
  const url = `/api/v3${wrong.path}/run`
  t.equal((await asker.inject({ method: 'POST', url })).statusCode, 202, 'without a body')
  await app.runJobs()
  t.match(await shown(wrong.path), { state: 'failed', error: /401: the token is wrong/, result: null })
})

t.test('wrong questions', async t => {
  const { path } = await prepare('asked')
  const good = { name: 'good', kind: 'gitlab3', url, token: 'sesame' }
  const wrong = [
    { name: 'UP' },
    { name: '../x' },
    { kind: 'svn' },
    { kind: 'toString' },
    { url: 'ftp://example.org' },
    { url: 'https://user:secret@example.org' },
    { token: 'a b' },
    { token: '' },
    { rate: 0 },
    { rate: 1001 },
    { map: { crew: '' } },
    { map: { crew: 'no-such-namespace' } },
    { people: { ada: 'nobody-has-this-name' } },
    { people: Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`u${at}`, 'x'])) }
  ]
  for (const each of wrong) {
    const { statusCode } = await asker.post('/migrations', { ...good, ...each })
    t.equal(statusCode, 400, JSON.stringify(each).slice(0, 80))
  }
  t.equal((await asker.post('/migrations', { ...good, name: 'asked' })).statusCode, 409)
  t.equal((await asker.post(`${path}/run`, { projects: ['x'.repeat(1001)] })).statusCode, 400)
  t.equal((await asker.post(`${path}/run`, { projects: [] })).statusCode, 400)
  t.equal((await asker.post(`${path}/run`, { projects: [''] })).statusCode, 400)
  t.equal((await asker.post(`${path}/run`, { projects: Array(1001).fill('x/y') })).statusCode, 400)
  t.equal((await asker.post(`${path}/cancel`)).statusCode, 409, 'nothing waits or runs')
  for (const ask of ['plan', 'run', 'verify', 'cancel'])
    t.equal((await asker.post(`/migrations/999999/${ask}`)).statusCode, 404)
  t.equal((await asker.get('/migrations/999999')).statusCode, 404)
  t.equal((await asker.delete('/migrations/999999')).statusCode, 404)
  t.equal((await owner.post(`${path}/run`)).statusCode, 403)
  t.equal((await app.nobody.get(path)).statusCode, 401)
})

t.test('a request that waits is canceled, and its job does nothing', async t => {
  const { path } = await prepare('waiting')
  await asker.post(`${path}/run`, only)
  t.equal((await asker.post(`${path}/verify`)).statusCode, 409, 'one at a time')
  const canceled = await asker.post(`${path}/cancel`)
  t.equal(canceled.statusCode, 202)
  t.match(canceled.json(), { state: 'canceled' })
  t.equal((await asker.post(`${path}/plan`, { ...only, quick: true })).statusCode, 202)
  t.same(await app.runJobs(), ['migration.work', 'migration.work'])
  t.match(await shown(path), { state: 'succeeded', work: 'plan', result_of: 'plan' }, 'only the second one ran')
})

t.test('work that runs is canceled; before that, no command runs, and nobody removes it', async t => {
  const { path } = await prepare('silent', { url: await silentSource(t) })
  await asker.post(`${path}/run`)
  const working = app.runJobs()
  await until('it runs', async () => (await shown(path)).busy)
  t.match(await shown(path), { state: 'running' })
  t.equal((await asker.post(`${path}/run`)).statusCode, 409)
  t.equal((await asker.delete(path)).statusCode, 409)
  const environment = {
    GITSTEAD_DATABASE_URL: databaseUrl,
    GITSTEAD_HOME: config().home,
    GITSTEAD_HOOKS_ALLOW: '127.0.0.1'
  }
  const command = await gitstead(['migrate', 'run', 'silent'], { environment })
  t.match(command.stderr, /migrate:silent runs already/)
  t.not(command.code, 0)
  t.match((await asker.post(`${path}/cancel`)).json(), { state: 'canceled' })
  await working
  t.match(await shown(path), { state: 'canceled', busy: false, error: null })
  const removed = await asker.delete(path)
  t.equal(removed.statusCode, 200)
  t.notOk(existsSync(folderOf('silent')))
  t.equal((await asker.get(path)).statusCode, 404)
  await t.rejects(findMigration('silent'))
})

t.test('a request waits for a command that works on the migration', async t => {
  const { path, id } = await prepare('shared')
  const migration = await requireMigration(id)
  await workingOn(migration, signal, async () => {
    t.match(await shown(path), { state: 'new', busy: true })
    t.equal((await asker.post(`${path}/run`, only)).statusCode, 409)
  })
  await asker.post(`${path}/plan`, { ...only, quick: true })
  await workingOn(migration, signal, async () => {
    await app.runJobs()
    t.match(await shown(path), { state: 'waiting', error: 'another process works on it' })
  })
  await app.runJobs({ until: soon() })
  t.match(await shown(path), { state: 'succeeded', error: null })
})

t.test('a worker that stops leaves the work to the next one', async t => {
  const { path, id } = await prepare('stopped', { url: await silentSource(t) })
  await asker.post(`${path}/plan`)
  const { turn } = (await requireMigration(id)).row
  const stopping = new AbortController()
  const working = workOnMigration({ migrationId: id, turn }, stopping.signal)
  await until('it runs', async () => (await shown(path)).busy)
  stopping.abort(new Error('the worker stops'))
  await t.rejects(working, /the worker stops/)
  t.match(await shown(path), { state: 'running', busy: false })
  await execute('update migrations set url = ? where id = ?', [url, id])
  await app.runJobs()
  t.match(await shown(path), { state: 'succeeded' })
})

t.test('a dead job fails its request, and continues when it is retried', async t => {
  const { path } = await prepare('dead')
  for (const last of ['a try', 'a crash']) {
    await asker.post(`${path}/plan`, { ...only, quick: true })
    const worker = await registerProcess({ queues: ['mirrors'], concurrency: 1 })
    await execute("update jobs set attempts = 11, crashes = 2 where name = 'migration.work'")
    const lanes = { roomOf: () => 1, after: 0 }
    const [job] = await claimJobs('mirrors', worker, 1, lanes)
    if (!job) return t.fail('no job')
    if (last === 'a try') await failJob(job, worker, new Error('the database is away'))
    else {
      await execute('update job_processes set lease_until = now(3) - interval 1 hour, machine = ? where id = ?', [
        'x',
        worker
      ])
      await reapProcesses()
    }
    t.match(await shown(path), { state: 'failed', busy: false, error: /its job is dead/, ended_at: String }, last)
    await retryJobs('dead')
    await app.runJobs()
    t.match(await shown(path), { state: 'succeeded', error: null, ended_at: String })
  }
  await asker.post(`${path}/plan`, only)
  await execute("update jobs set state = 'dead'")
  await execute("update migrations set state = 'failed'")
  t.equal((await asker.post(`${path}/plan`, { ...only, quick: true })).statusCode, 202, 'a new request')
  await retryJobs('dead')
  t.same(await app.runJobs(), ['migration.work', 'migration.work'])
  t.match(await shown(path), { state: 'succeeded' }, 'the old job does nothing')
})

t.test('the machine that has read the source does the work', async t => {
  const { path, id } = await prepare('there')
  const uid = 'f'.repeat(32)
  const machine = `insert into machines (uid, name, boot, version, created_at, started_at, lease_until)
    values (?, 'other', 'boot of the other', '1', now(3), now(3), now(3) + interval 1 hour)`
  await execute(machine, [uid])
  await execute('update migrations set machine = ? where id = ?', [uid, id])
  await asker.post(`${path}/plan`, { ...only, quick: true })
  await app.runJobs()
  t.match(await shown(path), { state: 'waiting', machine: 'other', error: /the machine other has what was read/ })

  await execute(
    `insert into storages (name, marker, owner, lease_until, created_at) values ('theirs', 'm', ?, now(3) + interval 1 hour, now(3))`,
    [uid]
  )
  const { turn } = (await requireMigration(id)).row
  await t.rejects(workOnMigration({ migrationId: id, turn }, signal), NotHere, 'a worker of its storage gets the job')
  await execute("delete from storages where name = 'theirs'")

  await execute('delete from machines where uid = ?', [uid])
  await app.runJobs({ until: soon() })
  t.match(await shown(path), { state: 'succeeded' }, 'a machine that was forgotten is replaced')
  t.equal((await row<{ machine: string }>('select machine from migrations where id = ?', [id]))?.machine, machineUid())
})

t.test('a migration that was removed and prepared again brings what has changed', async t => {
  const { path, to } = await prepare('renewed')
  const { map } = (await asker.get(path)).json()
  await asker.post(`${path}/run`, only)
  await app.runJobs()
  t.equal((await asker.delete(path)).statusCode, 200)
  await owner.post(`/projects/${project.id}/issues`, { title: 'Found between two migrations' })
  await app.runJobs()
  const body = { name: 'renewed', kind: 'gitlab3', url, token: admin.privateToken, map }
  const { id } = (await asker.post('/migrations', body)).json()
  await asker.post(`/migrations/${id}/run`, only)
  await app.runJobs()
  const { result } = (await asker.get(`/migrations/${id}`)).json()
  t.match(result.report.projects, [{ to, result: 'replaced' }])
})

t.test('people without an account get placeholders, which an administrator assigns', async t => {
  const { path, to } = await prepare('people')
  const other = await prepare('elsewhere', { url: 'https://forge.example.org' })
  await execute('delete from migrated_people')
  await execute('update users set email_confirmed_at = null, confirmed_at = null where id = ?', [stranger.id])
  await asker.post(`${path}/run`, only)
  await app.runJobs()
  const list = await asker.get(`${path}/placeholders`)
  t.equal(list.headers['x-total'], '1')
  const [placeholder] = list.json()
  t.match(placeholder, { username: `${stranger.username}-2`, source_username: stranger.username })
  t.same((await asker.get(`${other.path}/placeholders`)).json(), [], 'those of its source only')
  const person = await app.make.user()
  const assign = (of: string, body: object) => asker.post(`${of}/placeholders/${placeholder.id}/assign`, body)
  t.equal((await assign(other.path, { user: person.username })).statusCode, 404)
  t.equal((await assign(path, {})).statusCode, 400)
  t.equal((await assign(path, { user: 'nobody-has-this-name' })).statusCode, 404)
  const assigned = await assign(path, { user: person.username })
  t.equal(assigned.statusCode, 201)
  t.match(assigned.json(), { username: placeholder.username })
  const issues = (await owner.get(`/projects/${encodeURIComponent(to)}/issues`)).json() as { author: object }[]
  t.ok(issues.some(({ author }) => (author as { username: string }).username === person.username))
  t.same((await asker.get(`${path}/placeholders`)).json(), [])
})

t.test('people who have confirmed their address get their records by a request', async t => {
  const [here, elsewhere] = [await prepare('confirmed'), await prepare('other', { url: 'https://forge.example.org' })]
  await execute('delete from migrated_people')
  const person = await app.make.user()
  const placeholders = await Promise.all(
    [url, 'https://forge.example.org'].map(async source => {
      const username = `held-${new URL(source).hostname.replaceAll('.', '-')}`
      const { id } = await transact(() => insertPlaceholder({ username, name: username }, someOrigin))
      await execute(
        'insert into migrated_people (source, username, user_id, is_placeholder, email, created_at) values (?, ?, ?, true, ?, ?)',
        [placeOf({ url: source }), username, id, person.email, new Date()]
      )
      return username
    })
  )
  t.equal((await asker.post(`${here.path}/assign`)).statusCode, 202)
  await app.runJobs()
  t.match(await shown(here.path), {
    state: 'succeeded',
    work: 'assign',
    result_of: 'assign',
    result: { report: { assigned: [{ placeholder: placeholders[0], user: person.username }], refused: [] } }
  })
  t.same((await asker.get(`${here.path}/placeholders`)).json(), [])
  t.match((await asker.get(`${elsewhere.path}/placeholders`)).json(), [{ username: placeholders[1] }], 'another forge')
})

t.test('a migration that an earlier program has prepared is known', async t => {
  const folder = folderOf('ancient')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const created_at = '2026-01-02T03:04:05.678Z'
  const settings = { kind: 'gitlab3', url, map: {}, people: { ada: 'ada' }, rate: 7, keys: false, created_at }
  const file = join(folder, 'migration.json')
  writeFileSync(file, JSON.stringify({ ...settings, token: encrypt(admin.privateToken).toString('base64') }))
  writeFileSync(join(folder, 'groups.json'), '{}')
  const found = (await asker.get('/migrations', { per_page: 100 })).json() as (Shown & { name: string })[]
  const ancient = found.find(({ name }) => name === 'ancient')
  t.match(ancient, { rate: 7, named_people: 1, state: 'new', created_at })
  t.notMatch(readFileSync(file, 'utf8'), 'token')
  await asker.post(`/migrations/${ancient?.id}/plan`, { ...only, quick: true })
  await app.runJobs()
  t.match(await shown(`/migrations/${ancient?.id}`), { state: 'succeeded' })
  t.ok(existsSync(join(folder, 'groups.json')), 'with what it has read')
  const { path } = await prepare('another')
  await execute("delete from migrations where name = 'ancient'")
  await asker.post(`${path}/plan`, { ...only, quick: true })
  await app.runJobs()
  t.notOk(existsSync(folder), 'the folder of a migration that another machine has removed goes away')
})

t.test('a request names the people who could not get their records, and why', async t => {
  const { path } = await prepare('refused')
  await execute('delete from migrated_people')
  const person = await app.make.user()
  const { id } = await transact(() =>
    insertPlaceholder({ username: 'with-projects', name: 'With projects' }, someOrigin)
  )
  await execute(
    'insert into migrated_people (source, username, user_id, is_placeholder, email, created_at) values (?, ?, ?, true, ?, ?)',
    [placeOf({ url }), 'with-projects', id, person.email, new Date()]
  )
  for (const owner of [{ id, username: 'with-projects' }, person])
    await app.make.project({ owner: owner as never, name: 'notes' })
  await asker.post(`${path}/assign`)
  await app.runJobs()
  const error = new RegExp(`: rename, transfer or delete ${person.username}/notes$`)
  t.match(await shown(path), {
    state: 'partial',
    result: { report: { assigned: [], refused: [{ placeholder: 'with-projects', user: person.username, error }] } }
  })
})
