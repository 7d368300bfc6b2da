// Git over HTTP in addition to the tests with the stock client: other credentials and URLs, wrong requests, stalled clients.

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { repositoryPath } from '../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../src/config.js'
import { rows } from '../../src/db/connect/sql.js'
import { slotCounts } from '../../src/git/process/slots.js'
import { refValue } from '../../src/git/refs/refs.js'
import { forgetAnswers } from '../../src/git/transport/clone-answers.js'
import { FLUSH, pktLine } from '../../src/git/transport/pkt-line.js'
import { spooledBytes } from '../../src/git/transport/spool.js'
import { type TestApp, testApp } from '../helpers/app.js'
import type { TestProject } from '../helpers/factory.js'
import { BLOB, idOf, packOf } from '../helpers/packs.js'
import { countStatements } from '../helpers/statements.js'
import t, { type Test } from '../helpers/tap.js'
import { until } from '../helpers/until.js'
import { git, tryGit } from '../scenarios/client.js'

const pathOf = (project: TestProject) => `/${project.path}`
const refs = (path: string) => `${path}/info/refs?service=git-upload-pack`
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`

async function filled(app: TestApp, values = {}): Promise<TestProject> {
  const project = await app.make.project({ visibility_level: 20, ...values })
  await app.make.file(project, 'README.md', '# Read me\n')
  return project
}

t.test('a user with the name of a build system owns paths below /ci', async t => {
  const app = await testApp(t)
  const owner = await app.make.user({ username: 'ci' })
  const project = await filled(app, { owner, path: 'api' })
  t.equal(project.path, 'ci/api')
  for (const path of ['/ci/api', '/ci/api.git']) {
    const res = await app.nobody.inject({ method: 'GET', url: refs(path) })
    t.match([res.statusCode, res.body], [200, /refs\/heads\/master/], path)
  }
  const runner = await app.nobody.inject({
    method: 'POST',
    url: '/ci/api/v1/builds/register.json',
    payload: { token: 'x' }
  })
  t.equal(runner.statusCode, 403, 'the runner protocol still answers')
  const named = await app.as(await app.make.admin()).post('/groups', { name: 'CI', path: 'CI' })
  t.equal(named.statusCode, 400, 'groups and users share their names')
})

t.test('a request of git takes one statement, which sees every change', async t => {
  const app = await testApp(t)
  const project = await filled(app, { visibility_level: 0 })
  const admin = app.as(await app.make.admin())
  const { owner } = project
  const token = await app.make.token(owner)
  const ask = async (path: string) =>
    (await app.nobody.inject({ method: 'GET', url: refs(path), headers: { authorization: basic('git', token) } }))
      .statusCode
  t.equal(await ask(pathOf(project)), 200)
  t.equal(
    await countStatements(async () =>
      t.equal(await ask(`${pathOf(project)}.git`.toUpperCase().replace('.GIT', '.git')), 200)
    ),
    1
  )
  t.equal(await ask(`/${project.path.replace('/', '%2F')}/x`), 404)
  const open = refs(pathOf(await filled(app)))
  const nobody = async () => (await app.nobody.inject({ method: 'GET', url: open })).statusCode
  t.equal(await nobody(), 200)
  t.equal(await countStatements(async () => t.equal(await nobody(), 200, 'without credentials')), 1)
  t.equal((await admin.put('/application/settings', { enabled_git_access_protocol: 'ssh' })).statusCode, 200)
  t.same([await ask(pathOf(project)), await nobody()], [403, 403])
  t.equal((await admin.put('/application/settings', { enabled_git_access_protocol: null })).statusCode, 200)
  t.equal(await ask(pathOf(project)), 200)
  t.equal((await app.as(owner).put(`/projects/${project.id}`, { path: 'moved' })).statusCode, 200)
  t.equal(await ask(pathOf(project)), 200, 'the old path')
  t.equal((await admin.put(`/users/${owner.id}/block`)).statusCode, 200)
  t.equal(await ask(pathOf(project)), 401)
})

async function listening(app: TestApp): Promise<{ url: string; port: number }> {
  const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
  return { url, port: Number(new URL(url).port) }
}

t.test('credentials', async t => {
  const app = await testApp(t)
  const project = await filled(app, { visibility_level: 0 })
  const { owner } = project
  const narrow = await app.make.token(owner, { scopes: 'read_user' })
  const get = (headers: Record<string, string>, path = pathOf(project)) =>
    app.nobody.inject({ method: 'GET', url: refs(path), headers })

  t.test('a token works in every header that clients use for it', async t => {
    const token = await app.make.token(owner)
    const working: Record<string, string>[] = [
      { 'private-token': token },
      { 'private-token': owner.privateToken },
      { authorization: `Bearer ${token}` },
      { authorization: `bearer ${owner.privateToken}` },
      { authorization: basic('anything', token) }
    ]
    for (const headers of working) {
      const res = await get(headers)
      t.equal(res.statusCode, 200, JSON.stringify(Object.keys(headers)))
      t.match(res.body, /refs\/heads\/master/)
    }
  })

  t.test('wrong credentials get a new challenge, so that clients forget them', async t => {
    const wrong: Record<string, string>[] = [
      { 'private-token': 'wrong' },
      { 'private-token': narrow },
      { authorization: 'Bearer wrong' },
      { authorization: basic(owner.username, 'wrong') },
      { authorization: basic('gitlab-ci-token', 'wrong') }
    ]
    for (const headers of wrong) {
      const res = await get(headers)
      t.equal(res.statusCode, 401)
      t.equal(res.headers['www-authenticate'], 'Basic realm="Gitstead"')
      t.match(res.headers['content-type'], /^text\/plain/)
    }
  })

  t.test('the path may omit .git, also in a clone and a push', async t => {
    const headers = { 'private-token': owner.privateToken }
    t.equal((await get(headers, `${pathOf(project)}.git`)).body, (await get(headers)).body)
    t.equal((await get(headers, `${pathOf(project)}.git.git`)).statusCode, 404)
    const { port } = await listening(app)
    const folder = t.testdir()
    const remote = `http://x:${owner.privateToken}@127.0.0.1:${port}${pathOf(project)}`
    await git(folder, ['clone', '--quiet', remote, 'clone'])
    await git(join(folder, 'clone'), ['commit', '--quiet', '--allow-empty', '-m', 'next'])
    await git(join(folder, 'clone'), ['push', '--quiet', 'origin', 'HEAD'])
    t.match(await git(folder, ['ls-remote', remote]), await git(join(folder, 'clone'), ['rev-parse', 'HEAD']))
  })
})

