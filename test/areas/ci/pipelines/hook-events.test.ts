// The events of builds and pipelines that the hooks of a project receive, each with the state at that moment.
import { lockPipeline } from '../../../../src/areas/ci/pipelines/locked-pipeline.js'
import { publicUrl } from '../../../../src/config.js'
import { openConnection } from '../../../../src/db/connect/connection.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { transact } from '../../../../src/db/connect/transact.js'
import { Hook } from '../../../../src/db/models/index.js'
import { testApp } from '../../../helpers/app.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'
import { endBuild, makePipeline, pipelineOf, type TestBuild } from '../builds/make-builds.js'

const app = await testApp(t)
const CI = `
stages: [build, test]
compile: { stage: build, script: x, artifacts: { paths: [o] } }
unit: { stage: test, script: x, allow_failure: true }
ship: { stage: test, script: x, when: manual }
`
const BOTH = { buildEvents: true, pipelineEvents: true }

async function subject(flags: object = BOTH) {
  const project = await app.make.project()
  await Hook.create({ projectId: project.id, url: 'http://127.0.0.1:9/', pushEvents: false, ...flags })
  return { project, owner: app.as(project.owner), path: `/projects/${project.id}` }
}

const named = (builds: readonly TestBuild[], name: string): TestBuild => {
  const found = builds.find(build => build.name === name)
  if (!found) throw new Error(`no build ${name}`)
  return found
}

interface Payload {
  readonly object_kind: 'build' | 'pipeline'
  readonly build_name: string
  readonly build_status: string
  readonly object_attributes: { readonly status: string }
}

/** What hooks were sent since the last call, in order. The builds do not run. */
async function sent(): Promise<Payload[]> {
  await execute("delete from jobs where name = 'build.run'")
  await app.runJobs()
  const found = await rows<{ event: string; payload: string }>('select event, payload from hook_deliveries order by id')
  await execute('delete from hook_deliveries')
  return found.map(({ payload }) => JSON.parse(payload) as Payload)
}

const inShort = (payloads: readonly Payload[]) =>
  payloads.map(payload =>
    payload.object_kind === 'build'
      ? `${payload.build_name} ${payload.build_status}`
      : `pipeline ${payload.object_attributes.status}`
  )

t.test('a pipeline from its start to its end', async t => {
  const { project } = await subject()
  const builds = await makePipeline(project, CI)
  const [compile, unit] = [named(builds, 'compile'), named(builds, 'unit')]
  await endBuild(compile, { artifacts: Buffer.from('archive') })
  await endBuild(unit, { status: 'failed' })
  const all = await sent()
  t.same(inShort(all), [
    ...['compile created', 'unit created', 'ship created', 'pipeline pending'],
    ...['compile running', 'pipeline running', 'compile success'],
    ...['unit running', 'unit failed', 'pipeline success']
  ])
  const name = project.path.split('/')[1]
  const web = `${publicUrl()}/${project.path}`
  const { id, username, email } = project.owner
  t.match(all[0], { build_started_at: null, build_duration: null, commit: { status: 'created', started_at: null } })
  t.match(all[4], { build_started_at: /Z$/, build_finished_at: null, build_duration: Number })
  t.match(all[6], {
    object_kind: 'build',
    ref: 'master',
    tag: false,
    before_sha: /^0{40}$/,
    sha: compile.sha,
    build_id: compile.id,
    build_stage: 'build',
    build_finished_at: /Z$/,
    build_allow_failure: false,
    project_id: project.id,
    project_name: `${username} / ${name}`,
    user: { id, name: project.owner.name, email },
    commit: {
      id: compile.pipelineId,
      sha: compile.sha,
      message: /^Add/,
      author_name: project.owner.name,
      author_email: email,
      status: 'running',
      duration: null,
      started_at: /Z$/,
      finished_at: null
    },
    repository: { name, homepage: web, visibility_level: 0 }
  })
  t.match(all[8], { build_allow_failure: true })
  const user = { name: project.owner.name, username, avatar_url: null }
  const artifacts = { filename: 'artifacts.zip', size: 7 }
  const none = { filename: null, size: null }
  t.match(all[9], {
    object_kind: 'pipeline',
    object_attributes: {
      id: compile.pipelineId,
      ref: 'master',
      tag: false,
      sha: compile.sha,
      stages: ['build', 'test'],
      created_at: /Z$/,
      finished_at: /Z$/,
      duration: Number
    },
    user,
    project: { name, path_with_namespace: project.path, namespace: username, web_url: web },
    commit: { id: compile.sha, url: `${web}/commit/${compile.sha}`, author: { email } },
    builds: [
      { id: compile.id, name: 'compile', stage: 'build', status: 'success', user, runner: { is_shared: true } },
      { name: 'unit', status: 'failed', when: 'on_success', manual: false, started_at: /Z$/, artifacts_file: none },
      { name: 'ship', status: 'skipped', when: 'manual', manual: true, runner: null, started_at: null }
    ]
  })
  t.match(all[9], { builds: [{ artifacts_file: artifacts }] })
  const young = { started_at: null, finished_at: null, runner: null, artifacts_file: none }
  t.match(all[3], { builds: [{ status: 'pending', ...young }, { status: 'created', ...young }, {}] }, 'as it was')
})

