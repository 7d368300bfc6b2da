// Story: a team moved in with its forks, and none was a fork here: merge requests that came from them could not be merged.
import t from 'tap'
import { addMigration, findMigration } from '../../../../src/areas/migrate/runs/migrations.js'
import type { Moved } from '../../../../src/areas/migrate/runs/move-project.js'
import { runMigration } from '../../../../src/areas/migrate/runs/run.js'
import { verifyMigration } from '../../../../src/areas/migrate/runs/verify/verify.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { someOrigin } from '../../../helpers/factory.js'
import { ownSource } from '../own-source.js'

const { app, url } = await ownSource(t)
const admin = await app.make.admin()
const given = { origin: someOrigin, signal: new AbortController().signal }

const [ada, bob] = [await app.make.user(), await app.make.user()]
const original = await app.make.project({ owner: ada, visibility_level: 20 })
await app.make.file(original, 'a.txt', 'one')
await app.runJobs()
const forked = (await app.as(bob).post(`/projects/fork/${original.id}`)).json()
await app.runJobs()
const fork = { id: forked.id, path: forked.path_with_namespace, owner: bob, storage: 'default' }
await app.as(bob).post(`/projects/${fork.id}/repository/branches`, { branch_name: 'fix', ref: 'master' })
const change = { branch_name: 'fix', file_path: 'b.txt', content: 'two', commit_message: 'Fix' }
await app.as(bob).post(`/projects/${fork.id}/repository/files`, change)
await app.runJobs()
const proposed = await app.as(bob).post(`/projects/${fork.id}/merge_requests`, {
  ...{ title: 'Fix', source_branch: 'fix', target_branch: 'master', target_project_id: original.id }
})
if (proposed.statusCode !== 201) throw new Error(proposed.body)
await app.runJobs()

/** Prepares a migration into new groups. Returns where the projects will be. */
async function prepare(name: string) {
  // A new source for the database, so that the tests do not know each other's projects.
  await execute('delete from migrated_projects')
  const [to, toFork] = [
    await app.make.group({ owner: ada, visibilityLevel: 20 }),
    await app.make.group({ owner: bob, visibilityLevel: 20 })
  ]
  const map = { [ada.username]: to.path, [bob.username]: toFork.path }
  await addMigration(
    name,
    admin.privateToken,
    { kind: 'gitlab3', url, map, people: {}, rate: 1000, keys: false },
    someOrigin
  )
  return { original: `${to.path}/${original.path.split('/')[1]}`, fork: `${toFork.path}/${fork.path.split('/')[1]}` }
}
async function run(name: string, projects: readonly string[]) {
  const report = await runMigration(await findMigration(name), { projects, overwrite: false }, given)
  await app.runJobs()
  return report
}
const get = async (path: string, below = '') =>
  (await app.as(admin).get(`/projects/${encodeURIComponent(path)}${below}`)).json()
const results = ({ projects }: Awaited<ReturnType<typeof run>>) => projects.map(({ result }) => result)

