// The client of git LFS: imports from another Gitstead, and servers that break off or lie.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { lfsServerOf, openLfsClient } from '../../../../src/areas/projects/imports/lfs/client.js'
import { fetchObjects } from '../../../../src/areas/projects/imports/lfs/fetch.js'
import { namedServer } from '../../../../src/areas/projects/imports/lfs/named-server.js'
import { lfsSizeOf } from '../../../../src/areas/projects/lfs/sizes.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { config, loadConfig, publicUrl } from '../../../../src/config.js'
import { Unprocessable } from '../../../../src/errors.js'
import { refValue } from '../../../../src/git/refs/refs.js'
import { testApp } from '../../../helpers/app.js'
import type { TestProject } from '../../../helpers/factory.js'
import { hashOf, listen } from '../../../server/lfs/client.js'
import { addLfsFile, lfsContents, pointerOf } from '../lfs/pointer-files.js'

const app = await testApp(t)
const { home } = config()
const usual = { home, hooks: { allow: ['127.0.0.1'] } }
loadConfig(usual)
t.teardown(() => void loadConfig({ home }))
const address = await listen(app)
t.teardown(() => app.fastify.server.closeAllConnections())

const source = await app.make.project()
const { owner } = source
const contents = ['one', 'two '.repeat(50_000), '']
const oids: string[] = []
for (const content of contents) oids.push(await addLfsFile(app, source, `${oids.length}.bin`, content))
const urlOf = ({ path }: TestProject) =>
  `${address.replace('//', `//${owner.username}:${owner.password}@`)}/${path}.git`

async function imported(import_url: string) {
  const user = await app.make.user()
  const made = await app.as(user).post('/projects', { name: 'imported', import_url })
  t.equal(made.statusCode, 201, made.body)
  await app.runJobs()
  return (await app.as(user).get(`/projects/${made.json().id}`)).json()
}

t.test('an import by URL brings the objects that the history names', async t => {
  t.match(address, publicUrl())
  const project = await imported(urlOf(source))
  t.equal(project.import_error, undefined)
  t.same(await lfsContents(project, oids), contents)
})

t.test('an object that the source has lost is left out; the others come', async t => {
  const lossy = await app.make.project({ owner })
  const kept = await addLfsFile(app, lossy, 'kept.bin', 'kept')
  const [lost] = oids
  await app.make.file(lossy, 'lost.bin', pointerOf(lost ?? '', 3))
  const project = await imported(urlOf(lossy))
  t.equal(project.import_error, undefined)
  t.same(
    await lfsContents(project, [kept, lost ?? '']),
    ['kept', null],
    'the hash of an object of another project gives no access to it'
  )
})

t.test('a project without room says so', async t => {
  loadConfig({ ...usual, lfs: { max_project_size: 1000 } })
  t.teardown(() => void loadConfig(usual))
  const project = await imported(urlOf(source))
  t.match(project, { import_status: 'failed', import_error: /at most 1000 bytes \(lfs\.max_project_size\)/ })
})

type Reply = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown

/** A server whose batch API names `/object` for each object, and which answers that itself. */
async function lfsServer(t: Test, answer: Reply, batch?: Reply) {
  const seen: { url: string; authorization: string | undefined; range: string | undefined }[] = []
  const questions: string[] = []
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { url = '', headers } = request
    seen.push({ url, authorization: headers.authorization, range: headers.range })
    if (!url.endsWith('/objects/batch')) return answer(request, response, body)
    questions.push(`${request.method} ${body}`)
    if (batch) return batch(request, response, body)
    const { objects } = JSON.parse(String(body))
    const actions = { download: { href: `${origin}/object`, header: { 'X-Ticket': '1' } } }
    response.end(JSON.stringify({ objects: objects.map((each: object) => ({ ...each, actions })) }))
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    seen,
    questions,
    place: lfsServerOf({ url: new URL(`${origin}/a/b.git`), username: 'ada', password: 'sesame' })
  }
}

async function fetchFrom(place: ReturnType<typeof lfsServerOf>, content: string, size = Buffer.byteLength(content)) {
  const left: string[] = []
  const got: string[] = []
  await fetchObjects({
    ...{ server: place, held: 0, signal: new AbortController().signal },
    keys: [{ oid: hashOf(content), size }],
    store: async ({ oid }, stream) => {
      const bytes = await buffer(stream)
      if (hashOf(bytes) !== oid) throw new Unprocessable('another hash')
      got.push(String(bytes))
    },
    leave: why => left.push(why)
  })
  return { left, got }
}

