// Keys of the CI file that reach further than one build: variables for later builds, other pipelines, environments.
import t from 'tap'
import { storeReportedVariables } from '../../../src/areas/builds/reported-variables.js'
import { dueEnvironments } from '../../../src/areas/environments/auto-stop.js'
import { builtInRunner } from '../../../src/areas/runners/built-in-runner.js'
import { describeBuild } from '../../../src/areas/runners/job-description.js'
import { jobDocument } from '../../../src/areas/runners/outside/job-document.js'
import { execute, row } from '../../../src/db/sql.js'
import { testApp } from '../../helpers/app.js'
import { factory } from '../../helpers/factory.js'
import { beginBuild, endBuild, makePipeline, pipelineOf, type TestBuild } from '../builds/make-builds.js'
import { runBuild } from '../environments/make-environments.js'
import { INFO } from '../runners/stock-runner.js'
import { makeVariable } from '../variables/make-variables.js'

const app = await testApp(t)

/** What a runner gets with a build, when it takes it now. */
async function described(build: TestBuild | undefined) {
  if (!build) throw new Error('no build')
  const description = await describeBuild(await beginBuild(build), await builtInRunner())
  if (!description) throw new Error('no description')
  const values = new Map(description.variables.map(({ key, value }) => [key, value]))
  return { description, values, document: jobDocument(description, INFO) }
}

/** Ends a build that reports variables. */
async function reports(build: TestBuild | undefined, text: string) {
  if (!build) throw new Error('no build')
  const claim = await beginBuild(build)
  t.equal(await storeReportedVariables(claim, Buffer.from(text)), true)
  await execute("update builds set status = 'pending' where id = ?", [build.id])
  // The attempt that reports is the one that ends.
  await execute('update builds set attempt = attempt - 1 where id = ?', [build.id])
  await endBuild(build)
}

const named = (builds: readonly TestBuild[], name: string) => builds.find(build => build.name === name)

t.test('later builds get the variables that a build reports', async t => {
  const project = await factory.project()
  const builds = await makePipeline(
    project,
    `
variables: {LEVEL: file, OWN: file}
make: {stage: build, script: x, artifacts: {reports: {dotenv: build.env}}}
other: {stage: build, script: x}
stage: {script: x, variables: {OWN: job}}
needs: {script: x, needs: [make]}
without: {script: x, needs: [{job: make, artifacts: false}]}
none: {script: x, dependencies: [other]}
`
  )
  await makeVariable(project, 'SECRET', 'of the project')
  await reports(named(builds, 'make'), 'LEVEL=reported\nOWN=reported\nSECRET=reported\nVERSION=1.2\n')
  await endBuild(named(builds, 'other') as TestBuild)
  const { values, document } = await described(named(builds, 'stage'))
  t.match(Object.fromEntries(values), {
    LEVEL: 'reported',
    OWN: 'reported',
    SECRET: 'of the project',
    VERSION: '1.2'
  })
  t.match(
    document.variables.find(({ key }) => key === 'VERSION'),
    { public: true, masked: false }
  )
  t.equal((await described(named(builds, 'needs'))).values.get('VERSION'), '1.2')
  for (const name of ['without', 'none']) {
    t.equal((await described(named(builds, name))).values.get('VERSION'), undefined, name)
  }
  const stored = await row<{ box: Buffer }>(
    'select variables_encrypted as box from reported_variables where build_id = ?',
    [named(builds, 'make')?.id ?? 0]
  )
  t.notOk(stored?.box.includes('reported'), 'encrypted')
})

t.test('a report that is wrong, late or too long', async t => {
  const [first, second] = await makePipeline(await factory.project(), 'a: {script: x}\nb: {script: x}\n')
  if (!first || !second) return t.fail('no builds')
  const claim = await beginBuild(first)
  await t.rejects(storeReportedVariables(claim, Buffer.from('A')), /line 1 \(`A`\) should be NAME=value/)
  t.equal(await storeReportedVariables({ ...claim, token: 'of another' }, Buffer.from('A=1')), false)
  await storeReportedVariables(claim, Buffer.from('A=1'))
  await execute('update reported_variables set amount = 1000 where build_id = ?', [first.id])
  await t.rejects(
    storeReportedVariables(await beginBuild(second), Buffer.from('A=1')),
    /more than 1000 reported variables/
  )
  t.equal(await storeReportedVariables(claim, Buffer.from('A=1')), true, 'in place of the earlier one')
})

