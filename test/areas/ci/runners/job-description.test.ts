// The description of a build has enough data for any runner, and no data of another build.
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { endBuild, makePipeline } from '../builds/make-builds.js'
import { makeRunner } from './make-runners.js'

await testDatabase()

const CI = `stages: [build, test]
before_script: [setup]
compile: { stage: build, script: make, artifacts: { paths: [out] } }
docs: { stage: build, script: make docs, artifacts: { paths: [html] } }
unit:
  stage: test
  tags: [docker]
  image: node
  services: [mysql]
  script: [make test, make lint]
  after_script: [clean]
  variables: { LEVEL: high }
  cache: { paths: [node_modules] }
  artifacts: { paths: [report], expire_in: 1 day }
  dependencies: [compile]
`

t.test('describeBuild describes a claimed build to its runner', async t => {
  const project = await factory.project()
  const builds = await makePipeline(project, CI)
  const [compile, docs, unit] = builds
  if (!compile || !docs || !unit) return t.fail('no builds')
  for (const build of [compile, docs]) await endBuild(build, { artifacts: Buffer.from('archive') })
  const runner = await makeRunner({ projects: [project.id], tags: ['docker', 'arm'] })
  const claim = await claimNext(runner)
  if (!claim) return t.fail('no claim')
  const description = await describeBuild(claim, runner)
  t.match(description, {
    id: unit.id,
    name: 'unit',
    stage: 'test',
    pipelineId: unit.pipelineId,
    token: claim.token,
    project: { id: project.id, path: project.path },
    source: { ref: 'master', tag: false, sha: unit.sha, beforeSha: '0'.repeat(40), depth: 50 },
    timeout: 3600,
    image: 'node',
    services: ['mysql'],
    caches: [{ paths: ['node_modules'], ending: 'protected' }],
    artifacts: { paths: ['report'], expireIn: 86_400 }
  })
  t.same(description?.steps, [
    {
      name: 'script',
      commands: ['setup', 'make test', 'make lint'],
      timeout: 3600,
      when: 'on_success',
      allowFailure: false
    },
    { name: 'after_script', commands: ['clean'], timeout: 300, when: 'always', allowFailure: true }
  ])
  t.match(description?.dependencies, [{ id: compile.id, name: 'compile', artifacts_filename: 'artifacts.zip' }])
  t.equal(description?.dependencies.length, 1)
  const clone = new URL(description?.source.url ?? '')
  t.same([clone.username, clone.password, clone.pathname], ['gitlab-ci-token', claim.token, `/${project.path}.git`])
  const variable = (name: string) => description?.variables.find(({ key }) => key === name)?.value
  t.equal(variable('CI_RUNNER_ID'), String(runner.id))
  t.equal(variable('CI_RUNNER_TAGS'), 'docker, arm')
  t.equal(variable('LEVEL'), 'high')
  t.equal(variable('CI_JOB_TOKEN'), claim.token)
})

t.test('describeBuild returns null when the project is gone', async t => {
  const project = await factory.project()
  await makePipeline(project, 'one: { script: x }\n')
  const runner = await makeRunner({ projects: [project.id] })
  const claim = await claimNext(runner)
  if (!claim) return t.fail('no claim')
  await execute('delete from projects where id = ?', [project.id])
  t.equal(await describeBuild(claim, runner), null)
})
