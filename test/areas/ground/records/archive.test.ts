// Old records are in the database or in a file that counts, never in both, and their files leave with their project or user.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { numberOfPipeline } from '../../../../src/areas/ci/pipelines/numbers.js'
import { archiveOld } from '../../../../src/areas/ground/records/archive-old.js'
import { linesOf, listFiles } from '../../../../src/areas/ground/records/archived-files.js'
import { lineOf } from '../../../../src/areas/ground/records/record-line.js'
import { restoreProject } from '../../../../src/areas/upkeep/backup/restore-project.js'
import { findBackup } from '../../../../src/areas/upkeep/backup/store.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { findOrphans, removeOrphans } from '../../../../src/areas/upkeep/maintenance/orphaned-files.js'
import { deleteUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { loadConfig } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { readTrace } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { testBucket } from '../../../helpers/bucket.js'
import { cli } from '../../../helpers/cli.js'
import { someOrigin, type TestProject } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { numbersTo } from '../../../helpers/numbers.js'
import t from '../../../helpers/tap.js'
import { anotherBuild, endBuild, makePipeline, pipelineOf } from '../../ci/builds/make-builds.js'
import { create } from '../../upkeep/backup/subject.js'

const app = await testApp(t)
const home = process.env.GITSTEAD_HOME ?? ''
const OLD = new Date('2020-03-15T12:00:00Z')
const DAY_MS = 86_400_000

type Days = { builds?: number; events?: number; deliveries?: number }
const keepFor = (archive: Days) => loadConfig({ port: 0, archive })
t.teardown(() => void loadConfig({ port: 0 }))

interface Line {
  readonly table: string
  readonly trace?: string
  readonly trace_base64?: string
  readonly row: Record<string, unknown>
}

const maintain = (task: string, dryRun = false) => runTask(task, { dryRun }, someOrigin)
const filesOf = (project: { id: number }) => listFiles({ projectId: project.id }, 100)

async function linesIn(project: { id: number }): Promise<Line[]> {
  const lines: Line[] = []
  for (const { id } of await filesOf(project)) for await (const line of linesOf(id)) lines.push(JSON.parse(line))
  return lines
}

async function makeEvents(project: number, author: number, count: number, at = OLD) {
  await execute(
    `insert into activity_events (happening_id, project_id, author_id, action, created_at)
     select concat(uuid(), seq), ?, ?, 'opened', ? from ${numbersTo(count)}`,
    [project, author, at]
  )
}

t.beforeEach(async () => {
  for (const table of ['activity_events', 'hook_deliveries', 'hook_attempts']) await execute(`delete from ${table}`)
})

t.test('by default, builds and events stay', async t => {
  const project = await app.make.project()
  await makeEvents(project.id, project.owner.id, 3)
  t.match(await maintain('old_events'), { state: 'done', count: 0 })
  t.match(await maintain('old_builds'), { state: 'done', count: 0 })
  t.equal((await rows('select id from activity_events where created_at = ?', [OLD])).length, 3)
  t.same(await filesOf(project), [])
})

t.test('old events move into files of their project, user and month', async t => {
  keepFor({ events: 365 })
  const [one, two] = [await app.make.project(), await app.make.project()]
  await execute('delete from activity_events')
  await makeEvents(one.id, one.owner.id, 1200)
  await makeEvents(one.id, two.owner.id, 1)
  await makeEvents(two.id, two.owner.id, 2, new Date('2020-04-01T00:00:00Z'))
  await makeEvents(one.id, one.owner.id, 5, new Date())
  t.match(await maintain('old_events', true), { count: 1203 }, 'a dry run only counts')
  t.same(await filesOf(one), [])
  t.match(await maintain('old_events'), { state: 'done', count: 1203, report: { files: 4, changed: 0 } })
  t.equal((await rows('select id from activity_events')).length, 5)
  t.match(await filesOf(one), [
    { kind: 'events', month: '2020-03', project: one.path, author_id: one.owner.id, records: 1000 },
    { records: 200 },
    { author_id: two.owner.id, records: 1 }
  ])
  t.match(await filesOf(two), [{ month: '2020-04', records: 2 }])
  const lines = await linesIn(one)
  t.equal(new Set(lines.map(({ row }) => row.id)).size, 1201)
  t.match(lines[0], { table: 'activity_events', row: { action: 'opened', created_at: OLD.toISOString() } })
  t.match(await maintain('old_events'), { count: 0 }, 'nothing is left for a second run')
})

t.test('a month leaves as a whole, when its last day is old enough', async t => {
  const project = await app.make.project()
  const month = new Date(Date.now() - 400 * DAY_MS)
  const first = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth()))
  await execute('delete from activity_events')
  await makeEvents(project.id, project.owner.id, 1, new Date(first.getTime() - 1))
  await makeEvents(project.id, project.owner.id, 1, first)
  keepFor({ events: 400 })
  t.match(await maintain('old_events'), { count: 1 })
  t.match(await rows('select created_at from activity_events'), [{ created_at: first }])
})

