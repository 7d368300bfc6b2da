// Tests which build a runner gets.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { nobody, originOf } from '../../../../src/access/actor.js'
import { retryBuilds } from '../../../../src/areas/ci/builds/administer.js'
import { type BuildClaim, cancelBuild, finishBuild } from '../../../../src/areas/ci/builds/claim.js'
import { builtInRunner } from '../../../../src/areas/ci/runners/built-in-runner.js'
import { claimNext } from '../../../../src/areas/ci/runners/claim-next.js'
import { announceRunner } from '../../../../src/areas/ci/runners/external/registration.js'
import type { RunnerRow } from '../../../../src/areas/ci/runners/runners.queries.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { registerProcess, unregisterProcess } from '../../../../src/queue/processes.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, type TestProject } from '../../../helpers/factory.js'
import { numbersTo } from '../../../helpers/numbers.js'
import { countStatements, countTransactions } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { makePipeline, pipelineOf, type TestBuild } from '../builds/make-builds.js'
import { makeRunner } from './make-runners.js'

await testDatabase()

const register = () => registerProcess({ queues: ['builds'], concurrency: 1 })
const nameOf = async (claim: BuildClaim | null) =>
  claim && (await row<{ name: string }>('select name from builds where id = ?', [claim.buildId]))?.name

/** Makes a project with one pending build for each argument: a name, followed by its tags. */
async function projectWith(...builds: string[]): Promise<TestProject & { builds: TestBuild[] }> {
  const project = await factory.project()
  const jobs = builds.map(build => {
    const [name, ...tags] = build.split(' ')
    return `${name}: { script: x, tags: ${JSON.stringify(tags)} }\n`
  })
  return { ...project, builds: await makePipeline(project, jobs.join('')) }
}

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

t.beforeEach(async () => {
  for (const table of ['builds', 'pipelines', 'pipeline_stages', 'job_processes']) await execute(`delete from ${table}`)
  await execute("update runners set tag_list = '[]', active = true where built_in = 1")
})

t.test('a runner of protected branches takes no other builds, however long they have waited', async t => {
  const project = await factory.project()
  await factory.file(project, '.gitstead-ci.yml', 'open: { script: x }\n')
  await factory.branch(project, 'topic')
  await factory.file(project, 'more', 'x', 'topic')
  const [open] = await pipelineOf(project)
  await factory.file(project, 'later', 'x')
  const [guarded] = await pipelineOf(project)
  const { id } = await announceRunner(project.id, { access_level: 'ref_protected' }, originOf(nobody, null))
  const runner = await row<RunnerRow>('select * from runners where id = ?', [id])
  if (!runner) return t.fail('no runner')
  t.equal((await claimNext(runner))?.buildId, guarded?.id)
  t.equal(await claimNext(runner), null)
  await cancelBuild(guarded?.id ?? 0)
  const again = (await retryBuilds([guarded?.id ?? 0], originOf(nobody, null))).get(guarded?.id ?? 0)
  t.equal((await claimNext(runner))?.buildId, again, 'a repeated build stays protected')
  t.equal((await claimNext(await makeRunner({ projects: [project.id] })))?.buildId, open?.id, 'others take the rest')
})

t.test('a shared runner', async t => {
  t.test('takes the oldest build first, and nothing when no build is left', async t => {
    await projectWith('one', 'two')
    const runner = await makeRunner({ is_shared: true })
    t.equal(await nameOf(await claimNext(runner)), 'one')
    t.equal(await nameOf(await claimNext(runner)), 'two')
    t.equal(await claimNext(runner), null)
  })

  t.test('takes a build of the project with the fewest running builds', async t => {
    await projectWith('a1', 'a2', 'a3')
    await projectWith('b1', 'b2')
    const runner = await makeRunner({ is_shared: true })
    const names: unknown[] = []
    for (let turn = 0; turn < 5; turn++) names.push(await nameOf(await claimNext(runner)))
    t.same(names, ['a1', 'b1', 'a2', 'b2', 'a3'])
  })

  t.test('does not count builds that run on specific runners of the project', async t => {
    const own = await projectWith('a1', 'a2')
    await projectWith('b1')
    await claimNext(await makeRunner({ projects: [own.id] }))
    t.equal(await nameOf(await claimNext(await makeRunner({ is_shared: true }))), 'a2')
  })

  t.test('takes no builds of projects that are archived, removed or do not use it', async t => {
    const runner = await makeRunner({ is_shared: true })
    for (const setting of ['shared_runners_enabled = false', 'builds_enabled = false', 'archived = true']) {
      const project = await projectWith('one')
      await execute(`update projects set ${setting} where id = ?`, [project.id])
      t.equal(await claimNext(runner), null, setting)
    }
    const removed = await projectWith('one')
    await execute('delete from projects where id = ?', [removed.id])
    t.equal(await claimNext(runner), null, 'removed')
  })

  t.test('serves only its assigned projects when it is locked', async t => {
    await projectWith('other')
    const project = await projectWith('own')
    const runner = await makeRunner({ is_shared: true, locked: true, projects: [project.id] })
    t.equal(await nameOf(await claimNext(runner)), 'own')
    t.equal(await claimNext(runner), null)
  })
})

