// A pipeline from its CI file to its end: which builds start, which are skipped, and what its status is.
import { cancelBuild, finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { startPipeline } from '../../../../src/areas/ci/pipelines/build-changes.js'
import { createPipelineOfRefChange } from '../../../../src/areas/ci/pipelines/pipelines.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, makePipeline, type TestBuild } from '../builds/make-builds.js'

await testDatabase()
const worker = await registerProcess({ queues: ['builds'], concurrency: 1 })

const THREE = `
stages: [build, test, deploy]
compile: { stage: build, script: x }
unit: { stage: test, script: x }
lint: { stage: test, script: x, allow_failure: true }
ship: { stage: deploy, script: x }
notify: { stage: deploy, script: x, when: on_failure }
sweep: { stage: deploy, script: x, when: always }
approve: { stage: deploy, script: x, when: manual }
`

async function pipeline(text: string) {
  const builds = await makePipeline(await factory.project(), text)
  const id = builds[0]?.pipelineId ?? 0
  const named = (name: string): TestBuild => {
    const found = builds.find(build => build.name === name)
    if (!found) throw new Error(`no build ${name}`)
    return found
  }
  return {
    id,
    named,
    begin: (name: string) => beginBuild(named(name), worker),
    end: async (name: string, status: 'success' | 'failed' = 'success') => {
      const claim = await beginBuild(named(name), worker)
      await finishBuild(claim, status === 'failed' ? { status, reason: 'script_failure' } : { status }, {
        size: 0,
        sha256: null
      })
    },
    status: async () => (await row<{ status: string }>('select status from pipelines where id = ?', [id]))?.status,
    builds: async () =>
      Object.fromEntries(
        (
          await rows<{ name: string; status: string }>('select name, status from builds where pipeline_id = ?', [id])
        ).map(({ name, status }) => [name, status])
      )
  }
}

t.beforeEach(() => execute('delete from jobs'))

const wakeUps = async () =>
  (await row<{ count: number }>("select count(*) as count from jobs where name = 'build.run'"))?.count

t.test('a pipeline starts with its first stage', async t => {
  const made = await pipeline(THREE)
  t.match(await made.builds(), { compile: 'pending', unit: 'created', lint: 'created', ship: 'created' })
  t.equal(await made.status(), 'pending')
  t.equal(await wakeUps(), 1)
})

t.test('a pipeline runs all its stages and succeeds', async t => {
  const made = await pipeline(THREE)
  await made.begin('compile')
  t.equal(await made.status(), 'running')
  await execute('update builds set lease_until = ? where id = ?', [new Date(0), made.named('compile').id])
  await made.end('compile')
  t.match(await made.builds(), { unit: 'pending', lint: 'pending', ship: 'created' })
  await made.end('unit')
  t.match(await made.builds(), { ship: 'created' }, 'a stage waits for all of the one before')
  await made.end('lint', 'failed')
  t.match(await made.builds(), { ship: 'pending', notify: 'skipped', sweep: 'pending', approve: 'skipped' })
  await made.end('ship')
  t.equal(await made.status(), 'running')
  await made.end('sweep')
  t.equal(await made.status(), 'success', 'an allowed failure and a manual build do not matter')
  t.match(await row('select started_at, finished_at, duration from pipelines where id = ?', [made.id]), {
    started_at: Date,
    finished_at: Date,
    duration: Number
  })
})

t.test('a failure skips builds that need success, and starts builds that run after a failure', async t => {
  const made = await pipeline(THREE)
  await made.end('compile', 'failed')
  t.match(await made.builds(), {
    unit: 'skipped',
    lint: 'skipped',
    ship: 'skipped',
    notify: 'pending',
    sweep: 'pending',
    approve: 'skipped'
  })
  await made.end('notify')
  await made.end('sweep')
  t.equal(await made.status(), 'failed')
})

t.test('a canceled build skips the builds of later stages', async t => {
  const made = await pipeline('stages: [a, b]\none: { stage: a, script: x }\ntwo: { stage: b, script: x }\n')
  await cancelBuild(made.named('one').id)
  t.match(await made.builds(), { one: 'canceled', two: 'skipped' })
  t.equal(await made.status(), 'canceled')
})

t.test('the next stage starts when all builds of a stage end at the same time', async t => {
  const names = Array.from({ length: 6 }, (_, at) => `b${at}`)
  const text = `stages: [a, b]\n${names.map(name => `${name}: { stage: a, script: x }\n`).join('')}last: { stage: b, script: x }\n`
  for (let round = 0; round < 4; round++) {
    await execute('delete from jobs')
    const made = await pipeline(text)
    await Promise.all(names.map(name => made.end(name)))
    t.match(await made.builds(), { last: 'pending' })
    t.equal(await wakeUps(), 7, 'one wake-up for each build')
    await made.end('last')
    t.equal(await made.status(), 'success')
  }
})

t.test('advancing again changes nothing', async t => {
  const made = await pipeline(THREE)
  const before = await rows('select * from builds where pipeline_id = ?', [made.id])
  await Promise.all([startPipeline(made.id), startPipeline(made.id)])
  t.same(await rows('select * from builds where pipeline_id = ?', [made.id]), before)
  t.equal(await wakeUps(), 1)
})

t.test('pipelines of a commit', async t => {
  t.test('a commit gets one pipeline when its job runs several times', async t => {
    const project = await factory.project()
    await makePipeline(project, 'test: { script: x }\n')
    const change = await row<{ id: number }>('select max(id) as id from ref_changes where project_id = ?', [project.id])
    await Promise.all([1, 2, 3].map(() => createPipelineOfRefChange(change?.id ?? 0)))
    t.equal((await rows('select id from pipelines where project_id = ?', [project.id])).length, 1)
    t.equal((await rows('select id from builds where project_id = ?', [project.id])).length, 1)
  })

  t.test('an error in the file creates a failed pipeline with the error', async t => {
    const found = await madeBy('test: { scirpt: x }\n')
    t.match(found, [{ status: 'failed', yaml_errors: /scirpt/ }])
  })

  t.test('a file that is too large creates a failed pipeline with an error', async t => {
    const found = await madeBy(`# ${'x'.repeat(1_100_000)}\ntest: { script: x }\n`)
    t.match(found, [{ status: 'failed', yaml_errors: /./ }])
  })

  t.test('a file with thousands of builds creates all of them or an error', async t => {
    const text = Array.from({ length: 5000 }, (_, at) => `b${at}: { script: x }`).join('\n')
    const [found] = await madeBy(text)
    const made = await rows('select id from builds where pipeline_id = ?', [found?.id ?? 0])
    t.ok(made.length === 5000 || /./.test(found?.yaml_errors ?? ''), `${made.length} builds`)
  })

  t.test('a file that selects no build creates no pipeline', async t => {
    t.same(await madeBy('test: { script: x, only: [tags] }\n'), [])
  })
})

async function madeBy(text: string) {
  const project = await factory.project()
  await makePipeline(project, text)
  return rows<{ id: number; status: string; yaml_errors: string | null }>(
    'select id, status, yaml_errors from pipelines where project_id = ?',
    [project.id]
  )
}
