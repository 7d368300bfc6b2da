// Keys of the CI file that reach further than one build: variables for later builds, other pipelines, environments.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { nobody, originOf } from '../../../../src/access/actor.js'
import { retryBuilds } from '../../../../src/areas/ci/builds/administer.js'
import { cancelBuild, finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { cancelPipeline } from '../../../../src/areas/ci/builds/pipeline-actions.js'
import { startReady } from '../../../../src/areas/ci/builds/ready-builds.js'
import { storeReportedVariables } from '../../../../src/areas/ci/builds/reported-variables.js'
import { dueEnvironments } from '../../../../src/areas/ci/environments/auto-stop.js'
import { recordDeployment } from '../../../../src/areas/ci/environments/deployments.js'
import { pushPipelines } from '../../../../src/areas/ci/pipelines/pipelines.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { receiveReport } from '../../../../src/areas/ci/runners/dotenv-reports.js'
import { advanceTrigger } from '../../../../src/areas/ci/runners/downstream/advance-trigger.js'
import { launch } from '../../../../src/areas/ci/runners/downstream/launch.js'
import { openDependency } from '../../../../src/areas/ci/runners/external/artifacts.js'
import { jobDocument } from '../../../../src/areas/ci/runners/external/job-document.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { findDescribedBuild } from '../../../../src/areas/ci/runners/job-description.queries.js'
import { repositoryPath } from '../../../../src/areas/projects/projects/repositories.js'
import { loadConfig, publicUrl } from '../../../../src/config.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { readTrace } from '../../../../src/storage/traces.js'
import { fetchText } from '../../../../src/webhooks/fetch-text.js'
import { testApp } from '../../../helpers/app.js'
import { factory, type TestProject } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline, newestBuild, pipelineOf, type TestBuild } from '../builds/make-builds.js'
import { runBuild } from '../environments/make-environments.js'
import { INFO } from '../runners/stock-runner.js'
import { makeVariable } from '../variables/make-variables.js'

const app = await testApp(t)
prepareHome()

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

t.test(
  'the variables of a build publish where and when it runs, and the URL of its environment what it has reported',
  async t => {
    const project = await factory.project()
    const text = `
go:
  script: x
  environment: {name: 'review/$CI_COMMIT_REF_SLUG', url: 'https://$HOST.example.com/$CI_ENVIRONMENT_SLUG'}
  artifacts: {reports: {dotenv: a.env}}
`
    const [first] = await makePipeline(project, text)
    await factory.branch(project, 'next')
    await factory.file(project, 'more', 'x', 'next')
    const [second] = await pipelineOf(project)
    for (const [index, build] of [second, first].entries()) {
      t.match(Object.fromEntries((await described(build)).values), {
        CI_PIPELINE_IID: String(2 - index),
        CI_CONFIG_PATH: '.gitstead-ci.yml',
        CI_JOB_STARTED_AT: /^\d{4}-\d\d-\d\dT.*Z$/,
        CI_PIPELINE_CREATED_AT: /^\d{4}-\d\d-\d\dT.*Z$/,
        CI_ENVIRONMENT_URL: /^https:\/\/\.example\.com\/review-\w+/
      })
    }
    const third = await newestBuild(project)
    const [claim] = await rows<{ buildId: number; pipelineId: number; attempt: number; token: Buffer }>(
      'select id as buildId, pipeline_id as pipelineId, attempt, token_hash as token from builds where id = ?',
      [third.id]
    )
    if (!claim) return t.fail('no claim')
    t.ok(await receiveReport(claim, Buffer.from('HOST=here\nCI_ENVIRONMENT_SLUG=x\n')))
    const trace = { size: 0, sha256: null }
    t.ok(await finishBuild(claim, { status: 'success' }, trace))
    await recordDeployment(third.id)
    t.match(
      await row("select external_url as url from environments where project_id = ? and name = 'review/next'", [
        project.id
      ]),
      {
        url: /^https:\/\/here\.example\.com\/review-next/
      }
    )
  }
)

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
    { artifact_type: 'dotenv', artifact_format: 'gzip', paths: ['a.env'], when: 'always', expire_in: '1 day' }
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

