// Environments by the API, and what builds do to them.
import { recordDeployment } from '../../../../src/areas/ci/environments/deployments.js'
import { branchEnvironments } from '../../../../src/areas/ci/environments/stop.js'
import { row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makePipeline, pipelineOf } from '../builds/make-builds.js'
import { runBuild } from './make-environments.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  const owner = app.as(project.owner)
  const path = `/projects/${project.id}`
  return {
    project,
    owner,
    environments: `${path}/environments`,
    deployments: `${path}/deployments`,
    deploy: async (ci: string) => {
      const [build] = await makePipeline(project, ci)
      if (!build) throw new Error('no build')
      return { build, variables: await runBuild(build) }
    }
  }
}

t.test('an environment is created, listed, changed and deleted', async t => {
  const { project, owner, environments } = await subject()
  const created = await owner.post(environments, { name: 'production', external_url: 'https://example.org' })
  t.equal(created.statusCode, 201)
  t.match(created.json(), {
    id: Number,
    name: 'production',
    slug: 'production',
    external_url: 'https://example.org',
    project: { id: project.id, path_with_namespace: project.path }
  })
  t.same((await owner.get(environments)).json(), [created.json()])
  const one = `${environments}/${created.json().id}`
  const renamed = await owner.put(one, { name: 'live', external_url: '' })
  t.equal(renamed.statusCode, 200)
  t.match(renamed.json(), { name: 'live', slug: 'production', external_url: null })
  t.match((await owner.put(one, {})).json(), { name: 'live', external_url: null })
  const deleted = await owner.delete(one)
  t.equal(deleted.statusCode, 200)
  t.same(deleted.json(), renamed.json())
  for (const res of [await owner.put(one, { name: 'x' }), await owner.delete(one)]) {
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Not found' })
  }
})

t.test('wrong values are refused by name', async t => {
  const { owner, environments } = await subject()
  const { id } = (await owner.post(environments, { name: 'one' })).json()
  await owner.post(environments, { name: 'two' })
  const cases: [object, object][] = [
    [{ name: 'two' }, { message: { name: ['has already been taken'] } }],
    [{ name: '' }, { message: { name: ["can't be blank"] } }],
    [{ name: 'ä' }, { message: { name: [/letters/] } }],
    [{ name: 'x'.repeat(256) }, { message: { name: [/255/] } }],
    [{ name: 'new', external_url: 'javascript:alert(1)' }, { message: { external_url: [/http/] } }],
    [{ name: 'new', external_url: `https://${'x'.repeat(260)}` }, { message: { external_url: [/255/] } }],
    [{ name: 'new', slug: 'own' }, { error: 'slug is automatically generated and cannot be changed' }]
  ]
  for (const [body, answer] of cases) {
    for (const res of [await owner.post(environments, body), await owner.put(`${environments}/${id}`, body)]) {
      t.equal(res.statusCode, 400, JSON.stringify(body).slice(0, 60))
      t.match(res.json(), answer)
    }
  }
  t.match((await owner.post(environments, {})).json(), { error: 'name is missing' })
  t.match((await owner.get(environments)).json(), [{ name: 'one' }, { name: 'two' }])
})

t.test('a build that succeeds makes its environment and a deployment', async t => {
  const { project, owner, environments, deployments, deploy } = await subject()
  const { build, variables } = await deploy(
    'job: { script: x, environment: { name: review/$CI_COMMIT_REF_NAME, url: "https://$CI_ENVIRONMENT_SLUG.example.org" } }\n'
  )
  const [environment] = (await owner.get(environments)).json()
  t.match(environment, { name: 'review/master', slug: /^review-master-\w{6}$/ })
  t.equal(environment.external_url, `https://${environment.slug}.example.org`)
  const values = new Map(variables.map(({ key, value }) => [key, value]))
  t.equal(values.get('CI_ENVIRONMENT_NAME'), 'review/master')
  t.equal(values.get('CI_ENVIRONMENT_SLUG'), environment.slug)
  t.equal(values.get('CI_ENVIRONMENT_URL'), environment.external_url)
  const [deployment] = (await owner.get(deployments)).json()
  t.match(deployment, {
    iid: 1,
    ref: 'master',
    sha: build.sha,
    created_at: String,
    user: { id: project.owner.id },
    environment: { id: environment.id, name: 'review/master', external_url: environment.external_url },
    deployable: { id: build.id, status: 'success', commit: { id: build.sha }, user: { id: project.owner.id } }
  })
  t.notOk('pipeline' in deployment.deployable)
  t.same((await owner.get(`${deployments}/${deployment.id}`)).json(), deployment)
})

