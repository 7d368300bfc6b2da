// Clients of git LFS that send their files to the bucket (storage.s3.direct_uploads): what counts as sent, and what is kept.
import { createHash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { findLinks } from '../../../src/areas/projects/lfs/objects.js'
import { lfsSizeOf } from '../../../src/areas/projects/lfs/sizes.js'
import { runTask } from '../../../src/areas/upkeep/maintenance/maintenance.js'
import { bucketCheck } from '../../../src/cli/doctor/bucket.js'
import { row } from '../../../src/db/connect/sql.js'
import { nameOfLfsObject, openLfsObject } from '../../../src/storage/lfs.js'
import { lateLfsUploads, removeLfsUpload } from '../../../src/storage/lfs-uploads.js'
import { putInBucket } from '../../../src/storage/put-file.js'
import { copyObject, headObject, listObjects, openObject } from '../../../src/storage/s3.js'
import { testApp } from '../../helpers/app.js'
import { configureBucket, refuses, testBucket } from '../../helpers/bucket.js'
import { someOrigin, type TestProject } from '../../helpers/factory.js'
import { remoteUrl } from '../../scenarios/client.js'
import { hashOf, lfsClient, listen, workingCopy } from './client.js'

const bucket = await testBucket(t, { direct_uploads: 'true' })
bucket.checkSignatures(true)
const app = await testApp(t)
const url = await listen(app)
const requests: string[] = []
app.fastify.server.prependListener('request', ({ method, url: path }) => void requests.push(`${method} ${path}`))

const lfsOf = ({ path }: TestProject) => `/${path}.git/info/lfs/objects`
const login = ({ owner }: TestProject) => ({
  authorization: `Basic ${Buffer.from(`x:${owner.privateToken}`).toString('base64')}`
})
const post = (project: TestProject, path: string, payload: object) =>
  app.nobody.inject({ method: 'POST', url: `${lfsOf(project)}/${path}`, headers: login(project), payload })
const keyOf = (bytes: Buffer) => ({ oid: hashOf(bytes), size: bytes.length })

interface Upload {
  readonly href: string
  readonly header: Record<string, string>
  readonly expires_in: number
}
async function askFor(project: TestProject, key: object): Promise<Upload> {
  const answer = await post(project, 'batch', { operation: 'upload', objects: [key] })
  return answer.json().objects[0].actions.upload
}
const send = async ({ href, header }: Pick<Upload, 'href' | 'header'>, body: Buffer) =>
  (await fetch(href, { method: 'PUT', headers: header, body: new Uint8Array(body) })).status
const verify = async (project: TestProject, key: object) => (await post(project, 'verify', key)).statusCode
async function uploads(): Promise<string[]> {
  bucket.checkSignatures(false)
  const found: string[] = []
  for await (const page of listObjects('lfs/.drafts/')) found.push(...page.map(({ name }) => name))
  bucket.checkSignatures(true)
  return found
}
/** Where an object has left something. */
const kept = async (project: TestProject, { oid }: { oid: string }) => ({
  linked: (await findLinks(project.id, [oid])).has(oid),
  stored: (await headObject(nameOfLfsObject(oid))) !== undefined,
  row: (await row('select 1 from lfs_objects where oid = ?', [oid])) !== undefined,
  uploads: await uploads()
})
const NOTHING = { linked: false, stored: false, row: false, uploads: [] }

t.test('the stock client sends its file to the bucket, and the project has it after the check', async t => {
  const project = await app.make.project()
  const folder = t.testdir()
  const client = await lfsClient(folder)
  const remote = remoteUrl(url, project.path, project.owner.username, project.owner.privateToken)
  const path = join(folder, 'push')
  await workingCopy(client, path, remote)
  const bytes = randomBytes(400_000)
  writeFileSync(join(path, 'one.bin'), bytes)
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Add')
  requests.length = 0
  await client.git(path, 'push', 'origin', 'master')
  t.notOk(
    requests.some(line => line.startsWith('PUT')),
    'no byte passes through the server'
  )
  t.equal(requests.filter(line => line.endsWith('/objects/verify')).length, 1)
  t.same(await findLinks(project.id, [hashOf(bytes)]), new Map([[hashOf(bytes), bytes.length]]))
  const stored = await openLfsObject(hashOf(bytes))
  t.same(stored && (await buffer(stored.stream)), bytes)
  t.same(await uploads(), [])
})

t.test('a file counts and can be read only after the check', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(1000)
  const key = keyOf(bytes)
  const upload = await askFor(project, key)
  t.match(upload, { href: /^http.*X-Amz-Expires=3600/, expires_in: 3600 })
  t.equal(await send(upload, bytes), 200)
  const get = () => app.nobody.inject({ url: `${lfsOf(project)}/${key.oid}`, headers: login(project) })
  t.equal((await get()).statusCode, 404)
  t.equal(await lfsSizeOf(project.id), 0)
  t.equal(await verify(project, key), 200)
  t.equal(await verify(project, key), 200, 'a client that lost the answer may ask again')
  t.equal(await lfsSizeOf(project.id), 1000)
  t.same((await get()).rawPayload, bytes)
  t.same(await uploads(), [])
})

