// The client of git LFS: imports from another Gitstead, and servers that break off or lie.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { lfsServerOf } from '../../../../src/areas/projects/imports/lfs/client.js'
import { fetchObjects } from '../../../../src/areas/projects/imports/lfs/fetch.js'
import { lfsSizeOf } from '../../../../src/areas/projects/lfs/objects.js'
import { config, loadConfig, publicUrl } from '../../../../src/config.js'
import { Unprocessable } from '../../../../src/errors.js'
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
  const server = createServer(async (request, response) => {
    const body = await buffer(request)
    const { url = '', headers } = request
    seen.push({ url, authorization: headers.authorization, range: headers.range })
    if (!url.endsWith('/objects/batch')) return answer(request, response, body)
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
