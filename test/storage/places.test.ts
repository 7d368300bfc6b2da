// Kinds of files in the bucket, by configuration: storage.KIND, the former keys, caches, archives, growing traces, and direct downloads.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { finishBuild } from '../../src/areas/ci/builds/claim.js'
import { bucketUploads } from '../../src/areas/ci/builds/files/bucket-uploads.js'
import { traceRowsOfBuilds as parts } from '../../src/areas/ci/builds/files/trace-rows.js'
import { oldArchives, removeOld } from '../../src/areas/code/archives/old-archives.js'
import { config, loadConfig } from '../../src/config.js'
import { execute, rows } from '../../src/db/connect/sql.js'
import { TooLarge } from '../../src/errors.js'
import { putArtifact } from '../../src/storage/artifacts.js'
import { openCache, putCache, removeCaches } from '../../src/storage/caches.js'
import { measureTrace } from '../../src/storage/measure.js'
import { KINDS, placeOf } from '../../src/storage/places.js'
import { listObjects, signedUrl } from '../../src/storage/s3.js'
import { presign } from '../../src/storage/signed-urls.js'
import {
  appendTrace,
  openTrace,
  readTrace,
  removeTrace,
  replaceTrace,
  resetTrace,
  TraceMismatch,
  traceSize
} from '../../src/storage/traces.js'
import { putUpload } from '../../src/storage/uploads.js'
import { beginBuild, endBuild, makePipeline, type TestBuild } from '../areas/ci/builds/make-builds.js'
import { testApp } from '../helpers/app.js'
import { configureBucket, testBucket } from '../helpers/bucket.js'
import { until } from '../helpers/until.js'

const app = await testApp(t)
const ALL = { 'storage.caches': 's3', 'storage.archives': 's3', 'storage.growing_traces': 'database' }
const bucket = await testBucket(t, { direct_downloads: 'true', ...ALL })
const context = { dryRun: false, signal: new AbortController().signal, count: () => undefined, note: () => undefined }

async function names(start = ''): Promise<string[]> {
  const found: string[] = []
  for await (const page of listObjects(start)) found.push(...page.map(({ name }) => name))
  return found.sort()
}

t.test('a bucket takes artifacts, traces and uploads; the other kinds, and the former keys, need a word', t => {
  const places = (values: object) => {
    const folder = mkdtempSync(join(tmpdir(), 'gitstead-places-'))
    writeFileSync(join(folder, 'config.yaml'), JSON.stringify(values))
    const kept = { ...process.env }
    for (const name of Object.keys(process.env)) if (name.startsWith('GITSTEAD_')) delete process.env[name]
    loadConfig({ home: folder })
    const found = KINDS.filter(kind => placeOf(kind) === 's3')
    Object.assign(process.env, kept)
    loadConfig({})
    return found
  }
  t.same(places({}), [])
  t.same(places({ storage: { s3: { bucket: 'files' } } }), ['artifacts', 'traces', 'uploads', 'lfs', 'records'])
  t.same(places({ storage: { uploads: 'folder', backups: 's3', s3: { bucket: 'files' } } }), [
    'artifacts',
    'traces',
    'lfs',
    'records',
    'backups'
  ])
  t.same(places({ artifacts: { s3: { bucket: 'files' } } }), ['artifacts', 'traces'])
  t.same(places({ artifacts: { s3: { bucket: 'files' } }, uploads: { bucket: true } }), [
    'artifacts',
    'traces',
    'uploads'
  ])
  t.end()
})

