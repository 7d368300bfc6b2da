import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { findMissing } from '../../../../src/areas/code/repository/missing-repositories.js'
import { unfinishedImports } from '../../../../src/areas/projects/imports/unfinished-imports.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { type TestApp, testApp } from '../../../helpers/app.js'
import type { TestUser } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const shown = async (app: TestApp, user: TestUser, id: number) => (await app.as(user).get(`/projects/${id}`)).json()

/** Changes the configuration until the end of the test. */
function configure(t: { teardown(fn: () => void): void }, changes: object) {
  const { home } = config()
  loadConfig({ home, ...changes })
  t.teardown(() => void loadConfig({ home }))
}

/** Serves the application, and so git over HTTP, on a port of the loopback. */
async function serve(t: { teardown(fn: () => void): void }, app: TestApp): Promise<number> {
  const { port } = new URL(await app.fastify.listen({ host: '127.0.0.1', port: 0 }))
  t.teardown(() => app.fastify.server.closeAllConnections())
  return Number(port)
}

t.test('import_url', async t => {
  const app = await testApp(t)
  const port = await serve(t, app)
  const source = await app.make.project()
  await app.make.file(source, 'a', 'content')
  const { owner } = source
  const url = `http://${owner.username}:${owner.password}@127.0.0.1:${port}/${source.path}.git`

  t.test('is refused at once when it leads to a private address, or is no URL of git', async t => {
    const user = await app.make.user()
    const cases = [
      [url, /private address 127\.0\.0\.1/],
      ['http://[::1]/a.git', /private address/],
      ['http://169.254.169.254/latest', /private address/],
      ['git://10.0.0.1/a.git', /private address/],
      ['file:///etc/passwd', /must be an http, https or git URL/],
      ['ssh://git@example.org/a.git', /must be an http, https or git URL/],
      ['ext::sh -c id', /must be an http, https or git URL/],
      ['https://', /must be an http, https or git URL/],
      ['https://example.org/a b', /has spaces/],
      ['git://u:p@example.org/a', /has a password/],
      ['https://u:a%0ab@example.org/a', /line end/],
      ['https://example.org/a?b=c', /must not have a query/]
    ] as const
    for (const [import_url, text] of cases) {
      const res = await app.as(user).post('/projects', { name: 'imported', import_url })
      t.equal(res.statusCode, 400, import_url)
      t.match(res.json().message.import_url[0], text)
    }
    t.same((await app.as(user).get('/projects')).json(), [])
  })

  t.test('a name of a private address is refused by the job', async t => {
    const user = await app.make.user()
    const res = await app.as(user).post('/projects', { name: 'local', import_url: `http://localhost:${port}/a.git` })
    t.equal(res.statusCode, 201)
    await app.runJobs()
    t.match(await shown(app, user, res.json().id), {
      import_status: 'failed',
      import_error: /may not reach the address (127\.0\.0\.1|::1)/
    })
  })

  t.test('a job fetches branches and tags, by http with a password', async t => {
    configure(t, { hooks: { allow: ['127.0.0.1'] } })
    const user = await app.make.user()
    const made = await app.as(user).post('/projects', { name: 'imported', import_url: url })
    t.equal(made.statusCode, 201)
    t.notMatch(made.body, owner.password)
    t.match(made.json(), { import_status: 'scheduled' })
    await app.runJobs()
    const now = await shown(app, user, made.json().id)
    t.match(now, { default_branch: 'master' })
    t.notOk('import_error' in now)
    const query = { file_path: 'a', ref: 'master' }
    const file = await app.as(user).get(`/projects/${now.id}/repository/files`, query)
    t.equal(Buffer.from(file.json().content, 'base64').toString(), 'content')
    t.same(await rows('select 1 from project_imports where project_id = ?', [now.id]), [], 'the password is gone')
  })

  t.test('says why it failed, without the password', async t => {
    configure(t, { hooks: { allow: ['127.0.0.1'] } })
    const user = await app.make.user()
    const wrong = `http://${owner.username}:wrong-secret@127.0.0.1:${port}/${source.path}.git`
    const { id } = (await app.as(user).post('/projects', { name: 'w', import_url: wrong })).json()
    await app.runJobs()
    const found = await shown(app, user, id)
    t.match(found, { import_status: 'failed', import_error: /git could not fetch it/, default_branch: null })
    // Longer ago than the second within which an unused project counts as empty.
    await execute('update projects set created_at = created_at - interval 1 hour where id = ?', [found.id])
    const { missing } = await findMissing()
    t.notOk(
      missing.some(({ id }) => id === found.id),
      'a project without an import is not damaged'
    )
    t.notMatch(JSON.stringify(found), 'wrong-secret')
    await app.make.file({ id, path: '', owner: user, storage: '' }, 'own', 'x')
    t.match(await shown(app, user, id), { default_branch: 'master' }, 'the project continues as an empty one')
  })

  t.test('stops at the limit of bytes, and leaves nothing', async t => {
    configure(t, { hooks: { allow: ['127.0.0.1'] }, imports: { max_size: 300, timeout: 60 } })
    const user = await app.make.user()
    const { id } = (await app.as(user).post('/projects', { name: 'large', import_url: url })).json()
    await app.runJobs()
    t.match(await shown(app, user, id), {
      import_status: 'failed',
      import_error: /more than 300 bytes \(imports\.max_size\)/
    })
    t.notOk(existsSync(repositoryPath({ id, storage: 'default' })))
  })

  t.test('stops at the limit of objects', async t => {
    configure(t, { hooks: { allow: ['127.0.0.1'] }, imports: { max_objects: 1 } })
    const user = await app.make.user()
    const { id } = (await app.as(user).post('/projects', { name: 'many', import_url: url })).json()
    await app.runJobs()
    t.match(await shown(app, user, id), {
      import_status: 'failed',
      import_error: 'the repository has more than 1 objects (imports.max_objects)'
    })
    t.notOk(existsSync(repositoryPath({ id, storage: 'default' })))
  })

  t.test('stops at the limit of time', async t => {
    const silent: Server = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      silent.closeAllConnections()
      silent.close()
    })
    configure(t, { hooks: { allow: ['127.0.0.1'] }, imports: { max_size: 1000, timeout: 1 } })
    const user = await app.make.user()
    const import_url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/a.git`
    const { id } = (await app.as(user).post('/projects', { name: 'slow', import_url })).json()
    await app.runJobs()
    t.match(await shown(app, user, id), { import_error: /longer than 1 s \(imports\.timeout\)/ })
  })

  t.test('follows redirects, but not to a private address', async t => {
    const asked: string[] = []
    const target = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>(resolve => target.listen(0, '127.0.0.2', resolve))
    const redirecting = createServer((_, response) => {
      response.writeHead(302, {
        location: `http://127.0.0.2:${(target.address() as AddressInfo).port}/x/info/refs?service=git-upload-pack`
      })
      response.end()
    })
    await new Promise<void>(resolve => redirecting.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      for (const server of [target, redirecting]) {
        server.closeAllConnections()
        server.close()
      }
    })
    configure(t, { hooks: { allow: ['127.0.0.1'] } })
    const user = await app.make.user()
    const import_url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/a.git`
    const { id } = (await app.as(user).post('/projects', { name: 'sent', import_url })).json()
    await app.runJobs()
    t.match(await shown(app, user, id), { import_error: /may not reach the address 127\.0\.0\.2/ })
    t.same(asked, [])
  })

  t.test('git:// goes through the same gate', async t => {
    const server = createTcpServer(socket => {
      socket.on('data', data => {
        greeting += data.toString()
        if (greeting.includes('host=')) socket.end()
      })
    })
    let greeting = ''
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => void server.close())
    configure(t, { hooks: { allow: ['127.0.0.1'] } })
    const user = await app.make.user()
    const import_url = `git://127.0.0.1:${(server.address() as AddressInfo).port}/a.git`
    const { id } = (await app.as(user).post('/projects', { name: 'git', import_url })).json()
    await app.runJobs()
    t.match(greeting, /git-upload-pack \/a\.git\0host=127\.0\.0\.1/)
    t.match(await shown(app, user, id), { import_status: 'failed' })
  })
})

t.test('an import whose job is gone is opened by a task', async t => {
  const app = await testApp(t)
  const user = await app.make.user()
  const body = { name: 'lost', import_url: 'https://example.org/a.git' }
  const { id } = (await app.as(user).post('/projects', body)).json()
  const context = { dryRun: false, signal: new AbortController().signal, count: () => {}, note: () => {} }
  await execute("update project_imports set created_at = '2026-01-01' where project_id = ?", [id])
  await unfinishedImports.run(context)
  t.match(await shown(app, user, id), { import_status: 'scheduled' }, 'its job still waits')
  await execute("delete from jobs where name = 'project.fill'")
  await unfinishedImports.run(context)
  t.match(await shown(app, user, id), { import_status: 'failed', import_error: /the job that copies/ })
})
