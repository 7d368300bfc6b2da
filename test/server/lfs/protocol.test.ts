// The questions of git LFS over HTTP: their form, wrong and hostile ones, and who gets which object.
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { storeObject } from '../../../src/areas/projects/lfs/objects.js'
import { newLfsToken } from '../../../src/areas/projects/lfs/tokens.js'
import { config, loadConfig } from '../../../src/config.js'
import { execute } from '../../../src/db/connect/sql.js'
import { beginBuild, makePipeline, type TestBuild } from '../../areas/ci/builds/make-builds.js'
import { testApp } from '../../helpers/app.js'
import type { TestProject, TestUser } from '../../helpers/factory.js'
import { countStatements } from '../../helpers/statements.js'
import t, { type Test } from '../../helpers/tap.js'
import { hashOf } from './client.js'

const app = await testApp(t)
const TYPE = 'application/vnd.git-lfs+json'
const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
const of = ({ privateToken }: TestUser) => ({ authorization: basic('x', privateToken) })

const ask = async (
  method: 'GET' | 'POST' | 'PUT',
  { path }: TestProject,
  end: string,
  { headers = {}, body }: { headers?: object; body?: object | string | Buffer } = {}
) => {
  const payload = body === undefined || Buffer.isBuffer(body) || typeof body === 'string' ? body : JSON.stringify(body)
  return app.fastify.inject({
    method,
    url: `/${path}.git/info/lfs/${end}`,
    headers: { 'content-type': Buffer.isBuffer(body) ? 'application/octet-stream' : TYPE, ...headers },
    ...(payload !== undefined && { payload })
  })
}

const batch = async (project: TestProject, body: object, headers: object = of(project.owner)) => {
  const res = await ask('POST', project, 'objects/batch', { headers, body })
  return { status: res.statusCode, headers: res.headers, json: res.body === '' ? null : JSON.parse(res.body) }
}

async function stored(project: TestProject, bytes = randomBytes(1000)) {
  const key = { oid: hashOf(bytes), size: bytes.length }
  await storeObject(project.id, key, () => Readable.from([bytes]))
  return { ...key, bytes }
}

const project = await app.make.project()
const other = await app.make.project()
const known = await stored(project)
const missing = { oid: hashOf('missing'), size: 7 }

t.test('a batch says what is there, and what must be sent', async t => {
  const { oid, size } = known
  const objects = [{ oid, size }, missing, { oid: 'x', size: 1 }, { oid, size: 3 }, { ...missing, size: -1 }]
  const down = await batch(project, { operation: 'download', transfers: ['lfs-standalone-file', 'basic'], objects })
  t.match(down, { status: 200, headers: { 'content-type': /^application\/vnd\.git-lfs\+json/ } })
  t.match(down.json, { transfer: 'basic', hash_algo: 'sha256' })
  const [there, absent, badOid, badSize, negative] = down.json.objects
  t.match(there, {
    oid,
    size,
    authenticated: true,
    actions: { download: { header: of(project.owner).authorization && {} } }
  })
  t.match(there.actions.download.href, new RegExp(`/${project.path}.git/info/lfs/objects/${oid}$`))
  t.match(absent, { error: { code: 404 } })
  for (const wrong of [badOid, badSize, negative]) t.match(wrong, { error: { code: 422 } })
  t.same(Object.keys(absent).sort(), ['error', 'oid', 'size'])

  const up = (await batch(project, { operation: 'upload', objects })).json.objects
  t.equal(up[0].actions, undefined, 'it is there')
  t.match(up[1].actions, {
    upload: { href: /\?size=7$/, header: of(project.owner) && {} },
    verify: { href: /verify$/ }
  })
  t.same(
    up.slice(2).map((one: { error: { code: number } }) => one.error.code),
    [422, 422, 422]
  )
  const many = Array.from({ length: 1000 }, (_, at) => ({ oid: hashOf(String(at)), size: 1 }))
  const [few, all] = [
    await countStatements(() => batch(project, { operation: 'upload', objects: many.slice(0, 2) })),
    await countStatements(() => batch(project, { operation: 'upload', objects: many }))
  ]
  t.equal(all, few, 'the number of statements does not depend on the number of objects')
})

