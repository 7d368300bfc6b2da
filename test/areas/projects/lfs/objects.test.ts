// Stores objects of git LFS: what counts as the object, who may read it, and what is left after a refusal.
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { insertLinks } from '../../../../src/areas/projects/lfs/kept-objects.js'
import { claim, findLinks, storeObject, touchLinks } from '../../../../src/areas/projects/lfs/objects.js'
import { copyLinks, takeLinks } from '../../../../src/areas/projects/lfs/shared-links.js'
import { forgetLfsSizes, lfsSizeOf } from '../../../../src/areas/projects/lfs/sizes.js'
import { unlinkIdle } from '../../../../src/areas/projects/lfs/unused.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import {
  localLfsObjects,
  nameOfLfsObject,
  openLfsObject,
  removeLfsObject,
  sizeOfLfsObject
} from '../../../../src/storage/lfs.js'
import { testApp } from '../../../helpers/app.js'
import { rowsRead } from '../../../helpers/rows-read.js'
import t from '../../../helpers/tap.js'

const app = await testApp(t)
const keyOf = (bytes: Buffer) => ({ oid: createHash('sha256').update(bytes).digest('hex'), size: bytes.length })
const store = async (project: { id: number }, bytes: Buffer, key = keyOf(bytes)) => {
  await storeObject(project.id, key, () => Readable.from([bytes]))
  return key
}
const contentOf = async (oid: string) => {
  const found = await openLfsObject(oid)
  return found && (await buffer(found.stream))
}
const drafts = () => readdirSync(join(config().home, 'lfs', '.drafts'))

t.test('an object belongs to the projects that have sent its bytes', async t => {
  const [one, other] = [await app.make.project(), await app.make.project()]
  const bytes = randomBytes(100_000)
  const key = await store(one, bytes)
  t.same(await contentOf(key.oid), bytes)
  t.equal(await sizeOfLfsObject(key.oid), bytes.length)
  t.same(await findLinks(one.id, [key.oid, 'f'.repeat(64)]), new Map([[key.oid, bytes.length]]))
  t.same(await findLinks(other.id, [key.oid]), new Map())
  await store(other, bytes)
  await Promise.all([store(one, bytes), store(other, bytes)])
  t.equal(await lfsSizeOf(other.id), bytes.length)
  const found = []
  for await (const batch of localLfsObjects()) found.push(...batch)
  t.same(found, [{ name: nameOfLfsObject(key.oid), size: bytes.length }])
})

t.test('a wrong hash or size is refused, and nothing is kept', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(1000)
  const { oid } = keyOf(bytes)
  const other = keyOf(randomBytes(10)).oid
  await t.rejects(store(project, bytes, { oid: other, size: 1000 }), { message: /another SHA-256/ })
  await t.rejects(store(project, bytes, { oid, size: 999 }), { message: /does not have the size 999/ })
  await t.rejects(store(project, bytes, { oid, size: 1001 }), { message: /does not have the size 1001/ })
  const broken = Readable.from(
    (async function* () {
      yield bytes.subarray(0, 10)
      throw new Error('the client left')
    })()
  )
  await t.rejects(
    storeObject(project.id, { oid, size: 1000 }, () => broken),
    { message: 'the client left' }
  )
  for (const each of [oid, other]) {
    t.equal(await sizeOfLfsObject(each), undefined)
    t.notOk(await row('select 1 from lfs_objects where oid = ?', [each]))
  }
  t.equal(await lfsSizeOf(project.id), 0)
  t.same(drafts(), [])
  for (const name of ['../../secrets.json', `${'a'.repeat(63)}/`, 'A'.repeat(64), '']) {
    t.throws(() => nameOfLfsObject(name), { name: 'TypeError' }, name)
  }
})

t.test('the limits of an object and of a project', async t => {
  const project = await app.make.project()
  const { home } = config()
  t.teardown(() => void loadConfig({ home }))
  loadConfig({ home, lfs: { max_object_size: 500, max_project_size: 1000 } })
  await t.rejects(store(project, randomBytes(501)), { message: /at most 500 bytes \(lfs.max_object_size\)/ })
  const first = await store(project, randomBytes(500))
  const outcomes = await Promise.allSettled([400, 401, 402].map(size => store(project, randomBytes(size))))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, 'only one of them fits')
  t.ok((await lfsSizeOf(project.id)) <= 1000)
  const kept = await rows<{ oid: string }>('select oid from lfs_objects where size between 400 and 402')
  t.equal(kept.length, 1, 'what was refused is not kept')
  const files = []
  for await (const batch of localLfsObjects()) files.push(...batch.filter(({ size }) => size >= 400 && size <= 402))
  t.same(
    files.map(({ name }) => name),
    kept.map(({ oid }) => nameOfLfsObject(oid))
  )
  await t.rejects(store(project, randomBytes(200)), { message: /at most 1000 bytes \(lfs.max_project_size\)/ })
  t.same([...(await findLinks(project.id, [first.oid])).keys()], [first.oid])
})