t.test('what people and services do to pipelines', async t => {
  const { project, owner, path } = await subject()
  const builds = await makePipeline(project, CI)
  const compile = named(builds, 'compile')
  await endBuild(compile, { status: 'failed' })
  await sent()
  await owner.post(`${path}/builds/${compile.id}/retry`)
  t.same(inShort(await sent()), ['compile pending', 'pipeline running'], 'retry')
  await owner.post(`${path}/pipelines/${compile.pipelineId}/cancel`)
  t.same(
    inShort(await sent()),
    ['compile canceled', 'unit canceled', 'ship canceled', 'pipeline canceled'].sort(byName)
  )
  await owner.post(`${path}/pipelines/${compile.pipelineId}/retry`)
  const again = inShort(await sent())
  t.same(again.slice(-1), ['pipeline running'], 'retry of all')
  t.ok(again.includes('compile pending'))
  await owner.post(`${path}/builds/${(await newest(project.id, 'compile')).id}/cancel`)
  t.ok(inShort(await sent()).includes('compile canceled'))
  for (const state of ['pending', 'running', 'failed']) {
    await owner.post(`${path}/statuses/${compile.sha}`, { state, ref: 'other' })
    t.same(inShort(await sent()), [`pipeline ${state}`], 'a status is no build')
  }
})

/** The builds of a pipeline come in the order of their ids: a repeated one comes last. */
const byName = (one: string, other: string) => rank(one) - rank(other)
const rank = (text: string) => ['unit', 'ship', 'compile', 'pipeline'].findIndex(name => text.startsWith(name))

async function newest(projectId: number, name: string): Promise<TestBuild> {
  const found = await rows<TestBuild>(
    'select id, name, pipeline_id as pipelineId, sha from builds where project_id = ? and name = ? order by id desc',
    [projectId, name]
  )
  return named(found, name)
}

t.test('a pipeline without builds has one status', async t => {
  const { project, owner, path } = await subject()
  await makePipeline(project, 'job: { script: 7, stage: none }\n')
  t.same(inShort(await sent()), ['pipeline failed'])
  const file = { branch_name: 'master', file_path: '.gitstead-ci.yml', content: 'job: { script: x }\n' }
  await owner.put(`${path}/repository/files`, { ...file, commit_message: 'Mend it [ci skip]' })
  await pipelineOf(project)
  t.same(inShort(await sent()), ['pipeline skipped'])
})

t.test('the flags select the events, and nothing is published without a hook for it', async t => {
  for (const [flags, heard] of [
    [{}, []],
    [{ buildEvents: true }, ['job created', 'job canceled']],
    [{ pipelineEvents: true }, ['pipeline pending', 'pipeline canceled']]
  ] as const) {
    const { project, owner, path } = await subject(flags)
    const [build] = await makePipeline(project, 'job: { script: x }\n')
    await owner.post(`${path}/builds/${build?.id}/cancel`)
    const told = [...(await waitingEvents('build.changed')), ...(await waitingEvents('pipeline.changed'))]
    t.equal(told.length, heard.length)
    t.same(inShort(await sent()), heard)
  }
})

t.test('a change of a pipeline does not lock the hooks that it looks for', async t => {
  const { project } = await subject()
  const [build] = await makePipeline(project, 'job: { script: x }\n')
  const other = (await openConnection()).promise()
  t.teardown(() => other.destroy())
  await other.query('set innodb_lock_wait_timeout = 1')
  await transact(async () => {
    t.match((await lockPipeline(build?.pipelineId ?? 0))?.wanted, { build: true, pipeline: true })
    await other.query('update hooks set failures = 1 where project_id = ?', [project.id])
    await t.rejects(other.query('update pipelines set duration = 1 where id = ?', [build?.pipelineId]))
  })
})
