// Tests `gitstead api` with real calls to the real application.
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../../src/config.js'
import { rows } from '../../src/db/connect/sql.js'
import { forgetAddress, noteAddress } from '../../src/server/instance.js'
import { testApp } from '../helpers/app.js'
import { type CliOptions, cli } from '../helpers/cli.js'
import { testDatabase } from '../helpers/database.js'
import { factory } from '../helpers/factory.js'
import t from '../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const app = await testApp(t)
const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
const admin = await factory.admin({ username: 'boss' })
const project = await factory.project({ owner: admin, path: 'engine' })

const local = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
/** Calls the API from a machine without an appliance. */
const far = (args: string[], { token = admin.privateToken, ...options }: CliOptions & { token?: string } = {}) =>
  cli(['api', ...args, '--url', url], {
    ...options,
    environment: { GITSTEAD_HOME: join(home, 'none'), GITSTEAD_TOKEN: token }
  })

/** Starts a server that is not an appliance and records its requests. */
async function strange(t: { teardown(end: () => void): void }, answer: RequestListener) {
  const got: IncomingMessage[] = []
  const listening = createServer((request, reply) => {
    got.push(request)
    answer(request, reply)
  })
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    listening.closeAllConnections()
    listening.close()
  })
  return { got, at: `http://127.0.0.1:${(listening.address() as AddressInfo).port}` }
}

t.test('the body goes to standard output unchanged, and the exit code reflects the status', async t => {
  const found = await far(['GET', `projects/${admin.username}%2Fengine`])
  t.match(found, { code: 0, stderr: '' })
  t.match(found.json(), { id: project.id })
  const missing = await far(['GET', '/api/v3/projects/999999'])
  t.match(missing, { code: 3, stdout: /"404 Project Not Found"/, stderr: /^gitstead: GET .*: 404 Not Found\n$/ })
  t.equal((await far(['POST', 'projects'])).code, 2)
  t.equal((await far(['GET', 'user'], { token: 'wrong' })).code, 1)
  t.match((await far(['GET', 'projects/999999', '--json'])).json(), {
    status: 404,
    headers: { 'content-type': /json/ },
    body: { message: '404 Project Not Found' }
  })
  t.match((await far(['HEAD', 'user', '-i'])).stdout, /^HTTP\/1\.1 200 OK\n(.+\n)+\n$/)
})

t.test('fields become a query or a JSON body', async t => {
  const made = await far([
    'POST',
    'projects',
    '-f',
    'name=one',
    '-F',
    'visibility_level=10',
    '-F',
    'public_builds=false'
  ])
  t.equal(made.code, 0, made.stderr)
  t.match(made.json(), { name: 'one', visibility_level: 10, public_builds: false })
  t.equal((await far(['GET', 'projects/owned', '-f', 'search=one&simple=true'])).stdout, '[]', 'a value is encoded')
  t.equal((JSON.parse((await far(['GET', 'projects/owned', '-f', 'search=one'])).stdout) as object[]).length, 1)
  const changed = await far(['PUT', `projects/${made.json().id}`, '-F', 'description=@-'], { input: 'of "a" file\n' })
  t.match(changed.json(), { description: 'of "a" file\n' })
  const input = ['PUT', `projects/${made.json().id}`, '--input', '-']
  t.match((await far(input, { input: '{"description":"by input"}' })).json(), { description: 'by input' })
  const file = join(t.testdir({ body: 'description=form' }), 'body')
  const form = [...input.slice(0, 3), file, '-H', 'Content-Type: application/x-www-form-urlencoded']
  t.match((await far(form)).json(), { description: 'form' })
})

t.test('nested fields', async t => {
  let body = ''
  const { at } = await strange(t, async (request, reply) => {
    for await (const chunk of request) body += String(chunk)
    reply.setHeader('content-type', 'application/json').end('{}')
  })
  const ask = (...fields: string[]) =>
    cli(['api', 'POST', 'x', '--url', at, ...fields.flatMap(field => ['-F', field])], {
      environment: { GITSTEAD_HOME: home, GITSTEAD_TOKEN: 't' }
    })
  t.equal((await ask('a[]=1', 'a[]=two', 'b[c][d]=null', 'b[e]=-5', '__proto__[x]=true', 'n=007')).code, 0)
  t.equal(body, '{"a":[1,"two"],"b":{"c":{"d":null},"e":-5},"__proto__":{"x":true},"n":"007"}')
  for (const wrong of [['a=1', 'a=2'], ['a=1', 'a[]=2'], ['a[]=1', 'a[b]=2'], ['=1'], ['a'], ['a[=1'], ['a[][b]=1']]) {
    t.equal((await ask(...wrong)).code, 2, wrong.join(' '))
  }
})

t.test('an invalid call is refused before anything is sent', async t => {
  const { at, got } = await strange(t, (_, reply) => reply.end())
  const ask = (args: string[], token = 'secret') =>
    cli(['api', ...args], { environment: { GITSTEAD_HOME: home, GITSTEAD_TOKEN: token } })
  const wrong = [
    ['GET', 'http://other.example/api/v3/user'],
    ['GET', '../../-/metrics'],
    ['GET', '%2e%2e/%2E%2e/oauth/token'],
    ['GET', 'user#x'],
    ['get', 'user'],
    ['GET', 'user', '-H', 'PRIVATE-TOKEN: x'],
    ['GET', 'user', '-H', 'a: b\r\nc: d'],
    ['POST', 'user', '--paginate'],
    ['GET', 'user', '--as', 'boss'],
    ['POST', 'user', '--input', '/no/such'],
    ['POST', 'user', '--input', '-', '--token-stdin']
  ]
  for (const args of wrong) t.equal((await ask([...args, '--url', at])).code, 2, args.join(' '))
  t.equal((await ask(['GET', 'user', '--url', at], '')).code, 2, 'no token')
  t.equal((await ask(['GET', 'user', '--url', 'ftp://x'])).code, 1)
  t.same(got, [])
})

