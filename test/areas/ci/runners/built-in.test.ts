// Builds that really run, in the sandbox, through the code of the worker.
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { cancelBuild } from '../../../../src/areas/ci/builds/claim.js'
import { lookAfterBuilds, runNextBuild } from '../../../../src/areas/ci/runners/built-in.js'
import { builtInRunner, showBuiltInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { joinStorages } from '../../../../src/cluster/storages.js'
import { config } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { NotHere } from '../../../../src/errors.js'
import { endRunning } from '../../../../src/git/process/running.js'
import { prepareHome } from '../../../../src/home.js'
import { reapProcesses, registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { closeWake, listenForWake } from '../../../../src/queue/wake.js'
import { FolderLost, removeFolder } from '../../../../src/runner/folders.js'
import { buildUser } from '../../../../src/runner/user.js'
import { openTrace } from '../../../../src/storage/traces.js'
import { version } from '../../../../src/version.js'
import { refuses, testBucket } from '../../../helpers/bucket.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { nap, sleeperOf } from '../../../helpers/naps.js'
import t from '../../../helpers/tap.js'
import { until } from '../../../helpers/until.js'
import { makePipeline, type TestBuild, takeByWorker } from '../builds/make-builds.js'
import { makeVariable } from '../variables/make-variables.js'

await testDatabase()
prepareHome()
const worker = await registerProcess({ queues: ['builds'], concurrency: 2 })
const never = () => new AbortController().signal

async function one(script: string): Promise<TestBuild> {
  const [build] = await makePipeline(await factory.project(), `test:\n  script: ${JSON.stringify(script)}\n`)
  if (!build) throw new Error('no build')
  return build
}

const stateOf = (build: TestBuild) =>
  row<{ status: string; attempt: number; exit_code: number | null; failure_reason: string | null }>(
    'select status, attempt, exit_code, failure_reason from builds where id = ?',
    [build.id]
  )

async function traceOf(build: TestBuild, attempt = 1): Promise<string> {
  const trace = await openTrace({ build: build.id, attempt })
  if (!trace) return ''
  const chunks: Buffer[] = []
  for await (const chunk of trace.stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

t.test('a build runs to its end and writes its trace', async t => {
  const build = await one('echo "$CI_BUILD_NAME of $CI_PROJECT_NAME"; cat .gitstead-ci.yml')
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'success', attempt: 1, exit_code: 0 })
  const trace = await traceOf(build)
  t.match(trace, /test of project-/)
  t.match(trace, /Build succeeded/)
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'success', attempt: 1 }, 'a second wake-up does nothing')
})

t.test('a build fails, and says why, if a variable cannot be decrypted', async t => {
  const project = await factory.project()
  await makeVariable(project, 'PASSWORD', 'open sesame')
  const [build] = await makePipeline(project, 'test: { script: [\'echo "$PASSWORD"\'] }\n')
  if (!build) throw new Error('no build')
  await execute("update variables set value_encrypted = 'of another key' where project_id = ?", [project.id])
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'failed', failure_reason: 'runner_system_failure' })
  t.match(await traceOf(build), /^ERROR: variable PASSWORD cannot be decrypted/)
})

t.test('the trace hides the values of the variables of a project', async t => {
  const project = await factory.project()
  await makeVariable(project, 'PASSWORD', 'open sesame', true)
  await makeVariable(project, 'KEY', 'first-line-of-it\nsecond-line-of-it', true)
  await makeVariable(project, 'SHORT', 'yes')
  const [build] = await makePipeline(project, 'test: { script: [\'echo "$PASSWORD"; echo "$KEY"; echo "$SHORT"\'] }\n')
  if (!build) return t.fail('no build')
  await runNextBuild(worker, never())
  const trace = await traceOf(build)
  t.match(trace, new RegExp(`\n${'\\*'.repeat(11)}\n${'\\*'.repeat(16)}\n${'\\*'.repeat(17)}\nyes\n`))
  t.notMatch(trace, /sesame|line-of-it/)
})

t.test('a signed token reaches the script, and the trace hides it', async t => {
  const script =
    'echo "$PROOF"; echo "$PROOF" | cut -d. -f2 | tr -d =_- | head -c 8; echo; echo "parts $(echo "$PROOF" | tr . "\\n" | wc -l)"'
  const ci = `test: { script: [${JSON.stringify(script)}], id_tokens: { PROOF: { aud: a } } }\n`
  const [build] = await makePipeline(await factory.project(), ci)
  if (!build) return t.fail('no build')
  await runNextBuild(worker, never())
  const trace = await traceOf(build)
  t.match(trace, /\n\*{600,}\neyJ\w{5}\nparts 3\n/)
})

