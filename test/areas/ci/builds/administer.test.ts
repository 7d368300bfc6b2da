import { actorOf, originOf } from '../../../../src/access/actor.js'
import { cancelableBuilds, cancelBuilds, retryBuilds } from '../../../../src/areas/ci/builds/administer.js'
import { retryPipeline } from '../../../../src/areas/ci/builds/pipeline-actions.js'
import { addMissingWakeUps } from '../../../../src/areas/ci/runners/wake-ups.js'
import { discardJobs } from '../../../../src/areas/upkeep/jobs/jobs.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { commandOrigin } from '../../../../src/cli/framework/origin.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { enqueue } from '../../../../src/queue/enqueue.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline } from './make-builds.js'

const { databaseUrl, home } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const origin = commandOrigin()
const worker = await registerProcess({ queues: ['builds'], concurrency: 1 })

const THREE =
  'stages: [a, b]\nfirst: { stage: a, script: x }\nnext: { stage: b, script: x }\nby-hand: { stage: b, script: x, when: manual }\n'

async function pipeline(ci = THREE) {
  const project = await factory.project()
  const builds = await makePipeline(project, ci)
  const [first] = builds
  if (!first) throw new Error('no build')
  return { project, builds, first }
}

const statuses = async (pipelineId: number) => {
  const found = await rows<{ name: string; status: string }>(
    'select name, status from builds where pipeline_id = ? order by id',
    [pipelineId]
  )
  return found.map(({ name, status }) => `${name} ${status}`)
}
const statusOf = async (pipelineId: number) =>
  (await row<{ status: string }>('select status from pipelines where id = ?', [pipelineId]))?.status
const lastAudit = () => row('select action, target_type, target_id from audit_events order by id desc limit 1')

t.test('a cancel ends builds that wait or run, leaves the others, and is audited', async t => {
  const { builds, first } = await pipeline('one: { script: x }\ntwo: { script: x }\nthree: { script: x }\n')
  const [, two, three] = builds
  if (!two || !three) return t.fail('no builds')
  await beginBuild(first, worker)
  await endBuild(two)
  const ids = builds.map(({ id }) => id)
  t.same(await cancelableBuilds(ids), [first.id, three.id])
  t.same(await cancelBuilds(ids, origin), [first.id, three.id])
  t.same(await statuses(first.pipelineId), ['one canceled', 'two success', 'three canceled'])
  t.match(await lastAudit(), { action: 'build.cancel', target_type: 'build', target_id: String(three.id) })
})

t.test('a cancel of a build that does not exist changes nothing', async t => {
  const { first } = await pipeline()
  await t.rejects(cancelBuilds([first.id, 999_999], origin), { message: '404 Build 999999 Not Found' })
  t.match(await statuses(first.pipelineId), ['first pending'])
})

t.test('a retry makes a new build, and later stages get another chance', async t => {
  const { first } = await pipeline()
  await endBuild(first, { status: 'failed' })
  t.same(await statuses(first.pipelineId), ['first failed', 'next skipped', 'by-hand skipped'])
  const again = (await retryBuilds([first.id], origin)).get(first.id)
  t.same(await statuses(first.pipelineId), ['first failed', 'next created', 'by-hand created', 'first pending'])
  t.equal(await statusOf(first.pipelineId), 'running')
  t.match(await lastAudit(), { action: 'build.retry', target_id: String(first.id) })
  t.match(await row("select payload from jobs where name = 'build.run' order by id desc limit 1"), {
    payload: JSON.stringify({ buildId: again })
  })
  await endBuild({ ...first, id: again ?? 0 })
  t.same(await statuses(first.pipelineId), ['first failed', 'next pending', 'by-hand skipped', 'first success'])
})

t.test('later stages run in the name of the user who retries, not of the first user, who may read more', async t => {
  const users = async (pipelineId: number) =>
    rows<{ name: string; user_id: number }>('select name, user_id from builds where pipeline_id = ? order by id', [
      pipelineId
    ])
  const [admin, developer] = [await factory.admin(), await factory.user()]
  for (const retry of ['build', 'pipeline']) {
    const { first } = await pipeline()
    await endBuild(first, { status: 'failed' })
    await execute('update builds set user_id = ? where pipeline_id = ?', [admin.id, first.pipelineId])
    const by = originOf(actorOf(developer, 'private'), null)
    await (retry === 'build' ? retryBuilds([first.id], by) : retryPipeline({ id: first.pipelineId }, by))
    t.same(
      (await users(first.pipelineId)).map(({ name, user_id }) => [name, user_id]),
      [
        ['first', admin.id],
        ['next', developer.id],
        ['by-hand', developer.id],
        ['first', developer.id]
      ],
      retry
    )
  }
})