t.test('--paginate prints all pages as one list', async t => {
  for (let count = 0; count < 3; count++) await factory.user({ username: `paged-${count}` })
  const args = ['GET', 'users?per_page=1', '-f', 'search=paged-', '--paginate']
  const all = await far(args)
  t.equal(all.code, 0, all.stderr)
  const names = (text: string) => (JSON.parse(text) as { username: string }[]).map(({ username }) => username)
  t.same(names(all.stdout), ['paged-2', 'paged-1', 'paged-0'])
  t.equal(all.stdout.split('\n').length, 6, 'one line per record')
  const cut = await far([...args, '--max-pages', '2'])
  t.match(cut, { code: 1, stderr: /has more than 2 pages: raise --max-pages/ })
  t.same(names(cut.stdout), ['paged-2', 'paged-1'])
  t.match((await far([...args, '--json'])).json(), { status: 200, body: [{ username: 'paged-2' }, {}, {}] })
  t.equal((await far(['GET', 'users?search=nobody-at-all', '--paginate'])).stdout, '[\n]\n')
  t.match(await far(['GET', 'user', '--paginate']), { code: 2, stdout: '', stderr: /not a list/ })
  t.match(await far(['GET', 'projects/999999/members', '--paginate']), { code: 3, stdout: /Not Found/ })
})

t.test('an endless response is cut, and a silent server times out', async t => {
  const endless = await strange(t, (_, reply) => {
    const more = (left?: Error | null) => left || reply.write('x'.repeat(65_536), more)
    more()
  })
  const ask = (at: string, ...args: string[]) =>
    cli(['api', 'GET', 'x', '--url', at, ...args], { environment: { GITSTEAD_HOME: home, GITSTEAD_TOKEN: 't' } })
  t.match(await ask(endless.at, '--max-bytes', '1000000'), { code: 1, stderr: /larger than 1000000 bytes/ })
  t.match(await ask(endless.at, '--json'), { code: 1, stdout: /larger than 16777216 bytes/ })
  const silent = await strange(t, () => undefined)
  t.match(await ask(silent.at, '--timeout', '1'), { code: 5, stderr: /no answer for 1 s/ })
  const bytes = await strange(t, (_, reply) => reply.end(Buffer.from([0xff, 0xfe])))
  t.match(await ask(bytes.at, '--json'), { code: 1, stdout: /not text/ })
  const moved = await strange(t, (_, reply) => reply.writeHead(302, { location: endless.at }).end())
  t.equal((await ask(moved.at)).code, 1)
  t.equal(endless.got.length, 2, 'the token is not sent to a redirect')
  t.equal((await ask('http://127.0.0.1:1')).code, 5)
})

t.test('bytes are passed through unchanged', async t => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at))
  const { at } = await strange(t, (_, reply) => reply.end(bytes))
  const { PATH, HOME } = process.env
  const environment = { PATH, HOME, GITSTEAD_HOME: home, GITSTEAD_TOKEN: 't' }
  const args = ['-u', 'NODE_OPTIONS', process.execPath, join(root, 'bin/gitstead'), 'api', 'GET', 'x', '--url', at]
  const { stdout } = await promisify(execFile)('env', args, { env: environment, encoding: 'buffer' })
  t.ok(bytes.equals(stdout))
})

t.test('--as creates a token for the call, and the audit records it', async t => {
  mkdirSync(join(home, 'run'), { recursive: true })
  noteAddress((app.fastify.server.address() as AddressInfo).port)
  t.teardown(forgetAddress)
  const ada = await factory.user({ username: 'ada' })
  const as = (user: string, ...args: string[]) => cli(['api', ...args, '--as', user], { environment: local })
  const found = await as('ada', 'GET', 'user')
  t.equal(found.code, 0, found.stderr)
  t.match(found.json(), { id: ada.id, username: 'ada' })
  t.equal((await as('ada', 'GET', 'users/0')).code, 3)
  const tokens = await rows<{ revoked_at: Date | null }>(
    "select revoked_at from access_tokens where user_id = ? and kind = 'personal'",
    [ada.id]
  )
  t.equal(tokens.length, 2)
  t.ok(tokens.every(({ revoked_at }) => revoked_at !== null))
  const audit = await rows<{ action: string; via: string }>(
    "select action, via from audit_events where target_type = 'token' order by id"
  )
  t.same(
    audit.map(({ action, via }) => `${action} ${via}`),
    ['token.create command', 'token.revoke command', 'token.create command', 'token.revoke command']
  )
  t.equal((await as('ghost', 'GET', 'user')).code, 3)
  await factory.user({ username: 'gone', blocked: true })
  t.match(await as('gone', 'GET', 'user'), { code: 4, stderr: /user gone is blocked/ })
  const own = await cli(['api', 'GET', 'user'], { environment: { ...local, GITSTEAD_TOKEN: admin.privateToken } })
  t.match(own.json(), { username: 'boss' })
  forgetAddress()
  t.match(await as('ada', 'GET', 'user'), { code: 5, stderr: /is not running/ })
})
