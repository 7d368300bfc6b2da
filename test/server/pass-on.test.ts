// Story: while the machine of a repository was away, everybody got 503 for its projects and 404 for projects that did not exist. So
// strangers could find out the names of private projects.
import t from 'tap'
import { joinStorages } from '../../src/cluster/storages.js'
import { openConnection } from '../../src/db/connect/connection.js'
import { execute, row } from '../../src/db/connect/sql.js'
import { transact } from '../../src/db/connect/transact.js'
import { prepareHome } from '../../src/home.js'
import { type RequestScope, requestScope } from '../../src/lib/request-scope.js'
import { log } from '../../src/log.js'
import { testApp } from '../helpers/app.js'
import { until } from '../helpers/until.js'

const app = await testApp(t)
prepareHome()
const project = await app.make.project()
const { owner } = project
const stranger = await app.make.user()

/** Another machine owns the storage: it does not answer, and its lease ends in some seconds. */
async function ownedElsewhere(seconds: number, port = 1) {
  const uid = 'f'.repeat(32)
  await execute('delete from storages')
  await execute('delete from machines where uid = ?', [uid])
  await execute(
    `insert into machines (uid, name, boot, version, address, created_at, started_at, lease_until, server_until)
     values (?, 'away', ?, '1', ?, now(3), now(3), now(3) + interval ? second, now(3) + interval ? second)`,
    [uid, uid, `http://127.0.0.1:${port}`, seconds, seconds]
  )
  await execute(
    `insert into storages (name, marker, owner, lease_until, created_at)
     values ('default', ?, ?, now(3) + interval ? second, now(3))`,
    [uid, uid, seconds]
  )
  await joinStorages()
}

async function isBack() {
  await execute('delete from storages')
  await joinStorages()
}

const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
})
const git = { 'content-type': 'application/x-git-upload-pack-request' }

/** What strangers may ask about a project, with an id and a path. */
const questions = (id: number, path: string) =>
  [
    ['POST', `/api/v3/projects/${id}/issues`, {}, { title: 'x' }],
    ['POST', `/api/v3/projects/${id}/issues`, {}, { wrong: 'x' }],
    ['POST', `/api/v3/projects/${id}/issues`, { 'private-token': stranger.privateToken }, { title: 'x' }],
    ['POST', `/api/v3/projects/${id}/issues`, { 'private-token': stranger.privateToken }, { wrong: 'x' }],
    ['POST', `/api/v3/projects/${id}/issues`, {}, { title: 'x', private_token: stranger.privateToken }],
    ['POST', `/api/v3/projects/${id}/issues`, { 'private-token': 'wrong' }, { title: 'x' }],
    ['PUT', `/api/v3/projects/${encodeURIComponent(path)}`, { 'private-token': stranger.privateToken }, { name: 'x' }],
    ['DELETE', `/api/v3/projects/${id}`, { 'private-token': stranger.privateToken }, undefined],
    ['GET', `/api/v3/projects/${id}/repository/tree`, { 'private-token': stranger.privateToken }, undefined],
    ['GET', `/${path}.git/info/refs?service=git-upload-pack`, {}, undefined],
    ['GET', `/${path}.git/info/refs?service=git-upload-pack`, basic('x', stranger.privateToken), undefined],
    ['POST', `/${path}.git/git-upload-pack`, git, '0000'],
    ['POST', `/${path}.git/git-upload-pack`, { ...git, ...basic('x', stranger.privateToken) }, '0000'],
    ['POST', `/${path}.git/git-upload-pack`, { ...git, ...basic(stranger.username, 'wrong') }, '0000'],
    ['POST', `/${path}.git/git-receive-pack`, basic('x', stranger.privateToken), '0000'],
    ['POST', `/${path}.git/info/lfs/locks`, {}, undefined]
  ] as const

async function answers(id: number, path: string) {
  const all = []
  for (const [method, url, headers, payload] of questions(id, path)) {
    const { statusCode, body } = await app.fastify.inject({ method, url, headers, ...(payload && { payload }) })
    all.push(`${statusCode} ${body}`)
  }
  return all
}

for (const [what, seconds] of [
  ['does not answer', 60],
  ['has lost its lease', -1]
] as const) {
  t.test(`a stranger gets the same answers as for no project while the owner ${what}`, async t => {
    await isBack()
    const missing = await answers(99_999_999, 'no/project')
    t.ok(missing.every(answer => /^(400|401|404|501) /.test(answer)))
    await ownedElsewhere(seconds)
    // Twice: the second time, the routes of reads are known to need a repository.
    for (const time of [1, 2]) t.same(await answers(project.id, project.path), missing, `time ${time}`)
  })
}

t.test('the log has one line for many tries to reach a machine', async t => {
  await isBack()
  await ownedElsewhere(60, 2)
  const warnings = t.capture(log(), 'warn')
  const created = [1, 2].map(number =>
    app.fastify.inject({
      method: 'POST',
      url: `/api/v3/projects/${project.id}/issues`,
      headers: { 'private-token': owner.privateToken },
      payload: { title: `${number}` }
    })
  )
  // Each of them tries four times in a second.
  await new Promise(resolve => setTimeout(resolve, 1500))
  await isBack()
  await Promise.all(created)
  const lines = warnings().filter(({ args }) => args.includes('another machine did not answer'))
  t.equal(lines.length, 1)
})

t.test('a member waits until the owner is back', async t => {
  await ownedElsewhere(-1)
  const headers = { 'private-token': owner.privateToken }
  const url = `/api/v3/projects/${project.id}/issues`
  const created = app.fastify.inject({ method: 'POST', url, headers, payload: { title: 'x' } })
  const fetched = app.fastify.inject({
    method: 'POST',
    url: `/${project.path}.git/git-receive-pack`,
    headers: basic('x', owner.privateToken),
    payload: '0000'
  })
  const first = await Promise.race([created, fetched, new Promise(resolve => setTimeout(resolve, 300, 'waits'))])
  t.equal(first, 'waits')
  await isBack()
  t.equal((await created).statusCode, 201)
  t.equal((await fetched).statusCode, 200)
})

t.test('a new project whose storage gets another owner in the meantime is made once', async t => {
  await isBack()
  const connection = await openConnection()
  await connection.promise().query('start transaction')
  await connection.promise().query('select id from users where id = ? for update', [owner.id])
  const created = Promise.all([app.as(owner).post('/projects', { name: 'once' })])
  await until('the request waits for the lock', () =>
    row("select 1 from information_schema.processlist where info like 'update users%'")
  )
  await ownedElsewhere(60)
  await connection.promise().query('commit')
  connection.destroy()
  const [{ statusCode, body }] = await created
  t.equal(statusCode, 201, body)
  await isBack()
  t.equal((await app.as(owner).get(`/projects/${JSON.parse(body).id}/repository/branches`)).statusCode, 200)
})

t.test('a request knows whether it has written something', async t => {
  const scope: RequestScope = { request: '1', client: '' }
  const fail = () => execute('insert into users (id) values (null)')
  await requestScope.run(scope, () => row('select 1'))
  await t.rejects(requestScope.run(scope, () => transact(fail)))
  await requestScope.run(scope, () => transact(() => row('select 1 from users for update')))
  t.equal(scope.hasWritten, undefined, 'neither a read nor what is rolled back counts')
  await requestScope.run(scope, () =>
    transact(() => execute('update users set held = 1 - held where id = ?', [owner.id]))
  )
  t.equal(scope.hasWritten, true)
})
