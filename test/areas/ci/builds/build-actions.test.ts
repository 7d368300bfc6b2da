// What people do to builds and pipelines by the API.
import { changesOfRunners } from '../../../../src/areas/ci/runners/changes.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { openArtifact } from '../../../../src/storage/artifacts.js'
import { appendTrace, traceSize } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'
import { beginBuild, endBuild, makePipeline, type TestBuild } from './make-builds.js'

const app = await testApp(t)
const CI =
  'stages: [a, b]\nfirst: { stage: a, script: x, artifacts: { paths: [o] } }\nnext: { stage: b, script: x }\nby-hand: { stage: b, script: x, when: manual }\n'

async function subject(ci = CI) {
  const project = await app.make.project()
  const builds = await makePipeline(project, ci)
  const owner = app.as(project.owner)
  const of = (name: string): TestBuild => {
    const found = builds.find(build => build.name === name)
    if (!found) throw new Error(`no build ${name}`)
    return found
  }
  const path = ({ id }: { id: number }, action: string) => `/projects/${project.id}/builds/${id}/${action}`
  const pipeline = `/projects/${project.id}/pipelines/${builds[0]?.pipelineId}`
  const statuses = async () =>
    (
      await rows<{ name: string; status: string }>('select name, status from builds where project_id = ? order by id', [
        project.id
      ])
    ).map(({ name, status }) => `${name} ${status}`)
  return { project, owner, of, path, pipeline, statuses }
}

t.test('cancel ends a build that waits or runs, and leaves one that has ended', async t => {
  const { owner, of, path } = await subject()
  await beginBuild(of('first'))
  const res = await owner.post(path(of('first'), 'cancel'))
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id: of('first').id, status: 'canceled', finished_at: String })
  const again = await owner.post(path(of('first'), 'cancel'))
  t.equal(again.statusCode, 201)
  t.same(again.json(), res.json())
})

t.test('of several retries of one build at the same moment, one makes a build', async t => {
  const { owner, of, path } = await subject()
  await endBuild(of('first'), { status: 'failed' })
  const answers = await Promise.all(Array.from({ length: 5 }, () => owner.post(path(of('first'), 'retry'))))
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 403, 403, 403, 403])
  t.match(
    await row('select count(*) as builds from builds where pipeline_id = ? and name = ?', [
      of('first').pipelineId,
      'first'
    ]),
    {
      builds: 2
    }
  )
})

t.test('a pending build wakes the runners when the settings of its project let it start', async t => {
  const { project, owner, of } = await subject()
  const at = `/projects/${project.id}`
  const set = (name: string, value: boolean) => () => owner.put(at, { [name]: value })
  const payload = JSON.stringify({ buildId: of('first').id })
  for (const [off, on] of [
    [set('shared_runners_enabled', false), set('shared_runners_enabled', true)],
    [set('builds_enabled', false), set('builds_enabled', true)],
    [() => owner.post(`${at}/archive`), () => owner.post(`${at}/unarchive`)]
  ] as const) {
    await off()
    await execute("delete from jobs where name = 'build.run'")
    const before = changesOfRunners()
    t.match((await on()).statusCode, /20[01]/)
    t.equal((await rows("select id from jobs where name = 'build.run' and payload = ?", [payload])).length, 1)
    t.ok(changesOfRunners() > before, 'runners that poll look again')
  }
})

t.test('retry answers with the new build', async t => {
  const { owner, of, path, statuses } = await subject()
  const early = await owner.post(path(of('first'), 'retry'))
  t.equal(early.statusCode, 403)
  t.same(early.json(), { message: '403 Forbidden - Build is not retryable' })
  await endBuild(of('first'), { status: 'failed' })
  const res = await owner.post(path(of('first'), 'retry'))
  t.equal(res.statusCode, 201)
  t.match(res.json(), { name: 'first', status: 'pending', finished_at: null })
  t.not(res.json().id, of('first').id)
  t.same(await statuses(), ['first failed', 'next created', 'by-hand created', 'first pending'])
})

t.test('erase removes trace and artifacts, once', async t => {
  const { owner, of, path } = await subject()
  const first = of('first')
  const unerasable = async () => {
    const res = await owner.post(path(first, 'erase'))
    t.equal(res.statusCode, 403)
    t.same(res.json(), { message: '403 Forbidden - Build is not erasable!' })
  }
  await unerasable()
  await endBuild(first, { trace: 'said', artifacts: Buffer.from('archive') })
  const res = await owner.post(path(first, 'erase'))
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id: first.id, status: 'success', artifacts_file: null, download_url: null })
  for (const what of ['trace', 'artifacts']) t.equal((await owner.get(path(first, what))).statusCode, 404)
  const key = { build: first.id, attempt: 1 }
  t.equal(await traceSize(key), 0)
  t.equal(await openArtifact(key), undefined)
  await unerasable()
})