t.test('a trace grows in the database, where every machine reads it, and the task moves it after its end', async t => {
  const project = await app.make.project()
  const [build] = (await makePipeline(project, 'one: {script: [make]}\n')) as [TestBuild]
  const key = { build: build.id, attempt: 1 }
  const claim = await beginBuild(build)
  t.equal(await appendTrace(key, Buffer.from('hello ')), 6)
  t.equal(await appendTrace(key, Buffer.from('world\n'), 6), 12)
  await t.rejects(appendTrace(key, Buffer.from('x'), 6), new TraceMismatch(12))
  t.equal(await appendTrace(key, Buffer.alloc(0), 12), 12)
  t.equal(await traceSize(key), 12)
  t.equal(String(await readTrace(key, 4, 4)), 'o wo')
  t.equal(String(await readTrace(key, 12)), '')
  const part = await openTrace(key, size => ({ start: 6, end: size - 1 }))
  t.equal(part && (await text(part.stream)), 'world\n')
  t.notOk(existsSync(join(config().home, `traces/0/${build.id}-1.log`)))
  const read = () => app.as(project.owner).get(`/projects/${project.id}/builds/${build.id}/trace`)
  t.equal((await read()).body, 'hello world\n', 'while it grows')
  await finishBuild(claim, { status: 'success' }, await measureTrace(key))
  t.equal((await read()).body, 'hello world\n', 'from the database')
  await bucketUploads.run(context)
  t.same(await names('traces/'), [], 'a runner may still write its last lines')
  await execute('update builds set finished_at = ? where id = ?', [new Date(Date.now() - 3_600_000), build.id])
  await bucketUploads.run(context)
  t.same(await names('traces/'), [`traces/0/${build.id}-1.log`])
  t.same(await rows('select 1 from trace_parts where build_id = ?', [build.id]), [])
  t.equal((await read()).body, 'hello world\n', 'from the bucket')
  t.match(await measureTrace(key), { size: 12 })
  await removeTrace(key)
  t.equal(await traceSize(key), 0)
})

t.test('two servers that append at once lose no piece, and a repeated request adds none', async t => {
  const key = { build: 999_001, attempt: 1 }
  const anywhere = () => undefined
  await Promise.all(Array.from({ length: 20 }, (_, n) => parts.append(key, Buffer.from(`${n % 10}\n`), anywhere)))
  const lines = String(await parts.read(key, 0, 1000)).split('\n')
  t.equal(await parts.size(key), lines.join('\n').length)
  t.same(new Set(lines.slice(0, -1)), new Set(Array.from({ length: 10 }, (_, n) => String(n))))
  const large = Buffer.alloc(2_500_000, 'abcdefghijk')
  await parts.replace(key, large)
  t.ok(large.equals(await parts.read(key, 0, 4_000_000)), 'in pieces of a mebibyte')
  t.ok(large.subarray(1_048_570, 1_048_590).equals(await parts.read(key, 1_048_570, 20)), 'across the end of a piece')
  await replaceTrace(key, Buffer.from('short'))
  t.equal(await traceSize(key), 5)
  await resetTrace(key)
  t.equal(await traceSize(key), 0)
  await parts.append(key, Buffer.from('nobody'), anywhere)
  await bucketUploads.run(context)
  t.equal(await parts.size(key), 0, 'rows without a build are removed')
})

t.test('caches are in the bucket, within the limits', async t => {
  const cache = (key: string, project = 77) => ({ project, ending: 'protected' as const, key })
  const put = async (key: string) => {
    const archive = join(config().home, 'tmp', `cache-${key}.zip`)
    mkdirSync(join(config().home, 'tmp'), { recursive: true })
    writeFileSync(archive, key)
    await putCache(cache(key), archive)
  }
  await put('one')
  const found = await openCache(cache('one'))
  t.equal(found && (await text(found.stream)), 'one')
  t.equal(await openCache(cache('other')), undefined)
  t.notOk(existsSync(join(config().home, 'cache/builds/77')))
  process.env.GITSTEAD_RUNNER_CACHE_PROJECT_LIMIT = '2097152'
  t.teardown(() => {
    delete process.env.GITSTEAD_RUNNER_CACHE_PROJECT_LIMIT
    loadConfig({})
  })
  configureBucket({ endpoint: bucket.endpoint, ...ALL })
  await put('two')
  await put('three')
  t.equal((await names('cache/builds/77/')).length, 2, 'each counts as a mebibyte')
  await removeCaches(77)
  t.same(await names('cache/builds/77/'), [])
})

