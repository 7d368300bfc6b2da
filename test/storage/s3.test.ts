// Archives, and traces of builds that have ended, in a bucket: against a real S3-compatible server.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { bucketUploads } from '../../src/areas/ci/builds/files/bucket-uploads.js'
import { lookAtBuildFiles } from '../../src/areas/ci/builds/files/damaged-files.js'
import { expiredArtifacts } from '../../src/areas/ci/builds/files/expired-artifacts.js'
import { leftInBucket } from '../../src/areas/upkeep/backup/copy-uploads.js'
import { removeOrphans } from '../../src/areas/upkeep/maintenance/orphaned-files.js'
import { bucketCheck } from '../../src/cli/doctor/bucket.js'
import { config, loadConfig } from '../../src/config.js'
import { execute } from '../../src/db/connect/sql.js'
import { TooLarge } from '../../src/errors.js'
import { openArtifact, putArtifact, removeArtifact } from '../../src/storage/artifacts.js'
import { pathOf } from '../../src/storage/files.js'
import { sizeOf } from '../../src/storage/measure.js'
import { headObject, listObjects } from '../../src/storage/s3.js'
import { appendTrace, openTrace, readTrace, traceSize } from '../../src/storage/traces.js'
import { measureUploads, openUpload, putUpload, removeUploads, type UploadKey } from '../../src/storage/uploads.js'
import { endBuild, makePipeline, type TestBuild } from '../areas/ci/builds/make-builds.js'
import { testApp } from '../helpers/app.js'
import t from '../helpers/tap.js'

const app = await testApp(t)
const folder = mkdtempSync(join(tmpdir(), 'gitstead-s3-'))
const S3rver = createRequire(import.meta.url)('@20minutes/s3rver')
const server = new S3rver({
  port: 0,
  address: '127.0.0.1',
  silent: true,
  directory: folder,
  configureBuckets: [{ name: 'builds' }]
})
const { port } = (await server.run()) as AddressInfo
const ENVIRONMENT = {
  GITSTEAD_ARTIFACTS_S3_BUCKET: 'builds',
  GITSTEAD_ARTIFACTS_S3_ENDPOINT: `http://127.0.0.1:${port}`,
  GITSTEAD_ARTIFACTS_S3_PATH_STYLE: 'true',
  GITSTEAD_ARTIFACTS_S3_PREFIX: 'gitstead/',
  GITSTEAD_ARTIFACTS_S3_ACCESS_KEY_ID: 'S3RVER',
  GITSTEAD_ARTIFACTS_S3_SECRET_ACCESS_KEY: 'S3RVER'
}

const textOf = async (key: UploadKey) => {
  const found = await openUpload(key)
  return found && text(found.stream)
}

/** Loads the configuration with other values in the environment; null removes a value. */
function configure(values: { readonly [name: string]: string | null }): void {
  for (const [name, value] of Object.entries(values)) {
    if (value === null) delete process.env[name]
    else process.env[name] = value
  }
  loadConfig({})
}

