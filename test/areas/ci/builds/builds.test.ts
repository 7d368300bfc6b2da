import { findBuild } from '../../../../src/areas/ci/builds/builds.queries.js'
import { cancelBuild } from '../../../../src/areas/ci/builds/claim.js'
import { appendTrace } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline, pipelineOf } from './make-builds.js'

const CI = `stages: [build, test]
compile:
  stage: build
  script: [make]
  artifacts: {paths: [out]}
unit:
  stage: test
  script: [make test]
lint:
  stage: test
  script: [make lint]
`
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const UNKNOWN = ['999999', '0', '-1', '4294967296']

t.test('pipelines', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const [compile, unit, lint] = await makePipeline(project, CI)
  if (!compile || !unit || !lint) throw new Error('no builds')
  const owner = app.as(project.owner)
  const get = async (id: number) => (await owner.get(`/projects/${project.id}/pipelines/${id}`)).json()

  t.test('GET /projects/:id/pipelines/:pipeline_id returns the record', async t => {
    const res = await owner.get(`/projects/${project.id}/pipelines/${compile.pipelineId}`)
    t.equal(res.statusCode, 200)
    t.same(Object.keys(res.json()).length, 15)
    t.match(res.json(), {
      id: compile.pipelineId,
      status: 'pending',
      ref: 'master',
      sha: compile.sha,
      before_sha: '0'.repeat(40),
      tag: false,
      yaml_errors: null,
      user: {
        name: project.owner.name,
        username: project.owner.username,
        id: project.owner.id,
        state: 'active',
        avatar_url: null,
        web_url: String
      },
      created_at: DATE_TIME,
      updated_at: DATE_TIME,
      started_at: null,
      finished_at: null,
      committed_at: DATE_TIME,
      duration: null,
      coverage: null
    })
    t.same((await owner.get(`/projects/${project.id}/pipelines`)).json(), [res.json()], 'and the list the same')
  })

  t.test('a pipeline follows the status of its builds', async t => {
    await beginBuild(compile)
    t.match(await get(compile.pipelineId), { status: 'running', started_at: DATE_TIME })
    await cancelBuild(compile.id)
    t.match(await get(compile.pipelineId), { status: 'canceled', finished_at: DATE_TIME, duration: Number })
  })

  t.test('a pipeline fails with its build and skips the later builds', async t => {
    await app.make.file(project, 'second', 'x')
    const [first] = await pipelineOf(project)
    if (!first) throw new Error('no build')
    await endBuild(first, { status: 'failed', trace: 'oh' })
    t.match(await get(first.pipelineId), { status: 'failed', finished_at: DATE_TIME })
    const builds = (await owner.get(`/projects/${project.id}/builds`)).json().slice(0, 3)
    t.same(builds.map(({ status }: { status: string }) => status).sort(), ['failed', 'skipped', 'skipped'])
  })

  t.test('a pipeline shows errors of the CI file', async t => {
    const broken = await app.make.project()
    await makePipeline(broken, 'job:\n  scrip: [x]\n')
    const [pipeline] = (await app.as(broken.owner).get(`/projects/${broken.id}/pipelines`)).json()
    t.match(pipeline, { status: 'failed', yaml_errors: /scrip/ })
  })

  t.test('the list can be filtered by scope', async t => {
    const list = async (scope: string) => (await owner.get(`/projects/${project.id}/pipelines`, { scope })).json()
    t.equal((await list('branches')).length, 1)
    t.same(await list('tags'), [])
    t.same(await list('running'), [])
    const res = await owner.get(`/projects/${project.id}/pipelines`, { scope: 'all' })
    t.equal(res.statusCode, 400)
    t.match(res.json(), { error: 'scope does not have a valid value' })
  })

  t.test('an unknown id, or the id of another project’s pipeline, is not found', async t => {
    const other = await app.make.project()
    const [foreign] = await makePipeline(other, CI)
    for (const id of [...UNKNOWN, foreign?.pipelineId]) {
      const res = await owner.get(`/projects/${project.id}/pipelines/${id}`)
      t.equal(res.statusCode, 404, String(id))
      t.same(res.json(), { message: '404 Not found' })
    }
    t.match((await owner.get(`/projects/${project.id}/pipelines/x`)).json(), { error: 'pipeline_id is invalid' })
  })
})

