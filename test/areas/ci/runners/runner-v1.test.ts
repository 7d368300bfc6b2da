// The protocol of stock runners 0.x and 1.x.
import type { InjectOptions } from 'fastify'
import { cancelBuild } from '../../../../src/areas/ci/builds/claim.js'
import { noteRunnerChange } from '../../../../src/areas/ci/runners/changes.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { readTrace } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { makeTrigger } from '../pipelines/make-triggers.js'
import { tokenOf } from './stock-runner.js'

const app = await testApp(t)
prepareHome()

const INFO = {
  name: 'gitlab-ci-multi-runner',
  version: '1.11.5',
  platform: 'linux',
  architecture: 'amd64',
  executor: 'shell'
}
const ask = (method: string, path: string, more: Omit<InjectOptions, 'method' | 'url'> = {}, version = '1.11.5') =>
  app.fastify.inject({
    ...more,
    method: method as 'GET',
    url: `/ci/api/v1${path}`,
    headers: { 'user-agent': `gitlab-ci-multi-runner ${version} (HEAD; go1.7.5; linux/amd64)`, ...more.headers }
  })

interface Build {
  readonly id: number
  readonly token: string
  readonly [more: string]: unknown
}

async function register(project: { id: number }): Promise<{ id: number; token: string }> {
  const payload = {
    info: INFO,
    token: await tokenOf(project),
    description: 'old',
    tag_list: '',
    run_untagged: true,
    locked: false
  }
  const answer = await ask('POST', '/runners/register.json', { payload })
  t.equal(answer.statusCode, 201)
  t.equal(answer.headers['content-type'], 'application/json', 'runners before 1.10 take no parameters')
  return answer.json()
}

const next = (token: string, version?: string) =>
  ask('POST', '/builds/register.json', { payload: { info: INFO, token } }, version)

async function running(ci = 'test: { script: [make, make test] }\n') {
  const project = await factory.project()
  await makePipeline(project, ci)
  const runner = await register(project)
  const answer = await next(runner.token)
  t.equal(answer.statusCode, 201)
  return { project, runner, build: answer.json() as Build }
}

const patch = (build: { id: number; token: string }, start: number, text: string) =>
  ask('PATCH', `/builds/${build.id}/trace.txt`, {
    headers: {
      'build-token': build.token,
      'content-range': `${start}-${start + text.length}`,
      'content-type': 'text/plain'
    },
    payload: text
  })

t.test('a runner registers, is alive, and leaves', async t => {
  const { token } = await register(await factory.project())
  t.equal((await ask('PUT', '/builds/-1', { payload: { token } })).statusCode, 404, 'alive')
  t.equal((await ask('PUT', '/builds/-1', { payload: { token: 'x' } })).statusCode, 403, 'removed')
  t.equal((await ask('POST', '/runners/register.json', { payload: { token: 'x' } })).statusCode, 403)
  t.equal((await ask('DELETE', '/runners/delete', { payload: { token } })).statusCode, 200)
  t.equal((await ask('DELETE', '/runners/delete', { payload: { token } })).statusCode, 403)
})

t.test('nothing to do: 204 from version 1.0 on, before it and when paused 404', async t => {
  const { id, token } = await register(await factory.project())
  t.equal((await next(token)).statusCode, 204)
  t.equal((await next(token, '0.7.2')).statusCode, 404)
  await execute('update runners set active = false where id = ?', [id])
  noteRunnerChange()
  t.equal((await next(token)).statusCode, 404)
  t.equal((await next('x')).statusCode, 403)
})

t.test('the document of a build', async t => {
  const { build, project } = await running(`
unit:
  image: { name: node, entrypoint: [''] }
  services: [{ name: mysql, alias: db }]
  script: [make, make test]
  after_script: [clean]
  cache: { key: k, paths: [c] }
  artifacts: { paths: [out], expire_in: 1 hour }
`)
  t.match(build, {
    id: Number,
    project_id: project.id,
    name: 'unit',
    stage: 'test',
    ref: 'master',
    tag: false,
    status: 'running',
    token: /^[0-9a-f]{40}$/,
    repo_url: `//gitlab-ci-token:${build.token}@`,
    allow_git_fetch: true,
    timeout: 3600,
    commands: 'make\nmake test',
    options: {
      image: 'node',
      services: ['mysql'],
      after_script: ['clean'],
      cache: { key: 'k-protected', paths: ['c'], untracked: false },
      artifacts: { paths: ['out'], when: 'on_success', expire_in: '1 hour' }
    },
    depends_on_builds: [],
    credentials: []
  })
  const variables = build.variables as { key: string; value: unknown; public: boolean }[]
  t.match(
    variables.find(({ key }) => key === 'CI_BUILD_TOKEN'),
    { value: build.token, public: false }
  )
})