t.test('a broken transfer continues where it was, with and without ranges', async t => {
  const content = 'x'.repeat(300_000)
  for (const knowsRanges of [true, false]) {
    const { place, seen } = await lfsServer(t, (request, response) => {
      const { range } = request.headers
      if (range === undefined) {
        response.writeHead(200, { 'content-length': content.length })
        return response.write(content.slice(0, 100_000), () => response.destroy())
      }
      const start = knowsRanges ? Number(/\d+/.exec(range)?.[0]) : 0
      const partial = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }
      response.writeHead(knowsRanges ? 206 : 200, knowsRanges ? partial : {}).end(content.slice(start))
    })
    t.same(await fetchFrom(place, content), { left: [], got: [content] })
    t.ok(seen.at(-1)?.range)
  }
})

t.test('the password stays at the server of the repository', async t => {
  const other = await lfsServer(t, (_, response) => response.end('there'))
  const { place, seen } = await lfsServer(t, (_, response) =>
    response.writeHead(302, { location: `${other.origin}/object` }).end()
  )
  t.same(await fetchFrom(place, 'there'), { left: [], got: ['there'] })
  t.ok(seen.every(({ authorization }) => authorization?.startsWith('Basic ')))
  t.same(other.seen, [{ url: '/object', authorization: undefined, range: undefined }])
})

/** Answers with a redirect to a place of another server, or of its own. */
const redirect =
  (status: number, to: string, headers = {}): Reply =>
  ({ url }, response) =>
    response.writeHead(status, { location: `${to}${url}`, ...headers }).end('sesame')

t.test('a question follows redirects with its method and its body', async t => {
  for (const status of [301, 302, 303, 307, 308]) {
    const there = await lfsServer(t, (_, response) => response.end('there'))
    const { place, seen, questions } = await lfsServer(t, () => {}, redirect(status, there.origin))
    t.same(await fetchFrom(place, 'there'), { left: [], got: ['there'] }, String(status))
    t.match(questions, [/^POST /])
    t.same(there.questions, questions)
    t.match(seen, [{ authorization: /^Basic / }])
    t.same(new Set(there.seen.map(({ authorization }) => authorization)), new Set([undefined]), 'without the password')
  }
})

t.test('the password stays in a question that is redirected on the same server', async t => {
  const { place, seen } = await lfsServer(
    t,
    (_, response) => response.end('there'),
    ({ url = '' }, response, body) => {
      if (!url.startsWith('/new')) return response.writeHead(307, { location: `/new${url}` }).end()
      const [{ oid }] = JSON.parse(String(body)).objects
      response.end(
        JSON.stringify({ objects: [{ oid, actions: { download: { href: `${place.endpoint.origin}/x` } } }] })
      )
    }
  )
  t.same(await fetchFrom(place, 'there'), { left: [], got: ['there'] })
  t.equal(seen.length, 3)
  t.ok(seen.every(({ authorization }) => authorization?.startsWith('Basic ')))
})

t.test('redirects that end nowhere, or in a private network', async t => {
  const endless = await lfsServer(t, () => {}, redirect(307, ''))
  await t.rejects(fetchFrom(endless.place, 'given'), { message: /redirects too often/ })
  t.equal(endless.seen.length, 6)
  const cases: readonly (readonly [string, RegExp])[] = [
    ['http://169.254.169.254', /has the address 169\.254\.169\.254, which the appliance may not reach/],
    ['file://', /redirects to no URL/]
  ]
  for (const [to, message] of cases) {
    const { place } = await lfsServer(t, () => {}, redirect(302, to))
    await t.rejects(fetchFrom(place, 'given'), { message })
  }
})

t.test('an upload follows redirects, and asks where it has arrived', async t => {
  const oid = hashOf('given')
  const other = await lfsServer(t, (_, response, body) => response.writeHead(hashOf(body) === oid ? 200 : 422).end())
  const { place, seen } = await lfsServer(t, redirect(307, other.origin), (_, response) => {
    const { origin } = place.endpoint
    const actions = { upload: { href: `${origin}/up` }, verify: { href: `${origin}/verify` } }
    response.end(JSON.stringify({ objects: [{ oid, actions }] }))
  })
  const client = openLfsClient(place, new AbortController().signal)
  t.teardown(client.close)
  const [planned] = await client.plan('upload', [{ oid, size: 5 }])
  if (!planned) throw new Error('no plan')
  const sent = client.upload(planned, async () => Readable.from([Buffer.from('given')]))
  await t.rejects(sent, { message: /verify answered with status 422/ })
  t.same(
    other.seen.map(({ url, authorization }) => `${url} ${authorization}`),
    ['/up undefined', '/verify undefined']
  )
  t.ok(seen.every(({ authorization }) => authorization?.startsWith('Basic ')))
})

/** Makes a project whose `.lfsconfig` has this text. */
async function configured(text: string) {
  const project = await app.make.project({ owner })
  await app.make.file(project, '.lfsconfig', text)
  return project
}