interface DownstreamRow {
  readonly id: number
  readonly project_id: number
  readonly source: string
  readonly status: string
  readonly sha: string
  readonly yaml_errors: string | null
}

/** The pipelines that the builds of a pipeline have started, in order. */
const downstreamOf = (build: TestBuild | undefined) =>
  rows<DownstreamRow>(
    `select l.id, l.project_id, l.source, l.status, l.sha, l.yaml_errors from downstream_pipelines d
       join pipelines l on l.id = d.pipeline_id where d.upstream_pipeline_id = ? order by l.id`,
    [build?.pipelineId ?? 0]
  )

/** The latest builds of a pipeline with their statuses. */
async function statuses(pipelineId: number | undefined) {
  const found = await rows<{ name: string; status: string }>(
    `select name, status from builds where id in (select max(id) from builds where pipeline_id = ? group by name)`,
    [pipelineId ?? 0]
  )
  return Object.fromEntries(found.map(({ name, status }) => [name, status]))
}

const traceOf = async (build: TestBuild | undefined) =>
  (await readTrace({ build: build?.id ?? 0, attempt: 1 })).toString()

/** The built-in runner would also take what other tests have left. */
async function clear() {
  await execute('delete from jobs')
  await execute("update builds set status = 'canceled' where status in ('created', 'pending', 'running')")
}

t.test('the built-in runner runs pipelines that start others', async t => {
  await clear()
  const owner = await factory.user()
  const [upper, lower] = [await factory.project({ owner }), await factory.project({ owner })]
  await factory.file(
    lower,
    '.gitstead-ci.yml',
    `show: {script: ['test "$WHO" = "other of ${upper.path.split('/').at(-1)}"', 'echo version $VERSION, by $CI_PIPELINE_SOURCE']}
left: {script: x, except: [pipelines]}`
  )
  await factory.file(upper, 'child.yml', 'inner: {script: ["echo child has $WHO and $LEVEL", "exit $CODE"]}')
  const builds = await makePipeline(
    upper,
    `
variables: {LEVEL: high}
make: {stage: build, script: ["echo VERSION=1.2 >v.env"], artifacts: {reports: {dotenv: v.env}}}
other: {variables: {WHO: $CI_JOB_NAME of $CI_PROJECT_NAME, VERSION: $VERSION}, trigger: {project: ${lower.path}, branch: master, strategy: depend}}
child: {variables: {WHO: me, CODE: '0'}, trigger: {include: child.yml, strategy: depend}}
broken: {variables: {WHO: me, CODE: '3'}, trigger: {include: child.yml, strategy: depend}, allow_failure: true}
after: {stage: deploy, script: [echo after]}
`
  )
  await runJobs()
  t.same(await statuses(builds[0]?.pipelineId), {
    ...{ make: 'success', other: 'success', child: 'success', broken: 'failed', after: 'success' }
  })
  const started = await downstreamOf(builds[0])
  t.match(started.map(({ source, status, project_id: of }) => [source, status, of]).sort(), [
    ['parent_pipeline', 'failed', upper.id],
    ['parent_pipeline', 'success', upper.id],
    ['pipeline', 'success', lower.id]
  ])
  const shown = await newestBuild(lower)
  t.match(await traceOf(shown), /version 1.2, by pipeline/)
  t.same(await statuses(shown.pipelineId), { show: 'success' })
  t.match(await traceOf(named(builds, 'other')), new RegExp(`Started pipeline ${shown.pipelineId} of ${lower.path}`))
  t.match(await traceOf(await newestBuild(upper)), /child has me and high/)
  // A child pipeline that fails, or is newer, is not what a commit is judged by.
  const commit = await app.as(owner).get(`/projects/${upper.id}/repository/commits/${builds[0]?.sha}`)
  t.equal(commit.json().status, 'success')

  await retryBuilds([named(builds, 'broken')?.id ?? 0], originOf(nobody, null))
  t.match(await statuses(builds[0]?.pipelineId), { broken: 'created' })
  await runJobs()
  t.match(await statuses(builds[0]?.pipelineId), { broken: 'failed' })
  t.equal((await downstreamOf(builds[0])).length, 4, 'a repeated build starts another pipeline')
})

