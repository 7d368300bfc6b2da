import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { stuckBuilds } from '../../../../src/areas/ci/runners/stuck-builds.js'
import { config } from '../../../../src/config.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, makePipeline } from '../builds/make-builds.js'
import { makeRunner } from './make-runners.js'

await testDatabase()

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

async function run(dryRun = false) {
  let counted = 0
  const figures = await stuckBuilds.run({
    dryRun,
    signal: new AbortController().signal,
    count: (more = 1) => {
      counted += more
    },
    note: () => undefined
  })
  return { counted, ...figures }
}

const builds = () => rows('select status, failure_reason from builds order by id')

t.beforeEach(async () => {
  for (const table of ['builds', 'pipelines', 'pipeline_stages']) await execute(`delete from ${table}`)
  await execute('delete from runners where built_in is null')
})

async function taken() {
  const project = await factory.project()
  await makePipeline(project, 'test: { script: x }\n')
  await claimNext(await makeRunner({ projects: [project.id] }))
}

t.test('a build whose runner is silent for an hour fails', async t => {
  await taken()
  t.match(await run(), { counted: 0 })
  await execute('update builds set lease_until = ?', [minutesAgo(61)])
  t.match(await run(true), { counted: 1, lost: 1 })
  t.match(await builds(), [{ status: 'running' }])
  t.match(await run(), { counted: 1, lost: 1, waiting: 0 })
  t.match(await builds(), [{ status: 'failed', failure_reason: 'stuck_or_timeout_failure' }])
  t.match(await rows('select status from pipelines'), [{ status: 'failed' }])
})

t.test('so does one whose runner is gone, and one that runs far beyond its time', async t => {
  await taken()
  await taken()
  await execute('update builds set lease_until = ? order by id limit 1', [minutesAgo(61)])
  await execute('update builds set started_at = ?', [minutesAgo(config().runner.timeout / 60 + 11)])
  await execute('delete from runners')
  t.match(await run(), { lost: 2 })
  t.match(await builds(), [{ failure_reason: 'stuck_or_timeout_failure' }, { failure_reason: 'job_execution_timeout' }])
})

t.test('the builds of the built-in runner are left to its workers', async t => {
  const [build] = await makePipeline(await factory.project(), 'test: { script: x }\n')
  if (!build) return t.fail('no build')
  await beginBuild(build)
  await execute('update builds set lease_until = ?', [minutesAgo(120)])
  t.match(await run(), { counted: 0 })
})

t.test('a build that waits for a day fails when no runner is there for it', async t => {
  const project = await factory.project()
  await makePipeline(project, 'a: { script: x, tags: [arm] }\nb: { script: x, tags: [docker] }\n')
  t.match(await run(), { counted: 0 }, 'not yet')
  await execute('update builds set queued_at = ?', [minutesAgo(1441)])
  await makeRunner({ projects: [project.id], tags: ['docker'] })
  await execute('update runners set contacted_at = ?', [minutesAgo(60)])
  await execute('update projects set archived = true where id = ?', [project.id])
  t.match(await run(), { counted: 0 }, 'an archived project waits')
  await execute('update projects set archived = false where id = ?', [project.id])
  t.match(await run(), { counted: 1, waiting: 1 })
  t.match(await builds(), [{ status: 'failed', failure_reason: 'stuck_or_timeout_failure' }, { status: 'pending' }])
})
