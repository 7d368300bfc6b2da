import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { loadConfig } from '../../src/config.js'
import { TooLarge } from '../../src/errors.js'
import { openArtifact, putArtifact, removeArtifact } from '../../src/storage/artifacts.js'
import { putCache } from '../../src/storage/caches.js'
import {
  appendTrace,
  openTrace,
  readTrace,
  removeTrace,
  resetTrace,
  TraceMismatch,
  traceSize
} from '../../src/storage/traces.js'
import { openUpload, putUpload } from '../../src/storage/uploads.js'
import t from '../helpers/tap.js'

const home = t.testdir()
loadConfig({ home })

t.test('a trace grows by chunks and is read in ranges', async t => {
  const key = { build: 12_345, attempt: 1 }
  t.equal(await traceSize(key), 0)
  t.equal(await openTrace(key), undefined)
  t.equal((await readTrace(key)).length, 0)
  t.equal(await appendTrace(key, Buffer.from('hello ')), 6)
  t.equal(await appendTrace(key, Buffer.from('world'), 6), 11)
  t.equal(await traceSize(key), 11)
  t.equal((await readTrace(key, 6)).toString(), 'world')
  t.equal((await readTrace(key, 3, 4)).toString(), 'lo w')
  t.equal((await readTrace(key, 99)).length, 0)
  const trace = await openTrace(key)
  t.equal(trace?.size, 11)
  await appendTrace(key, Buffer.from('!'))
  t.equal(trace && (await text(trace.stream)), 'hello world', 'it does not contain later bytes')
})

t.test('a chunk with the wrong offset is refused, and the error has the size', async t => {
  const key = { build: 2, attempt: 1 }
  await appendTrace(key, Buffer.from('abc'))
  await t.rejects(appendTrace(key, Buffer.from('abc'), 0), new TraceMismatch(3))
  await t.rejects(appendTrace(key, Buffer.from('abc'), 4), new TraceMismatch(3))
  t.equal(await appendTrace(key, Buffer.alloc(0), 3), 3)
})

t.test('chunks of one process keep their order', async t => {
  const key = { build: 3, attempt: 1 }
  await Promise.all(Array.from({ length: 50 }, (_, n) => appendTrace(key, Buffer.from(`${n} `))))
  t.equal((await readTrace(key)).toString(), Array.from({ length: 50 }, (_, n) => `${n} `).join(''))
})

t.test('a trace that is removed while this process keeps it open starts again', async t => {
  const key = { build: 31, attempt: 1 }
  await appendTrace(key, Buffer.from('old'))
  rmSync(join(home, 'traces/0/31-1.log'))
  await t.rejects(appendTrace(key, Buffer.from('x'), 3), new TraceMismatch(0))
  t.equal(await appendTrace(key, Buffer.from('new')), 3)
  t.equal((await readTrace(key)).toString(), 'new')
})

t.test('more traces can grow at once than stay open', async t => {
  const keys = Array.from({ length: 300 }, (_, n) => ({ build: 7000 + n, attempt: 1 }))
  for (const chunk of ['a', 'b', 'c']) await Promise.all(keys.map(key => appendTrace(key, Buffer.from(chunk))))
  const texts = await Promise.all(keys.map(async key => (await readTrace(key)).toString()))
  t.same([...new Set(texts)], ['abc'])
})

t.test('attempts have separate traces', async t => {
  await appendTrace({ build: 4, attempt: 1 }, Buffer.from('stale'))
  await appendTrace({ build: 4, attempt: 2 }, Buffer.from('new'))
  t.equal((await readTrace({ build: 4, attempt: 2 })).toString(), 'new')
})

t.test('a trace can be emptied and removed, also twice', async t => {
  const key = { build: 5, attempt: 1 }
  await resetTrace(key)
  const empty = await openTrace(key)
  t.equal(empty && (await text(empty.stream)), '')
  await appendTrace(key, Buffer.from('x'))
  await resetTrace(key)
  t.equal(await traceSize(key), 0)
  await removeTrace(key)
  await removeTrace(key)
  t.equal(await openTrace(key), undefined)
})