t.test('a specific runner takes the oldest build of its own projects', async t => {
  const first = await projectWith('a1', 'a2')
  const second = await projectWith('b1')
  await projectWith('other')
  await execute('update projects set shared_runners_enabled = false where id = ?', [second.id])
  const runner = await makeRunner({ projects: [second.id, first.id], locked: true })
  const names: unknown[] = []
  for (let turn = 0; turn < 4; turn++) names.push(await nameOf(await claimNext(runner)))
  t.same(names, ['a1', 'a2', 'b1', null])
  t.equal(await claimNext(await makeRunner()), null, 'without projects it has nothing to do')
})

t.test('a paused runner takes nothing', async t => {
  const project = await projectWith('one')
  t.equal(await claimNext(await makeRunner({ active: false, is_shared: true })), null)
  t.equal(await claimNext(await makeRunner({ active: false, projects: [project.id] })), null)
})

t.test('tags', async t => {
  t.test('a runner must have all tags of a build', async t => {
    await projectWith('both docker arm', 'one docker', 'none')
    const names = async (tags: string[], run_untagged = true) => {
      const runner = await makeRunner({ is_shared: true, tags, run_untagged })
      const claim = await claimNext(runner)
      if (claim) await execute("update builds set status = 'pending' where id = ?", [claim.buildId])
      return nameOf(claim)
    }
    t.equal(await names([]), 'none')
    t.equal(await names(['dock', 'docker2']), 'none')
    t.equal(await names(['docker']), 'one')
    t.equal(await names(['linux', 'arm', 'docker']), 'both')
    t.equal(await names(['arm'], false), null, 'untagged builds are not for every runner')
  })

  t.test('a build with tags that the runner lacks does not block other builds of the project', async t => {
    await projectWith('a1 docker', 'a2 docker', 'a3 say"it\\', 'a4')
    t.equal(await nameOf(await claimNext(await makeRunner({ is_shared: true }))), 'a4')
    t.equal(await nameOf(await claimNext(await makeRunner({ is_shared: true, tags: ['say"it\\'] }))), 'a3')
  })
})

t.test('the same token gets the same claim again, for a runner that missed the answer', async t => {
  await projectWith('one', 'two')
  const runner = await makeRunner({ is_shared: true })
  const first = await claimNext(runner, { token: 'a-token' })
  t.same(await claimNext(runner, { token: 'a-token' }), first)
  t.match(await rows('select attempt from builds order by id'), [{ attempt: 1 }, { attempt: 0 }])
})

