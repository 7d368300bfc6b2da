import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { addMissingWakeUps, countMissingWakeUps } from '../../../../src/areas/ci/runners/wake-ups.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { beginBuild, makePipeline } from '../builds/make-builds.js'
import { makeRunner } from './make-runners.js'

await testDatabase()

const register = () => registerProcess({ queues: ['builds'], concurrency: 1 })
const wakeUps = async () => (await rows("select id from jobs where name = 'build.run'")).length
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const inMinutes = (minutes: number) => minutesAgo(-minutes)
/** At this time waiting builds are overdue, but no lease ended more than a minute ago. */
const afterAMinute = () => new Date(Date.now() + 61_000)

async function pending(ci = 'test: { script: x }\n') {
  const project = await factory.project()
  const [build] = await makePipeline(project, ci)
  if (!build) throw new Error('no build')
  return { project, build }
}

t.beforeEach(async () => {
  for (const table of ['jobs', 'builds', 'pipelines', 'pipeline_stages']) await execute(`delete from ${table}`)
  await execute("update runners set tag_list = '[]', active = true where built_in = 1")
})

t.test('a build without worker and wake-up gets one wake-up from concurrent calls', async t => {
  const { build } = await pending()
  await beginBuild(build, await register())
  await execute('delete from jobs')
  await execute('update builds set lease_until = ?', [minutesAgo(2)])
  t.equal(await countMissingWakeUps(), 1)
  const added = await Promise.all([addMissingWakeUps(), addMissingWakeUps(), addMissingWakeUps()])
  t.same(added.sort(), [0, 0, 1])
  t.equal(await wakeUps(), 1)
})

t.test('a build that waits for a minute without a wake-up gets another one', async t => {
  await pending()
  t.equal(await addMissingWakeUps(inMinutes(2)), 0, 'it has one')
  await execute("update jobs set state = 'dead'")
  t.equal(await addMissingWakeUps(), 0, 'it may be on its way')
  t.equal(await addMissingWakeUps(inMinutes(2)), 1)
  t.equal(await addMissingWakeUps(inMinutes(2)), 0)
})

t.test('a build that a machine with a clock ahead has queued gets another one as well', async t => {
  const { build } = await pending()
  await execute('update builds set queued_at = ? where id = ?', [inMinutes(5), build.id])
  t.equal(await addMissingWakeUps(), 0, 'it has one')
  await execute("update jobs set state = 'dead'")
  t.equal(await addMissingWakeUps(), 1)
})

t.test('a wake-up that is due later than in a minute does not count', async t => {
  await pending()
  await execute("update jobs set state = 'delayed', run_at = ?", [inMinutes(30)])
  t.equal(await addMissingWakeUps(inMinutes(2)), 1)
})

t.test('wake-ups do not accumulate while no worker takes them', async t => {
  const { build } = await pending()
  await beginBuild(build, await register())
  await execute('update builds set lease_until = ?', [minutesAgo(2)])
  for (let minute = 0; minute < 10; minute++) await addMissingWakeUps(inMinutes(2 * minute))
  t.equal(await wakeUps(), 1)
})

t.test('builds that run, or are for other runners, need no wake-up', async t => {
  const { build } = await pending()
  await beginBuild(build, await register())
  await pending('test: { script: x, tags: [docker] }\n')
  const { project } = await pending()
  await execute('update projects set shared_runners_enabled = false where id = ?', [project.id])
  const outside = await pending()
  await claimNext(await makeRunner({ projects: [outside.project.id] }))
  await execute('delete from jobs')
  t.equal(await addMissingWakeUps(afterAMinute()), 0)
  await execute(`update runners set tag_list = '["docker"]' where built_in = 1`)
  t.equal(await addMissingWakeUps(afterAMinute()), 1, 'until a tag makes one the built-in runner’s')
  await execute('delete from jobs')
  await execute('update runners set active = false where built_in = 1')
  t.equal(await addMissingWakeUps(afterAMinute()), 0, 'not while it is paused')
})

t.test('one run adds at most 100 wake-ups', async t => {
  await pending(Array.from({ length: 150 }, (_, at) => `b${at}: { script: x }\n`).join(''))
  await execute('delete from jobs')
  t.equal(await addMissingWakeUps(inMinutes(2)), 100)
  t.equal(await addMissingWakeUps(inMinutes(2)), 0, 'the rest follows those')
  t.equal((await builtInRunner()).active, 1)
})