t.test('archives of commits are in the bucket, and a second machine does not create them again', async t => {
  const project = await app.make.project()
  await app.make.file(project, 'a.txt', 'hello')
  const path = `/projects/${project.id}/repository/archive.tar`
  const made = await app.as(project.owner).get(path)
  t.equal(made.statusCode, 200)
  await until('the archive is in the bucket', async () => (await names('cache/archives/')).length === 1)
  configureBucket({ endpoint: bucket.endpoint, ...ALL, direct_downloads: 'false' })
  rmSync(join(config().home, 'cache/archives'), { recursive: true })
  const again = await app.as(project.owner).get(path)
  t.ok(again.rawPayload.equals(made.rawPayload))
  t.notOk(existsSync(join(config().home, 'cache/archives')), 'git did not run')
  await oldArchives.run(context)
  t.equal((await names('cache/archives/')).length, 1)
  await removeOld(context, Date.now() + 8 * 86_400_000)
  t.same(await names('cache/archives/'), [])
})

t.test('a signature is that of the client of AWS, also with characters that need escapes', t => {
  const url = presign({
    method: 'GET',
    settings: {
      ...config().storage.s3,
      endpoint: 'http://s3.example.org:9000',
      region: 'eu-west-1',
      bucket: 'files',
      path_style: true
    },
    keys: { accessKeyId: 'A', secretAccessKey: 'B', sessionToken: 'tok/en+=' },
    key: "a/b ä (1)'!*.zip",
    answer: { type: 'application/zip', disposition: `attachment; filename="ä (1)'!*.zip"` },
    seconds: 60,
    now: new Date('2026-11-26T12:00:00Z')
  })
  t.match(url, /X-Amz-Signature=2231620684cd688acd66e58b96f4d2d19bf35f08bdacaa50f6f3e236a504c4c6$/)
  t.end()
})

t.test('with direct downloads, a client gets a URL of the bucket that works for a short time', async t => {
  bucket.checkSignatures(true)
  configureBucket({ endpoint: bucket.endpoint, ...ALL, direct_downloads: 'true' })
  const project = await app.make.project({ visibility_level: 20 })
  const [build] = (await makePipeline(project, 'one: {script: [make]}\n')) as [TestBuild]
  await endBuild(build, { artifacts: Buffer.from('archive') })
  const path = `/projects/${project.id}/builds/${build.id}/artifacts`
  const owner = app.as(project.owner)
  const sent = await owner.get(path)
  t.equal(sent.statusCode, 302)
  t.equal(sent.headers['cache-control'], 'no-store')
  const url = String(sent.headers.location)
  const got = await fetch(url)
  t.equal(await got.text(), 'archive')
  t.equal(got.headers.get('content-type'), 'application/zip')
  t.match(got.headers.get('content-disposition'), /^attachment; filename=/)
  t.equal(
    (await fetch(url.replace('response-content-type=application%2Fzip', 'response-content-type=text%2Fhtml'))).status,
    403,
    'the signature covers the type'
  )
  t.equal((await app.as(project.owner, { range: 'bytes=0-2' }).get(path)).body, 'arc', 'a part comes from the server')
  t.equal(
    (await app.as(await app.make.user()).get(`/projects/${(await app.make.project()).id}/builds/${build.id}/artifacts`))
      .statusCode,
    404
  )
  const upload = async (name: string) => {
    const { key } = await putUpload({ project: project.id, name }, Readable.from([Buffer.from('<script>')]), {
      limit: 100,
      excess: new TooLarge()
    })
    return app.nobody.inject({ url: `/${project.path}/uploads/${key.secret}/${name}` })
  }
  const page = await fetch(String((await upload('a.html')).headers.location))
  t.equal(page.headers.get('content-type'), 'application/octet-stream')
  t.match(page.headers.get('content-disposition'), /^attachment/)
  t.equal((await upload('a.png')).statusCode, 200, 'pages show images of our own origin only')
  await putArtifact({ build: 5, attempt: 1 }, Readable.from([Buffer.from('x')]))
  const odd = await signedUrl('artifacts/0/5-1.zip', {
    method: 'GET',
    answer: { type: 'application/zip', disposition: 'attachment; filename="a 1&x=.zip"' },
    seconds: 60
  })
  t.equal((await fetch(odd)).status, 200, 'also with characters that URLs escape')
  t.notMatch(odd, /S3RVER(?!%2F)/, 'the key is not in it')
  bucket.checkSignatures(false)
})
