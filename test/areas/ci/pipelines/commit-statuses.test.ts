// What services outside say about a commit: the record, the states that may follow each other, and the pipeline that it is part of.
import { execute, row } from '../../../../src/db/connect/sql.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { endBuild, makePipeline } from '../builds/make-builds.js'

const app = await testApp(t)

async function subject() {
  const project = await app.make.project()
  await app.make.file(project, 'a.txt', 'a')
  const owner = app.as(project.owner)
  const [commit] = (await owner.get(`/projects/${project.id}/repository/commits`)).json()
  const sha: string = commit.id
  const post = (body: object, to = sha) => owner.post(`/projects/${project.id}/statuses/${to}`, body)
  const list = async (query = '', of = sha) =>
    (await owner.get(`/projects/${project.id}/repository/commits/${of}/statuses${query}`)).json()
  const pipelines = async () => (await owner.get(`/projects/${project.id}/pipelines`)).json()
  return { project, owner, sha, post, list, pipelines }
}

t.test('a status is posted with its defaults, and makes the pipeline of its commit', async t => {
  const { sha, post, pipelines, owner, project } = await subject()
  const res = await post({ state: 'running' })
  t.equal(res.statusCode, 201)
  t.match(res.json(), {
    id: Number,
    sha,
    ref: 'master',
    status: 'running',
    name: 'default',
    target_url: null,
    description: null,
    created_at: String,
    started_at: String,
    finished_at: null,
    allow_failure: false,
    author: { username: project.owner.username }
  })
  t.match(await pipelines(), [{ sha, ref: 'master', status: 'running', user: { username: project.owner.username } }])
  t.equal((await owner.get(`/projects/${project.id}/repository/commits/${sha}`)).json().status, 'running')
  t.equal((await post({ state: 'success' })).json().id, res.json().id, 'the open status is the same one')
  t.match(await pipelines(), [{ status: 'success', finished_at: String }])
  t.not((await post({ state: 'pending' })).json().id, res.json().id, 'an ended one is followed by another')
  t.equal((await pipelines()).length, 1)
})

t.test('a status runs once, and never goes back', async t => {
  const { post, list } = await subject()
  const refused = async (state: string, message: string) => {
    const res = await post({ state })
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message })
  }
  const reason = (event: string) => `(Reason(s): Status cannot transition via "${event}")`
  await post({ state: 'pending' })
  await refused('pending', `Cannot transition status via :enqueue from :pending ${reason('enqueue')}`)
  await post({ state: 'running' })
  await refused('running', `Cannot transition status via :run from :running ${reason('run')}`)
  await refused('pending', `Cannot transition status via :enqueue from :running ${reason('enqueue')}`)
  t.match(await list('?all=true'), [{ status: 'running' }])
  for (const state of ['failed', 'failed', 'canceled', 'success']) t.equal((await post({ state })).statusCode, 201)
  t.match(
    (await list('?all=true')).map(({ status }: { status: string }) => status),
    ['failed', 'failed', 'canceled', 'success']
  )
})

t.test('wrong questions', async t => {
  const { project, owner, sha, post, list } = await subject()
  const answers = [
    [{}, 400, { error: 'state is missing' }],
    [{ state: 'great' }, 400, { error: 'state does not have a valid value' }],
    [{ state: 'success', ref: ['master'] }, 400, { error: 'ref is invalid' }],
    [
      { state: 'success', target_url: 'javascript:alert(1)' },
      400,
      { message: { target_url: ['must be a valid URL'] } }
    ],
    [{ state: 'success', ref: 'a..b' }, 400, { message: 'ref is invalid' }],
    [{ state: 'success', name: 'x'.repeat(256) }, 400, {}]
  ] as const
  for (const [body, status, answer] of answers) {
    const res = await post(body)
    t.equal(res.statusCode, status, JSON.stringify(body).slice(0, 60))
    t.match(res.json(), answer)
  }
  const unknown = { message: '404 Commit Not Found' }
  t.same((await post({ state: 'success' }, '0'.repeat(40))).json(), unknown)
  t.same(await list('', 'nope'), unknown)
  t.same(await list(), [], 'nothing was kept')
  t.same((await owner.get(`/projects/${project.id}/pipelines`)).json(), [])
  await post({ state: 'success' })
  t.same(await list('', sha.slice(0, 8)), [], 'only the whole id matches')
})

