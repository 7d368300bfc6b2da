// A bucket that is slow, away, broken or misconfigured: behind a proxy in front of a real S3-compatible server.
import { appendFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bucketCheck } from '../../src/cli/doctor/bucket.js'
import { config } from '../../src/config.js'
import { openArtifact, putArtifact } from '../../src/storage/artifacts.js'
import { stateOf } from '../../src/storage/bucket-states.js'
import { openObject, putObject, requireBucket } from '../../src/storage/s3.js'
import { endBuild, makePipeline, type TestBuild } from '../areas/ci/builds/make-builds.js'
import { testApp } from '../helpers/app.js'
import { configureBucket, isSilent, refuses, testBucket } from '../helpers/bucket.js'
import { until } from '../helpers/until.js'

const app = await testApp(t)
const bucket = await testBucket(t, { timeout: '1' })
const key = (build: number) => ({ build, attempt: 1 })
const put = (build: number) => putArtifact(key(build), Readable.from([Buffer.from('archive')]))
/** Another configuration forgets what the requests have shown. */
const forget = (settings = {}) => void configureBucket({ endpoint: bucket.endpoint, timeout: '1', ...settings })

t.beforeEach(() => {
  bucket.fault = undefined
  forget()
})

const unavailable = (state: string, more = {}) => Object.assign({ name: 'BucketUnavailable' }, { state, ...more })

const project = await app.make.project()
const [build] = (await makePipeline(project, 'one: {script: [make]}\n')) as [TestBuild]
await endBuild(build, { artifacts: Buffer.from('archive') })
const path = `/projects/${project.id}/builds/${build.id}/artifacts`
const download = () => app.as(project.owner).get(path)

t.test('an answer of the API names the state, and a client may come back', async t => {
  t.equal((await download()).body, 'archive')
  bucket.fault = refuses(503, 'SlowDown')
  const busy = await download()
  t.equal(busy.statusCode, 503)
  t.equal(busy.headers['retry-after'], '10')
  t.match(busy.json(), {
    message:
      '503 Service Unavailable - the storage of files asks for fewer requests (bucket_throttled): try again later',
    error: 'bucket_throttled'
  })
  bucket.fault = refuses(403, 'AccessDenied')
  const denied = await download()
  t.equal(denied.statusCode, 503)
  t.equal(denied.headers['retry-after'], '60')
  t.match(denied.json(), { error: 'bucket_denied', message: /gitstead doctor$/ })
  bucket.fault = undefined
  t.equal((await download()).body, 'archive')
})

t.test('a silent bucket ends its own requests, and then all at once; other requests are answered', async t => {
  bucket.fault = isSilent
  const others = app.as(project.owner).get(`/projects/${project.id}`)
  const first = await Promise.all([download(), download(), download()])
  t.same(
    first.map(answer => answer.json().error),
    ['bucket_slow', 'bucket_slow', 'bucket_slow']
  )
  t.equal((await others).statusCode, 200)
  const before = bucket.requests
  const later = await Promise.all(Array.from({ length: 20 }, download))
  t.ok(later.every(answer => answer.statusCode === 503 && answer.json().error === 'bucket_slow'))
  t.ok(bucket.requests <= before + 3, 'at most one of them has asked the bucket')
  t.match((await app.nobody.get('/-/health')).json(), { status: 'degraded', bucket: 'bucket_slow' })
  const ready = await app.nobody.get('/-/readiness')
  t.equal(ready.statusCode, 200, 'a balancer keeps the server')
  t.match(ready.json(), { status: 'degraded', bucket: 'bucket_slow' })
  const metrics = (await app.as(await app.make.admin()).get('/-/metrics')).body
  t.match(metrics, /^gitstead_bucket_up 0$/m)
  t.match(metrics, /^gitstead_bucket_requests\{operation="head",outcome="bucket_slow"\} [1-9]/m)
})

t.test('an upload that fails leaves the old archive, and the next one succeeds', async t => {
  await put(7)
  bucket.fault = refuses(500, 'InternalError')
  await t.rejects(put(7), unavailable('bucket_failing', { retryAfter: 10 }))
  bucket.fault = undefined
  const found = await openArtifact(key(7))
  t.equal(found && (await text(found.stream)), 'archive')
  await put(7)
})

