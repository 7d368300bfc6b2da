// Objects of git LFS in a bucket, with the stock client.
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { config, loadConfig } from '../../../src/config.js'
import { nameOfLfsObject } from '../../../src/storage/lfs.js'
import { headObject } from '../../../src/storage/s3.js'
import { testApp } from '../../helpers/app.js'
import { testBucket } from '../../helpers/bucket.js'
import { remoteUrl } from '../../scenarios/client.js'
import { hashOf, lfsClient, listen, workingCopy } from './client.js'

const bucket = await testBucket(t, { direct_downloads: 'true' })
const app = await testApp(t)
const url = await listen(app)
const folder = t.testdir()
const client = await lfsClient(folder)
const project = await app.make.project()
const remote = remoteUrl(url, project.path, project.owner.username, project.owner.privateToken)
const authorization = `Basic ${Buffer.from(`x:${project.owner.privateToken}`).toString('base64')}`
const objectUrl = (oid: string) => `/${project.path}.git/info/lfs/objects/${oid}`
const put = (oid: string, payload: Buffer) =>
  app.nobody.inject({
    method: 'PUT',
    url: objectUrl(oid),
    payload,
    headers: { authorization, 'content-type': 'application/octet-stream' }
  })
const bytes = randomBytes(400_000)
const oid = hashOf(bytes)
const isWhole = async (name: string) => (await headObject(nameOfLfsObject(name)))?.size

t.test('a push fills the bucket, and a clone downloads from it', async t => {
  const path = join(folder, 'push')
  await workingCopy(client, path, remote)
  writeFileSync(join(path, 'one.bin'), bytes)
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Add')
  await client.git(path, 'push', 'origin', 'master')
  t.equal(await isWhole(oid), bytes.length)
  t.notOk(existsSync(join(config().home, nameOfLfsObject(oid))), 'not on the disk')
  const before = bucket.requests
  await client.git(folder, 'clone', '--quiet', remote, 'clone')
  t.same(readFileSync(join(folder, 'clone/one.bin')), bytes)
  t.equal(bucket.requests - before, 2, 'the server looks, and the client downloads')
})

t.test('the URL of the bucket is for readers only, and for a short time', async t => {
  const get = (headers: object) => app.fastify.inject({ url: objectUrl(oid), headers: { ...headers } })
  const found = await get({ authorization })
  t.equal(found.statusCode, 302)
  t.match(found.headers, { location: /X-Amz-Expires=60/, 'cache-control': 'no-store' })
  t.match(found.headers.location, 'response-content-type=application%2Foctet-stream')
  t.equal((await get({})).statusCode, 401)
  const stranger = await app.make.user()
  const other = `Basic ${Buffer.from(`x:${stranger.privateToken}`).toString('base64')}`
  t.equal((await get({ authorization: other })).statusCode, 404)
  const part = await get({ authorization, range: 'bytes=399990-' })
  t.match([part.statusCode, part.rawPayload.length], [206, 10])
  process.env.GITSTEAD_STORAGE_S3_DIRECT_DOWNLOADS = 'false'
  loadConfig({})
  const served = await get({ authorization })
  t.equal(served.statusCode, 200)
  t.same(served.rawPayload, bytes)
})

t.test('the bucket gets only what is right', async t => {
  const [other, wrong] = [randomBytes(1000), randomBytes(1000)]
  t.equal((await put(hashOf(other), wrong)).statusCode, 422)
  t.equal(await isWhole(hashOf(other)), undefined)
  bucket.fault = (_request, response) => {
    response.writeHead(503).end()
    return 'done' as never
  }
  const away = await put(hashOf(other), other)
  t.equal(away.statusCode, 503)
  t.match(away.json(), { message: /the storage of files/ })
  bucket.fault = undefined
  t.same(
    readdirSync(join(config().home, 'tmp')).filter(name => name.startsWith('object-')),
    []
  )
})