t.test('a trigger starts a pipeline with the path of that time', async t => {
  const project = await factory.project()
  await makePipeline(project, 'test: { script: x }\n')
  await app.make.branch(project, 'feature/a')
  const token = await makeTrigger(project)
  const path = (ref: string) => `/projects/${project.id}/refs/${encodeURIComponent(ref)}/trigger`
  const call = (ref: string, payload: object) => ask('POST', path(ref), { payload })
  const made = await call('feature/a', { token, variables: { LEVEL: 'high' } })
  t.equal(made.statusCode, 201)
  t.match(made.json(), { id: Number, variables: { LEVEL: 'high' } })
  t.match(await row('select ref, source from pipelines where project_id = ? order by id desc limit 1', [project.id]), {
    ref: 'feature/a',
    source: 'trigger'
  })
  t.equal((await call('master', { token: 'x' })).statusCode, 404)
  t.equal((await call('master', { token: await makeTrigger(await factory.project()) })).statusCode, 401)
  t.equal((await call('gone', { token })).statusCode, 400)
  t.equal((await call('master', { token, variables: { A: 1 } })).statusCode, 400)
})

t.test('a build runs to its end', async t => {
  const { build, runner } = await running()
  const put = (payload: object, token = runner.token) =>
    ask('PUT', `/builds/${build.id}.json`, { payload: { info: INFO, token, ...payload } })
  t.equal((await put({ state: 'running' })).statusCode, 200)
  t.match(await patch(build, 0, 'one'), { statusCode: 202, headers: { 'build-status': 'running', range: '0-3' } })
  t.match(await patch(build, 9, 'two'), { statusCode: 416, headers: { range: '0-3' } })
  t.match(await patch(build, 3, ' two'), { statusCode: 202, headers: { range: '0-7' } })
  const other = await register(await factory.project())
  t.equal((await put({ state: 'success' }, other.token)).statusCode, 404, 'the build of another runner')
  t.equal((await put({ state: 'success' }, 'x')).statusCode, 403)
  t.equal((await put({ state: 'success', trace: `one two ${build.token}` })).statusCode, 200)
  t.equal((await put({ state: 'success' })).statusCode, 404)
  t.match(await row('select status, runner_id from builds where id = ?', [build.id]), {
    status: 'success',
    runner_id: runner.id
  })
  t.equal((await readTrace({ build: build.id, attempt: 1 })).toString(), `one two ${'*'.repeat(40)}`)
})

t.test('a failure has no reason, and a cancel is seen by both requests', async t => {
  const failed = await running()
  const fail = { payload: { token: failed.runner.token, state: 'failed' } }
  t.equal((await ask('PUT', `/builds/${failed.build.id}.json`, fail)).statusCode, 200)
  t.match(await row('select failure_reason from builds where id = ?', [failed.build.id]), {
    failure_reason: 'script_failure'
  })
  const { build, runner } = await running()
  await cancelBuild(build.id)
  t.match(await patch(build, 0, 'x'), { statusCode: 403, headers: { 'build-status': 'canceled' } })
  t.equal((await ask('PUT', `/builds/${build.id}.json`, { payload: { token: runner.token } })).statusCode, 404)
})

t.test('artifacts go up, down for a build that needs them, and away', async t => {
  const { build, runner } = await running(
    'stages: [a, b]\nmake: { stage: a, script: x, artifacts: { paths: [out] } }\nuse: { stage: b, script: x }\n'
  )
  const path = `/builds/${build.id}/artifacts`
  const form =
    '--b0\r\nContent-Disposition: form-data; name="file"; filename="artifacts.zip"\r\n\r\nthe archive\r\n--b0--\r\n'
  const up = (token: string) =>
    ask('POST', `${path}?expire_in=1+day`, {
      headers: { 'build-token': token, 'content-type': 'multipart/form-data; boundary=b0' },
      payload: form
    })
  t.equal((await up('x')).statusCode, 403)
  t.equal((await up(build.token)).statusCode, 201)
  t.equal((await ask('DELETE', path, { headers: { 'build-token': build.token } })).statusCode, 200)
  t.match(await row('select artifacts_filename from builds where id = ?', [build.id]), { artifacts_filename: null })
  t.equal((await up(build.token)).statusCode, 201)
  await ask('PUT', `/builds/${build.id}.json`, { payload: { token: runner.token, state: 'success' } })
  const user = (await next(runner.token)).json() as Build
  t.match(user.depends_on_builds, [
    {
      id: build.id,
      name: 'make',
      stage: 'a',
      token: user.token,
      artifacts_file: { filename: 'artifacts.zip', size: 11 }
    }
  ])
  const got = await ask('GET', path, { headers: { 'build-token': user.token } })
  t.equal(got.body, 'the archive')
  t.equal((await ask('GET', path, { headers: { 'build-token': 'x' } })).statusCode, 403)
})
