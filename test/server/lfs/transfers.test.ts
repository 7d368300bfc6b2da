// Git LFS with the stock client over HTTP: what people do with it, and what goes wrong.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { lfsSizeOf } from '../../../src/areas/projects/lfs/sizes.js'
import { config } from '../../../src/config.js'
import { execute, row } from '../../../src/db/connect/sql.js'
import { nameOfLfsObject } from '../../../src/storage/lfs.js'
import { testApp } from '../../helpers/app.js'
import { until } from '../../helpers/until.js'
import { remoteUrl } from '../../scenarios/client.js'
import { hashOf, lfsClient, listen, workingCopy } from './client.js'

const app = await testApp(t)
const url = await listen(app)
const folder = t.testdir()
const client = await lfsClient(folder)

const drafts = () => {
  const path = join(config().home, 'lfs', '.drafts')
  return existsSync(path) ? readdirSync(path) : []
}
const isStored = (oid: string) => existsSync(join(config().home, nameOfLfsObject(oid)))

/** A working copy that tracks *.bin. */
async function commit(path: string, files: Record<string, Buffer>): Promise<void> {
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(path, name), bytes)
  await client.git(path, 'add', '.')
  await client.git(path, 'commit', '--quiet', '-m', 'Change')
}

const project = await app.make.project()
const { owner } = project
const remote = remoteUrl(url, project.path, owner.username, owner.privateToken)

t.test('push, clone and fetch', async t => {
  const path = await workingCopy(client, join(folder, 'push'), remote)
  const [one, two] = [randomBytes(300_000), randomBytes(10)]
  await commit(path, { 'one.bin': one, 'two.bin': two, 'copy.bin': one, 'empty.bin': Buffer.alloc(0) })
  await client.git(path, 'push', 'origin', 'master')
  t.ok(isStored(hashOf(one)))
  t.equal(await lfsSizeOf(project.id), 300_010, 'the same content counts once')
  await client.git(folder, 'clone', '--quiet', remote, 'clone')
  const clone = join(folder, 'clone')
  t.same(readFileSync(join(clone, 'one.bin')), one)
  t.same(readFileSync(join(clone, 'two.bin')), two)
  t.equal(readFileSync(join(clone, 'empty.bin')).length, 0)
  await commit(path, { 'two.bin': Buffer.from('new') })
  const pushed = await client.tryGit(path, 'push', 'origin', 'master')
  t.ok(pushed.ok, pushed.stderr)
  await client.git(clone, 'pull', '--quiet')
  t.equal(readFileSync(join(clone, 'two.bin'), 'utf8'), 'new')
  const fsck = await client.tryGit(clone, 'lfs', 'fsck')
  t.ok(fsck.ok, fsck.stdout)
})

t.test('with a password, a client gets a token for the transfers', async t => {
  const user = await app.make.user({ password: 'correct horse battery' })
  await app.make.member(project, 30, user)
  const path = join(folder, 'by-password')
  const by = remoteUrl(url, project.path, user.username, 'correct horse battery')
  await client.git(folder, 'clone', '--quiet', by, 'by-password')
  const bytes = randomBytes(1000)
  await commit(path, { 'three.bin': bytes })
  const pushed = await client.tryGit(path, 'push', 'origin', 'master:other')
  t.ok(pushed.ok, pushed.stderr)
  t.ok(isStored(hashOf(bytes)))
})

t.test('a public project gives its objects to everybody', async t => {
  const open = await app.make.project({ visibility_level: 20 })
  const path = await workingCopy(
    client,
    join(folder, 'open'),
    remoteUrl(url, open.path, open.owner.username, open.owner.privateToken)
  )
  await commit(path, { 'open.bin': Buffer.from('open') })
  await client.git(path, 'push', 'origin', 'master')
  await client.git(folder, 'clone', '--quiet', `${url}/${open.path}.git`, 'anonymous')
  t.equal(readFileSync(join(folder, 'anonymous/open.bin'), 'utf8'), 'open')
})

t.test('a download that broke off continues where it ended', async t => {
  const bytes = readFileSync(join(folder, 'push/one.bin'))
  const oid = hashOf(bytes)
  const ranges: (string | undefined)[] = []
  app.fastify.server.prependListener('request', ({ method, headers, url = '' }) => {
    if (method === 'GET' && url.endsWith(oid)) ranges.push(headers.range)
  })
  const path = join(folder, 'resumed')
  await client.git(
    folder,
    '-c',
    'filter.lfs.smudge=',
    '-c',
    'filter.lfs.process=',
    '-c',
    'filter.lfs.required=false',
    'clone',
    '--quiet',
    remote,
    path
  )
  const incomplete = join(path, '.git/lfs/incomplete')
  mkdirSync(incomplete, { recursive: true })
  writeFileSync(join(incomplete, `${oid}.part`), bytes.subarray(0, 100_000))
  await client.git(path, 'lfs', 'pull')
  t.same(ranges, [`bytes=100000-${bytes.length - 1}`])
  t.same(readFileSync(join(path, 'one.bin')), bytes)
})