t.test('the bucket refuses other content, another size, and a request without the checksum', async t => {
  const project = await app.make.project()
  const [bytes, wrong] = [randomBytes(1000), randomBytes(1000)]
  const key = keyOf(bytes)
  const upload = await askFor(project, key)
  t.equal(await send(upload, wrong), 400)
  t.equal(await send(upload, bytes.subarray(1)), 400)
  const other = createHash('sha256').update(wrong).digest('base64')
  t.equal(await send({ ...upload, header: { 'x-amz-checksum-sha256': other } }, wrong), 403)
  t.equal(await send({ ...upload, header: {} }, wrong), 403)
  const short = randomBytes(10)
  t.equal(await send(await askFor(project, { oid: hashOf(short), size: 11 }), short), 403, 'the size is signed')
  t.equal(await verify(project, key), 404)
  t.same(await kept(project, key), NOTHING)
})

t.test('the server compares what a bucket without checksums has accepted', async t => {
  bucket.comparesChecksums = false
  t.teardown(() => {
    bucket.comparesChecksums = true
  })
  const project = await app.make.project()
  const [bytes, wrong] = [randomBytes(1000), randomBytes(1000)]
  const key = keyOf(bytes)
  t.equal(await send(await askFor(project, key), wrong), 200)
  t.equal(await verify(project, key), 422)
  t.same(await kept(project, key), NOTHING)
  t.equal(await verify(project, key), 404)
  t.equal(await send(await askFor(project, key), bytes), 200)
  t.equal(await verify(project, key), 200)
  t.same(await kept(project, key), { linked: true, stored: true, row: true, uploads: [] })
})

t.test('a wrong size is refused', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(1000)
  const key = keyOf(bytes)
  t.equal(await send(await askFor(project, key), bytes), 200)
  t.equal(await verify(project, { ...key, size: 999 }), 422)
  t.same(await kept(project, key), NOTHING)
})

t.test('the hash of a file of another project opens nothing', async t => {
  const [owner, stranger] = [await app.make.project(), await app.make.project()]
  const bytes = randomBytes(1000)
  const key = keyOf(bytes)
  t.equal(await send(await askFor(owner, key), bytes), 200)
  t.equal(await verify(stranger, key), 404, 'an upload for another project')
  t.equal(await verify(owner, key), 200)
  const upload = await askFor(stranger, key)
  t.equal(await verify(stranger, key), 404, 'an object of another project')
  t.equal((await kept(stranger, key)).linked, false)
  t.equal(await send(upload, bytes), 200)
  t.equal(await verify(stranger, key), 200)
  t.equal(await verify(stranger, { oid: '../../escape', size: 1 }), 404)
})