t.test('requests that are not the git protocol get 400 or 413, and name the limit', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const post = (service: string, payload: string | Buffer, headers: Record<string, string> = {}) =>
    app.nobody.inject({
      method: 'POST',
      url: `${pathOf(project)}.git/${service}`,
      payload,
      headers: {
        'private-token': project.owner.privateToken,
        'content-type': `application/x-${service}-request`,
        ...headers
      }
    })
  const gzip = { 'content-encoding': 'gzip' }
  const change = (at: number) => pktLine(`${'0'.repeat(40)} ${'a'.repeat(40)} refs/heads/b${at}\0report-status\n`)
  const changes = (count: number) => Buffer.concat([...Array.from({ length: count }, (_, at) => change(at)), FLUSH])
  const wrong: [name: string, status: number, text: RegExp, answer: ReturnType<typeof post>][] = [
    ['empty fetch', 400, /empty/, post('git-upload-pack', '')],
    ['empty push', 400, /incomplete/, post('git-receive-pack', '')],
    ['garbage fetch', 400, /not in the git protocol/, post('git-upload-pack', 'garbage!')],
    ['garbage push', 400, /git protocol/, post('git-receive-pack', 'garbage!')],
    ['other words', 400, /./, post('git-upload-pack', pktLine('please\n'))],
    ['bad gzip of a fetch', 400, /not gzip/, post('git-upload-pack', 'garbage!', gzip)],
    ['bad gzip of a push', 400, /not gzip/, post('git-receive-pack', 'garbage!', gzip)],
    ['half a gzip', 400, /not gzip/, post('git-upload-pack', gzipSync(randomBytes(1000)).subarray(0, 500), gzip)],
    ['10,001 refs', 413, /at most 10,000 refs/, post('git-receive-pack', changes(10_001))],
    [
      'an inflated fetch',
      413,
      /at most 10485760 bytes \(git.max_fetch_request\)/,
      post('git-upload-pack', gzipSync(Buffer.alloc(11_000_000, '0032have ')), gzip)
    ]
  ]
  for (const [name, status, text, answer] of wrong) {
    const res = await answer
    t.equal(res.statusCode, status, `${name}: ${res.body.slice(0, 100)}`)
    t.match(res.headers['content-type'], /^text\/plain/, name)
    t.match(res.body, text, name)
  }
  t.equal((await post('git-upload-pack', gzipSync('0000'), gzip)).statusCode, 200)
})