t.test('a download continues where the bucket broke it off', async t => {
  const bytes = Buffer.alloc(3_000_000, Buffer.from('0123456789abcdef-'))
  const file = join(config().home, 'tmp-object')
  writeFileSync(file, bytes)
  await putObject('large', file, bytes.length)
  bucket.cuts = { times: 3, after: 700_000 }
  const whole = await openObject('large')
  t.ok(whole && bytes.equals(await buffer(whole.stream)))
  t.equal(bucket.cuts.times, 0)
  bucket.cuts = { times: 1, after: 10 }
  const part = await openObject('large', () => ({ start: 5, end: 99_999 }))
  t.ok(part && bytes.subarray(5, 100_000).equals(await buffer(part.stream)))
  bucket.cuts = { times: 1, after: 500_000 }
  const late = await openObject('large')
  await until('the connection broke', () => bucket.cuts.times === 0)
  const before = bucket.requests
  await sleep(50)
  t.equal(bucket.requests, before, 'nobody reads, so it asks for nothing')
  t.ok(late && bytes.equals(await buffer(late.stream)))
  bucket.cuts = { times: 100, after: 0 }
  const never = await openObject('large')
  await t.rejects(async () => {
    if (never) await buffer(never.stream)
  }, 'it gives up')
  bucket.cuts = { times: 0, after: 0 }
})

t.test('a large file is sent in parts, and a part that fails is sent again', async t => {
  forget({ timeout: '30' })
  const file = join(config().home, 'tmp-large')
  const size = 33_554_432 + 5
  writeFileSync(file, '')
  truncateSync(file, size - 4)
  appendFileSync(file, 'tail')
  let failures = 1
  bucket.fault = (incoming, response) => {
    if (incoming.method === 'PUT' && failures-- > 0) return refuses(500, 'InternalError')(incoming, response)
    return 'pass'
  }
  await putObject('parts', file, size)
  rmSync(file)
  bucket.fault = undefined
  t.ok(failures < 0, 'one part has failed')
  const end = await openObject('parts', size => ({ start: size - 6, end: size - 1 }))
  t.equal(end?.size, size)
  t.equal(end && (await text(end.stream)), '\0\0tail')
})

t.test('downloads that nobody reads leave connections for others', async t => {
  forget({ connections: '4', timeout: '30' })
  const file = join(config().home, 'tmp-object')
  writeFileSync(file, Buffer.alloc(5_000_000))
  await putObject('held', file, 5_000_000)
  const held = await Promise.all([openObject('held'), openObject('held'), openObject('held')])
  const next = openObject('held')
  await requireBucket()
  await put(8)
  held[0]?.stream.destroy()
  const found = await next
  t.equal(found?.size, 5_000_000, 'the next download begins when one ends')
  for (const each of [...held, found]) each?.stream.destroy()
})

t.test('doctor names what is wrong, with a remedy', async t => {
  const examine = async () => bucketCheck.examine({ all: false, serverUp: false, serverUrl: '', now: new Date() })
  t.match(await examine(), /answers: write, read, range, list, delete$/)
  const wrong: [status: number, code: string, found: RegExp, remedy: RegExp][] = [
    [403, 'RequestTimeTooSkewed', /write: the storage of files has another time \(bucket_clock\)$/, /NTP/],
    [400, 'AuthorizationHeaderMalformed', /bucket_region/, /region/],
    [301, 'PermanentRedirect', /bucket_region/, /region/],
    [403, 'InvalidAccessKeyId', /bucket_credentials/, /secret_access_key/],
    [403, 'SignatureDoesNotMatch', /bucket_credentials/, /secret_access_key/],
    [403, 'AccessDenied', /bucket_denied/, /ListBucket/],
    [404, 'NoSuchBucket', /bucket_missing/, /create the bucket/],
    [507, 'XMinioStorageFull', /bucket_full/, /more room/]
  ]
  for (const [status, code, message, remedy] of wrong) {
    forget()
    bucket.fault = refuses(status, code)
    await t.rejects(examine(), { message, remedy }, code)
  }
  forget()
  bucket.fault = (incoming, response) => {
    if (incoming.method === 'GET') return refuses(403, 'AccessDenied')(incoming, response)
    incoming.resume()
    response.writeHead(incoming.method === 'PUT' ? 200 : 204).end()
  }
  await t.rejects(examine(), { message: /: read: the storage of files denies the access/ }, 'the step is named')
})

t.test('errors of the network and of certificates have states', async t => {
  t.equal(stateOf(Object.assign(new Error(), { code: 'ECONNREFUSED' })), 'bucket_away')
  t.equal(stateOf(Object.assign(new Error(), { code: 'ENOTFOUND' })), 'bucket_away')
  t.equal(stateOf(Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' })), 'bucket_tls')
  t.equal(stateOf(Object.assign(new Error(), { name: 'CredentialsProviderError' })), 'bucket_credentials')
  forget({ endpoint: 'http://127.0.0.1:1' })
  await t.rejects(requireBucket(), unavailable('bucket_away'))
})
