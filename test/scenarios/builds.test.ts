// Tests unusual pipelines (skipped, broken, endless, interrupted) and the rights of a build's token.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { nap, sleeperOf } from '../helpers/naps.js'
import { makeUser, startAppliance } from './appliance.js'
import { askApi, eventually, Receiver, remoteUrl, tryGit } from './client.js'

interface Build {
  id: number
  name: string
  status: string
}

interface Pipeline {
  id: number
  status: string
  yaml_errors: string | null
}

const folder = mkdtempSync(join(tmpdir(), 'gitstead-builds-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const home = join(folder, 'home')
const { private_token: token } = await makeUser(home, 'root', ['--admin'])
const environment = { GITSTEAD_RUNNER_OUTPUT_LIMIT: '20000', GITSTEAD_QUEUE_CONCURRENCY_BUILDS: '4' }
let appliance = await startAppliance({ home, environment })
t.teardown(() => appliance.stop())
const { url, port } = appliance
const ask = <T>(method: string, path: string, body?: unknown) => askApi<T>({ url, token }, method, path, body)

/** Creates a project with one commit through the files API, which adds a CI file. Returns the project's path in the API. */
async function projectWith(name: string, ci: string, message = 'begin'): Promise<string> {
  const { json } = await ask<{ id: number }>('POST', '/projects', { name })
  const file = { file_path: '.gitstead-ci.yml', branch_name: 'master', content: ci, commit_message: message }
  const { status } = await ask('POST', `/projects/${json.id}/repository/files`, file)
  if (status !== 201) throw new Error(`the file was answered with ${status}`)
  return `/projects/${json.id}`
}

const firstPipeline = (project: string) =>
  eventually(async () => (await ask<Pipeline[]>('GET', `${project}/pipelines`)).json[0])

const firstBuild = async (project: string) => (await ask<Build[]>('GET', `${project}/builds`)).json[0]

const ended = (project: string) =>
  eventually(async () => {
    const build = await firstBuild(project)
    return build && ['success', 'failed', 'canceled'].includes(build.status) && build
  })

const traceOf = async (project: string, { id }: Build) =>
  (await ask('GET', `${project}/builds/${id}/trace`)).bytes.toString()

t.test('builds with needs, copies and retries run to the end', async t => {
  const project = await projectWith(
    'keys',
    `
flaky: { stage: build, script: ['echo $CI_JOB_NAME; exit 3'], retry: 1, allow_failure: { exit_codes: [3] } }
slow: { stage: build, script: ['sleep 3'], rules: [{ if: $CI_COMMIT_BRANCH, variables: { A: b } }] }
par: { stage: build, parallel: 2, script: ['echo node $CI_NODE_INDEX of $CI_NODE_TOTAL > out-$CI_NODE_INDEX'], artifacts: { paths: [out-*] } }
last: { stage: build, needs: [par], script: ['cat out-1 out-2'], coverage: '/of (\\d+)/' }
`
  )
  const pipeline = await eventually(async () => {
    const [found] = (await ask<(Pipeline & { coverage: string })[]>('GET', `${project}/pipelines`)).json
    return found && ['success', 'failed'].includes(found.status) && found
  })
  t.match(pipeline, { status: 'success', coverage: '2.00' })
  const builds = (await ask<Build[]>('GET', `${project}/builds`)).json
  t.strictSame(builds.map(({ name, status }) => `${name}:${status}`).sort(), [
    'flaky:failed',
    'flaky:failed',
    'last:success',
    'par 1/2:success',
    'par 2/2:success',
    'slow:success'
  ])
  const last = builds.find(({ name }) => name === 'last')
  if (last) t.match(await traceOf(project, last), /node 1 of 2\r?\nnode 2 of 2/)
})

t.test('a commit with [ci skip] gets a skipped pipeline', async t => {
  const project = await projectWith('skipped', 'one:\n  script: ["true"]\n', 'nothing to build [ci skip]')
  t.equal((await firstPipeline(project)).status, 'skipped')
  t.equal(await firstBuild(project), undefined)
})

t.test('a broken CI file creates a failed pipeline with the reason', async t => {
  const project = await projectWith('broken', 'one:\n  scirpt: [true]\n')
  const pipeline = await firstPipeline(project)
  t.match(pipeline, { status: 'failed', yaml_errors: /scirpt/ })
  t.equal(await firstBuild(project), undefined)
})

t.test('a script with endless output is stopped', async t => {
  const loud = await projectWith('loud', 'one:\n  script: ["yes"]\n')
  const stopped = await ended(loud)
  t.equal(stopped.status, 'failed')
  const trace = await traceOf(loud, stopped)
  t.ok(trace.length > 10_000 && trace.length < 25_000, `the trace has ${trace.length} bytes`)
})

t.test('hooks get commits of the files API', async t => {
  const receiver = new Receiver()
  await receiver.open()
  t.teardown(() => receiver.close())
  const hook = { url: `http://127.0.0.1:${receiver.port}/`, token: 'the token' }
  t.equal((await ask('POST', '/hooks', hook)).status, 201)
  const project = await projectWith('told', 'one:\n  script: ["true"]\n')
  const push = await eventually(() => receiver.hooks.find(({ body }) => body.event_name === 'push'))
  t.match(push.body, { ref: 'refs/heads/master', project_id: Number(project.split('/')[2]) })
  t.equal((await ended(project)).status, 'success')
})

t.test("a build's token reads its project while the build runs, and not afterwards", async t => {
  // The script prints the token with dashes, because the trace hides the token itself.
  const project = await projectWith(
    'tokens',
    `one:\n  script:\n    - echo "token $(echo $CI_JOB_TOKEN | sed "s/./&-/g")"\n    - sleep ${nap(1)} || true\n`
  )
  const jobToken = await eventually(async () => {
    const build = await firstBuild(project)
    const trace = build && (await traceOf(project, build))
    const found = trace ? /^token (\S+)$/m.exec(trace)?.[1] : undefined
    return found?.replaceAll('-', '')
  })
  const remote = remoteUrl(url, 'root/tokens', 'gitlab-ci-token', jobToken)
  t.ok((await tryGit(folder, ['clone', '--quiet', remote, 'by-token'])).ok)
  const push = await tryGit(join(folder, 'by-token'), ['push', 'origin', 'HEAD:mine'])
  t.match(push.stderr, /403/, 'the token may only read')
  process.kill(await sleeperOf(1))
  t.equal((await ended(project)).status, 'success')
  t.match((await tryGit(folder, ['ls-remote', remote])).stderr, /Authentication failed/)
})

t.test('a worker that stops in the middle of a build gives the build back', async t => {
  const project = await projectWith('handed-on', `one:\n  script: [echo begun, sleep ${nap(2)} || true, echo done]\n`)
  const begun = await eventually(async () => {
    const build = await firstBuild(project)
    return build && /begun/.test(await traceOf(project, build)) && build
  })
  const { worker } = appliance.processes()
  if (worker === undefined) throw new Error('there is no worker')
  const sleeper = await sleeperOf(2)
  process.kill(worker, 'SIGTERM')
  process.kill(await sleeperOf(2, [String(sleeper)]))
  const build = await ended(project)
  t.match(build, { id: begun.id, status: 'success' })
  const trace = await traceOf(project, build)
  t.equal(trace.split('\n').filter(line => line === 'begun').length, 1, 'the trace is from the second run only')
  t.match(trace, /done\n/)
  t.not(appliance.processes().worker, worker)
})

t.test('a script that never ends is stopped at its time limit', async t => {
  await appliance.stop()
  appliance = await startAppliance({ home, port, environment: { ...environment, GITSTEAD_RUNNER_TIMEOUT: '3' } })
  const project = await projectWith('endless', `one:\n  script: [sleep ${nap(3)}]\n`)
  const build = await ended(project)
  t.equal(build.status, 'failed')
  t.match(await traceOf(project, build), 'longer than 3 seconds')
})