t.test('a build finds what an earlier one of its project has kept', async t => {
  const job = (stage: string) => `{ stage: ${stage}, script: ['cat kept || echo none; echo "of $CI_JOB_NAME" >kept'] }`
  const cache = '{ key: "$CI_COMMIT_REF_SLUG", paths: [kept] }'
  const file = `cache: ${cache}\none: ${job('build')}\ntwo: ${job('test')}\n`
  const [first, second] = await makePipeline(await factory.project(), file)
  if (!first || !second) return t.fail('no builds')
  await runNextBuild(worker, never())
  await runNextBuild(worker, never())
  t.match(await traceOf(first), 'No cache master yet')
  t.match(await traceOf(second), '\nof one\n')
})

t.test('the variables of a build describe its runner', async t => {
  const { id } = await builtInRunner()
  const build = await one('echo "$CI_RUNNER_ID, $CI_RUNNER_DESCRIPTION, [$CI_RUNNER_TAGS]"')
  await runNextBuild(worker, never())
  t.match(await traceOf(build), `\n${id}, built-in runner, []\n`)
})

t.test('a job of an earlier version, which names a build, runs the next build in the queue', async t => {
  const build = await one('true')
  await execute("update jobs set payload = ? where name = 'build.run'", [JSON.stringify({ buildId: build.id + 1 })])
  t.ok((await runJobs()).includes('build.run'))
  t.match(await stateOf(build), { status: 'success' })
})

t.test('the next worker takes over the build of a killed worker', async t => {
  const build = await one('echo begun; sleep 600')
  const killed = await registerProcess({ queues: ['builds'], concurrency: 1 })
  t.match(await takeByWorker(build, killed), { attempt: 1 })
  await execute('update job_processes set pid_started = 1 where id = ?', [killed])
  await reapProcesses()
  const running = runNextBuild(worker, never())
  await until('it has begun again', async () => /begun\n/.test(await traceOf(build, 2)))
  await cancelBuild(build.id)
  await running
})

t.test('a build that loses its folder starts again', async t => {
  const build = await one(`sleep ${nap(1)} || echo again`)
  const running = runNextBuild(worker, never())
  const first = await sleeperOf(1)
  const mounts = readFileSync(`/proc/${first}/mountinfo`, 'latin1')
  const folder = join(
    (await buildUser()) ? '/var/tmp' : join(config().home, 'tmp'),
    /gitstead-work-\w+/.exec(mounts)?.[0] ?? ''
  )
  await removeFolder(folder)
  process.kill(first)
  await t.rejects(running, FolderLost)
  t.match(await stateOf(build), { status: 'running', attempt: 1 })
  const repeated = runNextBuild(worker, never())
  process.kill(await sleeperOf(1))
  await repeated
  t.match(await stateOf(build), { status: 'success', attempt: 2 })
  t.match(await traceOf(build, 2), /\nagain\n/)
})

t.test('a failing script fails its build and its pipeline', async t => {
  const build = await one('exit 3')
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'failed', exit_code: 3, failure_reason: 'script_failure' })
  t.match(await row('select status from pipelines where id = ?', [build.pipelineId]), { status: 'failed' })
})

t.test('a running build ends when it is canceled', async t => {
  const build = await one('echo begun; sleep 600')
  const running = runNextBuild(worker, never())
  await until('it has begun', async () => /begun\n/.test(await traceOf(build)))
  await cancelBuild(build.id)
  await running
  t.match(await stateOf(build), { status: 'canceled' })
})

t.test('a cancel wakes the worker, which looks after its builds at once', async t => {
  const build = await one('echo begun; sleep 600')
  const running = runNextBuild(worker, never())
  await until('it has begun', async () => /begun\n/.test(await traceOf(build)))
  const stopListening = await listenForWake(worker, queue => {
    if (queue !== 'builds') return
    t.pass('told')
    lookAfterBuilds()
  })
  t.teardown(() => {
    stopListening()
    closeWake()
  })
  t.plan(2)
  await cancelBuild(build.id)
  await running
  t.match(await stateOf(build), { status: 'canceled' })
})

t.test('a checkout that fails ends its build, and the trace says what git said', async t => {
  const build = await one('echo ran')
  await execute('update builds set sha = ? where id = ?', ['e'.repeat(40), build.id])
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'failed', failure_reason: 'runner_system_failure' })
  t.match(await traceOf(build), /not our ref e{40}/)
  t.notMatch(await traceOf(build), 'ran\n')
})

t.test('the next worker can start the build of a stopped worker at once', async t => {
  const build = await one('echo begun; test -e /tmp/never || sleep 600')
  const stop = new AbortController()
  const running = runNextBuild(worker, stop.signal)
  await until('it has begun', async () => /begun\n/.test(await traceOf(build)))
  stop.abort()
  await t.rejects(running)
  t.match(await stateOf(build), { status: 'running', attempt: 0 })
  const claim = await takeByWorker(build, worker)
  t.match(claim, { attempt: 1 })
  await cancelBuild(build.id)
})

