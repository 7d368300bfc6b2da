// The counts of stages match their builds, also after concurrent changes.
import { cancelBuild, finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { startPipeline } from '../../../../src/areas/ci/pipelines/build-changes.js'
import { recountStages } from '../../../../src/areas/ci/pipelines/pipeline-stages.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makePipeline, type TestBuild, takeByWorker } from '../builds/make-builds.js'

await testDatabase()
const worker = await registerProcess({ queues: ['builds'], concurrency: 1 })

const CI = `stages: [a, b, c]
a1: { stage: a, script: x }
a2: { stage: a, script: x, allow_failure: true }
a3: { stage: a, script: x }
b1: { stage: b, script: x }
b2: { stage: b, script: x, when: on_failure, allow_failure: true }
b3: { stage: b, script: x, when: manual }
c1: { stage: c, script: x, when: always }
c2: { stage: c, script: x }
`

const COUNTERS = 'position, name, created, pending, running, success, failed, canceled, skipped, ignored'
const counted = (pipeline: number) =>
  rows<{ created: number }>(`select ${COUNTERS} from pipeline_stages where pipeline_id = ? order by position`, [
    pipeline
  ])
/** A sum is a decimal, which the driver returns as text. */
const expected = async (pipeline: number) =>
  (
    await rows<Record<string, unknown>>(
      `select stage_index as position, min(stage) as name, sum(status = 'created') as created,
         sum(status = 'pending') as pending, sum(status = 'running') as running, sum(status = 'success') as success,
         sum(status = 'failed' and not allow_failure) as failed,
         sum(status = 'canceled' and not allow_failure) as canceled, sum(status = 'skipped') as skipped,
         sum(status in ('failed', 'canceled') and allow_failure) as ignored
       from builds where pipeline_id = ? group by stage_index order by stage_index`,
      [pipeline]
    )
  ).map(({ name, ...counts }) => ({
    name,
    ...Object.fromEntries(Object.entries(counts).map(([key, value]) => [key, Number(value)]))
  }))

let seed = 7
const next = (limit: number) => {
  seed = (seed * 1103515245 + 12345) % 2147483648
  return Math.floor((seed / 2147483648) * limit)
}

async function act(build: TestBuild): Promise<void> {
  if (next(4) === 0) return void (await cancelBuild(build.id))
  const claim = await takeByWorker(build, worker)
  if (!claim) return
  const end = () => finishBuild(claim, { status: next(2) === 0 ? 'success' : 'failed' }, { size: 0, sha256: null })
  // Some builds are also canceled while they end.
  await (next(3) === 0 ? Promise.all([end(), cancelBuild(build.id)]) : end())
}

t.test('counts match the builds after concurrent changes of every kind', async t => {
  for (let round = 0; round < 12; round++) {
    const builds = await makePipeline(await factory.project(), CI)
    const id = builds[0]?.pipelineId ?? 0
    for (let step = 0; step < 6; step++) {
      const some = builds.filter(() => next(2) === 0)
      await Promise.all(some.map(act))
      t.same(await counted(id), await expected(id), `round ${round}, step ${step}`)
    }
    for (const build of builds) await cancelBuild(build.id)
    t.match(await row('select status, finished_at from pipelines where id = ?', [id]), { finished_at: Date })
    t.same(await counted(id), await expected(id))
  }
})

t.test('a build that was retried no longer counts', async t => {
  const [build] = await makePipeline(await factory.project(), 'one: { script: x }\n')
  if (!build) return t.fail('no build')
  const claim = await takeByWorker(build, worker)
  if (claim) await finishBuild(claim, { status: 'failed' }, { size: 0, sha256: null })
  await execute(
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, plan, queued_at, created_at, updated_at)
     select pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, 'pending', start_when, allow_failure,
       tag_list, tag_list_hash, plan, created_at, created_at, created_at from builds where id = ?`,
    [build.id]
  )
  await recountStages(build.pipelineId)
  t.match(await counted(build.pipelineId), [{ failed: 0, pending: 1 }])
  await startPipeline(build.pipelineId)
  t.match(await row('select status from pipelines where id = ?', [build.pipelineId]), { status: 'running' })
})

t.test('the next change recounts when counts are missing or wrong', async t => {
  const made = await makePipeline(await factory.project(), CI)
  const id = made[0]?.pipelineId ?? 0
  await execute('delete from pipeline_stages where pipeline_id = ?', [id])
  await cancelBuild(made[0]?.id ?? 0)
  t.same(await counted(id), await expected(id))
  await execute('update pipeline_stages set pending = 0, success = 5 where pipeline_id = ?', [id])
  await cancelBuild(made[1]?.id ?? 0)
  t.same(await counted(id), await expected(id))
})
