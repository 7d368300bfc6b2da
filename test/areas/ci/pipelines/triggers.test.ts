// Triggers start pipelines for programs that have no account.
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { describeBuild } from '../../../../src/areas/ci/runners/job-description.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { makeRunner } from '../runners/make-runners.js'
import { makeTrigger } from './make-triggers.js'

const app = await testApp(t)
const CI =
  'job: { script: x }\nonly-pushes: { script: x, only: [pushes] }\nonly-triggers: { script: x, only: [triggers] }\n'

async function subject(ci = CI) {
  const project = await app.make.project()
  await app.make.file(project, '.gitstead-ci.yml', ci)
  const path = `/projects/${project.id}`
  const token = await makeTrigger(project)
  const call = (body: object, to = path) => app.nobody.post(`${to}/trigger/builds`, { token, ref: 'master', ...body })
  const owner = app.as(project.owner)
  return { project, owner, path, token, call, pipelines: async () => (await owner.get(`${path}/pipelines`)).json() }
}

t.test('a trigger is created, listed, read and removed', async t => {
  const { owner, path, token } = await subject()
  const created = await owner.post(`${path}/triggers`)
  t.equal(created.statusCode, 201)
  t.match(created.json(), {
    token: /^[0-9a-f]{30}$/,
    created_at: String,
    updated_at: String,
    deleted_at: null,
    last_used: null
  })
  const one = `${path}/triggers/${created.json().token}`
  t.same((await owner.get(one)).json(), created.json())
  t.match((await owner.get(`${path}/triggers`)).json(), [{ token }, created.json()])
  const removed = await owner.delete(one)
  t.equal(removed.statusCode, 200)
  t.same(removed.json(), created.json())
  for (const res of [await owner.get(one), await owner.delete(one)]) {
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Trigger Not Found' })
  }
})

t.test('the database has no token in clear', async t => {
  const { project, token } = await subject()
  const stored = await row<{ box: Buffer }>('select token_encrypted as box from triggers where project_id = ?', [
    project.id
  ])
  t.notOk(stored?.box.includes(token))
})

t.test('a token that cannot be decrypted is an error, except for those who know it', async t => {
  const { project, owner, path, token } = await subject()
  await execute("update triggers set token_encrypted = 'of another key' where project_id = ?", [project.id])
  const list = await owner.get(`${path}/triggers`)
  t.equal(list.statusCode, 500)
  t.match(list.json(), { message: /trigger \d+ cannot be decrypted/ })
  t.match((await owner.get(`${path}/triggers/${token}`)).json(), { token })
  t.match((await owner.delete(`${path}/triggers/${token}`)).json(), { token })
})

t.test('a call starts a pipeline without an account', async t => {
  const { owner, path, token, call, pipelines } = await subject()
  const res = await call({ variables: { LEVEL: 'high', EMPTY: '' } })
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id: Number, variables: { LEVEL: 'high', EMPTY: '' } })
  t.match(await pipelines(), [{ ref: 'master', status: 'pending', before_sha: '0'.repeat(40), user: null }])
  const builds = (await owner.get(`${path}/builds`)).json() as { name: string }[]
  t.same(builds.map(({ name }) => name).sort(), ['job', 'only-triggers'])
  t.match((await owner.get(`${path}/triggers/${token}`)).json(), { last_used: String })
})

t.test('a call works as a form and as the target of a hook', async t => {
  const { path, token, pipelines } = await subject()
  const form = await app.nobody.inject({
    method: 'POST',
    url: `/api/v3${path}/trigger/builds`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `token=${token}&ref=master&variables[A]=1&variables[B]=2`
  })
  t.equal(form.statusCode, 201)
  t.match(form.json(), { variables: { A: '1', B: '2' } })
  const hook = await app.nobody.inject({
    method: 'POST',
    url: `/api/v3${path}/ref/master/trigger/builds?token=${token}`,
    payload: { object_kind: 'push', ref: 'refs/heads/other', commits: [{ id: 'x' }] }
  })
  t.equal(hook.statusCode, 201)
  t.match(hook.json(), { variables: null })
  t.equal((await pipelines()).length, 2)
})

t.test('the builds get the variables as secrets, which win over those of the project', async t => {
  const { project, owner, path, call } = await subject('job: { script: x, variables: { LEVEL: file } }\n')
  await owner.post(`${path}/variables`, { key: 'LEVEL', value: 'project' })
  await call({ variables: { LEVEL: 'trigger' } })
  const runner = await makeRunner({ projects: [project.id] })
  const claim = await claimNext(runner)
  if (!claim) return t.fail('no claim')
  const { variables = [] } = (await describeBuild(claim, runner)) ?? {}
  t.same(
    variables.filter(({ key }) => key === 'LEVEL' || key === 'CI_PIPELINE_TRIGGERED'),
    [
      { key: 'CI_PIPELINE_TRIGGERED', value: 'true', public: true },
      { key: 'LEVEL', value: 'trigger', public: false }
    ]
  )
})

t.test('wrong calls are refused, and start nothing', async t => {
  const { path, call, pipelines } = await subject()
  const other = await subject()
  const cases: [status: number, body: object, answer: object, to?: string][] = [
    [404, { token: 'unknown' }, { message: '404 Not found' }],
    [404, {}, { message: '404 Not found' }, '/projects/999999'],
    [401, { token: other.token }, { message: '401 Unauthorized' }],
    [400, { ref: 'gone' }, { message: 'No builds created' }],
    [400, { ref: '--all' }, { message: 'No builds created' }],
    [400, { ref: undefined }, { error: 'ref is missing' }],
    [400, { token: undefined }, { error: 'token is missing' }],
    [400, { variables: 'a' }, { error: 'variables is invalid' }],
    [400, { variables: { A: 1 } }, { message: 'variables needs to be a map of key-valued strings' }],
    [400, { variables: { 'A B': 'x' } }, { message: 'variables needs to be a map of key-valued strings' }],
    [400, { variables: { A: 'a\0' } }, { message: 'variables needs to be a map of key-valued strings' }],
    [400, { variables: { A: 'x'.repeat(65_536) } }, { message: /65536 bytes/ }]
  ]
  for (const [status, body, answer, to = path] of cases) {
    const res = await call(body, to)
    t.equal(res.statusCode, status, JSON.stringify(body).slice(0, 80))
    t.match(res.json(), answer)
  }
  t.same(await pipelines(), [])
})

t.test('a file without builds for triggers creates nothing, a broken one a failed pipeline', async t => {
  const none = await subject('job: { script: x, only: [pushes] }\n')
  t.match((await none.call({})).json(), { message: 'No builds created' })
  t.same(await none.pipelines(), [])
  const broken = await subject('job: { scrip: x }\n')
  const res = await broken.call({})
  t.equal(res.statusCode, 400)
  t.match(res.json(), { message: /scrip/ })
  t.match(await broken.pipelines(), [{ status: 'failed', yaml_errors: /scrip/ }])
})

t.test('a project that accepts no builds refuses a call', async t => {
  const { owner, path, call, pipelines } = await subject()
  await owner.put(path, { builds_enabled: false })
  t.equal((await call({})).statusCode, 403)
  await owner.put(path, { builds_enabled: true })
  t.same(await pipelines(), [])
})