t.test('a worker that lost its build to another worker does not change it', async t => {
  const build = await one('echo begun; sleep 600')
  const first = await registerProcess({ queues: ['builds'], concurrency: 1 })
  const running = runNextBuild(first, never())
  await until('it has begun', async () => /begun\n/.test(await traceOf(build)))
  await unregisterProcess(first)
  const claim = await takeByWorker(build, worker)
  t.match(claim, { attempt: 2 })
  await running
  t.match(await stateOf(build), { status: 'running', attempt: 2 })
  t.match(await traceOf(build, 1), /begun/)
  t.equal(await traceOf(build, 2), '')
  await cancelBuild(build.id)
})

t.test('a build waits for its dependencies while the bucket is away', async t => {
  const bucket = await testBucket(t, { 'storage.artifacts': 's3' })
  const [first, second] = await makePipeline(
    await factory.project(),
    `stages: [one, two]
one: { stage: one, script: [head -c 300000 /dev/urandom >file], artifacts: { paths: [file] } }
two: { stage: two, script: [wc -c <file] }
`
  )
  if (!first || !second) throw new Error('no builds')
  await runNextBuild(worker, never())
  t.match(await stateOf(first), { status: 'success' })
  let refused = 0
  // The first answer breaks off, the next requests are refused.
  bucket.cuts = { times: 1, after: 1000 }
  bucket.fault = (request, response) =>
    bucket.cuts.times > 0 || refused++ >= 3 ? 'pass' : refuses(503, 'ServiceUnavailable')(request, response)
  await runNextBuild(worker, never())
  t.match(await stateOf(second), { status: 'success', attempt: 1 }, await traceOf(second))
  t.ok(refused >= 3)
  t.match(await traceOf(second), '\n300000\n')
})

t.test('a build that cannot start is retried, and fails after four attempts', async t => {
  const build = await one('true')
  await execute("update builds set plan = 'no JSON' where id = ?", [build.id])
  for (let attempt = 1; attempt <= 4; attempt++) {
    await t.rejects(runNextBuild(worker, never()))
    t.match(await stateOf(build), { status: 'running', attempt })
  }
  await runNextBuild(worker, never())
  t.match(await stateOf(build), { status: 'failed', failure_reason: 'runner_system_failure' })
})

t.test('the record of the built-in runner shows the last contact of a worker', async t => {
  await builtInRunner()
  const { contacted_at: before } = (await row<{ contacted_at: Date | null }>('select contacted_at from runners')) ?? {}
  t.equal(before, null)
  await showBuiltInRunner()
  t.match(await row('select name, version, platform, architecture, contacted_at from runners'), {
    name: 'gitstead',
    version,
    platform: process.platform,
    architecture: process.arch,
    contacted_at: Date
  })
})

async function giveStorageAway(t: Test): Promise<void> {
  await execute(
    `insert into storages (name, marker, owner, lease_until, created_at)
     values ('default', repeat('f', 32), repeat('f', 32), now(3) + interval 60 second, now(3))`
  )
  await joinStorages()
  t.teardown(async () => {
    await execute('delete from storages')
    await joinStorages()
  })
}

/** Runs a build whose checkout waits, takes the storage away, and lets the checkout continue. The build starts again. */
async function leaveDuringCheckout(t: Test, leave: (repository: string) => Promise<void> | void): Promise<void> {
  const build = await one('true')
  const found = await row<{ id: number; storage: string }>(
    'select p.id, p.storage from projects p join builds b on b.project_id = p.id where b.id = ?',
    [build.id]
  )
  if (!found) throw new Error('no project')
  const repository = repositoryPath(found)
  // Git reads this file first, and waits until somebody writes to it.
  const pipe = join(repository, 'shallow')
  execFileSync('mkfifo', [pipe])
  const running = runNextBuild(worker, never())
  running.catch(() => undefined)
  let open = -1
  await until('git sends the sources', () => {
    open = ifOpen(pipe)
    return open !== -1
  })
  await leave(repository)
  try {
    writeSync(open, 'as if the owner had ended git')
  } catch (error) {
    // Its end may have come sooner.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
  }
  closeSync(open)
  await t.rejects(running, NotHere)
  t.match(await stateOf(build), { status: 'running', attempt: 1, failure_reason: null })
  await cancelBuild(build.id)
}

t.test('a build whose storage leaves the machine during the checkout starts again', t =>
  leaveDuringCheckout(t, () => giveStorageAway(t))
)

t.test('a build whose storage was away for a moment during the checkout starts again', t =>
  leaveDuringCheckout(t, repository => endRunning(dirname(repository)))
)

/** Opens a pipe that somebody reads. Returns -1 without a reader. */
function ifOpen(pipe: string): number {
  try {
    return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch {
    return -1
  }
}

t.test('a build of another machine is left to the worker there', async t => {
  const build = await one('true')
  await giveStorageAway(t)
  await t.rejects(runNextBuild(worker, never()), NotHere)
  t.match(await stateOf(build), { status: 'pending' })
})