const UPLOADS = 'GITSTEAD_UPLOADS_BUCKET'
const off = Object.fromEntries([...Object.keys(ENVIRONMENT), UPLOADS].map(name => [name, null]))
t.beforeEach(() => configure({ ...ENVIRONMENT, [UPLOADS]: null }))
t.teardown(async () => {
  configure(off)
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

/**
 * This server disagrees with the SDK about the signature of a path-style list; all other requests are checked.
 */
async function listing<T>(work: () => Promise<T>): Promise<T> {
  server.allowMismatchedSignatures = true
  try {
    return await work()
  } finally {
    server.allowMismatchedSignatures = false
  }
}

const names = () =>
  listing(async () => {
    const found: string[] = []
    for await (const page of listObjects('')) found.push(...page.map(({ name }) => name))
    return found.sort()
  })
const context = { dryRun: false, signal: new AbortController().signal, count: () => undefined, note: () => undefined }
const key = (build: number) => ({ build, attempt: 1 })

t.test('an archive is stored, opened, opened in part, and removed', async t => {
  const stored = await putArtifact(key(12_345), Readable.from([Buffer.from('the '), Buffer.from('archive')]))
  t.equal(stored.size, 11)
  t.same(await names(), ['artifacts/12/12345-1.zip'])
  t.notOk(existsSync(pathOf('artifacts', key(12_345), 'zip')), 'nothing is left on the disk')
  const whole = await openArtifact(key(12_345))
  t.equal(whole && (await text(whole.stream)), 'the archive')
  const part = await openArtifact(key(12_345), size => ({ start: 4, end: size - 1 }))
  t.match(part, { size: 11, range: { start: 4, end: 10 } })
  t.equal(part && (await text(part.stream)), 'archive')
  t.equal(await sizeOf('artifacts', key(12_345)), 11)
  await removeArtifact(key(12_345))
  t.equal(await openArtifact(key(12_345)), undefined)
  t.same(await names(), [])
})

t.test('an archive above the limit keeps the old one and leaves no draft', async t => {
  await putArtifact(key(1), Readable.from([Buffer.from('old')]))
  await t.rejects(putArtifact(key(1), Readable.from([Buffer.alloc(20)]), 10), TooLarge)
  const found = await openArtifact(key(1))
  t.equal(found && (await text(found.stream)), 'old')
  await removeArtifact(key(1))
})

t.test('archives from before the bucket are still read, and the task moves them and ended traces', async t => {
  const project = await app.make.project()
  configure(off)
  const [ended, running] = (await makePipeline(project, 'one: {script: [make]}\ntwo: {script: [make]}\n')) as [
    TestBuild,
    TestBuild
  ]
  await endBuild(ended, { trace: 'one\ntwo\n', artifacts: Buffer.from('archive') })
  await appendTrace(key(running.id), Buffer.from('grows\n'))
  configure(ENVIRONMENT)
  const read = () => app.as(project.owner).get(`/projects/${project.id}/builds/${ended.id}/artifacts`)
  t.equal((await read()).body, 'archive', 'from the disk')
  await bucketUploads.run(context)
  t.same(await names(), [], 'a runner may still write its last lines')
  await execute('update builds set finished_at = ? where id = ?', [new Date(Date.now() - 3_600_000), ended.id])
  await bucketUploads.run({ ...context, dryRun: true })
  t.same(await names(), [])
  await bucketUploads.run(context)
  t.same(await names(), [`artifacts/0/${ended.id}-1.zip`, `traces/0/${ended.id}-1.log`])
  t.notOk(existsSync(pathOf('traces', key(ended.id), 'log')))
  t.equal((await read()).body, 'archive', 'from the bucket')
  t.equal(await traceSize(key(ended.id)), 8)
  t.equal(String(await readTrace(key(ended.id), 4, 2)), 'tw')
  t.equal(String(await readTrace(key(ended.id), 8)), '')
  const trace = await openTrace(key(ended.id), () => ({ start: 4, end: 7 }))
  t.equal(trace && (await text(trace.stream)), 'two\n')
  t.equal(String(await readTrace(key(running.id))), 'grows\n', 'the trace that grows is on the disk')
  t.same((await lookAtBuildFiles({ all: true })).damaged, [], 'doctor finds them')
})

t.test(
  'objects without a record are removed after a day, expired archives by their task, erased ones at once',
  async t => {
    const project = await app.make.project()
    const builds = await makePipeline(project, 'one: {script: [make]}\ntwo: {script: [make]}\n')
    const [one, two] = builds as [TestBuild, TestBuild]
    await endBuild(one, { artifacts: Buffer.from('old'), expireIn: -1 })
    await endBuild(two, { artifacts: Buffer.from('kept') })
    await putArtifact(key(999_999), Readable.from([Buffer.from('nobody')]))
    await expiredArtifacts.run(context)
    t.equal(await headObject(`artifacts/0/${one.id}-1.zip`), undefined)
    await listing(() => removeOrphans(context))
    t.ok(await headObject('artifacts/999/999999-1.zip'), 'not on its first day')
    await listing(() => removeOrphans(context, new Date(Date.now() + 2 * 86_400_000)))
    t.equal(await headObject('artifacts/999/999999-1.zip'), undefined)
    t.ok(await headObject(`artifacts/0/${two.id}-1.zip`))
    const res = await app.as(project.owner).post(`/projects/${project.id}/builds/${two.id}/erase`)
    t.equal(res.statusCode, 201)
    t.equal(await headObject(`artifacts/0/${two.id}-1.zip`), undefined)
  }
)

t.test('an error of a bucket that refuses or does not answer does not name it', async t => {
  const away: [values: Record<string, string>, message: RegExp][] = [
    [
      { GITSTEAD_ARTIFACTS_S3_ENDPOINT: 'http://127.0.0.1:1' },
      /^the storage of files cannot be reached \(bucket_away\): /
    ],
    [
      { GITSTEAD_ARTIFACTS_S3_SECRET_ACCESS_KEY: 'wrong' },
      /^the storage of files refuses the keys \(bucket_credentials\)/
    ],
    [{ GITSTEAD_ARTIFACTS_S3_BUCKET: 'another' }, /^the storage of files has no such bucket \(bucket_missing\): /]
  ]
  for (const [values, message] of away) {
    configure({ ...ENVIRONMENT, ...values })
    await t.rejects(putArtifact(key(5), Readable.from([Buffer.from('x')])), { message, name: 'BucketUnavailable' })
  }
})

t.test('doctor asks the bucket', async t => {
  const examine = async () => bucketCheck.examine({ all: false, serverUp: false, serverUrl: '', now: new Date() })
  t.equal(
    await listing(examine),
    `the bucket builds at http://127.0.0.1:${port} answers: write, read, range, list, delete`
  )
  configure({ GITSTEAD_ARTIFACTS_S3_BUCKET: 'nothing' })
  await t.rejects(listing(examine), {
    message: /^the bucket nothing at .*: write: the storage of files has no such bucket \(bucket_missing\)$/
  })
  configure({ GITSTEAD_ARTIFACTS_S3_BUCKET: 'builds', GITSTEAD_ARTIFACTS_S3_SECRET_ACCESS_KEY: 'wrong' })
  await t.rejects(examine(), { message: /^the bucket builds at .*: write: the storage of files refuses the keys/ })
  configure({ GITSTEAD_ARTIFACTS_S3_ENDPOINT: 'http://127.0.0.1:1' })
  await t.rejects(examine(), {
    message: /cannot be reached \(bucket_away\)$/,
    remedy: /^check the endpoint/
  })
  configure(off)
  t.equal(await examine(), 'not needed: storage.s3.bucket is not set')
})

t.test('uploads are kept in the bucket if configured, and the task moves the older ones', async t => {
  const { id: project } = await app.make.project()
  const limits = { limit: 5, excess: new TooLarge() }
  const put = async (name: string, content: string) =>
    (await putUpload({ project, name }, Readable.from([Buffer.from(content)]), limits)).key
  const objectOf = ({ secret, name }: UploadKey) => `uploads/${project}/${secret}/${name}`
  const onDisk = (upload: UploadKey) => existsSync(join(config().home, objectOf(upload)))
  const old = await put('old.txt', 'old')
  await bucketUploads.run(context)
  t.ok(onDisk(old), 'a bucket for files of builds does not take uploads')
  configure({ [UPLOADS]: 'true' })
  const made = await put('new.txt', 'newer')
  t.notOk(onDisk(made))
  await t.rejects(put('large.txt', 'larger'), TooLarge)
  t.same([await textOf(old), await textOf(made)], ['old', 'newer'])
  t.same(await listing(() => measureUploads(project)), { files: 2, bytes: 8 })
  await bucketUploads.run({ ...context, dryRun: true })
  t.ok(onDisk(old))
  await bucketUploads.run(context)
  t.notOk(onDisk(old))
  t.same(await textOf(old), 'old', 'from the bucket')
  t.same(
    (await names()).filter(name => name.startsWith('uploads/')),
    [objectOf(old), objectOf(made)].sort()
  )
  configure({ [UPLOADS]: null })
  t.same(await textOf(made), 'newer', 'also when new uploads are on the disk again')
  await listing(() => removeUploads(project))
  t.same(
    (await names()).filter(name => name.startsWith('uploads/')),
    []
  )
  t.equal(await textOf(made), undefined)
})

t.test(
  'an upload that is put back hides no longer behind a damaged file, which does not replace its object',
  async t => {
    configure({ [UPLOADS]: 'true' })
    const put = (secret?: string) =>
      putUpload(
        { project: 987_654_322, name: 'a.png', ...(secret && { secret }) },
        Readable.from([Buffer.from('good')]),
        {
          limit: 100,
          excess: new TooLarge()
        }
      )
    const { key } = await put()
    t.equal(leftInBucket(), 'not in it: artifacts, traces, uploads in the bucket builds')
    const path = join(config().home, 'uploads', String(key.project), key.secret, key.name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, 'bad!')
    t.equal(await textOf(key), 'bad!', 'files on the disk come first')
    await put(key.secret)
    t.equal(await textOf(key), 'good')
    writeFileSync(path, 'bad!')
    await bucketUploads.run(context)
    t.notOk(existsSync(path))
    t.equal(await textOf(key), 'good')
    await listing(() => removeUploads(key.project))
  }
)

t.test('a bucket that does not answer gets no further tries after the time limit', async t => {
  let requests = 0
  const silent = createServer(socket => {
    requests += 1
    socket.on('error', () => undefined).resume()
  })
  await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
  t.teardown(() => new Promise(resolve => silent.close(resolve)))
  const { port } = silent.address() as AddressInfo
  configure({ GITSTEAD_ARTIFACTS_S3_ENDPOINT: `http://127.0.0.1:${port}`, GITSTEAD_ARTIFACTS_S3_TIMEOUT: '1' })
  t.teardown(() => configure({ GITSTEAD_ARTIFACTS_S3_TIMEOUT: null }))
  const failed = { name: 'BucketUnavailable', state: 'bucket_slow' }
  await t.rejects(openArtifact(key(6)), failed)
  await t.rejects(removeArtifact(key(6)), failed)
  await t.rejects(putArtifact(key(6), Readable.from([Buffer.from('x')])), failed)
  t.ok(requests >= 3 && requests <= 6, `${requests} requests for three calls`)
})