t.test('objects that the server refuses', async t => {
  const path = await workingCopy(client, join(folder, 'refused'), remote)
  const bytes = randomBytes(5000)
  await commit(path, { 'large.bin': bytes })
  await execute('update projects set lfs_enabled = 0 where id = ?', [project.id])
  const off = await client.tryGit(path, 'push', 'origin', 'master:off')
  t.notOk(off.ok)
  t.match(off.stderr, /Git LFS is switched off for this project/)
  await execute('update projects set lfs_enabled = 1, archived = 1 where id = ?', [project.id])
  t.match(await client.tryGit(path, 'push', 'origin', 'master:off'), { ok: false, stderr: /archived/ })
  await execute('update projects set archived = 0 where id = ?', [project.id])
  t.notOk(isStored(hashOf(bytes)))
  t.same(drafts(), [])
})

const asked = { authorization: `Basic ${Buffer.from(`x:${owner.privateToken}`).toString('base64')}` }
const objectUrl = (oid: string) => `/${project.path}.git/info/lfs/objects/${oid}`

/** Begins an upload, and sends a part of it. */
function begin(oid: string, size: number, part: Buffer) {
  const sent = request(`${url}${objectUrl(oid)}?size=${size}`, {
    method: 'PUT',
    headers: { ...asked, 'content-type': 'application/octet-stream', 'content-length': size }
  })
  sent.on('error', () => undefined)
  sent.write(part)
  return sent
}

t.test('a client that leaves in the middle leaves nothing', async t => {
  const bytes = randomBytes(200_000)
  const oid = hashOf(bytes)
  const sent = begin(oid, bytes.length, bytes.subarray(0, 100_000))
  await until('the upload begins', () => drafts().length === 1)
  sent.destroy()
  await until('the draft is gone', () => drafts().length === 0)
  t.notOk(isStored(oid))
  t.notOk(await row('select 1 from lfs_objects where oid = ?', [oid]))
})

t.test('a body whose Content-Length is not the size of the object is refused before any byte is read', async t => {
  const oid = hashOf(Buffer.from('announced'))
  for (const length of ['1000000000000', '8']) {
    const sent = request(`${url}${objectUrl(oid)}?size=9`, {
      method: 'PUT',
      headers: { ...asked, 'content-type': 'application/octet-stream', 'content-length': length }
    })
    sent.on('error', () => undefined)
    sent.flushHeaders()
    const answer = await new Promise<IncomingMessage>(resolve => sent.once('response', resolve))
    t.equal(answer.statusCode, 422)
    t.match(await text(answer), `the body has ${length} bytes, but the object has 9`)
    sent.destroy()
  }
  t.same(drafts(), [])
})

t.test('two uploads of the same object at once', async t => {
  const bytes = randomBytes(200_000)
  const oid = hashOf(bytes)
  const both = [begin(oid, bytes.length, bytes.subarray(0, 100)), begin(oid, bytes.length, bytes.subarray(0, 100))]
  await until('both begin', () => drafts().length === 2)
  const answers = both.map(
    sent => new Promise(resolve => sent.once('response', answer => resolve(answer.resume().statusCode)))
  )
  for (const sent of both) sent.end(bytes.subarray(100))
  t.same(await Promise.all(answers), [200, 200])
  t.ok(isStored(oid))
  t.same(drafts(), [])
})

t.test('a file that was lost is not found, and can be sent again', async t => {
  const bytes = randomBytes(100)
  const oid = hashOf(bytes)
  const put = () =>
    app.nobody.inject({
      method: 'PUT',
      url: objectUrl(oid),
      payload: bytes,
      headers: { ...asked, 'content-type': 'application/octet-stream' }
    })
  t.equal((await put()).statusCode, 200)
  rmSync(join(config().home, nameOfLfsObject(oid)))
  t.equal((await app.nobody.inject({ method: 'GET', url: objectUrl(oid), headers: asked })).statusCode, 404)
  t.equal((await put()).statusCode, 200)
  t.equal((await app.nobody.inject({ method: 'GET', url: objectUrl(oid), headers: asked })).statusCode, 200)
})