t.test('the file of a child pipeline gets its inputs', async t => {
  const file = `spec: {inputs: {count: {type: number}, names: {type: array}}}
---
make-$[[ inputs.count ]]:
  script: $[[ inputs.names ]]
`
  const start = async (inputs: string) => {
    const project = await factory.project()
    await factory.file(project, 'child.yml', file)
    const ci = `a: {trigger: {include: {local: child.yml, inputs: ${inputs}}, strategy: depend}}`
    const builds = await makePipeline(project, ci)
    await runJobs()
    return { project, a: named(builds, 'a'), states: await statuses(builds[0]?.pipelineId) }
  }
  const given = await start('{count: 3, names: [echo one, echo two]}')
  t.same(given.states, { a: 'success' })
  t.match(await traceOf(await newestBuild(given.project)), /^one[\s\S]*^two/m)
  const wrong = await start('{count: three}')
  t.same(wrong.states, { a: 'failed' })
  t.match(await traceOf(wrong.a), /inputs:count should be of the type number/)
})

t.test('pipelines that are not started', async t => {
  const [mine, other] = [await factory.project(), await factory.project()]
  const member = await factory.project({ owner: mine.owner })
  await factory.file(other, '.gitstead-ci.yml', 'a: {script: x}')
  await factory.file(mine, 'loop.yml', 'again: {trigger: {include: loop.yml}}')
  await factory.file(mine, 'wrong.yml', 'a: {scirpt: x}')
  const open = await factory.project({ visibility_level: 20 })
  await factory.file(open, '.gitstead-ci.yml', 'a: {script: x}')
  await clear()
  const builds = await makePipeline(
    mine,
    `
secret: {trigger: ${other.path}}
public: {trigger: {project: ${open.path}, branch: master}}
none: {trigger: ${member.path}}
wrong: {trigger: {include: wrong.yml}}
gone: {trigger: {include: gone.yml}}
loop: {trigger: {include: loop.yml}}
hand: {when: manual, trigger: {include: loop.yml}}
`
  )
  await runJobs()
  t.same(await statuses(builds[0]?.pipelineId), {
    ...{ secret: 'failed', public: 'failed', none: 'failed', wrong: 'failed', gone: 'failed' },
    ...{ loop: 'success', hand: 'skipped' }
  })
  const told: Record<string, RegExp> = {
    secret: /ERROR: no pipeline was started: 404 Project Not Found/,
    public: /The user of the build may not start pipelines there/,
    none: /Reference not found|no default branch/,
    wrong: /unknown key `scirpt` \(did you mean `script`\?\)/,
    gone: /`gone\.yml` is not a file of the repository/
  }
  for (const [name, text] of Object.entries(told)) t.match(await traceOf(named(builds, name)), text, name)
  const chain = await row<{ depth: number; total: number }>(
    'select max(depth) as depth, count(*) as total from downstream_pipelines where root_pipeline_id = ?',
    [builds[0]?.pipelineId ?? 0]
  )
  t.match(chain, { depth: 5, total: 7 }, 'five below each other, and two with errors')
  t.match(await traceOf(await newestBuild(mine)), /more than 5 pipelines would have started each other/)
})