t.test('an upload reads no more rows when the project has many objects', async t => {
  const project = await app.make.project()
  await store(project, randomBytes(10))
  const few = await rowsRead(() => store(project, randomBytes(10)))
  const many = Array.from({ length: 3000 }, () => ({ oid: randomBytes(32).toString('hex'), size: 1 }))
  await insertLinks(project.id, many)
  await store(project, randomBytes(10))
  const later = await rowsRead(() => store(project, randomBytes(10)))
  t.ok(later <= few + 30, `${few} rows, then ${later}`)
})

t.test('the size of a project follows its objects', async t => {
  const [project, fork] = [await app.make.project(), await app.make.project()]
  const isRight = async ({ id }: { id: number }, size: number, what: string) => {
    t.equal(await lfsSizeOf(id), size, what)
    const [found] = await rows<{ size: string }>(
      'select sum(size) as size from lfs_links where project_id = ? and not held',
      [id]
    )
    t.equal(Number(found?.size), size, `${what}: the sum`)
  }
  const first = await store(project, randomBytes(10))
  await isRight(project, 10, 'the first object')
  await store(project, randomBytes(20))
  await store(project, randomBytes(30))
  await isRight(project, 60, 'an upload')
  await insertLinks(project.id, [{ oid: 'a'.repeat(64), size: 5 }])
  await isRight(project, 65, 'an object of an archive')
  await copyLinks(project.id, fork.id)
  await isRight(fork, 65, 'a fork')
  const { oid } = await store(fork, randomBytes(100))
  await isRight(fork, 165, 'an upload to the fork')
  await store(project, randomBytes(1))
  await takeLinks(fork.id, project.id, [oid])
  await isRight(project, 166, 'a merge')
  await store(project, randomBytes(2))
  await isRight(project, 168, 'an upload after the merge')
  const before = new Date(Date.now() + 60_000)
  t.equal(await unlinkIdle(project.id, { oids: [first.oid], before, lastChange: Number.MAX_SAFE_INTEGER }), 1)
  await isRight(project, 158, 'a removal')
  await execute('update lfs_sizes set size = 1000')
  t.equal(await lfsSizeOf(fork.id), 1000, 'the row counts')
  await forgetLfsSizes()
  await isRight(fork, 165, 'after the upkeep')
})

t.test('a refused object stays if another project has it, or is about to', async t => {
  const [full, other] = [await app.make.project(), await app.make.project()]
  const { home } = config()
  t.teardown(() => void loadConfig({ home }))
  loadConfig({ home, lfs: { max_project_size: 150 } })
  const [linked, claimed] = [randomBytes(100), randomBytes(100)]
  await store(full, randomBytes(60))
  /** The room of the project goes while the bytes arrive. */
  const storeLate = (bytes: Buffer, during: () => Promise<unknown>) =>
    storeObject(full.id, keyOf(bytes), () =>
      Readable.from(
        (async function* () {
          await during()
          yield bytes
        })()
      )
    )
  const setSize = async (size: number) => {
    await execute('update lfs_links set size = ? where project_id = ?', [size, full.id])
    await forgetLfsSizes()
  }
  await setSize(0)
  const fill = () => setSize(60)
  await t.rejects(
    storeLate(linked, async () => {
      await store(other, linked)
      await fill()
    }),
    { message: /max_project_size/ }
  )
  t.same(await contentOf(keyOf(linked).oid), linked)
  await setSize(0)
  await t.rejects(
    storeLate(claimed, async () => {
      await claim(keyOf(claimed))
      await fill()
    }),
    { message: /max_project_size/ }
  )
  t.same(await contentOf(keyOf(claimed).oid), claimed)
})

t.test('an object that is being removed is neither stored nor linked', async t => {
  const project = await app.make.project()
  const bytes = randomBytes(100)
  const key = keyOf(bytes)
  await execute(
    'insert into lfs_objects (oid, size, created_at, touched_at, removing_at) values (?, ?, now(3), now(3), now(3))',
    [key.oid, key.size]
  )
  await t.rejects(store(project, bytes), { message: /is being removed/ })
  t.equal(await sizeOfLfsObject(key.oid), undefined)
  await execute('delete from lfs_objects where oid = ?', [key.oid])
  await store(project, bytes)
  await execute("update lfs_links set touched_at = '2020-01-01' where oid = ?", [key.oid])
  await touchLinks(project.id, [key.oid])
  const link = await row<{ touched_at: Date }>('select touched_at from lfs_links where oid = ?', [key.oid])
  t.ok(link && link.touched_at > new Date(Date.now() - 60_000), 'a promise is noted')
  await removeLfsObject(key.oid)
  t.equal(await contentOf(key.oid), undefined)
})

t.test('a project that was removed in the meantime gets no link', async t => {
  const project = await app.make.project()
  const key = keyOf(Buffer.from('late'))
  await t.rejects(
    storeObject(project.id, key, () =>
      Readable.from(
        (async function* () {
          await execute('delete from projects where id = ?', [project.id])
          yield Buffer.from('late')
        })()
      )
    ),
    { message: /Project Not Found/ }
  )
  t.notOk(await row('select 1 from lfs_links where oid = ?', [key.oid]))
})