t.test('rows that cannot be removed stay, and their file does not count', async t => {
  keepFor({ events: 365 })
  const project = await app.make.project()
  const candidate = { id: 1, project_id: project.id, author_id: null, created_at: OLD, leaves: 1 }
  const context = { dryRun: false, signal: new AbortController().signal, count: () => undefined, note: () => undefined }
  const source = {
    kind: 'events' as const,
    atOnce: 1,
    page: async () => [candidate],
    read: async () => [1],
    lines: () => ['{}'],
    remove: () => Promise.reject(new Error('no'))
  }
  await t.rejects(archiveOld(source, context), { message: 'no' })
  t.same(await filesOf(project), [])
  const folder = join(home, 'records', String(project.id))
  const [left] = readdirSync(folder)
  t.ok(left, 'the file stays, because a transaction may be committed although its answer is lost')
  t.same((await findOrphans()).records, [], 'a young file may get its row')
  const later = new Date(Date.now() + 2 * DAY_MS)
  t.same((await findOrphans(later)).records, [`records/${project.id}/${left}`])
  await removeOrphans(context, later)
  t.same(readdirSync(folder), [])

  let reads = 0
  const changing = { ...source, read: async () => [++reads], remove: async () => undefined }
  t.match(await archiveOld(changing, context), { files: 0, changed: 1 }, 'a row that somebody changes stays')
  const gone = { ...source, page: async () => [{ ...candidate, project_id: 999_999 }] }
  t.match(await archiveOld(gone, context), { files: 0, changed: 1 }, 'and one whose project is being removed')
  t.same(readdirSync(folder), [])
  t.same(existsSync(join(home, 'records/999999')) ? readdirSync(join(home, 'records/999999')) : [], [])
})

async function oldPipeline(): Promise<{ project: TestProject; one: number; two: number; pipelineId: number }> {
  const project = await app.make.project()
  const [one, two] = await makePipeline(project, 'one:\n  script: [make]\ntwo:\n  script: [make]\n')
  if (!one || !two) throw new Error('no builds')
  await endBuild(one, { trace: 'what one said: \u001b[31mé\n' })
  await endBuild(two, { status: 'failed' })
  await execute('update pipelines set created_at = ?, finished_at = ? where id = ?', [OLD, OLD, one.pipelineId])
  await execute('update builds set created_at = ?, finished_at = ? where pipeline_id = ?', [OLD, OLD, one.pipelineId])
  return { project, one: one.id, two: two.id, pipelineId: one.pipelineId }
}

/** Makes a pipeline by another commit. Returns its first build, which has ended. */
async function nextBuild(project: TestProject) {
  await app.make.file(project, randomUUID(), '')
  const [first] = await pipelineOf(project)
  if (!first) throw new Error('no build')
  await endBuild(first)
  return first
}

t.test('an old pipeline leaves with its builds and traces, and clients get 404', async t => {
  keepFor({ builds: 365 })
  const { project, one, two, pipelineId } = await oldPipeline()
  const owner = app.as(project.owner)
  const young = await nextBuild(project)
  t.equal(await numberOfPipeline(project.id, young.pipelineId), 2)
  t.match(await maintain('old_builds', true), { count: 1 })
  t.match(await maintain('old_builds'), { state: 'done', count: 1, report: { files: 1, changed: 0 } })
  for (const path of [`builds/${one}`, `builds/${one}/trace`, `builds/${two}`, `pipelines/${pipelineId}`]) {
    t.equal((await owner.get(`/projects/${project.id}/${path}`)).statusCode, 404, path)
  }
  t.equal((await owner.get(`/projects/${project.id}/builds`)).json().length, 2)
  t.equal((await owner.get(`/projects/${project.id}/builds/${young.id}`)).statusCode, 200)
  t.equal((await readTrace({ build: one, attempt: 1 })).length, 0)
  t.same(await rows('select * from pipeline_stages where pipeline_id = ?', [pipelineId]), [])
  const next = await nextBuild(project)
  t.equal(await numberOfPipeline(project.id, next.pipelineId), 3, 'later pipelines keep their numbers')
  const lines = await linesIn(project)
  t.match(lines, [
    { table: 'pipelines', row: { id: pipelineId } },
    { table: 'builds', trace: 'what one said: \u001b[31mé\n', row: { id: one, status: 'success' } },
    { table: 'builds', trace: '', row: { id: two, status: 'failed' } },
    { table: 'pipeline_stages' }
  ])
  t.notMatch(JSON.stringify(lines), /token_hash|encrypted/)
})