t.test('canceling a pipeline cancels its children', async t => {
  const project = await factory.project()
  await factory.file(project, 'child.yml', 'a: {script: x}')
  await clear()
  const builds = await makePipeline(project, 'a: {trigger: {include: child.yml, strategy: depend}}')
  await startReady(builds[0]?.id ?? 0)
  await advanceTrigger(builds[0]?.id ?? 0)
  await advanceTrigger(builds[0]?.id ?? 0)
  t.match(await downstreamOf(builds[0]), [{ status: 'pending' }], 'started once')
  t.same(await statuses(builds[0]?.pipelineId), { a: 'running' })
  await cancelPipeline({ id: builds[0]?.pipelineId ?? 0 }, originOf(nobody, null))
  t.match(await downstreamOf(builds[0]), [{ status: 'canceled' }])
  t.same(await statuses(builds[0]?.pipelineId), { a: 'canceled' })
})

t.test('a pipeline that starts others ends as it should, in every order of events', async t => {
  const project = await factory.project()
  await factory.file(project, 'child.yml', 'a: {script: x}')
  await factory.file(project, 'wrong.yml', 'a: {scirpt: x}')
  await clear()

  const starts = (name: string, rest = '') => `${rest}${name}: {trigger: {include: child.yml, strategy: depend}}\n`
  const begin = async (text: string, branch: string) => {
    await factory.branch(project, branch)
    const builds = await makePipeline(project, text, branch)
    for (const { id, name } of builds) if (name !== 'fail') await startReady(id)
    return builds
  }
  const [wrong] = await begin('wrong: {trigger: {include: wrong.yml}}', 'wrong')
  await advanceTrigger(wrong?.id ?? 0)
  t.same(await statuses(wrong?.pipelineId), { wrong: 'failed' })
  // The process was killed before it noted the failure.
  await execute("update builds set status = 'running' where id = ?", [wrong?.id ?? 0])
  await advanceTrigger(wrong?.id ?? 0)
  t.same(await statuses(wrong?.pipelineId), { wrong: 'failed' }, 'broken child')

  const late = await begin(starts('late'), 'late')
  const found = await findDescribedBuild(late[0]?.id ?? 0)
  await cancelPipeline({ id: late[0]?.pipelineId ?? 0 }, originOf(nobody, null))
  if (found) await t.rejects(launch(found), /canceled/, 'canceled while its child is planned')
  t.same(await downstreamOf(late[0]), [])

  const failing = await begin(
    starts('child', 'workflow: {auto_cancel: {on_job_failure: all}}\nfail: {script: x}\n'),
    'failing'
  )
  await advanceTrigger(named(failing, 'child')?.id ?? 0)
  await endBuild(named(failing, 'fail') as TestBuild, { status: 'failed' })
  await runJobs()
  t.match(await downstreamOf(failing[0]), [{ status: 'canceled' }], 'the first failure ends the rest')

  const single = await begin(starts('single'), 'single')
  await advanceTrigger(single[0]?.id ?? 0)
  await cancelBuild(single[0]?.id ?? 0)
  await runJobs()
  t.match(await downstreamOf(single[0]), [{ status: 'canceled' }], 'only the build is canceled')

  const other = await factory.project({ owner: project.owner })
  await factory.file(other, '.gitstead-ci.yml', 'a: {script: x}')
  const waiting = await begin(
    `wait: {trigger: {project: ${other.path}, branch: master, strategy: depend}}\n`,
    'waiting'
  )
  await advanceTrigger(waiting[0]?.id ?? 0)
  t.match(await downstreamOf(waiting[0]), [{ status: 'pending' }])
  t.equal((await app.as(project.owner).delete(`/projects/${other.id}`)).statusCode, 200)
  await runJobs()
  t.same(await statuses(waiting[0]?.pipelineId), { wait: 'failed' }, 'the other project is removed')
})