t.test('a canceled build can be erased too', async t => {
  const { owner, of, path } = await subject()
  const first = of('first')
  const { attempt } = await beginBuild(first)
  await appendTrace({ build: first.id, attempt }, Buffer.from('said'))
  t.equal((await owner.post(path(first, 'erase'))).statusCode, 403, 'not while it runs')
  t.equal((await owner.post(path(first, 'cancel'))).statusCode, 201)
  t.equal((await owner.post(path(first, 'erase'))).statusCode, 201)
  t.equal((await owner.get(path(first, 'trace'))).statusCode, 404)
})

t.test('keep lets artifacts stay', async t => {
  const { owner, of, path } = await subject()
  const first = of('first')
  t.equal((await owner.post(path(first, 'artifacts/keep'))).statusCode, 404)
  await endBuild(first, { artifacts: Buffer.from('archive'), expireIn: 3600 })
  for (const time of ['first', 'second']) {
    const res = await owner.post(path(first, 'artifacts/keep'))
    t.equal(res.statusCode, 200, time)
    t.match(res.json(), { artifacts_file: { filename: 'artifacts.zip', size: 7 } })
  }
  t.match(await row('select artifacts_expire_at as ends from builds where id = ?', [first.id]), { ends: null })
})

t.test('artifacts that have expired cannot be kept', async t => {
  const { owner, of, path } = await subject()
  await endBuild(of('first'), { artifacts: Buffer.from('archive'), expireIn: -1 })
  const res = await owner.post(path(of('first'), 'artifacts/keep'))
  t.equal(res.statusCode, 404)
  t.same(res.json(), { message: '404 Not Found' })
})

t.test('play starts a manual build when its stage has had its turn', async t => {
  const { project, owner, of, path } = await subject()
  const refused = async (build: TestBuild) => {
    const res = await owner.post(path(build, 'play'))
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: '400 (Bad request) "Unplayable Build" not given' })
  }
  await refused(of('by-hand'))
  await endBuild(of('first'))
  await refused(of('next'))
  const player = await app.make.member(project, 30)
  const res = await app.as(player).post(path(of('by-hand'), 'play'))
  t.equal(res.statusCode, 200)
  t.match(res.json(), { name: 'by-hand', status: 'pending', user: { id: player.id } })
  await refused(of('by-hand'))
})

t.test('unknown builds and those of other projects are not found', async t => {
  const { owner, path } = await subject()
  const other = await subject()
  for (const id of [999_999, other.of('first').id]) {
    for (const action of ['cancel', 'retry', 'erase', 'artifacts/keep', 'play']) {
      const res = await owner.post(path({ id }, action))
      t.equal(res.statusCode, 404, `${action} ${id}`)
      t.same(res.json(), { message: '404 Not Found' })
    }
  }
  t.match(await other.statuses(), ['first pending'])
})

t.test('a pipeline that failed is retried from the stage that failed', async t => {
  const { owner, of, pipeline, statuses } = await subject()
  await endBuild(of('first'), { status: 'failed' })
  const res = await owner.post(`${pipeline}/retry`)
  t.equal(res.statusCode, 201)
  t.match(res.json(), { id: of('first').pipelineId, status: 'running', finished_at: null })
  t.same(await statuses(), ['first failed', 'next created', 'by-hand created', 'first pending'])
})

t.test('a pipeline that was canceled begins again in the order of its stages', async t => {
  const { owner, of, pipeline, statuses } = await subject()
  await beginBuild(of('first'))
  const canceled = await owner.post(`${pipeline}/cancel`)
  t.equal(canceled.statusCode, 200)
  t.match(canceled.json(), { status: 'canceled' })
  t.same(await statuses(), ['first canceled', 'next canceled', 'by-hand canceled'])
  t.equal((await owner.post(`${pipeline}/retry`)).statusCode, 201)
  t.same((await statuses()).slice(3), ['first pending', 'next created', 'by-hand created'])
})

t.test('a second cancel or retry of a pipeline changes nothing', async t => {
  const { owner, pipeline, statuses } = await subject()
  await owner.post(`${pipeline}/cancel`)
  const before = await statuses()
  t.match((await owner.post(`${pipeline}/cancel`)).json(), { status: 'canceled' })
  t.same(await statuses(), before)
  await owner.post(`${pipeline}/retry`)
  const retried = await statuses()
  await owner.post(`${pipeline}/retry`)
  t.same(await statuses(), retried)
})

t.test('pipelines of other projects are not found', async t => {
  const { project, owner } = await subject()
  const other = await subject()
  const id = other.of('first').pipelineId
  for (const action of ['retry', 'cancel']) {
    t.equal((await owner.post(`/projects/${project.id}/pipelines/${id}/${action}`)).statusCode, 404)
  }
  t.match(await other.statuses(), ['first pending'])
})
