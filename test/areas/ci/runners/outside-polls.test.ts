// The cost of a runner that finds no build, and that it gets its build as soon as there is one.
import { nobody, originOf } from '../../../../src/access/actor.js'
import { finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { noteRunnerChange } from '../../../../src/areas/ci/runners/changes.js'
import { announceRunner } from '../../../../src/areas/ci/runners/external/registration.js'
import { takeNext } from '../../../../src/areas/ci/runners/external/take.js'
import { config, loadConfig } from '../../../../src/config.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory } from '../../../helpers/factory.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'

await testDatabase()

const CI = 'test: { script: [make test] }\n'
const info = { name: 'gitlab-runner' }
/** What another process changes in the database is seen a little later; what this one changes, at once. */
const seen = noteRunnerChange

async function newRunner(projectId: number | null, more: object = {}) {
  const { id, token } = await announceRunner(projectId, more, originOf(nobody, null))
  const ask = (last_update?: string) => takeNext({ token, info, last_update })
  return { id, ask }
}

t.beforeEach(() => execute("update builds set status = 'canceled' where status in ('pending', 'running')"))

t.test('runners that ask while nothing waits share one statement, a read', async t => {
  const runners = [await newRunner(null), await newRunner(null), await newRunner((await factory.project()).id)]
  seen()
  // The first time, the server notes that the runner was there.
  for (const { ask } of [...runners, ...runners]) await ask()
  seen()
  t.equal(await countStatements(() => Promise.all(runners.map(({ ask }) => ask()))), 1)
})

t.test('a runner that got nothing costs no search, until something has changed that decides about it', async t => {
  const project = await factory.project()
  await makePipeline(project, CI)
  const runner = await newRunner(project.id, { tag_list: 'arm', run_untagged: false })
  const other = await newRunner(null)
  await runner.ask()
  let { value } = await runner.ask()
  for (const shown of [value, undefined]) {
    seen()
    t.equal(await countStatements(() => runner.ask(shown)), 1, 'only the look')
  }

  const changes: [string, () => Promise<unknown>][] = [
    ['a build of another project waits', async () => makePipeline(await factory.project(), CI)],
    ['builds of a project were switched off', () => execute('update projects set builds_enabled = 0')],
    ['a project has shared runners no more', () => execute('update projects set shared_runners_enabled = 0')],
    ['a runner has come', () => newRunner(null)],
    [
      'a runner serves another project',
      async () => execute('insert into runner_projects values (?, ?)', [runner.id, (await factory.project()).id])
    ],
    [
      'two runners were paused',
      () => execute('update runners set active = 0 where id in (?, ?)', [runner.id, other.id])
    ],
    ['nothing waits', () => execute("update builds set status = 'canceled' where status = 'pending'")]
  ]
  for (const [what, change] of changes) {
    await change()
    seen()
    const next = (await runner.ask(value)).value
    t.not(next, value, what)
    value = next
  }
})

t.test('a runner that got nothing is searched for again after a minute', async t => {
  await makePipeline(await factory.project(), 'a: { script: x, tags: [arm] }\n')
  const { ask } = await newRunner(null)
  await ask()
  const { value } = await ask()
  const later = async (ms: number) => {
    const { now } = performance
    performance.now = () => now.call(performance) + ms
    try {
      return await countStatements(() => ask(value))
    } finally {
      performance.now = now
    }
  }
  t.equal(await later(50_000), 1, 'a look')
  t.equal(await later(120_000), 2, 'a look and a search')
})

t.test('a build is found at once when this process makes it pending', async t => {
  const { ask } = await newRunner(null)
  for (let turn = 0; turn < 3; turn++) {
    const { job, value } = await ask()
    t.equal(job, null)
    const [build] = await makePipeline(await factory.project(), CI)
    t.equal((await ask(value)).job?.id, build?.id)
  }
})

t.test('a build that ends makes room where projects have a limit', async t => {
  const { home } = config()
  loadConfig({ home, runner: { project_limit: 1 } })
  t.teardown(() => void loadConfig({ home }))
  const { ask } = await newRunner(null)
  const [first, second] = await makePipeline(await factory.project(), 'a: { script: x }\nb: { script: x }\n')
  const { job } = await ask()
  t.equal(job?.id, first?.id)
  const { job: none, value } = await ask()
  t.equal(none, null)
  const claim = { buildId: job?.id ?? 0, pipelineId: job?.pipelineId ?? 0, attempt: 1, token: job?.token ?? '' }
  await finishBuild(claim, { status: 'success' }, { size: 0, sha256: null })
  t.equal((await ask(value)).job?.id, second?.id)
})