t.test('a commit that no branch contains needs a ref', async t => {
  const { project, owner, post, sha } = await subject()
  const root = `/projects/${project.id}/repository`
  await app.make.branch(project, 'side')
  await app.make.file(project, 'b.txt', 'b', 'side')
  const { id } = (await owner.get(`${root}/commits/side`)).json()
  t.equal((await post({ state: 'success' }, id)).json().ref, 'side')
  await owner.delete(`${root}/branches/side`)
  const res = await post({ state: 'success' }, id)
  t.equal(res.statusCode, 404)
  t.same(res.json(), { message: '404 References for commit Not Found' })
  t.equal((await post({ state: 'success', ref: 'side' }, id)).statusCode, 201)
  await owner.post(`${root}/tags`, { tag_name: 'v1', ref: sha })
  await post({ state: 'success', ref: 'v1' })
  t.match((await owner.get(`/projects/${project.id}/pipelines`)).json()[0], { ref: 'v1', tag: true })
})

t.test('the list has builds too, the latest of each name, and filters', async t => {
  const { project, owner } = await subject()
  const [build] = await makePipeline(project, 'job: { script: x }\n')
  if (!build) throw new Error('no build')
  const post = (body: object) => owner.post(`/projects/${project.id}/statuses/${build.sha}`, body)
  const path = `/projects/${project.id}/repository/commits/${build.sha}/statuses`
  const named = async (query: string) =>
    (await owner.get(`${path}?${query}`)).json().map(({ name, status }: Record<string, string>) => `${name} ${status}`)
  for (const state of ['failed', 'success'])
    await post({ state, context: 'lint', target_url: 'https://ci.example.org/1' })
  await post({ state: 'pending', name: 'deploy', context: 'unused', description: 'soon' })
  t.same(await named(''), ['job pending', 'lint success', 'deploy pending'])
  t.same(await named('all=1'), ['job pending', 'lint failed', 'lint success', 'deploy pending'])
  t.same(await named('name=lint'), ['lint success'])
  t.same(await named('stage=test'), ['job pending'])
  t.same(await named('stage=external&ref=master'), ['lint success', 'deploy pending'])
  t.same(await named('ref=other'), [])
  const second = await owner.get(`${path}?per_page=1&page=2`)
  t.match(second.json(), [{ name: 'lint' }])
  t.equal(second.headers['x-total'], '3')
})

t.test('a status counts in the pipeline like its builds, and is canceled with it', async t => {
  const { project, owner } = await subject()
  const [build] = await makePipeline(project, 'job: { script: x }\n')
  if (!build) throw new Error('no build')
  const status = async () => (await owner.get(`/projects/${project.id}/pipelines/${build.pipelineId}`)).json().status
  const post = (state: string) => owner.post(`/projects/${project.id}/statuses/${build.sha}`, { state })
  await post('running')
  await endBuild(build)
  t.equal(await status(), 'running', 'the status is still open')
  await owner.post(`/projects/${project.id}/pipelines/${build.pipelineId}/cancel`)
  t.equal(await status(), 'canceled')
  await post('failed')
  t.equal(await status(), 'failed')
  await post('success')
  t.equal(await status(), 'success')
})

t.test('two posts at once make one pipeline, and a pipeline has so many statuses', async t => {
  const { project, sha, post, pipelines } = await subject()
  const posted = await Promise.all(['a', 'b', 'c', 'd'].map(name => post({ state: 'success', name })))
  t.same(
    posted.map(({ statusCode }) => statusCode),
    [201, 201, 201, 201]
  )
  const [pipeline, ...others] = await pipelines()
  t.same(others, [])
  await execute(
    `insert into commit_statuses (project_id, pipeline_id, sha, ref, name, status, created_at, updated_at)
     with recursive numbers as (select 1 as n union all select n + 1 from numbers where n < 996)
     select ?, ?, ?, 'master', n, 'success', now(3), now(3) from numbers`,
    [project.id, pipeline.id, sha]
  )
  const res = await post({ state: 'success', name: 'one more' })
  t.equal(res.statusCode, 400)
  t.match(res.json(), { message: /at most 1000 statuses/ })
  const found = await row<{ total: number }>('select count(*) as total from commit_statuses where pipeline_id = ?', [
    pipeline.id
  ])
  t.equal(found?.total, 1000)
})
