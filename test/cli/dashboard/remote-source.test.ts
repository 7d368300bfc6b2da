// Tests the source that reads an appliance through its API: with a real appliance, and with servers that are no appliance.
import { createServer, type RequestListener } from 'node:http'
import { remoteSource } from '../../../src/cli/dashboard/remote-source.js'
import { execute } from '../../../src/db/connect/sql.js'
import { Misconfigured, NotFound, Unavailable } from '../../../src/errors.js'
import { pausedQueues } from '../../../src/queue/administer.js'
import { enqueue } from '../../../src/queue/enqueue.js'
import { makePipeline } from '../../areas/ci/builds/make-builds.js'
import { testApp } from '../../helpers/app.js'
import { eventJob } from '../../helpers/published.js'
import t, { type Test } from '../../helpers/tap.js'
import { freePort } from '../../scenarios/appliance.js'

const app = await testApp(t)
const url = await app.fastify.listen({ port: 0, host: '127.0.0.1' })
const admin = await app.make.admin()
const user = await app.make.user()
const source = remoteSource({ url: `${url}/`, token: admin.privateToken })

/** Starts a server that returns the same response for every request. Returns its URL. */
async function server(t: Test, answer: RequestListener): Promise<string> {
  const listening = createServer(answer)
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  t.teardown(() => listening.close())
  const address = listening.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

async function deadJob(): Promise<number> {
  const id = await enqueue('event.published', eventJob('a'))
  await execute("update jobs set state = 'dead', error = 'no' where id = ?", [id])
  return id
}

t.test('the source reads the records of the dashboard', async t => {
  const id = await deadJob()
  t.match(await source.overview(), { queues: [{ name: 'default' }, {}, {}, {}, {}], failures: [] })
  const all = { text: '', queue: null, oldest: false, past: null }
  t.match(await source.jobs({ ...all, queue: 'default' }), { jobs: [{ id, state: 'dead' }], next: null })
  t.match(await source.jobs({ ...all, text: 'DEAD' }), { jobs: [{ id }] })
  t.match(await source.jobs({ ...all, oldest: true, past: id }), { jobs: [], next: null })
  t.match(await source.job(id), { id, error: 'no', payload: { id: 'a' } })
})

t.test('the source makes changes', async t => {
  const [id, other] = [await deadJob(), await deadJob()]
  t.equal(await source.retry([id, other, 999_999]), 2)
  t.equal((await source.job(id)).state, 'ready')
  t.equal(await source.retry([id]), 0, 'a ready job is not retried')
  t.equal(await source.discard([id, other]), 2)
  await t.rejects(source.job(id), NotFound)
  await source.pause('hooks')
  t.same(await pausedQueues(), ['hooks'])
  await source.resume('hooks')
  t.same(await pausedQueues(), [])
})

t.test('the source shows, cancels and retries builds', async t => {
  const [build] = await makePipeline(await app.make.project(), 'job:\n  script: [make]\n')
  if (!build) throw new Error('no build')
  t.match(await source.builds(), [{ id: build.id, status: 'pending', name: 'job' }])
  t.equal(await source.retryBuilds([build.id]), 0, 'the build has not finished')
  t.equal(await source.cancelBuilds([build.id, 999_999]), 1)
  t.equal(await source.cancelBuilds([build.id]), 0, 'the build has finished')
  t.equal(await source.retryBuilds([build.id]), 1)
  t.match(await source.build(build.id), { status: 'canceled', trace: { size: 0, tail: '' } })
  await t.rejects(source.build(999_999), NotFound)
})

t.test('the source refuses a wrong URL or token', async t => {
  for (const wrong of ['nowhere', 'ftp://example.org', 'http://me:secret@example.org', 'http://example.org/?a=1']) {
    t.throws(() => remoteSource({ url: wrong, token: 'x' }), /--url must be an http or https URL/, wrong)
  }
  for (const token of ['', 'two words', 'x\r\nprivate: y', 'x'.repeat(501)]) {
    t.throws(() => remoteSource({ url, token }), /the token is not valid/)
  }
})

t.test('an unknown token and the token of an ordinary user are errors', async t => {
  const wrong = remoteSource({ url, token: 'wrong' }).overview()
  await t.rejects(wrong, {
    constructor: Misconfigured,
    message: `${url} rejected the token: check it, or create a new one`
  })
  const small = remoteSource({ url, token: user.privateToken }).overview()
  await t.rejects(small, { message: `${url}: the token must belong to an administrator` })
})

t.test('a server that is not a Gitstead appliance with a dashboard is an error', async t => {
  const answers: RequestListener[] = [
    (_request, response) => void response.writeHead(404).end('{"error":"404 Not Found"}'),
    (_request, response) => void response.end('<html>'),
    (_request, response) => void response.end('{}'),
    (_request, response) => void response.end('null'),
    (_request, response) => void response.writeHead(302, { location: url }).end()
  ]
  for (const answer of answers) {
    const old = remoteSource({ url: await server(t, answer), token: 'x' })
    await t.rejects(old.overview(), {
      constructor: Misconfigured,
      message: /is not a Gitstead appliance with a dashboard/
    })
  }
})

t.test('the token is not sent to a redirect', async t => {
  let asked = 0
  const other = await server(t, (_request, response) => {
    asked += 1
    response.end('{}')
  })
  const redirecting = await server(t, (_request, response) => void response.writeHead(307, { location: other }).end())
  await t.rejects(remoteSource({ url: redirecting, token: 'x' }).overview(), /is not a Gitstead/)
  t.equal(asked, 0)
})

t.test('a server that does not answer now is Unavailable', async t => {
  const busy = await server(t, (_request, response) => void response.writeHead(503).end())
  await t.rejects(remoteSource({ url: busy, token: 'x' }).overview(), Unavailable)
  const nobody = `http://127.0.0.1:${await freePort()}`
  await t.rejects(remoteSource({ url: nobody, token: 'x' }).overview(), {
    constructor: Unavailable,
    message: `${nobody} does not answer (ECONNREFUSED)`
  })
})