t.test('keys must be whole positive numbers', async t => {
  for (const build of [-1, 1.5, Number.NaN]) await t.rejects(traceSize({ build, attempt: 1 }), RangeError)
})

const drafts = () => readdirSync(join(home, 'artifacts/.drafts'))

t.test('an archive is stored from a stream or a file, private to this user', async t => {
  const key = { build: 1, attempt: 1 }
  const bytes = Buffer.alloc(300_000, 'zip')
  const stored = { size: 300_000, sha256: createHash('sha256').update(bytes).digest('hex') }
  t.strictSame(await putArtifact(key, Readable.from([bytes.subarray(0, 1000), bytes.subarray(1000)])), stored)
  const file = join(home, 'source')
  writeFileSync(file, bytes)
  t.strictSame(await putArtifact(key, file), stored)
  t.ok(statSync(file))
  const artifact = await openArtifact(key)
  t.equal(artifact?.size, 300_000)
  t.ok(artifact && bytes.equals(await buffer(artifact.stream)))
  t.equal(statSync(join(home, 'artifacts')).mode & 0o077, 0)
  t.strictSame(drafts(), [])
})

t.test('an archive that is too large or incomplete does not replace the existing one', async t => {
  const key = { build: 2, attempt: 1 }
  await putArtifact(key, Readable.from([Buffer.from('good')]))
  await t.rejects(putArtifact(key, Readable.from([Buffer.alloc(11)]), 10), TooLarge)
  const broken = new Readable({ read: () => broken.destroy(new Error('broken off')) })
  await t.rejects(putArtifact(key, broken), { message: 'broken off' })
  await t.rejects(putArtifact(key, join(home, 'missing')), { code: 'ENOENT' })
  const artifact = await openArtifact(key)
  t.equal(artifact && (await text(artifact.stream)), 'good')
  t.strictSame(drafts(), [])
})

t.test('an archive can be removed, also twice', async t => {
  const key = { build: 3, attempt: 1 }
  await putArtifact(key, Readable.from([Buffer.from('x')]))
  await removeArtifact(key)
  await removeArtifact(key)
  t.equal(await openArtifact(key), undefined)
})

t.test('each data folder may be on a file system of its own', async t => {
  const other = mkdtempSync('/dev/shm/gitstead-storage-')
  t.teardown(() => {
    rmSync(other, { recursive: true, force: true })
    loadConfig({ home })
  })
  const folders = ['artifacts', 'uploads', 'cache']
  const apart = t.testdir(Object.fromEntries(['tmp', ...folders].map(name => [name, {}])))
  for (const name of folders) {
    mkdirSync(join(other, name))
    rmSync(join(apart, name), { recursive: true })
    symlinkSync(join(other, name), join(apart, name))
  }
  t.not(statSync(join(apart, 'artifacts')).dev, statSync(join(apart, 'tmp')).dev)
  loadConfig({ home: apart })
  const key = { build: 1, attempt: 1 }
  await putArtifact(key, Readable.from([Buffer.from('archive')]))
  const artifact = await openArtifact(key)
  t.equal(artifact && (await text(artifact.stream)), 'archive')
  const limits = { limit: 100, excess: new TooLarge() }
  const { key: upload } = await putUpload({ project: 1, name: 'a.txt' }, Readable.from([Buffer.from('file')]), limits)
  const file = await openUpload(upload)
  t.equal(file && (await text(file.stream)), 'file')
  writeFileSync(join(apart, 'tmp/made'), 'cache')
  await putCache({ project: 1, ending: 'protected', key: 'k' }, join(apart, 'tmp/made'))
  t.equal(readdirSync(join(other, 'cache/builds/1')).length, 1)
  for (const name of folders) t.same(readdirSync(join(other, name, '.drafts')), [])
})