t.test('a build follows the newest pipeline of another project', async t => {
  await clear()
  const owner = await factory.user()
  const upstream = async () => {
    const project = await factory.project({ owner })
    // No runner takes it by itself.
    const [build] = await makePipeline(project, 'a: {script: x, tags: [away]}')
    return { project, build: build as TestBuild }
  }
  const [good, bad, left, done] = [await upstream(), await upstream(), await upstream(), await upstream()]
  await endBuild(done.build)
  const [mine, empty] = [await factory.project({ owner }), await factory.project({ owner })]
  const far = await factory.project()
  await makePipeline(far, 'a: {script: x}')
  await makeVariable(mine, 'GOOD', good.project.path)
  const builds = await makePipeline(
    mine,
    `good: {needs: {pipeline: $GOOD}}
bad: {needs: [{pipeline: ${bad.project.path}}], allow_failure: true}
left: {needs: {pipeline: ${left.project.path}}, allow_failure: true}
done: {needs: {pipeline: ${done.project.path}}}
far: {needs: {pipeline: ${far.path}}, allow_failure: true}
none: {needs: {pipeline: no/such}, allow_failure: true}
empty: {needs: {pipeline: ${empty.path}}, allow_failure: true}
itself: {needs: {pipeline: ${mine.path}}, allow_failure: true}
`
  )
  await runJobs()
  const now = () => statuses(builds[0]?.pipelineId)
  const ended = { done: 'success', far: 'failed', none: 'failed', empty: 'failed', itself: 'failed' }
  t.same(await now(), { good: 'running', bad: 'running', left: 'running', ...ended })
  const told: Record<string, RegExp> = {
    good: new RegExp(`^Follows pipeline ${good.build.pipelineId} of ${good.project.path}: http`),
    far: /ERROR: no pipeline can be followed: there is no such project, or the user of the build may not read/,
    none: /ERROR: no pipeline can be followed: there is no such project, or the user of the build may not read/,
    empty: /the default branch of the project has no pipeline/,
    itself: /the pipelines would wait for each other/
  }
  for (const [name, text] of Object.entries(told)) t.match(await traceOf(named(builds, name)), text, name)
  t.match(await row('select failure_reason from builds where id = ?', [named(builds, 'far')?.id ?? 0]), {
    failure_reason: 'upstream_bridge_project_not_found'
  })

  await endBuild(good.build)
  await endBuild(bad.build, { status: 'failed' })
  await cancelPipeline({ id: left.build.pipelineId }, originOf(nobody, null))
  await runJobs()
  t.same(await now(), { good: 'success', bad: 'failed', left: 'canceled', ...ended })
  t.match(await row('select failure_reason from builds where id = ?', [named(builds, 'bad')?.id ?? 0]), {
    failure_reason: 'upstream_pipeline_failed'
  })
})

t.test('builds that would follow each other, or a project that is removed, fail', async t => {
  await clear()
  const owner = await factory.user()
  const [one, two, gone] = [
    await factory.project({ owner }),
    await factory.project({ owner }),
    await factory.project({ owner })
  ]
  await makePipeline(gone, 'a: {script: x, tags: [away]}')
  const first = await makePipeline(
    one,
    `hold: {script: x, tags: [away]}\na: {stage: deploy, needs: {pipeline: ${two.path}}}\ngone: {needs: {pipeline: ${gone.path}}}`
  )
  const second = await makePipeline(two, `a: {needs: {pipeline: ${one.path}}}`)
  await startReady(named(first, 'gone')?.id ?? 0)
  await advanceTrigger(named(first, 'gone')?.id ?? 0)
  await startReady(second[0]?.id ?? 0)
  await advanceTrigger(second[0]?.id ?? 0)
  t.same(await statuses(second[0]?.pipelineId), { a: 'running' })
  t.match(await statuses(first[0]?.pipelineId), { hold: 'pending', a: 'created', gone: 'running' })
  t.equal((await app.as(owner).delete(`/projects/${gone.id}`)).statusCode, 200)
  await execute("update builds set allow_failure = true where name = 'gone'")
  await endBuild(named(first, 'hold') as TestBuild)
  await runJobs()
  t.match(await statuses(first[0]?.pipelineId), { a: 'failed', gone: 'failed' })
  t.match(await traceOf(named(first, 'a')), /the pipelines would wait for each other/)
  t.same(await statuses(second[0]?.pipelineId), { a: 'failed' }, 'it ends as the pipeline that it follows')
})