t.test('a pipeline stays while somebody may need it', async t => {
  const running = await oldPipeline()
  await anotherBuild(running.project, { status: 'running' })
  const retried = await oldPipeline()
  await execute('update builds set finished_at = now(3) where id = ?', [retried.two])
  const artifacts = await oldPipeline()
  await execute('update builds set artifacts_attempt = 1, artifacts_size = 1 where id = ?', [artifacts.one])
  const merging = await oldPipeline()
  await app.make.branch(merging.project, 'target')
  const merge = await app.as(merging.project.owner).post(`/projects/${merging.project.id}/merge_requests`, {
    source_branch: 'master',
    target_branch: 'target',
    title: 'a'
  })
  t.equal(merge.statusCode, 201)
  const deployed = await oldPipeline()
  const { insertId: environment } = await execute(
    `insert into environments (project_id, name, slug, created_at, updated_at) values (?, 'live', 'live', now(3), now(3))`,
    [deployed.project.id]
  )
  await execute('update builds set environment_id = ? where id = ?', [environment, deployed.one])
  await execute(
    `insert into deployments (project_id, iid, environment_id, build_id, ref, tag, sha, created_at)
     select project_id, 1, environment_id, id, ref, false, sha, now(3) from builds where id = ?`,
    [deployed.one]
  )
  t.match(await maintain('old_builds'), { state: 'done', count: 0 })
  await execute("update environments set state = 'stopped' where id = ?", [environment])
  t.match(await maintain('old_builds'), { state: 'done', count: 1 })
  for (const path of ['deployments', 'environments', 'repository/commits/master']) {
    const answer = await app.as(deployed.project.owner).get(`/projects/${deployed.project.id}/${path}`)
    t.equal(answer.statusCode, 200, path)
  }
})

async function makeDelivery(hook: number, key: string, at = OLD) {
  const { insertId } = await execute(
    `insert into hook_deliveries (hook_id, event_key, event, payload, state, created_at)
     values (?, ?, 'push', '{"a":"é"}', 'delivered', ?)`,
    [hook, key, at]
  )
  await execute(
    `insert into hook_attempts (delivery_id, attempt, started_at, duration_ms, request_headers, response_headers, response_body)
     values (?, 1, ?, 1, '{}', '{}', 'ok')`,
    [insertId, OLD]
  )
  return insertId
}

t.test('old deliveries are removed for good, unless they are archived', async t => {
  keepFor({})
  const project = await app.make.project()
  const made = await app.as(project.owner).post(`/projects/${project.id}/hooks`, { url: 'https://example.org/' })
  const hook: number = made.json().id
  await makeDelivery(hook, 'one')
  t.match(await maintain('old_deliveries'), { count: 1 })
  t.same(await filesOf(project), [])

  keepFor({ deliveries: 90 })
  const id = await makeDelivery(hook, 'two')
  await makeDelivery(hook, 'young', new Date(Date.now() - 40 * DAY_MS))
  await makeDelivery(999_999, 'of a removed hook')
  t.match(await maintain('old_deliveries'), { count: 2 })
  t.match(await rows('select event_key from hook_deliveries'), [{ event_key: 'young' }])
  t.match(await linesIn(project), [
    { table: 'hook_deliveries', row: { id, payload: '{"a":"é"}' } },
    { table: 'hook_attempts', row: { delivery_id: id, response_body: 'ok' } }
  ])
  t.equal((await rows('select id from hook_attempts')).length, 1)
})

t.test('files leave with their project, and those of events with their user', async t => {
  keepFor({ events: 365 })
  const [project, other] = [await app.make.project(), await app.make.project()]
  const user = await app.make.user()
  await execute('delete from activity_events')
  await makeEvents(project.id, project.owner.id, 1)
  await makeEvents(other.id, other.owner.id, 1)
  await makeEvents(other.id, user.id, 1)
  await maintain('old_events')
  t.equal((await filesOf(other)).length, 2)
  await deleteUser(user.id, someOrigin)
  await app.as(project.owner).delete(`/projects/${project.id}`)
  await runJobs({ until: new Date(Date.now() + 60_000) })
  t.same(await filesOf(project), [])
  t.same(readdirSync(join(home, 'records', String(project.id))), [])
  t.match(await filesOf(other), [{ author_id: other.owner.id }])
  t.equal(readdirSync(join(home, 'records', String(other.id))).length, 1)
})