t.test('a build that waits, or of an archived project, is not retried', async t => {
  const { project, first } = await pipeline()
  await t.rejects(retryBuilds([first.id], origin), { message: '403 Forbidden - Build is not retryable' })
  await endBuild(first)
  await execute('update projects set archived = true where id = ?', [project.id])
  await t.rejects(retryBuilds([first.id], origin), { name: 'Forbidden' })
})

t.test('a discarded wake-up cancels its build, which nothing wakes again', async t => {
  for (const table of ['jobs', 'builds', 'pipelines', 'pipeline_stages']) await execute(`delete from ${table}`)
  const { first } = await pipeline('one: { script: x }\n')
  const job = await row<{ id: number }>("select id from jobs where name = 'build.run'")
  await discardJobs([job?.id ?? 0], origin)
  t.same(await statuses(first.pipelineId), ['one canceled'])
  await addMissingWakeUps(new Date(Date.now() + 120_000))
  t.same(await rows("select id from jobs where name = 'build.run'"), [])
})

t.test('a discarded wake-up leaves a build that runs', async t => {
  const { first } = await pipeline('one: { script: x }\n')
  const job = await row<{ id: number }>("select id from jobs where name = 'build.run' order by id desc limit 1")
  await beginBuild(first, worker)
  await discardJobs([job?.id ?? 0], origin)
  t.same(await statuses(first.pipelineId), ['one running'])
})

t.test('a discard of all dead jobs leaves no build that waits forever, and spares those with another job', async t => {
  for (const table of ['jobs', 'builds', 'pipelines', 'pipeline_stages']) await execute(`delete from ${table}`)
  const { first, builds } = await pipeline(
    'one: { script: x }\ntwo: { script: x }\nthree: { script: x }\nfour: { script: x }\n'
  )
  const [, two, three, four] = builds
  if (!two || !three || !four) return t.fail('no builds')
  await execute("update jobs set state = 'dead' where name = 'build.run'")
  await beginBuild(two, worker)
  const gone = await registerProcess({ queues: ['builds'], concurrency: 1 })
  await beginBuild(three, gone)
  await execute('delete from job_processes where id = ?', [gone])
  await enqueue('build.run', { buildId: four.id })
  t.equal(await discardJobs('dead', origin), 4)
  t.same(await statuses(first.pipelineId), ['one canceled', 'two running', 'three canceled', 'four pending'])
  t.match(await rows("select target_id from audit_events where action = 'build.cancel' order by id desc limit 2"), [
    { target_id: String(three.id) },
    { target_id: String(first.id) }
  ])
})

t.test('the task that removes old dead jobs leaves no build that waits forever', async t => {
  for (const table of ['jobs', 'builds', 'pipelines', 'pipeline_stages']) await execute(`delete from ${table}`)
  const { first } = await pipeline('one: { script: x }\n')
  await execute("update jobs set state = 'dead', run_at = '2020-01-01' where name = 'build.run'")
  await runTask('old_jobs', {}, origin)
  t.same(await rows("select id from jobs where name = 'build.run'"), [])
  t.same(await statuses(first.pipelineId), ['one canceled'])
})

t.test('the commands take many builds and name those that are missing', async t => {
  const { first } = await pipeline('one: { script: x }\n')
  const would = await cli(['builds', 'cancel', String(first.id), '--dry-run', '--json'], { environment })
  t.same(would.json(), { would_cancel: [first.id], failed: [] }, would.stderr)
  const done = await cli(['builds', 'cancel', String(first.id), '--json'], { environment })
  t.same(done.json(), { canceled: [first.id], unchanged: [], failed: [] })
  const missing = await cli(['builds', 'cancel', '999998', String(first.id), '--json'], { environment })
  t.match(missing.json(), {
    unchanged: [first.id],
    failed: [{ argument: 999998, error: { code: 'not_found', message: 'no build has the number 999998' } }]
  })
  t.equal(missing.code, 3, 'the other one is done')
  const retried = await cli(['builds', 'retry', String(first.id)], { environment })
  t.match(retried.stdout, new RegExp(`^build ${first.id} is retried as \\d+\n$`))
  t.match(await cli(['builds', 'retry', '999999'], { environment }), { code: 3, stderr: /999999/ })
  t.match(await cli(['builds', 'cancel'], { environment }), { code: 2 })
})