t.test('a download takes one statement, which sees every change', async t => {
  const { owner } = project
  const { oid } = await stored(project)
  const get = async (name: string, headers: object = of(owner)) =>
    (await ask('GET', project, `objects/${name}`, { headers })).statusCode
  t.equal(await get(oid), 200)
  t.equal(await countStatements(async () => t.equal(await get(oid), 200)), 1)
  t.equal(await get(oid.toUpperCase()), 404, 'another name')
  t.equal(await get(hashOf('other')), 404)
  const reader = await app.make.user()
  t.equal(await get(oid, of(reader)), 404, 'a stranger')
  await app.make.member(project, 20, reader)
  t.equal(await get(oid, of(reader)), 200)
  await execute('delete from members where user_id = ?', [reader.id])
  t.equal(await get(oid, of(reader)), 404)
  await execute('delete from lfs_links where project_id = ? and oid = ?', [project.id, oid])
  t.equal(await get(oid), 404)
})

t.test('wrong questions have an answer that clients show', async t => {
  const objects = [missing]
  for (const [body, status, message] of [
    [{ operation: 'upload', hash_algo: 'sha512', objects }, 409, /hash_algo must be sha256/],
    [{ operation: 'upload', transfers: ['tus'], objects }, 422, /transfers must contain basic/],
    [{ operation: 'delete', objects }, 422, /operation must be download or upload/],
    [{ operation: 'upload' }, 422, /objects is missing/],
    [{ operation: 'upload', objects: [{ oid: 5, size: 'x' }] }, 422, /invalid/],
    [{ operation: 'upload', objects: Array.from({ length: 1001 }, () => missing) }, 413, /at most 1000 objects/]
  ] as const) {
    const { status: given, json, headers } = await batch(project, body)
    t.equal(given, status, String(message))
    t.match(json, { message })
    t.match(headers['content-type'], /^application\/vnd\.git-lfs\+json/)
  }
  const bad = await ask('POST', project, 'objects/batch', { headers: of(project.owner), body: '{"operation":' })
  t.match([bad.statusCode, bad.json()], [400, { message: /not valid JSON/ }])
  const large = await ask('POST', project, 'objects/batch', { headers: of(project.owner), body: 'x'.repeat(300_000) })
  t.equal(large.statusCode, 413)
  const nobody = await batch(project, { operation: 'download', objects }, {})
  t.match(nobody, { status: 401, headers: { 'lfs-authenticate': /^Basic/ }, json: { message: /access denied/ } })
  t.equal((await ask('GET', project, 'objects/..%2f..%2fsecrets.json', { headers: of(project.owner) })).statusCode, 404)
  const put = await ask('PUT', project, `objects/${'A'.repeat(64)}?size=1`, {
    headers: of(project.owner),
    body: Buffer.from('a')
  })
  t.equal(put.statusCode, 404)
})

t.test('the hash of an object in another project is not enough', async t => {
  const { oid, size } = known
  const headers = of(other.owner)
  t.match((await batch(other, { operation: 'download', objects: [{ oid, size }] })).json.objects, [
    { error: { code: 404 } }
  ])
  t.equal((await ask('GET', other, `objects/${oid}`, { headers })).statusCode, 404)
  t.equal((await ask('POST', other, 'objects/verify', { headers, body: { oid, size } })).statusCode, 404)
  t.ok((await batch(other, { operation: 'upload', objects: [{ oid, size }] })).json.objects[0].actions.upload)
  const wrong = await ask('PUT', other, `objects/${oid}?size=${size}`, { headers, body: randomBytes(size) })
  t.match([wrong.statusCode, wrong.json()], [422, { message: /another SHA-256/ }])
  t.equal((await ask('GET', other, `objects/${oid}`, { headers })).statusCode, 404)
  const kept = await ask('GET', project, `objects/${oid}`, { headers: of(project.owner) })
  t.same(kept.rawPayload, known.bytes, 'the object is as it was')
  t.equal((await ask('PUT', other, `objects/${oid}?size=${size}`, { headers, body: known.bytes })).statusCode, 200)
  t.equal((await ask('GET', other, `objects/${oid}`, { headers })).statusCode, 200)
})

t.test('a wrong size is refused', async t => {
  const bytes = randomBytes(100)
  const oid = hashOf(bytes)
  const headers = of(project.owner)
  for (const size of [99, 101, -1, 'x', 1e20]) {
    const res = await ask('PUT', project, `objects/${oid}?size=${size}`, { headers, body: bytes })
    t.ok(res.statusCode >= 400 && res.statusCode < 500, `${size}: ${res.statusCode}`)
  }
  t.equal((await ask('GET', project, `objects/${oid}`, { headers })).statusCode, 404)
  t.equal((await ask('PUT', project, `objects/${oid}`, { headers, body: bytes })).statusCode, 200)
  const verify = (size: number) => ask('POST', project, 'objects/verify', { headers, body: { oid, size } })
  t.equal((await verify(100)).statusCode, 200)
  t.equal((await verify(99)).statusCode, 422)
})