t.test('a project without room keeps nothing', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(1000)
  const key = keyOf(bytes)
  t.equal(await send(await askFor(project, key), bytes), 200)
  const settings = { endpoint: bucket.endpoint, direct_uploads: 'true' }
  const names = configureBucket({ ...settings, 'lfs.max_project_size': '999' })
  t.teardown(() => {
    for (const name of names.filter(name => name.includes('LFS'))) delete process.env[name]
    configureBucket(settings)
  })
  t.equal(await verify(project, key), 413)
  t.same(await kept(project, key), NOTHING)
})

t.test('empty and huge files, and all without the setting, go to the server', async t => {
  const project = await app.make.project()
  const size = 5_000_000_001
  for (const key of [keyOf(Buffer.alloc(0)), { oid: 'a'.repeat(64), size }])
    t.match((await askFor(project, key)).href, `/info/lfs/objects/${key.oid}?size=${key.size}`)
  configureBucket({ endpoint: bucket.endpoint, direct_uploads: 'false' })
  t.teardown(() => void configureBucket({ endpoint: bucket.endpoint, direct_uploads: 'true' }))
  t.match((await askFor(project, keyOf(randomBytes(10)))).href, '/info/lfs/objects/')
})

t.test('an upload that nobody finishes is removed after a day', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(1000)
  t.equal(await send(await askFor(project, keyOf(bytes)), bytes), 200)
  bucket.checkSignatures(false)
  t.teardown(() => bucket.checkSignatures(true))
  const { error } = await runTask('lfs_objects', { dryRun: false }, someOrigin)
  t.equal(error, null)
  const late = async (before: number) => {
    const found: string[] = []
    for await (const page of lateLfsUploads(new Date(before))) found.push(...page.map(({ name }) => name))
    return found
  }
  const name = `lfs/.drafts/${project.id}/${hashOf(bytes)}`
  t.same(await late(Date.now() + 60_000), [name], 'it is young, so it stays')
  t.same(await late(Date.now() - 86_400_000), [])
  await removeLfsUpload({ name, changed: 0, size: 0 })
  t.same(await late(Date.now() + 60_000), [])
})

t.test('the bucket copies a large file in parts', async t => {
  const piece = randomBytes(1_000_000)
  const pieces = Array.from({ length: 70 }, () => piece)
  await putInBucket('lfs/one', Readable.from(pieces), { limit: 70_000_000 })
  await copyObject('lfs/one', 'lfs/two', 70_000_000)
  const found = await openObject('lfs/two')
  const hash = createHash('sha256')
  for await (const chunk of found?.stream ?? []) hash.update(chunk)
  t.equal(hash.digest('hex'), hashOf(Buffer.concat(pieces)))
})

t.test('doctor tries what they need', async t => {
  bucket.checkSignatures(false)
  t.teardown(async () => bucket.checkSignatures(true))
  const examine = async () => bucketCheck.examine({ all: false, serverUp: false, serverUrl: '', now: new Date() })
  t.match(await examine(), /answers: write, read, range, list, delete, copy, checksum$/)
  bucket.comparesChecksums = false
  t.match(await examine(), /copy, no checksum, so the server reads direct uploads once more$/)
  let claimed: string | undefined
  bucket.fault = (request, response) => {
    claimed = request.headers['x-amz-checksum-sha256']?.toString() ?? claimed
    if (request.method !== 'HEAD' || claimed === undefined) return 'pass'
    return response.writeHead(200, { 'x-amz-checksum-sha256': claimed }).end()
  }
  await t.rejects(examine(), { message: /checksum: the service names a checksum that it has not compared/ })
  bucket.fault = (request, response) =>
    request.headers['x-amz-copy-source'] ? refuses(501, 'NotImplemented')(request, response) : 'pass'
  await t.rejects(examine(), { message: /: copy: / })
  bucket.fault = undefined
  bucket.comparesChecksums = true
  const left: string[] = []
  for await (const page of listObjects('trials/')) left.push(...page.map(({ name }) => name))
  t.same(left, [])
})