t.test('artifacts of other pipelines', async t => {
  const owner = await factory.user()
  const [mine, near, far] = [
    await factory.project({ owner }),
    await factory.project({ owner }),
    await factory.project()
  ]
  const made = new Map<number, TestBuild>()
  for (const project of [near, far]) {
    const builds = await makePipeline(
      project,
      'make: {script: x, artifacts: {paths: [x]}}\nhide: {script: x, artifacts: {paths: [x], access: none}}'
    )
    for (const build of builds) await endBuild(build, { artifacts: Buffer.from('zip') })
    made.set(project.id, builds[0] as TestBuild)
  }
  const need = (project: TestProject, more = '') => `{project: ${project.path}, ref: master, job: make${more}}`
  await makeVariable(mine, 'NEAR', near.path)
  await factory.file(mine, 'child.yml', 'get: {script: x, needs: [{pipeline: $UP, job: up}]}')
  const builds = await makePipeline(
    mine,
    `up: {stage: build, script: x, artifacts: {paths: [x]}}
own: {script: x, needs: [{project: $NEAR, ref: $CI_DEFAULT_BRANCH, job: make}, ${need(far, ', optional: true')}]}
strange: {script: x, needs: [up, ${need(far)}]}
hidden: {script: x, needs: [{project: ${near.path}, ref: master, job: hide}]}
none: {script: x, needs: [${need(near)}, ${need(near, 'r')}]}
without: {script: x, needs: [${need(far, ', artifacts: false')}]}
below: {variables: {UP: $CI_PIPELINE_ID}, trigger: {include: child.yml}}
sibling: {variables: {UP: '${made.get(near.id)?.pipelineId}'}, trigger: {include: child.yml}}
`
  )
  const up = named(builds, 'up') as TestBuild
  await endBuild(up, { artifacts: Buffer.from('zip') })
  const nearId = made.get(near.id)?.id ?? 0
  const farId = made.get(far.id)?.id ?? 0

  const own = await described(named(builds, 'own'))
  t.same(
    own.document.dependencies.map(({ id }) => id),
    [nearId],
    'a variable, and one that may be missing'
  )
  const opened = await openDependency(nearId, own.description.token)
  opened.stream.destroy()
  t.equal(opened.filename, 'artifacts.zip')
  await t.rejects(openDependency(farId, own.description.token), { name: 'Forbidden' })
  await t.rejects(openDependency(nearId, (await described(named(builds, 'without'))).description.token), {
    name: 'Forbidden'
  })
  for (const name of ['strange', 'hidden', 'none']) {
    await t.rejects(described(named(builds, name)), /are missing, or the user of the build may not read them/, name)
  }

  for (const name of ['below', 'sibling']) {
    await startReady(named(builds, name)?.id ?? 0)
    await advanceTrigger(named(builds, name)?.id ?? 0)
  }
  const children = await rows<TestBuild>(
    "select id, name, pipeline_id as pipelineId, sha from builds where name = 'get'"
  )
  t.same(
    (await described(children[0])).document.dependencies.map(({ id }) => id),
    [up.id],
    'of the parent'
  )
  await t.rejects(described(children[1]), /are missing/, 'of a pipeline that has not led to this one')

  await clear()
  await makePipeline(await factory.project(), `a: {script: x, needs: [${need(far)}]}`)
  await runJobs()
  const failed = await row<{ id: number; failure_reason: string }>(
    'select id, failure_reason from builds order by id desc limit 1'
  )
  t.match(failed, { failure_reason: 'missing_dependency_failure' })
  t.match(await traceOf({ id: failed?.id ?? 0 } as TestBuild), /ERROR: the artifacts of make of \S+ are missing/)
})