t.test('parts of an object', async t => {
  const { oid, bytes } = known
  const get = (more: object) => ask('GET', project, `objects/${oid}`, { headers: { ...of(project.owner), ...more } })
  const whole = await get({})
  t.match(whole.headers, { etag: `"${oid}"`, 'accept-ranges': 'bytes', 'content-length': '1000' })
  t.match(whole.headers, { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' })
  const part = await get({ range: 'bytes=900-999' })
  t.match([part.statusCode, part.headers['content-range']], [206, 'bytes 900-999/1000'])
  t.same(part.rawPayload, bytes.subarray(900))
  t.same((await get({ range: 'bytes=-5' })).rawPayload, bytes.subarray(995))
  const beyond = await get({ range: 'bytes=1000-' })
  t.match([beyond.statusCode, beyond.headers['content-range']], [416, 'bytes */1000'])
  t.equal((await get({ range: 'bytes=5-9', 'if-range': `"${oid}"` })).statusCode, 206)
  t.equal((await get({ range: 'bytes=5-9', 'if-range': '"other"' })).rawPayload.length, 1000)
})

t.test('a token for transfers is bound to its user, its project and its operation', async t => {
  const user = await app.make.user()
  await app.make.member(project, 30, user)
  await app.make.member(other, 30, user)
  const tokenFor = async (operation: 'download' | 'upload') => ({
    authorization: `RemoteAuth ${(await newLfsToken({ kind: 'password', userId: user.id }, project.id, operation)).token}`
  })
  const [download, upload] = [await tokenFor('download'), await tokenFor('upload')]
  const get = async (headers: object, where = project) =>
    (await ask('GET', where, `objects/${known.oid}`, { headers })).statusCode
  const send = async (headers: object) =>
    (await batch(project, { operation: 'upload', objects: [missing] }, headers)).status
  t.same([await get(download), await get(upload), await send(upload)], [200, 200, 200])
  t.equal(await send(download), 401)
  t.equal(await get(upload, other), 404, 'another project of the same user')
  const [text = '', sign] = upload.authorization.slice('RemoteAuth '.length).split('.')
  const forged = Buffer.from(text, 'base64url')
    .toString()
    .replace(/\d+ upload/, `${other.id} upload`)
  const changed = `RemoteAuth ${Buffer.from(forged).toString('base64url')}.${sign}`
  for (const authorization of [
    changed,
    'RemoteAuth x',
    'RemoteAuth ',
    `${upload.authorization}x`,
    'RemoteAuth a.b.c'
  ]) {
    t.equal(await get({ authorization }), 401, authorization)
  }
  t.equal((await app.as(user).inject({ url: '/api/v3/user', headers: upload })).statusCode, 200, 'the API ignores it')
  t.equal((await app.nobody.inject({ url: '/api/v3/user', headers: upload })).statusCode, 401)
  const refs = `/${project.path}.git/info/refs?service=git-upload-pack`
  t.equal((await app.nobody.inject({ url: refs, headers: upload })).statusCode, 401, 'it opens no repository')

  await later(t, 3601, async () => t.equal(await get(upload), 401, 'expired'))
  await execute('update members set access_level = 10 where user_id = ? and source_id = ?', [user.id, project.id])
  t.equal(await get(upload), 403)
  await execute('update members set access_level = 20 where user_id = ? and source_id = ?', [user.id, project.id])
  t.same([await get(upload), await send(upload)], [200, 403])
  await execute("update users set state = 'blocked' where id = ?", [user.id])
  t.equal(await get(upload), 401)
  await execute('delete from users where id = ?', [user.id])
  t.equal(await get(upload), 401)
})

/** Runs a question at another time. */
async function later(_t: Test, seconds: number, ask: () => Promise<unknown>): Promise<void> {
  const { now } = Date
  Date.now = () => now() + seconds * 1000
  await ask().finally(() => {
    Date.now = now
  })
}

t.test('a password is replaced by a token; other credentials are repeated', async t => {
  const user = await app.make.user({ password: 'correct horse battery' })
  await app.make.member(project, 30, user)
  const objects = [missing]
  const headerFor = async (headers: object) =>
    (await batch(project, { operation: 'upload', objects }, headers)).json.objects[0].actions.upload
  const made = await headerFor({ authorization: basic(user.username, 'correct horse battery') })
  t.match(made, { header: { Authorization: /^RemoteAuth / }, expires_in: Number })
  t.same((await headerFor(of(user))).header, { Authorization: of(user).authorization })
  t.same((await headerFor({ 'private-token': user.privateToken })).header, { 'PRIVATE-TOKEN': user.privateToken })
  const again = await headerFor({ authorization: made.header.Authorization })
  t.ok(again.expires_in <= made.expires_in)
  t.equal(again.header.Authorization, made.header.Authorization)

  const get = async () =>
    (await ask('GET', project, `objects/${known.oid}`, { headers: { authorization: made.header.Authorization } }))
      .statusCode
  t.equal(await get(), 200)
  await execute('update users set two_factor_at = now(3) where id = ?', [user.id])
  t.equal(await get(), 401, 'git accepts the password no longer')
  await execute('update users set two_factor_at = null where id = ?', [user.id])
  t.equal(await get(), 200)
  await execute('update members set access_level = 30, user_id = ? where user_id = ?', [
    (await app.make.user()).id,
    user.id
  ])
  t.equal(await get(), 404, 'a member who was removed')
  await app.make.member(project, 30, user)
  const admin = app.as(await app.make.admin())
  t.equal((await admin.put(`/users/${user.id}`, { password: 'battery horse correct' })).statusCode, 200)
  t.equal(await get(), 401, 'a token of the old password')
})

t.test('limits are named for each object', async t => {
  const { home, database } = config()
  t.teardown(() => void loadConfig({ home, database: { url: database.url } }))
  loadConfig({ home, database: { url: database.url }, lfs: { max_object_size: 500, max_project_size: 1200 } })
  const small = await app.make.project()
  const objects = [501, 500, 400, 301].map((size, at) => ({ oid: hashOf(`limit ${at}`), size }))
  const { json } = await batch(small, { operation: 'upload', objects })
  t.match(json.objects, [
    { error: { code: 413, message: /lfs.max_object_size/ } },
    { actions: { upload: {} } },
    { actions: { upload: {} } },
    { error: { code: 413, message: /lfs.max_project_size/ } }
  ])
  const bytes = randomBytes(501)
  const res = await ask('PUT', small, `objects/${hashOf(bytes)}?size=501`, { headers: of(small.owner), body: bytes })
  t.match([res.statusCode, res.json()], [413, { message: /lfs.max_object_size/ }])
})

t.test('LFS can be switched off for a project and for a group', async t => {
  const group = await app.make.group()
  const grouped = await app.make.project({ group, owner: await app.make.groupMember(group, 50) })
  const status = async (headers: object = of(grouped.owner)) =>
    (await batch(grouped, { operation: 'download', objects: [missing] }, headers)).status
  t.equal(await status(), 200)
  await execute('update namespaces set lfs_enabled = 0 where id = ?', [group.id])
  t.equal(await status(), 501)
  t.equal(await status({}), 401, 'strangers do not learn it')
  const locks = await ask('GET', grouped, 'locks', { headers: of(grouped.owner) })
  t.match([locks.statusCode, locks.json()], [501, { message: /switched off/ }])
})

t.test('maintenance mode refuses uploads', async t => {
  await execute("update application_settings set maintenance_since = now(3), maintenance_message = ''")
  t.teardown(() => execute('update application_settings set maintenance_since = null'))
  const objects = [{ oid: known.oid, size: known.size }]
  t.equal((await batch(project, { operation: 'download', objects })).status, 200)
  t.equal((await batch(project, { operation: 'upload', objects })).status, 503)
  const put = await ask('PUT', project, `objects/${missing.oid}?size=7`, {
    headers: of(project.owner),
    body: Buffer.from('missing')
  })
  t.equal(put.statusCode, 503)
})

t.test('a build reads the objects of its project, and writes none', async t => {
  const [build] = await makePipeline(project, 'one: {script: [make]}')
  await beginBuild(build as TestBuild)
  await execute("update builds set token_hash = unhex(sha2('of-a-build', 256)) where id = ?", [build?.id ?? 0])
  const headers = { authorization: basic('gitlab-ci-token', 'of-a-build') }
  const objects = [{ oid: known.oid, size: known.size }]
  const { json } = await batch(project, { operation: 'download', objects }, headers)
  t.same(json.objects[0].actions.download.header, { Authorization: headers.authorization })
  t.equal((await ask('GET', project, `objects/${known.oid}`, { headers })).statusCode, 200)
  t.equal((await batch(project, { operation: 'upload', objects }, headers)).status, 403)
  await execute("update builds set status = 'success' where id = ?", [build?.id ?? 0])
  t.equal((await ask('GET', project, `objects/${known.oid}`, { headers })).statusCode, 401)
})
