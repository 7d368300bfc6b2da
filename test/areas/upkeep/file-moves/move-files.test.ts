// Moves of files between the folder and a real bucket, while they are read.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { movableFiles } from '../../../../src/areas/upkeep/file-moves/movable-files.js'
import { type MoveOptions, moveFiles } from '../../../../src/areas/upkeep/file-moves/move-files.js'
import { config } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { TooLarge } from '../../../../src/errors.js'
import { openArtifact } from '../../../../src/storage/artifacts.js'
import { headObject, listObjects, putObject } from '../../../../src/storage/s3.js'
import { openTrace } from '../../../../src/storage/traces.js'
import { openUpload, putUpload } from '../../../../src/storage/uploads.js'
import { testApp } from '../../../helpers/app.js'
import { configureBucket, refuses, testBucket } from '../../../helpers/bucket.js'
import { someOrigin } from '../../../helpers/factory.js'
import { beginBuild, endBuild, makePipeline, type TestBuild } from '../../ci/builds/make-builds.js'

const app = await testApp(t)
const bucket = await testBucket(t)
const KINDS = ['artifacts', 'traces', 'uploads', 'caches', 'archives', 'records'] as const

/** New files of all kinds go to this place. */
const keepIn = (place: string) =>
  void configureBucket({
    endpoint: bucket.endpoint,
    ...Object.fromEntries(KINDS.map(kind => [`storage.${kind}`, place]))
  })
const run = (options: Partial<MoveOptions>) =>
  moveFiles(
    {
      kind: 'artifacts',
      to: 's3',
      deleteSource: false,
      dryRun: false,
      atOnce: 4,
      signal: new AbortController().signal,
      ...options
    },
    someOrigin
  )
const onDisk = (name: string) => existsSync(join(config().home, name))

async function objects(): Promise<string[]> {
  const found: string[] = []
  for await (const page of listObjects('')) found.push(...page.map(({ name }) => name))
  return found.sort()
}

keepIn('folder')
const project = await app.make.project()
const [ended, running] = (await makePipeline(project, 'one: {script: [make]}\ntwo: {script: [make]}\n')) as [
  TestBuild,
  TestBuild
]
await endBuild(ended, { trace: 'one\n', artifacts: Buffer.from('archive') })
await beginBuild(running)
await execute('update builds set finished_at = ? where id = ?', [new Date(Date.now() - 3_600_000), ended.id])
const archive = `artifacts/0/${ended.id}-1.zip`
const growing = `artifacts/0/${running.id}-1.zip`
const key = { build: ended.id, attempt: 1 }
const write = (name: string, content: string) => {
  const path = join(config().home, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}
write(growing, 'half')
write(`cache/builds/7/${'a'.repeat(64)}.zip`, 'cache')
write(`cache/archives/7/${'b'.repeat(64)}`, 'packed')
write(`records/7/builds-2020-03-${'c'.repeat(36)}.jsonl.gz`, 'old records')
const { key: upload } = await putUpload({ project: project.id, name: 'a.txt' }, Readable.from([Buffer.from('note')]), {
  limit: 100,
  excess: new TooLarge()
})
const readAll = async () => {
  const found = [await openArtifact(key), await openTrace(key), await openUpload(upload)]
  return Promise.all(found.map(each => each && text(each.stream)))
}
const ALL = ['archive', 'one\n', 'note']

t.test('a move is refused while new files go to the old place, and a dry run only counts', async t => {
  await t.rejects(run({}), { name: 'Conflict', message: /set storage\.artifacts to s3, restart/ })
  t.match(await run({ dryRun: true, deleteSource: true }), { copied: 1, bytes: 7, present: 0, deleted: 0 })
  t.same(await objects(), [])
})

t.test('a failure of the bucket ends the move, and the next run continues', async t => {
  keepIn('s3')
  bucket.fault = refuses(503, 'SlowDown')
  await t.rejects(run({}), { name: 'BucketUnavailable' })
  bucket.fault = undefined
  t.match(await run({}), { copied: 1, present: 0, deleted: 0, failed: [] })
  t.ok(onDisk(archive), 'the old file stays')
  t.match(await run({}), { copied: 0, present: 1 })
})

t.test('all kinds move to the bucket, and the old files go after a comparison', async t => {
  for (const kind of KINDS) t.match(await run({ kind, deleteSource: true }), { deleted: 1, failed: [] }, kind)
  t.same(await readAll(), ALL)
  t.notOk(onDisk(archive))
  t.ok(onDisk(growing), 'an archive of a running build stays')
  t.equal((await objects()).length, 6)
  t.match(await row("select target_name as kind from audit_events where action = 'storage.migrate' limit 1"), {
    kind: 'artifacts'
  })
})

t.test('all kinds move back to the folder', async t => {
  keepIn('folder')
  t.same(await readAll(), ALL, 'before the move')
  for (const kind of KINDS) t.match(await run({ kind, to: 'folder' }), { copied: 1, deleted: 0 }, kind)
  for (const kind of KINDS) {
    t.match(await run({ kind, to: 'folder', deleteSource: true }), { copied: 0, present: 1, deleted: 1 }, kind)
  }
  t.same(await readAll(), ALL)
  t.same(await objects(), [])
})

t.test('a damaged copy is not a reason to delete the original', async t => {
  keepIn('s3')
  const path = join(config().home, 'tmp-damaged')
  writeFileSync(path, 'ARCHIVE')
  await putObject(archive, path, 7)
  t.match(await run({ deleteSource: true }), { copied: 0, present: 1, deleted: 0 })
  t.ok(onDisk(archive))
  rmSync(path)
})

t.test('names in a bucket that the appliance does not make never become paths', async t => {
  const path = join(config().home, 'tmp-hostile')
  writeFileSync(path, 'x')
  const hostile = [`uploads/1/${'0'.repeat(32)}/..`, 'uploads/../../etc/passwd', 'artifacts/0/1-1.zip/x', 'traces/x']
  for (const name of hostile) await putObject(name, path, 1).catch(() => undefined)
  keepIn('folder')
  for (const kind of KINDS) {
    for await (const batch of movableFiles(kind, 's3')) {
      t.same(
        batch.filter(({ name }) => hostile.includes(name)),
        [],
        kind
      )
    }
  }
  t.ok(await headObject(archive))
})