t.test('what a runner gets for reports, caches and services', async t => {
  const project = await factory.project()
  await factory.file(project, 'lock', 'one')
  const text = `
a:
  script: x
  artifacts: {reports: {dotenv: a.env}, expire_in: 1 day}
  cache: [{key: {files: [lock], prefix: p}, paths: [x]}, {key: k, fallback_keys: [j], unprotect: true}]
  variables: {RAW: {value: $HOME, expand: false}}
  services: [{name: redis, variables: {PORT: 1}}]
`
  const [build] = await makePipeline(project, text)
  const { document } = await described(build)
  t.match(document.artifacts, [
    { artifact_type: 'dotenv', artifact_format: 'gzip', paths: ['a.env'], when: 'always', expire_in: '86400' }
  ])
  t.equal(document.artifacts.length, 1, 'no archive')
  t.match(document.cache, [
    { key: /^p-[0-9a-f]{40}-protected$/, paths: ['x'] },
    { key: 'k-non_protected', fallback_keys: ['j-non_protected'] }
  ])
  t.match(
    document.variables.find(({ key }) => key === 'RAW'),
    { value: '$HOME', raw: true }
  )
  t.match(document.services, [{ name: 'redis', variables: [{ key: 'PORT', value: '1' }] }])

  await execute('delete from protected_branches where project_id = ?', [project.id])
  await factory.file(project, 'more', 'x')
  const [again] = await pipelineOf(project)
  const open = (await described(again)).document.cache
  t.equal(open[0]?.key, document.cache[0]?.key.replace('-protected', '-non_protected'), 'the same content')
  t.equal(open[1]?.key, 'k-non_protected')
})

t.test('artifacts that not everybody may download', async t => {
  const project = await factory.project()
  const reporter = await factory.member(project, 20)
  const developer = await factory.member(project, 30)
  const cases: Record<string, readonly [keys: string, statuses: readonly number[]]> = {
    a: ['access: all', [200, 200, 200]],
    b: ['public: false', [404, 200, 200]],
    c: ['access: maintainer', [404, 404, 200]],
    d: ['access: none', [404, 404, 404]]
  }
  const text = Object.entries(cases).map(([name, [keys]]) => `${name}: {script: x, artifacts: {paths: [x], ${keys}}}`)
  for (const build of await makePipeline(project, text.join('\n'))) {
    await endBuild(build, { artifacts: Buffer.from('zip') })
    const path = `/projects/${project.id}/builds/${build.id}/artifacts`
    const statuses = []
    for (const user of [reporter, developer, project.owner]) statuses.push((await app.as(user).get(path)).statusCode)
    t.same(statuses, cases[build.name]?.[1], build.name)
  }
})

t.test('an environment ends by itself', async t => {
  const project = await factory.project()
  const environment = (rest: string) => `environment: {name: review, ${rest}}`
  const builds = await makePipeline(
    project,
    `go: {stage: build, script: x, ${environment('auto_stop_in: 1 hour, on_stop: gone, deployment_tier: testing')}}
look: {stage: build, script: x, ${environment('action: verify')}}
gone: {script: x, when: manual, ${environment('action: stop')}}
`
  )
  const state = () =>
    row<{ state: string; due: Date | null; tier: string | null }>(
      'select state, auto_stop_at as due, tier from environments where project_id = ?',
      [project.id]
    )
  for (const name of ['go', 'look']) {
    const build = named(builds, name)
    if (build) await runBuild(build)
  }
  const before = await state()
  t.match(before, { state: 'available', tier: 'testing' })
  const minutes = ((before?.due?.getTime() ?? 0) - Date.now()) / 60_000
  t.ok(minutes > 55 && minutes <= 60, 'an hour after the deployment')
  const stopDue = async () => {
    let stopped = 0
    const signal = new AbortController().signal
    await dueEnvironments.run({ dryRun: false, signal, note: () => undefined, count: () => void stopped++ })
    return stopped
  }
  t.equal(await stopDue(), 0, 'not before')
  await execute('update environments set auto_stop_at = ? where project_id = ?', [new Date(), project.id])
  t.equal(await stopDue(), 1)
  t.match(await state(), { state: 'stopped', due: null })
  t.match(await row('select status from builds where id = ?', [named(builds, 'gone')?.id ?? 0]), { status: 'pending' })
})