t.test('the second run of the job changes nothing, and numbers count in the project', async t => {
  const { project, owner, deployments, deploy } = await subject()
  const { build } = await deploy('job: { script: x, environment: staging }\n')
  await recordDeployment(build.id)
  await app.make.file(project, 'second', 'x')
  const [second] = await pipelineOf(project)
  if (!second) return t.fail('no build')
  await runBuild(second)
  const list = (await owner.get(deployments)).json() as { iid: number }[]
  t.same(
    list.map(({ iid }) => iid),
    [1, 2]
  )
})

t.test('a build that stops an environment makes no deployment', async t => {
  const { project, owner, environments, deployments, deploy } = await subject()
  await deploy('job: { script: x, environment: { name: staging, action: stop } }\n')
  t.match((await owner.get(environments)).json(), [{ name: 'staging' }])
  t.same((await owner.get(deployments)).json(), [])
  t.match(await row('select state from environments where project_id = ?', [project.id]), { state: 'stopped' })
})

t.test('a name that no environment can have leaves the build without one', async t => {
  const { owner, environments, deploy } = await subject()
  const { variables } = await deploy('job: { script: x, environment: "$UNKNOWN", variables: { A: b } }\n')
  t.same((await owner.get(environments)).json(), [])
  t.notOk(variables.some(({ key }) => key.startsWith('CI_ENVIRONMENT')))
})

const STOPPED = `
deploy: { stage: build, script: x, environment: { name: review, on_stop: sink } }
sink: { script: x, when: manual, environment: { name: review, action: stop } }
`

t.test('stopping an environment starts its on_stop job', async t => {
  const { project, owner, environments, deploy } = await subject()
  const { build } = await deploy(STOPPED)
  const [{ id }] = (await owner.get(environments)).json()
  const statusOf = async () =>
    (
      await row<{ status: string }>("select status from builds where pipeline_id = ? and name = 'sink'", [
        build.pipelineId
      ])
    )?.status
  t.equal(await statusOf(), 'skipped')
  const res = await owner.post(`${environments}/${id}/stop`)
  t.equal(res.statusCode, 200)
  t.match(res.json(), { id, name: 'review' })
  t.equal(await statusOf(), 'pending')
  t.match(await row('select state from environments where project_id = ?', [project.id]), { state: 'stopped' })
  t.equal((await owner.post(`${environments}/${id}/stop`)).statusCode, 200, 'again, without another build')
  t.equal((await owner.post(`${environments}/${id + 100}/stop`)).statusCode, 404)
})

t.test('an environment stops with the branch that it came from', async t => {
  const { project, owner, environments } = await subject()
  await app.make.file(project, 'a', 'x')
  await owner.post(`/projects/${project.id}/repository/branches`, { branch_name: 'topic', ref: 'master' })
  const [build] = await makePipeline(project, STOPPED, 'topic')
  if (!build) return t.fail('no build')
  await runBuild(build)
  t.equal((await owner.get(environments)).json().length, 1)
  t.equal((await owner.delete(`/projects/${project.id}/repository/branches/topic`)).statusCode, 200)
  const change = await row<{ id: number }>('select max(id) as id from ref_changes where project_id = ?', [project.id])
  const hear = branchEnvironments.on['ref.changed']
  const told = {
    id: 'x',
    at: new Date().toISOString(),
    event: { kind: 'ref.changed', refChangeId: change?.id ?? 0 }
  }
  await hear?.(told as Parameters<typeof hear>[0])
  t.match(await row('select state from environments where project_id = ?', [project.id]), { state: 'stopped' })
  t.match(await row("select status from builds where pipeline_id = ? and name = 'sink'", [build.pipelineId]), {
    status: 'pending'
  })
})

t.test('deployments are deleted with their environment', async t => {
  const { owner, environments, deployments, deploy } = await subject()
  await deploy('job: { script: x, environment: staging }\n')
  const [{ id }] = (await owner.get(environments)).json()
  await owner.delete(`${environments}/${id}`)
  t.same((await owner.get(deployments)).json(), [])
})

t.test('those of other projects are not found', async t => {
  const { owner, environments, deployments } = await subject()
  const other = await subject()
  await other.deploy('job: { script: x, environment: staging }\n')
  const [deployment] = (await other.owner.get(other.deployments)).json()
  t.equal((await owner.get(`${deployments}/${deployment.id}`)).statusCode, 404)
  t.equal((await owner.delete(`${environments}/${deployment.environment.id}`)).statusCode, 404)
  t.equal((await other.owner.get(other.environments)).json().length, 1)
})

t.test('a list of deployments takes a fixed number of statements', async t => {
  const { project, owner, deployments, deploy } = await subject()
  await deploy('job: { script: x, environment: staging }\n')
  const count = () => countStatements(() => owner.get(deployments))
  const one = await count()
  for (let number = 0; number < 3; number++) {
    await app.make.file(project, `file-${number}`, 'x')
    const [build] = await pipelineOf(project)
    if (build) await runBuild(build)
  }
  t.equal((await owner.get(deployments)).json().length, 4)
  t.equal(await count(), one)
})