t.test('a fork that comes after its source is one again, and its merge request can be merged', async t => {
  const here = await prepare('forks')
  const early = await run('forks', [original.path])
  t.same(results(early), ['created'])
  t.match(await get(here.original, '/merge_requests'), [{ merge_status: 'cannot_be_merged', source_branch: 'fix' }])
  const [proposal] = await get(here.original, '/merge_requests')
  const commits = await get(here.original, `/merge_requests/${proposal.id}/commits`)
  t.match(commits, [{ title: 'Fix' }], 'its commits are here without the fork')
  const late = await run('forks', [fork.path, original.path])
  t.same(results(late), ['created', 'unchanged'])

  const [source, copy] = [await get(here.original), await get(here.fork)]
  t.match(copy, { forked_from_project: { id: source.id, path_with_namespace: here.original } })
  t.equal(source.forks_count, 1)
  const [mergeRequest] = await get(here.original, '/merge_requests')
  t.match(mergeRequest, { source_project_id: copy.id, target_project_id: source.id, merge_status: 'can_be_merged' })
  t.match(await verifyMigration(await findMigration('forks'), [original.path, fork.path], given), [
    { different: 0, counts: {} },
    { different: 0, counts: {} }
  ])

  t.test('also when either of both is read again', async t => {
    await app.as(ada).post(`/projects/${original.id}/issues`, { title: 'Later' })
    t.same(results(await run('forks', [original.path, fork.path])), ['replaced', 'unchanged'])
    const again = await get(here.original)
    t.not(again.id, source.id)
    t.match(await get(here.fork), { id: copy.id, forked_from_project: { id: again.id } })
    t.match(await get(here.original, '/merge_requests'), [
      { source_project_id: copy.id, merge_status: 'can_be_merged' }
    ])

    await app.as(bob).post(`/projects/${fork.id}/issues`, { title: 'Later' })
    t.same(results(await run('forks', [original.path, fork.path])), ['unchanged', 'replaced'])
    const newer = await get(here.fork)
    t.not(newer.id, copy.id)
    t.match(newer, { forked_from_project: { id: again.id } })
    t.match(await get(here.original, '/merge_requests'), [
      { source_project_id: newer.id, merge_status: 'can_be_merged' }
    ])
    t.same(results(await run('forks', [original.path, fork.path])), ['unchanged', 'unchanged'])
  })

  t.test('also when only one of both is read again', async t => {
    await app.as(ada).post(`/projects/${original.id}/issues`, { title: 'Later still' })
    const { id: forkId } = await get(here.fork)
    t.same(results(await run('forks', [original.path])), ['replaced'])
    const { id, forks_count: forks } = await get(here.original)
    t.equal(forks, 1)
    t.match(await get(here.fork), { id: forkId, forked_from_project: { id } })
    await app.as(bob).post(`/projects/${fork.id}/issues`, { title: 'Later still' })
    t.same(results(await run('forks', [fork.path])), ['replaced'])
    const newer = await get(here.fork)
    t.not(newer.id, forkId)
    t.match(newer, { forked_from_project: { id } })
    t.match(await get(here.original, '/merge_requests'), [
      { source_project_id: newer.id, merge_status: 'can_be_merged' }
    ])
    t.same(results(await run('forks', [original.path, fork.path])), ['unchanged', 'unchanged'])
  })

  t.test('and it can be merged', async t => {
    const [{ id }] = await get(here.original, '/merge_requests')
    const to = encodeURIComponent(here.original)
    const merged = await app.as(admin).put(`/projects/${to}/merge_requests/${id}/merge`)
    t.match(merged.json(), { state: 'merged' })
    const file = await get(here.original, '/repository/files?file_path=b.txt&ref=master')
    t.equal(Buffer.from(file.content, 'base64').toString(), 'two')
  })
})

t.test('a source may show projects as forks of each other in a circle', async t => {
  const related = await app.as(admin).post(`/projects/${original.id}/fork/${fork.id}`)
  t.equal(related.statusCode, 201, related.body)
  const here = await prepare('circle')
  const report = await run('circle', [original.path, fork.path])
  t.match(report.skipped, [{ what: 'wikis' }, { what: 'fork', why: 'the source shows a circle of forks', count: 1 }])
  const forks = [await get(here.original), await get(here.fork)].filter(project => 'forked_from_project' in project)
  t.equal(forks.length, 1)
  t.match((await run('circle', [original.path, fork.path])).skipped[1], { what: 'fork', count: 1 })
})

t.test('a fork that more people see than its source stays a project of its own', async t => {
  await app.as(admin).delete(`/projects/${original.id}/fork`)
  const here = await prepare('hidden')
  await run('hidden', [original.path])
  await app.as(ada).put(`/projects/${encodeURIComponent(here.original)}`, { visibility_level: 0 })
  const report = await run('hidden', [fork.path])
  t.match(report.skipped.at(-1), { what: 'fork', why: 'more people see it than the project of which it is a fork' })
  t.notOk('forked_from_project' in (await get(here.fork)))
})

t.test('a fork of a project that comes again and is less visible now becomes a project of its own', async t => {
  const here = await prepare('lowered')
  await run('lowered', [original.path])
  await app.as(admin).post(`/projects/${fork.id}/fork/${original.id}`)
  await run('lowered', [fork.path])
  t.match(await get(here.fork), { forked_from_project: { path_with_namespace: here.original } })
  await app.as(ada).put(`/projects/${original.id}`, { visibility_level: 0 })
  const { projects } = await run('lowered', [original.path])
  const why = 'more people see it than the project of which it is a fork'
  t.match(projects, [{ result: 'replaced' }], 'although none of its records has changed')
  t.match(await get(here.original), { visibility_level: 0 })
  t.match((projects[0] as Moved).skipped.at(-1), { what: 'fork', why, count: 1 })
  t.notOk('forked_from_project' in (await get(here.fork)))
})