t.test('a branch that another process has locked is refused for now, without a path of the server', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  const { url } = await listening(app)
  const repository = repositoryPath({ id: project.id, storage: 'default' })
  const folder = t.testdir()
  const remote = `${url.replace('//', `//root:${project.owner.privateToken}@`)}/${project.path}.git`
  await git(folder, ['clone', '--quiet', remote, '.'])
  await git(folder, ['commit', '--quiet', '--allow-empty', '--message', 'more'])
  await git(folder, ['push', '--quiet', remote, 'HEAD:refs/heads/other'])
  for (const name of ['master', 'other']) writeFileSync(join(repository, `refs/heads/${name}.lock`), '')

  const branch = `/api/v3/projects/${project.id}/repository/branches/other`
  // Git waits some seconds for a lock.
  const [{ ok, stderr }, res] = await Promise.all([
    tryGit(folder, ['push', remote, 'HEAD:refs/heads/master']),
    app.as(project.owner).delete(branch)
  ])
  t.notOk(ok)
  t.match(stderr, /cannot lock ref 'refs\/heads\/master': Unable to create 'refs\/heads\/master.lock'/)
  t.notMatch(stderr, new RegExp(config().home))
  t.equal(res.statusCode, 503)
  t.match(res.json(), { message: /Another change of this branch or tag is still running/ })
  t.equal((await app.as(project.owner).get(branch)).statusCode, 200)
  rmSync(join(repository, 'refs/heads/other.lock'))
  t.equal((await app.as(project.owner).delete(branch)).statusCode, 200)
})

t.test('partial clones work with every version of the protocol', async t => {
  const app = await testApp(t)
  const project = await filled(app)
  await app.make.file(project, 'deep/file', 'content')
  const { url } = await listening(app)
  const folder = t.testdir()
  for (const version of ['0', '1', '2']) {
    const into = `v${version}`
    const args = [
      '-c',
      `protocol.version=${version}`,
      'clone',
      '--quiet',
      '--filter=blob:none',
      `${url}${pathOf(project)}`
    ]
    const { ok, stderr } = await tryGit(folder, [...args, into])
    t.ok(ok, stderr)
    t.equal(
      await git(join(folder, into), ['show', 'HEAD:deep/file']),
      'content',
      'the rest is fetched when it is needed'
    )
  }
})