t.test('builds', async t => {
  const app = await testApp(t)
  const project = await app.make.project()
  const [compile, unit, lint] = await makePipeline(project, CI)
  if (!compile || !unit || !lint) throw new Error('no builds')
  const owner = app.as(project.owner)
  const base = `/projects/${project.id}/builds`

  await t.test('a build without trace and artifacts answers 404 for both', async t => {
    for (const what of ['trace', 'artifacts']) {
      const res = await owner.get(`${base}/${unit.id}/${what}`)
      t.equal(res.statusCode, 404)
      t.same(res.json(), { message: '404 Not Found' })
    }
    t.match((await owner.get(`${base}/${unit.id}`)).json(), {
      status: 'created',
      artifacts_file: null,
      started_at: null
    })
  })

  await endBuild(compile, { trace: 'compiling\nünïcode\n', artifacts: Buffer.from('the archive') })

  t.test('GET returns the record', async t => {
    const res = await owner.get(`${base}/${compile.id}`)
    t.equal(res.statusCode, 200)
    const build = res.json()
    t.same(Object.keys(build).length, 16)
    t.match(build, {
      id: compile.id,
      status: 'success',
      stage: 'build',
      name: 'compile',
      ref: 'master',
      tag: false,
      coverage: null,
      created_at: DATE_TIME,
      started_at: DATE_TIME,
      finished_at: DATE_TIME,
      artifacts_file: { filename: 'artifacts.zip', size: 11 },
      commit: {
        id: compile.sha,
        short_id: compile.sha.slice(0, 8),
        title: 'Add .gitstead-ci.yml',
        message: 'Add .gitstead-ci.yml',
        author_name: project.owner.name,
        author_email: project.owner.email,
        created_at: String
      },
      pipeline: { id: compile.pipelineId, ref: 'master', sha: compile.sha, status: /pending|running/ },
      runner: { id: Number, description: 'built-in runner', active: true, is_shared: true, name: null },
      download_url: null
    })
    t.match(build.user, {
      id: project.owner.id,
      username: project.owner.username,
      is_admin: false,
      created_at: DATE_TIME
    })
    t.same(Object.keys(build.user).length, 15, 'the full user')
    t.notOk('email' in build.user)
    const listed = (await owner.get(base)).json().find(({ id }: { id: number }) => id === compile.id)
    t.same(listed, build)
  })

  t.test('GET trace returns the trace', async t => {
    const res = await owner.get(`${base}/${compile.id}/trace`)
    t.equal(res.statusCode, 200)
    t.match(res.headers['content-type'], /^text\/plain/)
    t.equal(res.body, 'compiling\nünïcode\n')
  })

  t.test('a trace grows while the build runs', async t => {
    const claim = await beginBuild(lint)
    const key = { build: lint.id, attempt: claim.attempt }
    await appendTrace(key, Buffer.from('one\n'))
    t.equal((await owner.get(`${base}/${lint.id}/trace`)).body, 'one\n')
    await appendTrace(key, Buffer.from('two\n'))
    t.equal((await owner.get(`${base}/${lint.id}/trace`)).body, 'one\ntwo\n')
    t.match((await owner.get(`${base}/${lint.id}`)).json(), { status: 'running', finished_at: null })
    await cancelBuild(lint.id)
  })

  t.test('GET artifacts returns the archive', async t => {
    const res = await owner.get(`${base}/${compile.id}/artifacts`)
    t.equal(res.statusCode, 200)
    t.equal(res.body, 'the archive')
    t.equal(res.headers['content-length'], '11')
    t.equal(res.headers['content-disposition'], 'attachment; filename=artifacts.zip')
  })

  t.test('a download is continued by Range, of the archive that was begun', async t => {
    const whole = await owner.get(`${base}/${compile.id}/artifacts`)
    const etag = String(whole.headers.etag)
    t.match(whole.headers, { 'accept-ranges': 'bytes', etag: /^"[0-9a-f]{64}"$/ })
    const cases: [headers: Record<string, string>, status: number, body: string, range?: string][] = [
      [{ range: 'bytes=4-' }, 206, 'archive', 'bytes 4-10/11'],
      [{ range: 'bytes=0-2' }, 206, 'the', 'bytes 0-2/11'],
      [{ range: 'bytes=-3' }, 206, 'ive', 'bytes 8-10/11'],
      [{ range: 'bytes=4-99', 'if-range': etag }, 206, 'archive', 'bytes 4-10/11'],
      [{ range: 'bytes=4-', 'if-range': '"another"' }, 200, 'the archive'],
      [{ range: 'bytes=0-1,4-5' }, 200, 'the archive'],
      [{ range: 'bytes=11-' }, 416, '{"message":"416 Range Not Satisfiable - the file has 11 bytes"}', 'bytes */11']
    ]
    for (const [headers, status, body, range] of cases) {
      const res = await app.as(project.owner, headers).get(`${base}/${compile.id}/artifacts`)
      const { 'content-range': told, 'content-length': length } = res.headers
      t.same(
        [res.statusCode, res.body, told, length],
        [status, body, range, String(body.length)],
        JSON.stringify(headers)
      )
    }
  })

  t.test('a trace that grows is read from where the client stands', async t => {
    const other = await app.make.project()
    const [build] = await makePipeline(other, 'compile: {script: [make]}\n')
    if (!build) throw new Error('no build')
    const claim = await beginBuild(build)
    const key = { build: build.id, attempt: claim.attempt }
    const url = `/projects/${other.id}/builds/${build.id}/trace`
    const from = (start: number) => app.as(other.owner, { range: `bytes=${start}-` }).get(url)
    await appendTrace(key, Buffer.from('one\n'))
    t.equal((await from(0)).body, 'one\n')
    t.equal((await from(4)).statusCode, 416, 'nothing more yet')
    await appendTrace(key, Buffer.from('two\n'))
    t.match(await from(4), { statusCode: 206, body: 'two\n', headers: { 'content-range': 'bytes 4-7/8' } })
    await cancelBuild(build.id)
  })

  t.test('expired artifacts are not found', async t => {
    await app.make.file(project, 'expiring', 'x')
    const [build] = await pipelineOf(project)
    if (!build) throw new Error('no build')
    await endBuild(build, { artifacts: Buffer.from('old'), expireIn: -1 })
    t.equal((await owner.get(`${base}/${build.id}/artifacts`)).statusCode, 404)
    t.equal((await owner.get(`${base}/${build.id}`)).json().artifacts_file, null)
  })

  t.test('GET artifacts of a ref returns those of its newest successful pipeline', async t => {
    const other = await app.make.project()
    const ci = 'compile:\n  script: [make]\n  artifacts: {paths: [out]}\n'
    const url = `/projects/${other.id}/builds/artifacts`
    const asOwner = app.as(other.owner)
    const [first] = await makePipeline(other, ci)
    if (!first) throw new Error('no build')
    t.equal(
      (await asOwner.get(`${url}/master/download`, { job: 'compile' })).statusCode,
      404,
      'not before it has ended'
    )
    await endBuild(first, { artifacts: Buffer.from('first') })
    await app.make.file(other, 'more', 'x')
    const [second] = await pipelineOf(other)
    if (!second) throw new Error('no build')
    await endBuild(second, { status: 'failed', artifacts: Buffer.from('second') })
    t.equal((await asOwner.get(`${url}/master/download`, { job: 'compile' })).body, 'first')
    const rest = await app.as(other.owner, { range: 'bytes=3-' }).get(`${url}/master/download`, { job: 'compile' })
    t.match(rest, { statusCode: 206, body: 'st' })
    for (const [ref, job] of [
      ['master', 'other'],
      ['nowhere', 'compile'],
      ['-x', 'compile']
    ]) {
      const res = await asOwner.get(`${url}/${ref}/download`, { job: job ?? '' })
      t.equal(res.statusCode, 404, `${ref} ${job}`)
      t.same(res.json(), { message: '404 Not Found' })
    }
    t.match((await asOwner.get(`${url}/master/download`)).json(), { error: 'job is missing' })
  })

  t.test('the list is newest first, and can be filtered by one scope or several', async t => {
    const names = async (query: string) =>
      (await owner.get(`${base}?${query}`)).json().map(({ status }: { status: string }) => status)
    const all = (await owner.get(base)).json().map(({ id }: { id: number }) => id)
    t.same(
      all,
      [...all].sort((a, b) => b - a)
    )
    t.ok((await names('scope=success')).every((status: string) => status === 'success'))
    t.same([...new Set(await names('scope[]=success&scope[]=canceled'))].sort(), ['canceled', 'success'])
    t.same([...new Set(await names('scope%5B%5D=canceled'))], ['canceled'])
    for (const query of ['scope=bogus', 'scope[]=success&scope[]=bogus']) {
      const res = await owner.get(`${base}?${query}`)
      t.equal(res.statusCode, 400, query)
      t.match(res.json(), { error: 'scope does not have a valid value' })
    }
    t.equal((await owner.get(`${base}?scope[a]=success`)).statusCode, 400)
  })

  t.test('the builds of a commit are listed', async t => {
    const of = (sha: string, query = {}) => owner.get(`/projects/${project.id}/repository/commits/${sha}/builds`, query)
    const found = (await of(compile.sha)).json()
    t.same(found.map(({ name }: { name: string }) => name).sort(), ['compile', 'lint', 'unit'])
    t.equal((await of(compile.sha, { scope: 'success' })).json().length, 1)
    const res = await of('f'.repeat(40))
    t.equal(res.statusCode, 404)
    t.same(res.json(), { message: '404 Commit Not Found' })
    const quiet = await app.make.project()
    await app.make.file(quiet, 'x', 'x')
    t.same((await app.as(quiet.owner).get(`/projects/${quiet.id}/repository/commits/master/builds`)).json(), [])
  })

  t.test('an unknown id, or the id of another project’s build, is not found', async t => {
    const other = await app.make.project()
    const [foreign] = await makePipeline(other, CI)
    for (const id of [...UNKNOWN, foreign?.id]) {
      for (const suffix of ['', '/trace', '/artifacts']) {
        const res = await owner.get(`${base}/${id}${suffix}`)
        t.equal(res.statusCode, 404, `${id}${suffix}`)
        t.same(res.json(), { message: '404 Not Found' })
      }
    }
    t.match((await owner.get(`${base}/x`)).json(), { error: 'build_id is invalid' })
    t.equal(await findBuild(project.id, foreign?.id ?? 0), undefined)
  })

  t.test('a list runs the same number of statements for any number of builds', async t => {
    const lists = [base, `/projects/${project.id}/pipelines`]
    const before = await Promise.all(lists.map(() => 0))
    for (const [at, path] of lists.entries()) before[at] = await countStatements(() => owner.get(path))
    await app.make.file(project, 'one more', 'x')
    await pipelineOf(project)
    for (const [at, path] of lists.entries()) {
      // New builds are read once.
      await owner.get(path)
      t.equal(await countStatements(() => owner.get(path)), before[at], path)
    }
    t.same(before, [2, 2], 'the client and the project, and the list')
  })
})