/** Plans and makes the pipeline of a project's branch, as its owner. Returns the names of its builds, or the errors. */
async function run(project: TestProject, ref = 'master') {
  const res = await app.as(project.owner).post(`/projects/${project.id}/pipeline`, { ref })
  if (res.statusCode !== 201) return JSON.stringify(res.json())
  const found = await rows<{ name: string }>('select name from builds where pipeline_id = ? order by id', [
    res.json().id
  ])
  return found.map(({ name }) => name).join(' ')
}

t.test('files of other projects, of URLs, and templates', async t => {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    asked.push(request.url)
    if (request.url === '/slow.yml') return
    if (request.url === '/moved.yml') response.writeHead(302, { location: '/far.yml' }).end()
    else if (request.url === '/large.yml') response.end('#'.repeat(1_048_577))
    else response.end('far: {script: x}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const owner = await factory.user()
  const [own, mine, other] = [
    await factory.project({ owner }),
    await factory.project({ owner }),
    await factory.project()
  ]
  for (const project of [mine, other]) {
    await factory.file(project, 'ci/x.yml', 'include: /ci/y.yml\nx: {script: x}')
    await factory.file(project, 'ci/y.yml', 'y: {script: x}')
    await factory.file(project, 'templates/c.yml', 'spec: {inputs: {name: }}\n---\n"$[[ inputs.name ]]": {script: x}')
  }
  await factory.file(mine, 'templates/versioned.yml', 'first: {script: x}')
  for (const [tag_name, name] of Object.entries({
    'v1.9.0': 'nine',
    '1.10.0': 'ten',
    '2.0.0-rc.1': 'early',
    last: 'last'
  })) {
    const file = { file_path: 'templates/versioned.yml', branch_name: 'master', commit_message: name }
    await app.as(owner).put(`/projects/${mine.id}/repository/files`, { ...file, content: `${name}: {script: x}` })
    const tagged = await app.as(owner).post(`/projects/${mine.id}/repository/tags`, { tag_name, ref: 'master' })
    t.equal(tagged.statusCode, 201)
  }
  await makeVariable(own, 'SHARED', mine.path)
  const { hostname } = new URL(publicUrl())
  await factory.file(own, 'README', 'x')
  const cases: Record<string, string | RegExp> = {
    [`{project: ${mine.path}, ref: master, file: /ci/x.yml}`]: 'y x own',
    [`{project: ${mine.path}, ref: none, file: /ci/x.yml}`]: /names a branch, tag or commit that is missing/,
    [`{project: ${other.path}, ref: master, file: ci/y.yml}`]:
      /is not in a project that the user of the pipeline may read/,
    [`{component: ${hostname}/${mine.path}/c@master, inputs: {name: made}}`]: 'made own',
    [`{component: ${hostname}/${other.path}/c@master, inputs: {name: made}}`]:
      /is not in a project that the user of the pipeline may read/,
    [`{component: ${hostname}/${mine.path}/versioned@~latest}`]: 'ten own',
    [`{component: ${hostname}/${own.path}/c@~latest}`]:
      /is in a project without a tag that is a version such as 1\.2\.3/,
    [`{component: ${hostname}/${other.path}/c@~latest}`]: /is not in a project that the user of the pipeline may read/,
    '{project: $SHARED, ref: $CI_DEFAULT_BRANCH, file: ci/y.yml}': 'y own',
    '{project: no/such, file: x.yml}': /is not in a project that the user of the pipeline may read/,
    '{local: none.yml, rules: [{exists: [none.yml]}]}': 'own',
    [`[{project: ${mine.path}, ref: master, file: ci/y.yml, rules: [{if: '$CI_PIPELINE_SOURCE == "api"'}]}]`]: 'y own',
    '{template: None}': /`None` is not a template/,
    [`"${base}/far.yml"`]: /hooks may not reach the address 127\.0\.0\.1/
  }
  let branches = 0
  const check = async (table: typeof cases) => {
    for (const [include, expected] of Object.entries(table)) {
      await execute('delete from jobs')
      const branch = `b${branches++}`
      await factory.branch(own, branch)
      await factory.file(own, '.gitstead-ci.yml', `include: ${include}\nown: {script: x}`, branch)
      const found = await run(own, branch)
      if (expected instanceof RegExp) t.match(found, expected, include)
      else t.equal(found, expected, include)
    }
  }
  await check(cases)
  const damaged = repositoryPath({ id: mine.id, storage: 'default' })
  const lose = (tag: string) => writeFileSync(join(damaged, `refs/tags/${tag}`), `${'5'.repeat(40)}\n`)
  const latest = `{component: ${hostname}/${mine.path}/versioned@~latest}`
  lose('1.9.1')
  await check({ [latest]: 'ten own' })
  lose('1.11.0')
  await check({ [latest]: /is in a project that has lost its newest tag 1\.11\.0/ })
  loadConfig({ port: 0, hooks: { allow: ['127.0.0.1'] } })
  t.teardown(() => loadConfig({ port: 0 }))
  await check({
    [`{remote: "${base}/far.yml", rules: [{when: always}]}`]: 'far own',
    [`"${base}/moved.yml"`]: /answered with status 302/,
    [`"${base}/large.yml"`]: /is larger than 1048576 bytes/
  })

  // A push and a trigger wait for no URL in the queue that everybody needs.
  await execute('delete from jobs')
  await factory.branch(own, 'pushed')
  await factory.file(own, '.gitstead-ci.yml', `include: "${base}/pushed.yml"\nown: {script: x}`, 'pushed')
  const change = await row<{ id: number }>('select max(id) as id from ref_changes where project_id = ?', [own.id])
  const event = { kind: 'ref.changed', refChangeId: change?.id ?? 0 } as const
  await pushPipelines.on['ref.changed']?.({ id: 'x', at: '', event })
  t.notOk(asked.includes('/pushed.yml'), 'the listener does not ask')
  t.match(await row("select queue, lane from jobs where name = 'pipeline.plan'"), { queue: 'hooks', lane: own.id })
  await runJobs()
  t.ok(asked.includes('/pushed.yml'))
  t.match(await newestBuild(own), { name: 'own' })
  t.match(await fetchText(`${base}/slow.yml`, 1000, 50), { problem: 'gave no complete answer in time' })
  server.closeAllConnections()

  server.close()
  await check({ [`[ "${base}/far.yml" ]`]: 'far own' })
})

t.test('a comparison with a branch, and a failure that ends the pipeline', async t => {
  const project = await factory.project()
  await factory.file(project, 'docs', 'x')
  await factory.branch(project, 'topic')
  await factory.file(project, 'later', 'x')
  const compared = (to: string, paths: string) =>
    `script: x, rules: [{changes: {paths: [${paths}], compare_to: ${to}}}]`
  const text = `workflow: {name: '$CI_COMMIT_BRANCH', auto_cancel: {on_job_failure: all}}
new: {${compared('$CI_DEFAULT_BRANCH', 'src')}}
old: {${compared('refs/heads/master', 'docs, later')}}
fail: {script: x}
after: {stage: deploy, script: x}
`
  await factory.file(project, 'src', 'x', 'topic')
  const builds = await makePipeline(project, text, 'topic')
  t.same(builds.map(({ name }) => name).sort(), ['after', 'fail', 'new'])
  t.equal((await described(named(builds, 'new'))).values.get('CI_PIPELINE_NAME'), 'topic')
  await endBuild(named(builds, 'fail') as TestBuild, { status: 'failed' })
  t.same(await statuses(builds[0]?.pipelineId), { new: 'canceled', fail: 'failed', after: 'canceled' })
  await factory.branch(project, 'wrong')
  await factory.file(project, '.gitstead-ci.yml', `a: {${compared('none', 'x')}}`, 'wrong')
  t.match(await run(project, 'wrong'), /compares with `none`, which is not a branch, tag or commit/)
})
