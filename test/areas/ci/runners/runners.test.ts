import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { registrationToken } from '../../../../src/areas/ci/runners/registration-token.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { MASTER } from '../../../../src/lib/levels.js'
import { testApp } from '../../../helpers/app.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makeRunner } from './make-runners.js'
import { register, tokenOf } from './stock-runner.js'

const app = await testApp(t)
const admin = await factory.admin()

const ids = (answer: { json: () => unknown }) => (answer.json() as { id: number }[]).map(({ id }) => id)
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

t.beforeEach(() => execute('delete from runners'))

t.test('GET /runners lists the runners of the projects of a master', async t => {
  const project = await factory.project()
  const other = await factory.project()
  const runner = await makeRunner({ projects: [project.id, other.id] })
  await makeRunner({ is_shared: true })
  await makeRunner({ projects: [other.id] })
  const answer = await app.as(project.owner).get('/runners')
  t.equal(answer.statusCode, 200)
  t.same(answer.json(), [{ id: runner.id, description: 'a runner', active: true, is_shared: false, name: null }])
  t.equal(answer.headers['x-total'], '1')
  const developer = await factory.member(project, 30)
  t.same((await app.as(developer).get('/runners')).json(), [])
})

t.test('scopes', async t => {
  const project = await factory.project()
  const active = await makeRunner({ projects: [project.id] })
  const paused = await makeRunner({ projects: [project.id], active: false })
  const shared = await makeRunner({ is_shared: true })
  await execute('update runners set contacted_at = ? where id = ?', [minutesAgo(5), paused.id])
  await execute('update runners set contacted_at = ? where id = ?', [minutesAgo(70), active.id])
  const cases: [string, Record<string, string>, number[]][] = [
    ['/runners', { scope: 'active' }, [active.id]],
    ['/runners', { scope: 'paused' }, [paused.id]],
    ['/runners', { scope: 'online' }, [paused.id]],
    ['/runners/all', {}, [active.id, paused.id, shared.id]],
    ['/runners/all', { scope: 'specific' }, [active.id, paused.id]],
    ['/runners/all', { scope: 'shared' }, [shared.id]],
    ['/runners/all', { per_page: '1', page: '2' }, [paused.id]],
    [`/projects/${project.id}/runners`, {}, [active.id, paused.id, shared.id]],
    [`/projects/${project.id}/runners`, { scope: 'shared' }, [shared.id]]
  ]
  for (const [path, query, expected] of cases) {
    const asker = path === '/runners/all' ? admin : project.owner
    t.same(ids(await app.as(asker).get(path, query)), expected, `${path} ${JSON.stringify(query)}`)
  }
  t.match(await app.as(project.owner).get('/runners', { scope: 'shared' }), { statusCode: 400 })
  t.match(await app.as(admin).get('/runners/all', { scope: 'x' }), { statusCode: 400 })
  await execute('update projects set shared_runners_enabled = false where id = ?', [project.id])
  t.same(ids(await app.as(project.owner).get(`/projects/${project.id}/runners`)), [active.id, paused.id])
})

t.test('GET /runners/:id', async t => {
  t.test('shows what a runner reported, and only the projects of the caller', async t => {
    const project = await factory.project()
    const other = await factory.project()
    const { id, token } = await register(app, await tokenOf(project), { tag_list: 'arm', locked: false })
    await execute('insert into runner_projects (runner_id, project_id) values (?, ?)', [id, other.id])
    const found = (await app.as(project.owner).get(`/runners/${id}`)).json()
    t.match(found, {
      id,
      description: 'a stock runner',
      active: true,
      is_shared: false,
      name: 'gitlab-runner',
      version: '17.5.0',
      revision: '6c0a8e4b',
      platform: 'linux',
      architecture: 'amd64',
      contacted_at: String,
      tag_list: ['arm'],
      run_untagged: true,
      locked: false,
      token,
      projects: [{ id: project.id, path_with_namespace: project.path, name_with_namespace: / \/ / }]
    })
    t.equal(found.projects.length, 1)
    t.equal((await app.as(admin).get(`/runners/${id}`)).json().projects.length, 2)
  })

  t.test('hides the token of a shared runner from all but administrators', async t => {
    const { id, token } = await register(app)
    t.notOk('token' in (await app.as(await factory.user()).get(`/runners/${id}`)).json())
    t.equal((await app.as(admin).get(`/runners/${id}`)).json().token, token)
  })

  t.test('refusals', async t => {
    const stranger = await factory.user()
    const { id } = await makeRunner({ projects: [(await factory.project()).id] })
    t.match((await app.as(stranger).get(`/runners/${id}`)).json(), { message: '403 Forbidden - No access granted' })
    t.match((await app.as(admin).get('/runners/4000000')).json(), { message: '404 Runner Not Found' })
  })
})

