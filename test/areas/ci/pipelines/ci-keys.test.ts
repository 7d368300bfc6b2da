// The later keys of a CI file in the database: what starts, waits, is repeated or canceled.
import { nobody, originOf } from '../../../../src/access/actor.js'
import { retryBuilds } from '../../../../src/areas/ci/builds/administer.js'
import { playBuild, startManualBuild } from '../../../../src/areas/ci/builds/build-actions.js'
import { cancelBuild, finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { startReady } from '../../../../src/areas/ci/builds/ready-builds.js'
import { supersedeOlder } from '../../../../src/areas/ci/builds/superseded.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import type { RunnerResult } from '../../../../src/runner/job.js'
import { measureTrace } from '../../../../src/storage/measure.js'
import { appendTrace, resetTrace } from '../../../../src/storage/traces.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline, pipelineOf, type TestBuild } from '../builds/make-builds.js'
import { makeRunner } from '../runners/make-runners.js'

await testDatabase()
const origin = originOf(nobody, null)

t.beforeEach(() => execute('delete from jobs'))

/** A pipeline of a new project with this CI file, or another one of a project. */
async function pipeline(text: string, project?: TestProject) {
  return pipelineWith(await makePipeline(project ?? (await factory.project()), text))
}

async function anotherPipeline(project: TestProject) {
  await factory.file(project, 'more', 'x')
  return pipelineWith(await pipelineOf(project))
}

function pipelineWith(builds: readonly TestBuild[]) {
  const id = builds[0]?.pipelineId ?? 0
  const latest = async (name: string): Promise<TestBuild> => {
    const found = await row<TestBuild>(
      'select id, name, pipeline_id as pipelineId, sha from builds where pipeline_id = ? and name = ? order by id desc limit 1',
      [id, name]
    )
    if (!found) throw new Error(`no build ${name}`)
    return found
  }
  return {
    id,
    latest,
    end: async (name: string, result: RunnerResult = { status: 'success' }) => {
      await finishBuild(await beginBuild(await latest(name)), result, { size: 0, sha256: null })
    },
    /** The statuses of the latest builds, as `name:status`. */
    told: async () => {
      const found = await rows<{ name: string; status: string }>(
        `select b.name, b.status from builds b where b.id in
           (select max(id) from builds where pipeline_id = ? group by name) order by b.name`,
        [id]
      )
      return found.map(({ name, status }) => `${name}:${status}`).join(' ')
    },
    status: async () => (await row<{ status: string }>('select status from pipelines where id = ?', [id]))?.status
  }
}

const failed = (over: Partial<RunnerResult> = {}): RunnerResult => ({
  status: 'failed',
  reason: 'script_failure',
  ...over
})

/** Does the jobs that start builds which wait, until none is due. */
async function startDue(): Promise<void> {
  for (;;) {
    const due = await rows<{ id: number; payload: string }>(
      "select id, payload from jobs where name = 'build.ready' and run_at <= ? order by id",
      [new Date()]
    )
    if (due.length === 0) return
    for (const { id, payload } of due) {
      await execute('delete from jobs where id = ?', [id])
      await startReady(JSON.parse(payload).buildId)
    }
  }
}

t.test('builds with needs do not wait for stages', async t => {
  const made = await pipeline(`
a: {stage: build, script: x}
slow: {stage: build, script: x}
b: {stage: test, script: x, needs: [a]}
c: {stage: deploy, script: x, needs: [b], when: manual}
d: {stage: deploy, script: x, needs: [c]}
e: {stage: deploy, script: x, needs: []}
z: {stage: deploy, script: x}
`)
  t.equal(await made.told(), 'a:pending b:created c:created d:created e:pending slow:pending z:created')
  await made.end('a')
  await made.end('b')
  t.equal(await made.told(), 'a:success b:success c:skipped d:skipped e:pending slow:pending z:created')
  await startManualBuild({ ...(await made.latest('c')) }, null)
  t.equal(await made.told(), 'a:success b:success c:pending d:created e:pending slow:pending z:created')
  await made.end('c')
  await made.end('slow')
  t.equal(await made.told(), 'a:success b:success c:success d:pending e:pending slow:success z:pending')
  for (const name of ['d', 'e']) await made.end(name)
  await made.end('z', failed())
  t.equal(await made.status(), 'failed')
  await retryBuilds([(await made.latest('b')).id], origin)
  t.equal(await made.told(), 'a:success b:pending c:success d:success e:success slow:success z:failed')
})

t.test('a failure skips those that need it, and a retry gives them another chance', async t => {
  const made = await pipeline(`
a: {stage: build, script: x}
b: {script: x, needs: [a]}
c: {script: x, needs: [b]}
clean: {stage: deploy, script: x, needs: [a], when: on_failure}
`)
  await made.end('a', failed())
  t.equal(await made.told(), 'a:failed b:skipped c:skipped clean:pending')
  await made.end('clean')
  await retryBuilds([(await made.latest('a')).id], origin)
  t.equal(await made.told(), 'a:pending b:created c:created clean:success')
  await made.end('a')
  await made.end('b')
  await made.end('c')
  t.equal(await made.status(), 'success')
})

t.test('a failed build is repeated by itself, as often as the file says', async t => {
  const made = await pipeline(`
one: {stage: build, script: x, retry: {max: 1, when: [script_failure]}}
two: {script: x}
`)
  await made.end('one', failed())
  t.equal(await made.told(), 'one:pending two:created')
  t.equal(await made.status(), 'running')
  await made.end('one', failed())
  t.equal(await made.told(), 'one:failed two:skipped')
  const other = await pipeline('one: {script: x, retry: {max: 2, when: [script_failure]}}')
  await other.end('one', failed({ reason: 'job_execution_timeout' }))
  t.equal(await other.told(), 'one:failed', 'for another reason it is not')
})

t.test('an exit code that the file allows is minded by nobody', async t => {
  const text = 'one: {stage: build, script: x, allow_failure: {exit_codes: [3]}}\ntwo: {script: x}\n'
  const made = await pipeline(text)
  await made.end('one', failed({ exitCode: 3 }))
  t.equal(await made.told(), 'one:failed two:pending')
  await retryBuilds([(await made.latest('one')).id], origin)
  await made.end('one', failed({ exitCode: 4 }))
  await made.end('two')
  t.equal(await made.status(), 'failed', 'the next attempt counts again')
})

t.test('a delayed build waits, and can be played early', async t => {
  const made = await pipeline('a: {stage: build, script: x, when: delayed, start_in: 1 hour}\nb: {script: x}\n')
  t.equal(await made.told(), 'a:created b:created')
  const job = await row<{ payload: string; state: string }>(
    "select payload, state from jobs where name = 'build.ready'"
  )
  const { id } = await made.latest('a')
  t.match(job, { state: 'delayed', payload: `{"buildId":${id}}` })
  await startReady(id)
  t.equal(await made.told(), 'a:created b:created', 'its moment has not come')
  await execute('update builds set ready_at = ? where id = ?', [new Date(), id])
  await startReady(id)
  await startReady(id)
  t.equal(await made.told(), 'a:pending b:created')
  const early = await pipeline('a: {script: x, when: delayed, start_in: 1 hour}\n')
  const project = await row<{ id: number }>('select project_id as id from pipelines where id = ?', [early.id])
  await playBuild(project as Parameters<typeof playBuild>[0], (await early.latest('a')).id, origin)
  t.equal(await early.told(), 'a:pending')
})

t.test('one build of a resource group runs at a time', async t => {
  const project = await factory.project()
  const text = 'a: {script: x, resource_group: prod}\nb: {script: x, resource_group: prod}\nc: {script: x}\n'
  const [first, second] = [await pipeline(text, project), await anotherPipeline(project)]
  await startDue()
  t.equal(await first.told(), 'a:pending b:created c:pending')
  t.equal(await second.told(), 'a:created b:created c:pending')
  await first.end('a')
  await startDue()
  t.equal(await first.told(), 'a:success b:pending c:pending')
  await cancelBuild((await first.latest('b')).id)
  await startDue()
  t.equal(await second.told(), 'a:pending b:created c:pending')
  await retryBuilds([(await first.latest('a')).id], origin)
  await startDue()
  t.equal(await first.told(), 'a:created b:canceled c:pending', 'a repeated build waits for its group, too')
  await second.end('a', failed())
  await startDue()
  t.equal(await second.told(), 'a:failed b:pending c:pending', 'the oldest that waits is next')
})

t.test('a newer pipeline cancels older ones of its branch', async t => {
  const cases: Record<string, [ci: string, begin: string | null, expected: string]> = {
    'all is interruptible': ['a: {script: x, interruptible: true}', 'a', 'a:canceled'],
    'nothing is': ['a: {script: x}', null, 'a:pending'],
    'what is not has not started': [
      'a: {script: x, interruptible: true}\nb: {script: x}',
      'a',
      'a:canceled b:canceled'
    ],
    'what is not has started': ['a: {script: x, interruptible: true}\nb: {script: x}', 'b', 'a:pending b:running'],
    'only what is': [
      'workflow: {auto_cancel: {on_new_commit: interruptible}}\na: {script: x, interruptible: true}\nb: {script: x}',
      'b',
      'a:canceled b:running'
    ],
    'the file forbids it': [
      'workflow: {auto_cancel: {on_new_commit: none}}\na: {script: x, interruptible: true}',
      null,
      'a:pending'
    ]
  }
  for (const [name, [ci, begin, expected]] of Object.entries(cases)) {
    const project = await factory.project()
    const old = await pipeline(ci, project)
    if (begin) await beginBuild(await old.latest(begin))
    const newer = await anotherPipeline(project)
    await supersedeOlder(newer.id)
    t.equal(await old.told(), expected, name)
    t.equal(await newer.status(), 'pending', `${name}: the newer one stays`)
    const jobs = await rows<{ payload: string }>("select payload from jobs where name = 'pipeline.supersede'")
    await execute('delete from jobs')
    t.equal(jobs.length > 0, !['nothing is', 'the file forbids it'].includes(name), `${name}: a job for it`)
  }
})

t.test('rules see what a push changed, what exists, and includes of its commit', async t => {
  const project = await factory.project()
  await factory.file(project, 'ci/base.yml', '.base: {script: included}\n')
  const made = await pipeline(
    `
include: ci/base.yml
variables: {LEVEL: low}
docs: {extends: .base, rules: [{changes: [docs/**/*]}]}
file: {extends: .base, rules: [{exists: ["*.md"]}]}
main: {extends: .base, rules: [{if: '$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH && $LEVEL == "low"'}]}
tags: {extends: .base, rules: [{if: $CI_COMMIT_TAG}]}
node: {extends: .base, parallel: 2, timeout: 10 minutes}
`,
    project
  )
  t.equal(await made.told(), 'main:pending node 1/2:pending node 2/2:pending')
  await factory.file(project, 'docs/a.md', 'x')
  const names = (await pipelineOf(project)).map(({ name }) => name)
  t.strictSame(names, ['docs', 'main', 'node 1/2', 'node 2/2'])
  await factory.file(project, 'README.md', 'x')
  t.ok((await pipelineOf(project)).some(({ name }) => name === 'file'))
  const build = await made.latest('node 2/2')
  const description = await describeBuild(await beginBuild(build), await builtInRunner())
  t.equal(description?.timeout, 600)
  t.match(description?.steps, [{ commands: ['included'], timeout: 600 }])
  const values = new Map(description?.variables.map(({ key, value }) => [key, value]))
  t.strictSame([values.get('CI_NODE_INDEX'), values.get('CI_NODE_TOTAL')], ['2', '2'])
})

t.test('jobs that do not fit together make a failed pipeline', async t => {
  const project = await factory.project()
  await makePipeline(project, 'a: {script: x, only: [tags]}\nb: {script: x, needs: [a]}\n')
  t.match(await row('select status, yaml_errors from pipelines where project_id = ?', [project.id]), {
    status: 'failed',
    yaml_errors: 'b job: needs `a`, which is not in this pipeline'
  })
  const other = await factory.project()
  await makePipeline(other, 'workflow: {rules: [{if: $CI_COMMIT_TAG}]}\na: {script: x}\n')
  t.equal(
    (await rows('select id from pipelines where project_id = ?', [other.id])).length,
    0,
    'the workflow forbids it'
  )
})

t.test('coverage comes from the trace', async t => {
  const made = await pipeline(
    "a: {script: x, coverage: '/covered (\\d+\\.\\d+)%/'}\nb: {script: x, coverage: /\\d+/}\nc: {script: x}\n"
  )
  await endBuild(await made.latest('a'), { trace: 'covered 1.0%\ncovered 71.26%\n' })
  await endBuild(await made.latest('b'), { trace: 'nothing\n' })
  await endBuild(await made.latest('c'), { trace: '90\n' })
  const coverage = () => row<{ coverage: number | null }>('select coverage from pipelines where id = ?', [made.id])
  t.equal((await coverage())?.coverage, 71.26)
  await retryBuilds([(await made.latest('b')).id], origin)
  const claim = await beginBuild(await made.latest('b'))
  const key = { build: claim.buildId, attempt: claim.attempt }
  await resetTrace(key)
  await appendTrace(key, Buffer.from('50 percent'))
  await finishBuild(claim, failed(), await measureTrace(key))
  t.equal((await coverage())?.coverage?.toFixed(2), '60.63', 'the mean, also of a build that failed')
})

function limitProjects(t: { teardown(fn: () => void): void }, limit: number) {
  const { home } = config()
  loadConfig({ home, runner: { project_limit: limit } })
  t.teardown(() => void loadConfig({ home }))
}

t.test('a project has no more builds on shared runners than the configuration allows', async t => {
  const runner = await makeRunner({ is_shared: true })
  await execute("update builds set status = 'canceled' where status in ('pending', 'running')")
  limitProjects(t, 1)
  const text = 'a: {script: x}\nb: {script: x}\n'
  const [one, two] = [await pipeline(text), await pipeline(text)]
  const claims = [await claimNext(runner), await claimNext(runner), await claimNext(runner)]
  t.strictSame(
    claims.map(claim => claim?.pipelineId ?? null),
    [one.id, two.id, null],
    'one of each project'
  )
  await execute('delete from jobs')
  if (claims[0]) await finishBuild(claims[0], { status: 'success' }, { size: 0, sha256: null })
  t.equal((await rows("select id from jobs where name = 'build.run'")).length, 1, 'the next one is waked for')
  t.equal((await claimNext(runner))?.pipelineId, one.id)

  // At the same moment, of several pipelines of one project.
  await execute("update builds set status = 'canceled' where status in ('pending', 'running')")
  limitProjects(t, 2)
  for (let at = 0; at < 8; at++) await pipeline('a: {script: x}\n')
  const first = await row<{ id: number }>("select min(project_id) as id from builds where status = 'pending'")
  for (const table of ['pipelines', 'builds'])
    await execute(
      `update ${table} set project_id = ? where ${table === 'builds' ? 'pipeline_id' : 'id'} in
         (select pipeline_id from (select pipeline_id from builds where status = 'pending') waiting)`,
      [first?.id ?? 0]
    )
  const together = await Promise.all(Array.from({ length: 8 }, () => claimNext(runner)))
  t.equal(together.filter(claim => claim !== null).length, 2)
})
