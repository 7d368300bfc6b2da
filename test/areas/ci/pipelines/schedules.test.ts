// Schedules: made by commands, started by workers at their time, each time once.
import { nobody } from '../../../../src/access/actor.js'
import { runDueSchedule } from '../../../../src/areas/ci/pipelines/schedules/run-schedule.js'
import { createSchedule, startDueSchedules } from '../../../../src/areas/ci/pipelines/schedules/schedules.js'
import { requireSchedule, type ScheduleRow } from '../../../../src/areas/ci/pipelines/schedules/schedules.queries.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { findDescribedBuild } from '../../../../src/areas/ci/runners/job-description.queries.js'
import { variablesOf } from '../../../../src/areas/ci/runners/job-variables.js'
import { findProject } from '../../../../src/areas/projects/projects/projects.queries.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { cli } from '../../../helpers/cli.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, someOrigin, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const { home, databaseUrl } = await testDatabase()
const environment = { GITSTEAD_HOME: home, GITSTEAD_DATABASE_URL: databaseUrl }
const run = (args: readonly (string | number)[], input?: string) =>
  cli(['schedules', ...args.map(String)], { environment, ...(input !== undefined && { input }) })

const CI = `nightly: {script: [make], only: [schedules]}
other: {script: [make], except: [schedules]}
`
const WISH = { ref: 'master', cron: '*/5 * * * *', description: '', active: true, owner: null }

async function makeProject(): Promise<TestProject> {
  const project = await factory.project()
  await factory.file(project, '.gitstead-ci.yml', CI)
  return project
}

async function makeSchedule(project: TestProject, wish = {}): Promise<ScheduleRow> {
  const found = await findProject(project.id, nobody)
  if (!found) throw new Error('no project')
  return createSchedule(found, { ...WISH, ...wish }, someOrigin)
}

const payloads = async () =>
  (await rows<{ payload: string }>("select payload from jobs where name = 'schedule.run' order by id")).map(
    ({ payload }) => JSON.parse(payload) as { scheduleId: number; dueAt: string }
  )
const pipelinesOf = ({ id }: { id: number }) =>
  rows<{ id: number; source: string; user_id: number | null; status: string }>(
    'select id, source, user_id, status from pipelines where project_id = ? order by id',
    [id]
  )

t.beforeEach(() => execute('delete from jobs'))

t.test('a schedule is started once at each of its times, however many workers look', async t => {
  const project = await makeProject()
  const { id, next_run_at: due } = await makeSchedule(project)
  if (!due) throw new Error('no time')
  t.equal(await startDueSchedules(new Date(due.getTime() - 1)), 0, 'not before')
  const late = new Date(due.getTime() + 11 * 60_000)
  const started = await Promise.all([1, 2, 3].map(() => startDueSchedules(late)))
  t.equal(
    started.reduce((sum, each) => sum + each),
    1
  )
  t.same(await payloads(), [{ scheduleId: id, dueAt: due.toISOString() }], 'missed times are made up for once')
  t.equal((await requireSchedule(id)).next_run_at?.getTime(), due.getTime() + 15 * 60_000)
})

t.test('the job makes one pipeline of its time, with the builds for schedules, also when it runs twice', async t => {
  const project = await makeProject()
  const schedule = await makeSchedule(project, {
    owner: project.owner.username,
    variables: { LEVEL: 'high-and-mighty' }
  })
  const job = { scheduleId: schedule.id, dueAt: '2026-11-22T04:00:00.000Z' }
  await runDueSchedule(job)
  await runDueSchedule(job)
  const made = await pipelinesOf(project)
  t.match(made, [{ source: 'schedule', user_id: project.owner.id, status: 'pending' }])
  t.equal(made.length, 1)
  t.match(await requireSchedule(schedule.id), { last_pipeline_id: made[0]?.id, last_error: null })
  const builds = await rows<{ id: number; name: string }>('select id, name from builds where pipeline_id = ?', [
    made[0]?.id ?? 0
  ])
  t.match(builds, [{ name: 'nightly' }])
  const build = await findDescribedBuild(builds[0]?.id ?? 0)
  if (!build) throw new Error('no build')
  const sources = {
    token: 'x',
    runner: await builtInRunner(),
    configVariables: [],
    environment: null,
    parallel: null,
    dependencies: null
  }
  const variables = await variablesOf(build, sources)
  t.match(
    variables.find(({ key }) => key === 'LEVEL'),
    { value: 'high-and-mighty', public: false }
  )
  t.match(
    variables.find(({ key }) => key === 'CI_PIPELINE_SOURCE'),
    { value: 'schedule' }
  )
  await execute('delete from pipeline_schedules where id = ?', [schedule.id])
  t.match(await variablesOf(build, sources), variables, 'a retry gets them after the schedule has gone')
  await runDueSchedule({ ...job, dueAt: '2026-11-22T05:00:00.000Z' })
  t.equal((await pipelinesOf(project)).length, 1, 'a schedule that is gone makes none')
})