t.test('PUT /runners/:id', async t => {
  t.test('changes what is given, and the audit says so', async t => {
    const project = await factory.project()
    const { id } = await makeRunner({ projects: [project.id], tags: ['arm'] })
    const body = { description: 'new', active: false, tag_list: ['x', ' y ', 'x'], run_untagged: false, locked: true }
    const answer = await app.as(project.owner).put(`/runners/${id}`, body)
    t.equal(answer.statusCode, 200)
    t.match(answer.json(), { ...body, tag_list: ['x', 'y'] })
    t.match((await app.as(project.owner).put(`/runners/${id}`, {})).json(), { description: 'new' })
    t.match(await row("select action from audit_events where target_type = 'runner' order by id desc"), {
      action: 'runner.update'
    })
  })

  t.test('refusals', async t => {
    const project = await factory.project()
    const own = await makeRunner({ projects: [project.id] })
    const shared = await makeRunner({ is_shared: true })
    const as = app.as(project.owner)
    t.match(await as.put(`/runners/${own.id}`, { run_untagged: false }), {
      statusCode: 400,
      body: /^\{"message":\{"tags_list":\["can not be empty when runner is not allowed to pick untagged jobs"\]\}\}$/
    })
    t.match((await as.put(`/runners/${shared.id}`, { active: false })).json(), {
      message: '403 Forbidden - Runner is shared'
    })
    t.equal((await app.as(admin).put(`/runners/${shared.id}`, { active: false })).statusCode, 200)
    t.equal((await as.put(`/runners/${own.id}`, { active: 'perhaps' })).statusCode, 400)
  })
})

t.test('DELETE /runners/:id', async t => {
  const project = await factory.project()
  const other = await factory.project()
  const [own, both, shared] = [
    await makeRunner({ projects: [project.id] }),
    await makeRunner({ projects: [project.id, other.id] }),
    await makeRunner({ is_shared: true })
  ]
  const as = app.as(project.owner)
  t.match(await as.delete(`/runners/${own.id}`), { statusCode: 200 })
  t.equal(await row('select 1 from runner_projects where runner_id = ?', [own.id]), undefined)
  t.match((await as.delete(`/runners/${both.id}`)).json(), {
    message: '403 Forbidden - Runner associated with more than one project'
  })
  t.match((await as.delete(`/runners/${shared.id}`)).json(), { message: '403 Forbidden - Runner is shared' })
  t.equal((await app.as(admin).delete(`/runners/${both.id}`)).statusCode, 200)
  t.equal((await app.as(admin).delete(`/runners/${shared.id}`)).statusCode, 200)
  t.match((await app.as(admin).delete(`/runners/${(await builtInRunner()).id}`)).json(), {
    message: /built-in runner cannot be removed/
  })
})

t.test('POST and DELETE /projects/:id/runners', async t => {
  const owner = await factory.user()
  const [project, other] = [await factory.project({ owner }), await factory.project({ owner })]
  const runner = await makeRunner({ projects: [other.id] })
  const [path, as] = [`/projects/${project.id}/runners`, app.as(owner)]
  t.match(await as.post(path, { runner_id: runner.id }), { statusCode: 201 })
  t.match(await as.post(path, { runner_id: runner.id }), {
    statusCode: 409,
    body: '{"message":"Runner was already enabled for this project"}'
  })
  t.match(await as.delete(`${path}/${runner.id}`), { statusCode: 200 })
  t.match((await as.delete(`${path}/${runner.id}`)).json(), { message: '404 Runner Not Found' })
  t.match(await as.delete(`/projects/${other.id}/runners/${runner.id}`), {
    statusCode: 403,
    body: '{"message":"403 Forbidden - Only one project associated with the runner. Please remove the runner instead"}'
  })
  const locked = await makeRunner({ projects: [other.id], locked: true })
  const shared = await makeRunner({ is_shared: true })
  const foreign = await makeRunner({ projects: [(await factory.project()).id] })
  for (const [id, text] of [
    [locked.id, 'Runner is locked'],
    [shared.id, 'Runner is shared'],
    [foreign.id, 'No access granted']
  ] as const) {
    t.match(await as.post(path, { runner_id: id }), { statusCode: 403, body: `{"message":"403 Forbidden - ${text}"}` })
  }
  t.match((await as.post(path, { runner_id: 4_000_000 })).json(), { message: '404 Runner Not Found' })
  t.match((await as.post(path, {})).json(), { error: 'runner_id is missing' })
  const master = await factory.member(project, MASTER)
  t.equal((await app.as(master).post(path, { runner_id: runner.id })).statusCode, 403)
})

t.test('the registration token is the same until it is replaced', async t => {
  const both = await Promise.all([registrationToken(), registrationToken()])
  t.equal(both[0], both[1])
  const first = (await app.as(admin).get('/runners/registration_token')).json().token
  t.equal(first, both[0])
  const answer = await app.as(admin).post('/runners/registration_token/reset')
  t.equal(answer.statusCode, 201)
  t.not(answer.json().token, first)
  t.equal(await registrationToken(), answer.json().token)
  await t.rejects(register(app, first), /403/)
  await register(app, answer.json().token)
  await execute("update application_settings set runners_token_encrypted = 'of another key'")
  t.not(await registrationToken(), answer.json().token, 'one that nobody can read is replaced')
})