/** Sends the beginning of a request, and nothing more. */
async function idle(t: Test, port: number, path: string, length = 1000, headers = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(async () => void socket.destroy())
  await once(socket, 'connect')
  socket.resume()
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n0011command=`)
  return socket
}

t.test('clients that send nothing take no slot and are cut off', async t => {
  const app = await testApp(t)
  const { home } = config()
  const before = config()
  loadConfig({ home, git: { stall: 1 }, database: { url: before.database.url } })
  t.teardown(async () => void loadConfig({ home, database: { url: before.database.url } }))
  const { url, port } = await listening(app)
  const projects = await Promise.all(Array.from({ length: 6 }, () => filled(app)))
  const token = `PRIVATE-TOKEN: ${projects[0]?.owner.privateToken}\r\n`
  const sockets = [
    ...projects.flatMap(project =>
      Array.from({ length: 6 }, () => idle(t, port, `${pathOf(project)}.git/git-upload-pack`))
    ),
    ...Array.from({ length: 6 }, () =>
      idle(t, port, `${pathOf(projects[0] as TestProject)}.git/git-receive-pack`, 9e6, token)
    )
  ]
  const open = await Promise.all(sockets)
  const cut = Promise.all(open.map(socket => once(socket, 'close')))
  t.same(slotCounts(), { running: 0, waiting: 0 })
  for (const project of projects) await git(tmpdir(), ['ls-remote', `${url}${pathOf(project)}.git`])
  const clone = await tryGit(t.testdir(), ['clone', '--quiet', `${url}${pathOf(projects[0] as TestProject)}.git`])
  t.ok(clone.ok, clone.stderr)
  await cut
  t.same(slotCounts(), { running: 0, waiting: 0 })
})

t.test('a client that keeps a refused compressed fetch open is cut off, and the server continues', async t => {
  const app = await testApp(t)
  const { home, database } = config()
  const again = (stall: number) => loadConfig({ home, git: { stall }, database: { url: database.url } })
  const project = await filled(app)
  const { port } = await listening(app)
  again(1)
  t.teardown(async () => void again(30))
  const body = gzipSync(Buffer.alloc(11_000_000, '0032have '))
  const socket = connect(port, '127.0.0.1')
  t.teardown(async () => void socket.destroy())
  const [answered, closed] = [once(socket, 'data'), once(socket, 'close')]
  socket.write(`POST ${pathOf(project)}.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n`)
  socket.write(`Content-Length: ${body.length}\r\n\r\n`)
  socket.write(body.subarray(0, -100))
  t.match(String(await answered), /^HTTP\/1.1 413 /)
  await closed
  t.equal((await app.nobody.inject({ url: refs(pathOf(project)) })).statusCode, 200)
})

t.test('a client that reads no answer holds no slot, and is cut off', async t => {
  const app = await testApp(t)
  const { home, database } = config()
  const again = (stall: number) => loadConfig({ home, git: { stall }, database: { url: database.url } })
  const project = await app.make.project({ visibility_level: 20 })
  const { url, port } = await listening(app)
  const folder = t.testdir()
  const remote = `http://x:${project.owner.privateToken}@127.0.0.1:${port}${pathOf(project)}`
  await git(folder, ['init', '--quiet', 'work'])
  // More than the buffers of a socket can take.
  writeFileSync(join(folder, 'work/big'), randomBytes(30_000_000))
  await git(join(folder, 'work'), ['add', '.'])
  await git(join(folder, 'work'), ['commit', '--quiet', '-m', 'big'])
  await git(join(folder, 'work'), ['push', '--quiet', remote, 'HEAD:master'])
  const id = await git(join(folder, 'work'), ['rev-parse', 'HEAD'])
  again(1)
  t.teardown(async () => void again(30))
  const body = Buffer.concat([pktLine(`want ${id} side-band-64k ofs-delta\n`), FLUSH, pktLine('done\n')])
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  const head = `POST ${pathOf(project)}.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`
  socket.write(Buffer.concat([Buffer.from(head), body]))
  await until('git has begun', () => slotCounts().running === 1)
  await until('git has ended, although nobody reads', () => slotCounts().running === 0)
  await until('the server has cut the client off', () => openConnections(app).then(count => count === 0))
  socket.destroy()
  t.ok((await tryGit(folder, ['clone', '--quiet', `${url}${pathOf(project)}`, 'clone'])).ok)
})

const openConnections = (app: TestApp) =>
  new Promise<number>((resolve, reject) =>
    app.fastify.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  )

/** A folder with a commit of this many random bytes. */
async function randomCommit(folder: string, bytes: number): Promise<string> {
  await git(folder, ['init', '--quiet', 'work'])
  const work = join(folder, 'work')
  writeFileSync(join(work, 'big'), randomBytes(bytes))
  await git(work, ['add', '.'])
  await git(work, ['commit', '--quiet', '-m', 'big'])
  return work
}

