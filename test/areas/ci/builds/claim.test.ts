import {
  cancelBuild,
  findClaim,
  finishBuild,
  releaseBuild,
  renewBuild,
  takeBuild
} from '../../../../src/areas/ci/builds/claim.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { reapProcesses, registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { countTransactions } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { beginBuild, makePipeline, takeByWorker } from './make-builds.js'

await testDatabase()

const register = () => registerProcess({ queues: ['builds'], concurrency: 1 })
const one = async () => {
  const [build] = await makePipeline(await factory.project(), 'test:\n  script: exit 0\n')
  if (!build) throw new Error('no build')
  return build
}
const stateOf = (id: number) =>
  row<{ status: string; attempt: number; failure_reason: string | null; pipeline: string }>(
    `select b.status, b.attempt, b.failure_reason, l.status as pipeline
     from builds b join pipelines l on l.id = b.pipeline_id where b.id = ?`,
    [id]
  )
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

t.test('takeBuild', async t => {
  t.test('gives a pending build to only one of many workers', async t => {
    const build = await one()
    const processes = await Promise.all(Array.from({ length: 5 }, register))
    const claims = (await Promise.all(processes.map(process => takeByWorker(build, process)))).filter(Boolean)
    t.equal(claims.length, 1)
    t.match(await stateOf(build.id), { status: 'running', attempt: 1, pipeline: 'running' })
  })

  t.test('a token finds its claim while the build runs', async t => {
    const build = await one()
    const claim = await takeByWorker(build, await register(), 'a-token')
    t.match(claim, { buildId: build.id, pipelineId: build.pipelineId, attempt: 1 })
    t.same(await findClaim('a-token'), claim)
    await cancelBuild(build.id)
    t.equal(await findClaim('a-token'), undefined)
  })

  t.test('does not give a running build to another runner, nor to the same outside runner again', async t => {
    const build = await one()
    const found = { buildId: build.id, pipelineId: build.pipelineId }
    const outside = { runnerId: 4711, processId: null, token: 'of-the-outside' }
    t.match(await takeBuild(found, outside), { attempt: 1 })
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(1), build.id])
    t.equal(await takeBuild(found, { ...outside, token: 'again' }), null)
    t.equal(await takeByWorker(build, await register()), null)
    t.match(await row('select runner_id from builds where id = ?', [build.id]), { runner_id: 4711 })
  })

  t.test('does not take a build that is canceled or unknown', async t => {
    const build = await one()
    await cancelBuild(build.id)
    t.equal(await takeByWorker(build, await register()), null)
    t.equal(await takeByWorker({ ...build, id: 999_999 }, await register()), null)
    t.equal(await takeByWorker({ ...build, pipelineId: 999_999 }, await register()), null)
  })

  t.test('restarts a build whose worker is gone, and the old claim changes nothing', async t => {
    const build = await one()
    const worker = await register()
    const old = await takeByWorker(build, worker)
    if (!old) return t.fail('no claim')
    await execute('update job_processes set pid_started = 1 where id = ?', [worker])
    await reapProcesses()
    const claim = await takeByWorker(build, await register())
    t.match(claim, { attempt: 2 })
    t.not(claim?.token, old.token)
    t.equal(await renewBuild(old), false)
    t.equal(await finishBuild(old, { status: 'failed', reason: 'script_failure' }, { size: 10, sha256: null }), false)
    await releaseBuild(old, true)
    t.match(await stateOf(build.id), { status: 'running', attempt: 2 })
    t.equal(claim && (await finishBuild(claim, { status: 'success' }, { size: 3, sha256: null })), true)
    t.match(await stateOf(build.id), { status: 'success', pipeline: 'success' })
  })

  t.test('takes over a build after its lease has ended, and not before', async t => {
    const build = await one()
    await takeByWorker(build, await register())
    const other = await register()
    t.equal(await takeByWorker(build, other), null)
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(0), build.id])
    t.match(await takeByWorker(build, other), { attempt: 2 })
  })

  t.test('fails a build whose worker died four times', async t => {
    const build = await one()
    for (let attempt = 1; attempt <= 4; attempt++) {
      const worker = await register()
      t.match(await takeByWorker(build, worker), { attempt })
      await unregisterProcess(worker)
    }
    t.equal(await takeByWorker(build, await register()), null)
    t.match(await stateOf(build.id), {
      status: 'failed',
      failure_reason: 'runner_system_failure',
      pipeline: 'failed'
    })
  })
})

t.test('the next claim can take a build at once after releaseBuild', async t => {
  const build = await one()
  const claim = await takeByWorker(build, await register())
  if (!claim) return t.fail('no claim')
  await releaseBuild(claim, true)
  const second = await takeByWorker(build, await register())
  t.match(second, { attempt: 1 }, 'a worker that stops is no attempt')
  if (!second) return
  await releaseBuild(second, false)
  t.match(await takeByWorker(build, await register()), { attempt: 2 })
})

t.test('cancelBuild', async t => {
  t.test('ends a running build, and its claim can no longer renew it', async t => {
    const build = await one()
    const claim = await takeByWorker(build, await register())
    if (!claim) return t.fail('no claim')
    t.equal(await renewBuild(claim), true)
    await cancelBuild(build.id)
    t.equal(await renewBuild(claim), false)
    t.equal(await finishBuild(claim, { status: 'success' }, { size: 1, sha256: null }), false)
    t.match(await stateOf(build.id), { status: 'canceled', pipeline: 'canceled' })
  })

  t.test('does not change a build that has ended', async t => {
    const build = await one()
    const claim = await takeByWorker(build, await register())
    if (claim) await finishBuild(claim, { status: 'success' }, { size: 1, sha256: null })
    await cancelBuild(build.id)
    t.match(await stateOf(build.id), { status: 'success' })
    await t.rejects(cancelBuild(999_999), { name: 'NotFound' })
  })

  t.test('a cancel at the same time as the end of the build leaves one consistent status', async t => {
    let count = 0
    for (let round = 0; round < 30; round++) {
      const build = await one()
      const claim = await beginBuild(build, await register())
      count += await countTransactions(async () => {
        const [finished] = await Promise.all([
          finishBuild(claim, { status: 'success' }, { size: 1, sha256: null }),
          cancelBuild(build.id)
        ])
        const status = finished ? 'success' : 'canceled'
        t.match(await stateOf(build.id), { status, pipeline: status })
      })
    }
    t.equal(count, 60, 'none had to be tried again')
  })
})