t.test('the built-in runner', async t => {
  t.test('has one row after concurrent calls', async t => {
    await execute('delete from runners')
    const found = await Promise.all([1, 2, 3, 4].map(builtInRunner))
    t.equal(new Set(found.map(({ id }) => id)).size, 1)
    t.match(found[0], { active: 1, is_shared: 1, run_untagged: 1, locked: 0, built_in: 1, tag_list: '[]' })
  })

  t.test('adopts builds that ran before it had a row', async t => {
    await projectWith('one')
    const worker = await register()
    const claim = await claimNext(await builtInRunner(), { processId: worker })
    await execute('update builds set runner_id = null')
    await execute('delete from runners')
    const runner = await builtInRunner()
    t.match(await row('select runner_id from builds'), { runner_id: runner.id })
    await unregisterProcess(worker)
    t.match(await claimNext(runner, { processId: await register() }), { buildId: claim?.buildId, attempt: 2 })
  })

  t.test('takes untagged builds, and tagged ones once it has the tags', async t => {
    await projectWith('tagged docker', 'plain')
    t.equal(await nameOf(await claimNext(await builtInRunner(), { processId: await register() })), 'plain')
    await execute(`update runners set tag_list = '["docker"]' where built_in = 1`)
    t.equal(await nameOf(await claimNext(await builtInRunner(), { processId: await register() })), 'tagged')
  })

  t.test('restarts builds whose worker is gone before it takes others', async t => {
    await projectWith('one')
    await projectWith('two', 'three')
    const runner = await builtInRunner()
    const [killed, halted] = [await register(), await register()]
    const first = await claimNext(runner, { processId: killed })
    const second = await claimNext(runner, { processId: halted })
    t.equal(await nameOf(first), 'one')
    await unregisterProcess(killed)
    await execute('update builds set lease_until = ? where id = ?', [minutesAgo(1), second?.buildId ?? 0])
    const worker = await register()
    t.match(await claimNext(runner, { processId: worker }), { buildId: first?.buildId, attempt: 2 })
    t.match(await claimNext(runner, { processId: worker }), { buildId: second?.buildId, attempt: 2 })
    t.equal(await nameOf(await claimNext(runner, { processId: worker })), 'three')
    t.equal(
      first && (await finishBuild(first, { status: 'success' }, { size: 0, sha256: null })),
      false,
      'the killed one has lost it'
    )
  })

  t.test('does not take over builds of an outside runner', async t => {
    await projectWith('one')
    await claimNext(await makeRunner({ is_shared: true }))
    await execute('update builds set lease_until = ?', [minutesAgo(10)])
    t.equal(await claimNext(await builtInRunner(), { processId: await register() }), null)
  })

  t.test('fails a build whose worker died four times, and takes the next build', async t => {
    await projectWith('one')
    const runner = await builtInRunner()
    for (let attempt = 1; attempt <= 4; attempt++) {
      const worker = await register()
      t.match(await claimNext(runner, { processId: worker }), { attempt })
      await unregisterProcess(worker)
    }
    await projectWith('two')
    t.equal(await nameOf(await claimNext(runner, { processId: await register() })), 'two')
    t.match(await row("select status, failure_reason from builds where name = 'one'"), {
      status: 'failed',
      failure_reason: 'runner_system_failure'
    })
  })
})

t.test('runners that claim at the same time get different builds', async t => {
  await projectWith('a1', 'a2', 'a3', 'a4', 'a5', 'a6')
  const runner = await makeRunner({ is_shared: true })
  const claims = await Promise.all(Array.from({ length: 8 }, () => claimNext(runner)))
  const taken = claims.flatMap(claim => claim?.buildId ?? [])
  t.equal(new Set(taken).size, 6)
  t.equal(taken.length, 6, 'each build once, and none is left')
})

t.test('two processes that claim at the same time get different builds', async t => {
  const { builds } = await projectWith(...Array.from({ length: 30 }, (_, at) => `b${at}`))
  const { id } = await makeRunner({ is_shared: true })
  const children = [1, 2].map(() => fork(new URL('claim-process.js', import.meta.url), [String(id)]))
  const told = await Promise.all(children.map(async child => (await once(child, 'message'))[0] as number[]))
  await Promise.all(children.map(child => child.exitCode ?? once(child, 'exit')))
  t.same(
    told.flat().sort((a, b) => a - b),
    builds.map(build => build.id)
  )
})

t.test('ten thousand builds of one project take no more statements and do not delay another project', async t => {
  const crowd = await projectWith('crowd')
  await execute(
    `insert into builds (pipeline_id, project_id, name, stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, tag_list, tag_list_hash, plan, queued_at, created_at, updated_at)
     select pipeline_id, project_id, concat('crowd ', seq), stage, stage_index, ref, tag, sha, status, start_when,
       allow_failure, if(seq % 2, '[]', '["docker"]'), unhex(left(sha2(if(seq % 2, '[]', '["docker"]'), 256), 32)), plan, queued_at,
       created_at, updated_at from builds, ${numbersTo(10_000)} where project_id = ?`,
    [crowd.id]
  )
  await execute('delete from pipeline_stages')
  await execute('analyze table builds')
  const runner = await makeRunner({ is_shared: true })
  const first = await claimNext(runner)
  t.equal(await nameOf(first), 'crowd')
  await projectWith('single')
  t.equal(await nameOf(await claimNext(runner)), 'single')
  let begun = 0
  const statements = await countStatements(async () => {
    begun = await countTransactions(() => claimNext(runner))
  })
  t.same([statements, begun], [1, 1], 'one that looks, one that takes')
  if (first) await cancelBuild(first.buildId)
})