t.test(
  'a push beyond a limit is refused with the name of the limit, and a push without enough room gets 503',
  async t => {
    const app = await testApp(t)
    const { home, database } = config()
    const limits = (values: object) => loadConfig({ home, git: values, database: { url: database.url } })
    t.teardown(async () => void limits({}))
    const project = await app.make.project()
    const { port } = await listening(app)
    const remote = `http://x:${project.owner.privateToken}@127.0.0.1:${port}${pathOf(project)}`
    const work = await randomCommit(t.testdir(), 3_000_000)
    forgetAnswers()
    const push = () => tryGit(work, ['push', remote, 'HEAD:master'])
    limits({ max_push_size: 2_000_000 })
    const large = await push()
    t.notOk(large.ok)
    t.match(large.stderr, /remote rejected.*the push has more than 2000000 bytes \(git\.max_push_size\)/)
    limits({ max_spooled: 1_000_000 })
    const crowded = await push()
    t.notOk(crowded.ok)
    t.match(crowded.stderr, /HTTP 503/)
    const refused = await app.nobody.inject({
      method: 'POST',
      url: `${pathOf(project)}.git/git-upload-pack`,
      payload: Buffer.alloc(3_000_000, '0032have '),
      headers: { 'private-token': project.owner.privateToken }
    })
    t.equal(refused.statusCode, 503)
    t.match(refused.body, /No room is left/)
    await until('git has ended', () => slotCounts().running === 0)
    limits({})
    const fits = await push()
    t.ok(fits.ok, fits.stderr)
    await until('every file is gone', () => spooledBytes() === 0)
  }
)

/** Sends the beginning of a push of 2 GB. */
async function beginPush(port: number, project: TestProject, begun: Buffer): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume()
  const token = `PRIVATE-TOKEN: ${project.owner.privateToken}`
  socket.write(
    `POST ${pathOf(project)}.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000000\r\n${token}\r\n\r\n`
  )
  socket.write(begun)
  return socket
}

const changesOf = async (project: TestProject) => {
  const found = await rows<{ state: string }>('select state from ref_changes where project_id = ? and ref = ?', [
    project.id,
    'refs/tags/x'
  ])
  return found.map(({ state }) => state)
}

t.test('a push of some megabytes that stops halfway holds no slot, and is cut off', async t => {
  const app = await testApp(t)
  const { home, database } = config()
  const limits = (values: object) => loadConfig({ home, git: values, database: { url: database.url } })
  const project = await filled(app)
  const { url, port } = await listening(app)
  limits({ stall: 1, max_processes: 1 })
  t.teardown(async () => void limits({}))
  const content = randomBytes(3_000_000)
  const id = idOf('blob', content)
  const change = pktLine(`${'0'.repeat(40)} ${id} refs/tags/x\0report-status\n`)
  const push = Buffer.concat([change, FLUSH, packOf([{ type: BLOB, content }])])

  t.test('before the end of its pack', async t => {
    const socket = await beginPush(port, project, push.subarray(0, 2_500_000))
    const closed = once(socket, 'close')
    await until('git has begun', () => slotCounts().running === 1)
    const clone = await tryGit(t.testdir(), ['clone', '--quiet', `${url}${pathOf(project)}.git`])
    t.ok(clone.ok, clone.stderr)
    await closed
    await until('git has ended', () => slotCounts().running === 0)
    await until('nothing is open', async () => (await changesOf(project)).length === 0)
  })

  t.test('after the end of its pack: the result of git takes effect', async t => {
    const socket = await beginPush(port, project, push)
    // The request continues as fast as the server takes it, so that git is not ended.
    const more = (error?: Error | null) => {
      if (!error) socket.write(Buffer.alloc(1_000_000), more)
    }
    more()
    const repository = repositoryPath({ id: project.id, storage: 'default' })
    await until('git has made the tag', async () => (await refValue(repository, 'refs/tags/x')) === id)
    socket.destroy()
    await until('the change is settled', async () => (await changesOf(project))[0] === 'done')
    t.same(await changesOf(project), ['done'])
  })
})
