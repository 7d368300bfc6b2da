import t from 'tap'
import { cancelBuild, claimBuild, finishBuild, releaseBuild, renewBuild } from '../../../src/areas/builds/claim.js'
import { reviveBuilds } from '../../../src/areas/builds/revive.js'
import { execute, row, rows } from '../../../src/db/sql.js'
import { reapProcesses, registerProcess, unregisterProcess } from '../../../src/queue/processes.js'
import { testDatabase } from '../../helpers/database.js'
import { factory } from '../../helpers/factory.js'
import { makePipeline } from './make-builds.js'

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
const jobsOf = (id: number) => rows('select id from jobs where payload = ?', [JSON.stringify({ buildId: id })])
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

t.test('claimBuild', async t => {
  t.test('gives a pending build to one of many', async t => {
    const build = await one()
    const processes = await Promise.all(Array.from({ length: 5 }, register))
    const claims = (await Promise.all(processes.map(process => claimBuild(build.id, process)))).filter(Boolean)
    t.equal(claims.length, 1)
    t.match(await stateOf(build.id), { status: 'running', attempt: 1, pipeline: 'running' })
  })

  t.test('gives the same claim for the same token, as to one whose answer was lost', async t => {
    const build = await one()
    const process = await register()
    const first = await claimBuild(build.id, process, 'a-token')
    t.same(await claimBuild(build.id, process, 'a-token'), first)
    t.match(await stateOf(build.id), { attempt: 1 })
  })

  t.test('leaves a build alone that is over, canceled or unknown', async t => {
    const build = await one()
    await cancelBuild(build.id)
    t.equal(await claimBuild(build.id, await register()), null)
    t.equal(await claimBuild(999_999, await register()), null)
  })

  t.test('begins a build again whose worker is gone, and the old claim changes nothing', async t => {
    const build = await one()
    const worker = await register()
    const old = await claimBuild(build.id, worker)
    if (!old) return t.fail('no claim')
    await execute('update job_processes set pid_started = 1 where id = ?', [worker])
    await reapProcesses()
    const claim = await claimBuild(build.id, await register())
    t.match(claim, { attempt: 2 })
    t.not(claim?.token, old.token)
    t.equal(await renewBuild(old), false)
    t.equal(await finishBuild(old, { status: 'failed', reason: 'script_failure' }, 10), false)
    await releaseBuild(old, true)
    t.match(await stateOf(build.id), { status: 'running', attempt: 2 })
    t.equal(claim && (await finishBuild(claim, { status: 'success' }, 3)), true)
    t.match(await stateOf(build.id), { status: 'success', pipeline: 'success' })
  })

  t.test('takes a build over whose lease has ended, and not before', async t => {
    const build = await one()
    await claimBuild(build.id, await register())
    const other = await register()
    t.equal(await claimBuild(build.id, other), null)
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(0), build.id])
    t.match(await claimBuild(build.id, other), { attempt: 2 })
  })

  t.test('fails a build whose worker died four times', async t => {
    const build = await one()
    for (let attempt = 1; attempt <= 4; attempt++) {
      const worker = await register()
      t.match(await claimBuild(build.id, worker), { attempt })
      await unregisterProcess(worker)
    }
    t.equal(await claimBuild(build.id, await register()), null)
    t.match(await stateOf(build.id), {
      status: 'failed',
      failure_reason: 'runner_system_failure',
      pipeline: 'failed'
    })
  })
})

t.test('releaseBuild leaves the build to the next claim at once', async t => {
  const build = await one()
  const claim = await claimBuild(build.id, await register())
  if (!claim) return t.fail('no claim')
  await releaseBuild(claim, true)
  const second = await claimBuild(build.id, await register())
  t.match(second, { attempt: 1 }, 'a worker that stops is no attempt')
  if (!second) return
  await releaseBuild(second, false)
  t.match(await claimBuild(build.id, await register()), { attempt: 2 })
})

t.test('cancelBuild', async t => {
  t.test('ends a running build, and its runner is told', async t => {
    const build = await one()
    const claim = await claimBuild(build.id, await register())
    if (!claim) return t.fail('no claim')
    t.equal(await renewBuild(claim), true)
    await cancelBuild(build.id)
    t.equal(await renewBuild(claim), false)
    t.equal(await finishBuild(claim, { status: 'success' }, 1), false)
    t.match(await stateOf(build.id), { status: 'canceled', pipeline: 'canceled' })
  })

  t.test('leaves a build that is over as it is', async t => {
    const build = await one()
    const claim = await claimBuild(build.id, await register())
    if (claim) await finishBuild(claim, { status: 'success' }, 1)
    await cancelBuild(build.id)
    t.match(await stateOf(build.id), { status: 'success' })
    await t.rejects(cancelBuild(999_999), { name: 'NotFound' })
  })

  t.test('and the end of a build at the same moment leave one of the two', async t => {
    for (let round = 0; round < 5; round++) {
      const build = await one()
      const claim = await claimBuild(build.id, await register())
      if (!claim) return t.fail('no claim')
      const [finished] = await Promise.all([finishBuild(claim, { status: 'success' }, 1), cancelBuild(build.id)])
      const status = finished ? 'success' : 'canceled'
      t.match(await stateOf(build.id), { status, pipeline: status })
    }
  })
})

t.test('reviveBuilds', async t => {
  const clear = () => execute("update builds set status = 'canceled' where status in ('running', 'pending')")

  t.test('gives a lost build a job, once', async t => {
    await clear()
    const build = await one()
    await claimBuild(build.id, await register())
    await execute('delete from jobs')
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(2), build.id])
    const found = await Promise.all([reviveBuilds(), reviveBuilds(), reviveBuilds()])
    t.same(found.flat(), [build.id])
    t.equal((await jobsOf(build.id)).length, 1)
  })

  t.test('gives one that waits without a job another one', async t => {
    await clear()
    const build = await one()
    t.equal((await reviveBuilds(new Date(Date.now() + 120_000))).length, 0, 'it has one')
    await execute("update jobs set state = 'dead' where payload = ?", [JSON.stringify({ buildId: build.id })])
    t.equal((await reviveBuilds()).length, 0, 'it may be on its way')
    t.equal((await reviveBuilds(new Date(Date.now() + 120_000))).length, 1)
    t.equal((await jobsOf(build.id)).length, 2)
  })

  t.test('does not pile up jobs while a queue is paused', async t => {
    await clear()
    const build = await one()
    await claimBuild(build.id, await register())
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(2), build.id])
    for (let minute = 0; minute < 10; minute++) await reviveBuilds(new Date(Date.now() + minute * 120_000))
    t.equal((await jobsOf(build.id)).length, 1)
  })

  t.test('leaves builds alone that run', async t => {
    await clear()
    const build = await one()
    await claimBuild(build.id, await register())
    await execute('delete from jobs')
    t.equal((await reviveBuilds()).length, 0)
    t.match(await stateOf(build.id), { status: 'running', attempt: 1 })
  })
})