t.test('a restore of the project brings its files back', async t => {
  keepFor({ builds: 365 })
  const { project, one } = await oldPipeline()
  await maintain('old_builds')
  const [file] = await filesOf(project)
  const path = join(home, file?.name ?? '')
  const content = readFileSync(path)
  // A file that was written after the snapshot of the rows.
  writeFileSync(path.replace(/[0-9a-f]{8}-/, '00000000-'), content)
  const backup = findBackup((await create()).path)
  const restore = () => restoreProject(backup, String(project.id), { overwrite: false, dryRun: false }, someOrigin)
  rmSync(path)
  t.match(await restore(), { recreated: false, files: { records: 1 } }, 'a lost file')
  t.same(readFileSync(path), content)
  t.match(await restore(), { files: { records: 0 } })
  await app.as(project.owner).delete(`/projects/${project.id}`)
  await runJobs({ until: new Date(Date.now() + 60_000) })
  t.notOk(existsSync(path))
  rmSync(join(home, 'records', String(project.id)), { recursive: true })
  t.match(await restore(), { recreated: true })
  t.match(await filesOf(project), [{ id: file?.id, records: 1 }])
  t.match((await linesIn(project))[1], { table: 'builds', row: { id: one } })
  t.same(readdirSync(join(home, 'records', String(project.id))).length, 1, 'only files that count')
  t.equal(await numberOfPipeline(project.id, (await nextBuild(project)).pipelineId), 2)
})

t.test('secrets and empty columns are in no line', t => {
  const bytes = Buffer.from('d')
  const line = lineOf('builds', {
    id: 1,
    token_hash: bytes,
    trace_tail_encrypted: bytes,
    trace_sha256: bytes,
    coverage: null
  })
  t.same(JSON.parse(line), { table: 'builds', row: { id: 1, trace_sha256: '64' } })
  t.end()
})

t.test('commands list the files and print the records', async t => {
  const project = await app.make.project()
  keepFor({ events: 365 })
  await execute('delete from activity_events')
  await makeEvents(project.id, project.owner.id, 2)
  await maintain('old_events')
  const [file] = await filesOf(project)
  if (!file) throw new Error('no file')
  const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: process.env.GITSTEAD_DATABASE_URL }
  const run = (...line: string[]) => cli(['archive', ...line], { environment })
  t.match((await run('list', '--project', project.path, '--json')).json(), {
    files: [{ id: file.id, kind: 'events', month: '2020-03', project: project.path, records: 2, bytes: Number }],
    total: 1
  })
  t.match((await run('list', '--kind', 'events', '--month', '2020-03')).stdout, /^ID +KIND +MONTH +PROJECT/)
  t.match((await run('list', '--month', '1999-01')).stdout, /^none/)
  const shown = await run('show', String(file.id))
  t.equal(shown.code, 0)
  t.equal(shown.stdout.trim().split('\n').length, 2)
  t.equal((await run('show', '../../x')).code, 2)
  t.equal((await run('show', '999999')).code, 3)

  t.match(
    (await run('delete', String(file.id), '--dry-run')).stdout,
    /^would delete archived file \d+ \(2 events of 2020-03/
  )
  const path = join(home, file.name)
  const bytes = readFileSync(path)
  bytes.fill(0, 10, 20)
  writeFileSync(path, bytes)
  t.match(await run('show', String(file.id)), { code: 1, stderr: /is damaged/ })
  writeFileSync(path, bytes.subarray(0, 15))
  t.match(await run('show', String(file.id)), { code: 1, stderr: /is damaged/ })
  rmSync(path)
  t.match(await run('show', String(file.id)), { code: 1, stderr: /is missing/ })
  writeFileSync(path, bytes)
  t.match((await run('delete', String(file.id), '--yes', '--json')).json(), { deleted: { id: file.id, records: 2 } })
  t.notOk(existsSync(path))
  t.same(await filesOf(project), [])
  t.match(await rows("select target_name from audit_events where action = 'archived_file.delete'"), [
    { target_name: file.name }
  ])
  t.equal((await run('delete', String(file.id), '--yes')).code, 3)
})

t.test('with a bucket, files are objects', async t => {
  const bucket = await testBucket(t)
  loadConfig({ archive: { events: 365 } })
  const project = await app.make.project()
  await execute('delete from activity_events')
  await makeEvents(project.id, project.owner.id, 2)
  bucket.fault = (_, response) => response.writeHead(403).end()
  t.match(await maintain('old_events'), { state: 'failed' }, 'without the bucket, the rows stay')
  t.equal((await rows('select id from activity_events')).length, 2)
  bucket.fault = undefined
  t.match(await maintain('old_events'), { state: 'done', count: 2 })
  t.notOk(existsSync(join(home, 'records', String(project.id))))
  t.equal((await linesIn(project)).length, 2)
  const [file] = await filesOf(project)
  t.same((await findOrphans(new Date(Date.now() + 2 * DAY_MS))).records, [])
  await execute('delete from archived_files where id = ?', [file?.id ?? 0])
  t.same((await findOrphans(new Date(Date.now() + 2 * DAY_MS))).records, [file?.name])
})