t.test('a schedule shows why it cannot run', async t => {
  const project = await makeProject()
  const { username } = project.owner
  const cases: [wish: object, spoil: () => Promise<unknown>, error: RegExp][] = [
    [{ ref: 'nowhere' }, async () => undefined, /Reference not found/],
    [
      { owner: username },
      () => execute("update users set state = 'blocked' where username = ?", [username]),
      /The owner of the schedule may no longer create pipelines/
    ],
    [{}, () => execute('update projects set archived = 1 where id = ?', [project.id]), /accepts no builds/]
  ]
  for (const [wish, spoil, error] of cases) {
    const { id } = await makeSchedule(project, wish)
    await spoil()
    await runDueSchedule({ scheduleId: id, dueAt: '2026-11-22T04:00:00.000Z' })
    t.match(await requireSchedule(id), { last_pipeline_id: null, last_error: error })
  }
  t.equal((await pipelinesOf(project)).length, 0)
})

t.test('a broken CI file leaves a failed pipeline', async t => {
  const project = await factory.project()
  await factory.file(project, '.gitstead-ci.yml', 'nightly: 1\n')
  const { id } = await makeSchedule(project)
  await runDueSchedule({ scheduleId: id, dueAt: '2026-11-22T04:00:00.000Z' })
  t.match(await pipelinesOf(project), [{ source: 'schedule', status: 'failed' }])
  t.match(await requireSchedule(id), { last_error: /nightly/ })
})

t.test('wrong schedules are refused', async t => {
  const project = await makeProject()
  const stranger = await factory.user()
  const cases: [wish: object, message: RegExp][] = [
    [{ cron: 'every day' }, /cron is wrong: not a schedule/],
    [{ cron: '0 25 * * *' }, /cron is wrong: not a part of a schedule: 25/],
    [{ cron: '0 0 30 2 *' }, /cron is wrong: this schedule never comes/],
    [{ ref: '' }, /ref must be the name/],
    [{ owner: stranger.username }, /owner must be an active user who may create pipelines/],
    [{ variables: { 'no-name': 'x' } }, /map of key-valued strings/],
    [{ variables: { KEY: 1 } }, /map of key-valued strings/],
    [{ variables: { KEY: 'x'.repeat(70_000) } }, /at most 100 names and 65536 bytes/]
  ]
  for (const [wish, message] of cases) await t.rejects(makeSchedule(project, wish), { message }, String(message))
  t.equal(await row('select id from pipeline_schedules where project_id = ?', [project.id]), undefined)
})

t.test('schedules by commands', async t => {
  const project = await makeProject()
  const made = await run(
    ['create', project.path, '--cron', '0 4 * * *', '--variables', '-', '--json'],
    '{"A": "secret"}'
  )
  const { id } = made.json() as { id: number }
  t.match(made.json(), {
    ref: 'master',
    owner: null,
    active: true,
    has_variables: true,
    next_run_at: /T04:00:00.000Z$/
  })
  t.notMatch(made.stdout, 'secret')
  t.match(await run(['create', project.path, '--cron', 'daily']), { code: 2, stderr: /^gitstead: cron is wrong/ })
  const changed = await run(['update', id, '--no-active', '--owner', project.owner.username, '--json'])
  t.match(changed.json(), { active: false, owner: project.owner.username, next_run_at: null, has_variables: true })
  t.match((await run(['run', id])).stdout, new RegExp(`^schedule ${id} started pipeline \\d+\\n$`))
  t.match(
    (await run(['list', '--project', project.path])).stdout,
    new RegExp(`\\n${id} .* master +0 4 \\* \\* \\* .*paused`)
  )
  t.match((await run(['list', '--json'])).json(), { total: Number, schedules: Array })
  const named = (await run(['list', project.path, '--json'])).json() as { schedules: { project_id: number }[] }
  t.same(new Set(named.schedules.map(schedule => schedule.project_id)), new Set([project.id]))
  t.match(await run(['list', project.path, '--project', project.path]), { code: 2, stderr: /name the project once/ })
  t.equal((await run(['delete', id, '--dry-run'])).stdout, `would delete schedule ${id}\n`)
  t.match((await run(['delete', id, 999_999, '--yes', '--json'])).json(), {
    results: [{ result: { deleted: { id } } }, {}]
  })
  const audited = await rows<{ action: string }>(
    "select action from audit_events where action like 'schedule.%' and target_id = ? order by id",
    [id]
  )
  t.same(
    audited.map(({ action }) => action),
    ['schedule.create', 'schedule.update', 'schedule.run', 'schedule.delete']
  )
})
