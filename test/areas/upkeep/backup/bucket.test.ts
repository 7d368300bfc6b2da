// Backups in a real bucket: created, shared, fetched, deleted, and with faults of the bucket.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { fetchBackup } from '../../../../src/areas/upkeep/backup/bucket/fetch.js'
import {
  deletableInBucket,
  deleteFromBucket,
  listInBucket,
  moveBackups
} from '../../../../src/areas/upkeep/backup/bucket/keep.js'
import { bucketBackups, objectOfHash, readBucketList } from '../../../../src/areas/upkeep/backup/bucket/layout.js'
import { readFileList, readManifest } from '../../../../src/areas/upkeep/backup/manifest.js'
import { defaultStore } from '../../../../src/areas/upkeep/backup/store.js'
import { row } from '../../../../src/db/connect/sql.js'
import { listObjects, putObject, removeObject } from '../../../../src/storage/s3.js'
import { configureBucket, refuses, testBucket } from '../../../helpers/bucket.js'
import { cli } from '../../../helpers/cli.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { create, environment, home, project } from './subject.js'

const bucket = await testBucket(t, { 'storage.backups': 's3' })
const folder = mkdtempSync(join(tmpdir(), 'gitstead-fetched-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const signal = new AbortController().signal

async function objects(start = 'backups/'): Promise<string[]> {
  const found: string[] = []
  for await (const page of listObjects(start)) found.push(...page.map(({ name }) => name))
  return found.sort()
}
const local = () => (existsSync(defaultStore()) ? readdirSync(defaultStore()) : [])

t.test('a backup is in the bucket, and a restore from it is whole', async t => {
  const made = await create()
  t.match(made.path, /^s3:\/\/files\/backups\/\d{8}T/)
  t.same(local(), [], 'nothing stays on the disk')
  t.match(await row('select target_name from audit_events order by id desc limit 1'), { target_name: made.path })
  const { backups } = await listInBucket()
  t.match(backups, [{ id: made.id, path: made.path, files: made.files }])
  const fetched = await fetchBackup('latest', { to: folder, signal })
  t.equal(fetched.path, join(folder, made.id))
  const verified = await cli(['backup', 'verify', fetched.path], { environment })
  t.match(verified, { code: 0, stdout: /: ok: / }, verified.stderr)
  await t.rejects(fetchBackup('latest', { to: folder, signal }), { name: 'Conflict' })
  await t.rejects(fetchBackup('20000101T000000Z-0000', { to: folder, signal }), { name: 'NoSuch' })
})

t.test('the next backup sends only what is new, and the older one is deleted without harm', async t => {
  await factory.file(project, 'next.txt', 'two\n')
  const made = await create({ keep: 1 })
  t.equal(made.deleted.length, 1)
  t.ok(made.new_bytes < made.bytes, `${made.new_bytes} of ${made.bytes} bytes`)
  t.same(
    (await listInBucket()).backups.map(({ id }) => id),
    [made.id]
  )
  const into = mkdtempSync(join(tmpdir(), 'gitstead-fetched-'))
  t.teardown(() => rmSync(into, { recursive: true, force: true }))
  const { path } = await fetchBackup(made.id, { to: into, signal })
  const named = new Set<string>()
  for (const unit of readManifest(path).units) {
    named.add(unit.sha256)
    for (const file of readFileList(path, unit)) named.add(file.sha256)
  }
  const kept = (await objects('backups/files/')).map(name => name.slice(-64))
  t.same(new Set(kept), named, 'nothing is missing, and nothing is left of the other one')
})

t.test('a bucket that is away leaves the backup on the disk, and a move sends it', async t => {
  bucket.fault = refuses(503, 'SlowDown')
  await t.rejects(create(), { name: 'BucketUnavailable' })
  bucket.fault = undefined
  configureBucket({ endpoint: bucket.endpoint, 'storage.backups': 's3' })
  const [id = ''] = local()
  t.match(id, /^\d{8}T/, 'it is complete')
  const how = { to: 's3', deleteSource: true, signal } as const
  t.match(await moveBackups({ ...how, dryRun: true }, someOrigin), { copied: 1, deleted: 0 })
  t.match(await moveBackups({ ...how, dryRun: false }, someOrigin), { copied: 1, deleted: 1 })
  t.same(local(), [])
  t.ok((await listInBucket()).backups.some(backup => backup.id === id))
})

t.test('changed and missing objects are found, and leave nothing behind', async t => {
  const { id: newest = '', manifest } = (await bucketBackups()).whole.at(-1) ?? {}
  const unit = manifest?.units.find(({ path, files }) => path.startsWith('repositories/') && files > 0)
  const [file] = unit ? await readBucketList(unit) : []
  const name = objectOfHash(file?.sha256 ?? '')
  const path = join(home, 'tmp-object')
  writeFileSync(path, 'changed')
  await putObject(name, path, 7)
  const into = join(folder, 'damaged')
  await t.rejects(fetchBackup(newest, { to: into, signal }), { name: 'Damaged' })
  t.same(readdirSync(into), [])
  await removeObject(name)
  await t.rejects(fetchBackup(newest, { to: into, signal }), { name: 'Damaged', message: /missing/ })
  await create({ full: true })
  const repaired = await fetchBackup('latest', { to: into, signal })
  t.ok(existsSync(repaired.path), 'a full backup sends every file again')
})

t.test('a damaged manifest is listed, and its files stay until it is deleted', async t => {
  const { backups } = await listInBucket()
  const [first, ...others] = backups.map(({ id }) => id)
  const path = join(home, 'tmp-object')
  writeFileSync(path, '{}')
  await putObject(`backups/${first}/manifest.json`, path, 2)
  t.match((await listInBucket()).damaged, [{ id: first, problem: /has changed/ }])
  const before = (await objects('backups/files/')).length
  await deleteFromBucket(others, someOrigin)
  t.equal((await objects('backups/files/')).length, before, 'nobody knows what the damaged one needs')
  t.match(await deletableInBucket(first ?? ''), { bytes: null })
  await deleteFromBucket([first ?? ''], someOrigin)
  t.same(await objects(), [])
})

t.test('the commands list, fetch and delete backups of the bucket', async t => {
  const { id } = await create()
  const variables = {
    GITSTEAD_HOME: join(folder, 'no-home'),
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('GITSTEAD_STORAGE_')))
  } as Record<string, string>
  const fetched = await cli(['backup', 'fetch', 'latest', '--to', join(folder, 'by-command')], {
    environment: variables
  })
  t.equal(fetched.code, 0, fetched.stderr)
  t.match(fetched.stdout, new RegExp(`^${id}: \\d+ files`), 'also without a home')
  const listed = await cli(['backup', 'list'], { environment: { ...variables, GITSTEAD_HOME: home } })
  t.match(listed.stdout, / s3$/m)
  const gone = await cli(['backup', 'delete', id, '--dry-run'], {
    environment: { ...variables, GITSTEAD_HOME: home }
  })
  t.match(gone.stdout, `would delete ${id}`)
})