t.test('the files come from the server that .lfsconfig names', async t => {
  const there = await lfsServer(t, (_, response) => response.end('elsewhere'))
  for (const key of ['[lfs]\n\turl', '[remote "origin"]\n\tlfsurl']) {
    const project = await configured(`${key} = ${there.origin}/files/\n`)
    await app.make.file(project, 'one.bin', pointerOf(hashOf('elsewhere'), 9))
    there.seen.length = 0
    const made = await imported(urlOf(project))
    t.equal(made.import_error, undefined)
    t.same(await lfsContents(made, [hashOf('elsewhere')]), ['elsewhere'])
    t.match(there.seen, [{ url: '/files/objects/batch' }, { url: '/object' }])
    t.same(new Set(there.seen.map(({ authorization }) => authorization)), new Set([undefined]), 'without the password')
  }
})

t.test('an .lfsconfig that leads into a private network ends the import', async t => {
  const project = await configured('[lfs]\n\turl = http://169.254.169.254/latest\n')
  await app.make.file(project, 'one.bin', pointerOf(hashOf('inside'), 6))
  t.match(await imported(urlOf(project)), {
    import_status: 'failed',
    import_error: /has the address 169\.254\.169\.254, which the appliance may not reach/
  })
})

t.test('what .lfsconfig may say', async t => {
  const own = lfsServerOf({ url: new URL('https://ada:x@source.example/a/b.git'), username: 'ada', password: 'x' })
  const named = async (text: string) => {
    const project = await configured(text)
    const path = repositoryPath(project)
    return namedServer(path, await refValue(path, 'refs/heads/master'), own)
  }
  const url = (text: string) => `[lfs]\n\turl = "${text}"\n`
  for (const text of [
    '',
    '[lfs',
    url('ssh://git@source.example/x'),
    url('file:///etc'),
    url('nothing'),
    '[lfs]\nurl\n'
  ])
    t.equal(await named(text), own, JSON.stringify(text))
  t.equal(await named(`${url('http://large.example/')}#${'x'.repeat(70_000)}\n`), own, 'too large')
  t.equal(await named('[include]\n\tpath = /etc/gitconfig\n'), own, 'nothing is included')
  t.match(await named(url('https://eve:y@source.example/other?q=1#f')), {
    endpoint: { href: 'https://source.example/other' },
    header: own.header
  })
  for (const text of ['https://source.example:8443/', 'http://source.example/', 'https://other.example/'])
    t.same((await named(url(text)))?.header, {}, 'the credentials are for one origin')
  t.equal(await namedServer('/nowhere', null, own), own)
})

t.test('a path with two slashes leads to no other server', async t => {
  const other = await lfsServer(t, (_, response) => response.end('other'))
  const { origin, seen, place } = await lfsServer(t, (_, response) => response.end('there'))
  const endpoint = new URL(`${origin}//${new URL(other.origin).host}/x`)
  t.same(await fetchFrom({ ...place, endpoint }, 'there'), { left: [], got: ['there'] })
  t.match(seen, [{ authorization: /^Basic / }, {}])
  t.same(other.seen, [])
})

t.test('servers that lie', async t => {
  const place = async (answer: Reply, batch?: Reply) => (await lfsServer(t, answer, batch)).place
  const [none, send] = [
    () => {},
    (text: string): Reply =>
      (_, response) =>
        response.end(text)
  ]
  const status =
    (code: number): Reply =>
    (_, response) =>
      response.writeHead(code).end('sesame')
  t.match(await fetchFrom(await place(send('other')), 'given'), { left: [/other content/], got: [] })
  t.match(await fetchFrom(await place(send('longer than given')), 'given'), { left: [/not have/], got: [] })
  t.match(await fetchFrom(await place(status(404)), 'given'), { left: [/do not have|does not have/], got: [] })
  t.match(await fetchFrom(await place(none, status(404)), 'given'), { left: [/does not give files of LFS/], got: [] })
  const inside = { actions: { download: { href: 'http://169.254.169.254/latest' } } }
  const answers: readonly (readonly [Reply, RegExp])[] = [
    [send('<html>'), /does not answer as the batch API of git LFS does/],
    [send('{"objects":{}}'), /does not answer as the batch API/],
    [send(`{"objects":[],"x":"${'x'.repeat(5_000_000)}"}`), /is larger than 4194304 bytes/]
  ]
  for (const [batch, message] of answers) await t.rejects(fetchFrom(await place(none, batch), 'given'), { message })
  const objects = [{ oid: hashOf('given'), ...inside }]
  t.match(await fetchFrom(await place(none, send(JSON.stringify({ objects }))), 'given'), {
    left: [/not have/],
    got: []
  })
  t.match(await fetchFrom(await place(none), 'given', 1e13), { left: [/lfs\.max_object_size/], got: [] })
  t.equal(await lfsSizeOf(0), 0)
})
