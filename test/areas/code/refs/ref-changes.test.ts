// Ref changes: a change that git made has its effects exactly once, also when several processes settle it repeatedly.
import { randomUUID } from 'node:crypto'
import { moveRefs } from '../../../../src/areas/code/refs/move-refs.js'
import { openChanges, type RefMove, settle, settleChanges } from '../../../../src/areas/code/refs/ref-changes.js'
import type { PublishedEvent } from '../../../../src/areas/ground/activity/events.js'
import { createHook } from '../../../../src/areas/ground/hooks/hooks.js'
import { changeStorage, holdProject, releaseProject } from '../../../../src/areas/projects/projects/project-columns.js'
import { ensureRepository } from '../../../../src/areas/projects/projects/repositories.js'
import { runTask } from '../../../../src/areas/upkeep/maintenance/maintenance.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { Moved, NotFound } from '../../../../src/errors.js'
import { refValue, ZERO } from '../../../../src/git/refs/refs.js'
import { handleEvent } from '../../../../src/product.js'
import { testDatabase } from '../../../helpers/database.js'
import { factory, originBy, projectRow, someOrigin, type TestProject } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { waitingEvents } from '../../../helpers/published.js'
import t from '../../../helpers/tap.js'

await testDatabase()

const id = (digit: string) => digit.repeat(40)
const created = (ref: string): RefMove => ({ ref, old: ZERO, new: id('a') })
const changes = (project: TestProject) =>
  rows<{ ref: string; state: string }>('select ref, state from ref_changes where project_id = ? order by id', [
    project.id
  ])
const told = async (project: TestProject) => {
  const own = await rows<{ id: number }>('select id from ref_changes where project_id = ?', [project.id])
  const ids = new Set(own.map(({ id }) => id))
  return (await waitingEvents('ref.changed')).filter(({ refChangeId }) => ids.has(refChangeId)).length
}
const defaultBranch = async (project: TestProject) =>
  (await row<{ default_branch: string | null }>('select default_branch from projects where id = ?', [project.id]))
    ?.default_branch
const all = (moves: readonly RefMove[]) => moves.map(({ ref }) => ({ ref, ok: true }))

t.test('a change that git made is done and told; a change that it refused is removed', async t => {
  const project = await factory.project()
  const moves = [created('refs/heads/a'), created('refs/heads/b')]
  const open = await openChanges(project, project.owner, 'push', moves)
  t.match(await changes(project), [{ state: 'open' }, { state: 'open' }])
  t.equal(await told(project), 0, 'nothing before git has answered')
  await settleChanges(project, open, [
    { ref: 'refs/heads/a', ok: false },
    { ref: 'refs/heads/b', ok: true }
  ])
  t.same(await changes(project), [{ ref: 'refs/heads/b', state: 'done' }])
  t.equal(await told(project), 1)
})

t.test('the default branch is the one that was requested first, in any order of settling', async t => {
  const named = async ({ id }: TestProject) =>
    (await row<{ default_branch: string }>('select default_branch from projects where id = ?', [id]))?.default_branch
  for (const order of [
    [0, 1],
    [1, 0]
  ]) {
    const project = await factory.project()
    const moves = [created('refs/heads/zebra'), created('refs/heads/ant')]
    const open = [
      await openChanges(project, project.owner, 'push', moves.slice(0, 1)),
      await openChanges(project, project.owner, 'push', moves.slice(1))
    ]
    for (const at of order) await settleChanges(project, open[at] ?? [], all(moves.slice(at, at + 1)))
    t.equal(await named(project), 'zebra')
    const rules = await rows('select name from protected_branches where project_id = ?', [project.id])
    t.same(rules, [{ name: 'zebra' }], 'and only it is protected')
    const later = [created('refs/heads/master')]
    await settleChanges(project, await openChanges(project, project.owner, 'push', later), all(later))
    t.equal(await named(project), 'zebra', 'a project that has one keeps it')
  }
  const project = await factory.project()
  const open = await Promise.all(
    ['a', 'b', 'c', 'd'].map(name => openChanges(project, project.owner, 'push', [created(`refs/heads/${name}`)]))
  )
  await Promise.all(
    open.map(changes =>
      settleChanges(
        project,
        changes,
        changes.map(({ ref }) => ({ ref, ok: true }))
      )
    )
  )
  const [first] = open.flat().sort((x, y) => x.id - y.id)
  t.equal(`refs/heads/${await named(project)}`, first?.ref, 'of those that are settled at once, too')
})

t.test('settling repeatedly and concurrently has one effect for each change', async t => {
  const project = await factory.project()
  const moves = Array.from({ length: 40 }, (_, at) => created(`refs/heads/b${at}`))
  const open = await openChanges(project, project.owner, 'push', moves)
  await Promise.all([1, 2, 3, 4].map(() => settleChanges(project, open, all(moves))))
  await settle(project.id, open, [])
  t.equal(await told(project), 40)
})

t.test('the first result of a change is final', async t => {
  const project = await factory.project()
  const [done, undone] = await openChanges(project, null, 'push', [created('refs/heads/a'), created('refs/heads/b')])
  if (!done || !undone) return t.fail('no changes')
  await settle(project.id, [done], [undone])
  // Recovery does not know the call that began a change.
  const [early, late] = [done, undone].map(({ owner: _owner, ...change }) => change)
  if (early && late) await settle(project.id, [late], [early])
  t.same(await changes(project), [{ ref: 'refs/heads/a', state: 'done' }])
  t.equal(await told(project), 1)
})

t.test('a push of very many refs is settled completely', async t => {
  const project = await factory.project()
  const moves = Array.from({ length: 2500 }, (_, at) => created(`refs/tags/t${at}`))
  const open = await openChanges(project, project.owner, 'push', moves)
  t.equal(new Set(open.map(({ id }) => id)).size, 2500)
  t.same(await row('select id from ref_changes where ref = ? and project_id = ?', ['refs/tags/t2000', project.id]), {
    id: open[2000]?.id
  })
  await settleChanges(project, open, all(moves))
  t.equal(await told(project), 2500)
  await execute('delete from jobs')
})

t.test('two concurrent pushes do not mix their changes', async t => {
  const project = await factory.project()
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      openChanges(project, null, 'push', [created(`refs/heads/x${at}`), created(`refs/heads/y${at}`)])
    )
  )
  for (const { id, ref } of opened.flat()) {
    t.same(await row('select ref from ref_changes where id = ?', [id]), { ref })
  }
})

t.test('the default branch', async t => {
  const cases = [
    { pushed: ['refs/heads/feature'], named: 'feature' },
    { pushed: ['refs/heads/a', 'refs/heads/main', 'refs/heads/master'], named: 'master' },
    { pushed: ['refs/heads/a', 'refs/heads/main'], named: 'main' },
    { pushed: ['refs/tags/v1', 'refs/heads/x/y'], named: 'x/y' },
    { pushed: ['refs/tags/v1'], named: null }
  ]
  for (const { pushed, named } of cases) {
    t.test(`of ${pushed.join(', ')} is ${named}`, async t => {
      const project = await factory.project()
      const moves = pushed.map(created)
      await settleChanges(project, await openChanges(project, null, 'push', moves), all(moves))
      t.equal(await defaultBranch(project), named)
    })
  }

  t.test('stays when other branches follow, also with two concurrent first pushes', async t => {
    const project = await factory.project()
    const push = async (ref: string) =>
      settleChanges(project, await openChanges(project, null, 'push', [created(ref)]), all([created(ref)]))
    await Promise.all(['one', 'two', 'three'].map(name => push(`refs/heads/${name}`)))
    const first = await defaultBranch(project)
    await push('refs/heads/master')
    t.equal(await defaultBranch(project), first)
    t.ok(first)
  })
})

t.test('moveRefs', async t => {
  const project = await factory.project()
  await factory.file(project, 'a.txt', 'a')
  await runJobs()
  const repository = await ensureRepository({ id: project.id, storage: 'default' })
  const tip = (await refValue(repository, 'refs/heads/master')) ?? ''
  const stored = await projectRow(project)
  const count = async () => (await changes(project)).length

  t.test('moves a ref and causes the effects', async t => {
    const before = await count()
    await moveRefs(stored, [{ ref: 'refs/heads/new', old: ZERO, new: tip }], originBy(project.owner))
    t.equal(await refValue(repository, 'refs/heads/new'), tip)
    t.equal(await count(), before + 1)
    t.ok((await runJobs()).includes('event.published'))
  })

  t.test('leaves nothing behind when git refuses', async t => {
    const before = await count()
    const stale = moveRefs(stored, [{ ref: 'refs/heads/master', old: id('b'), new: tip }], originBy(project.owner))
    await t.rejects(stale, { name: 'RefMoved' })
    const blocked = moveRefs(stored, [{ ref: 'refs/heads/new/x', old: ZERO, new: tip }], originBy(project.owner))
    await t.rejects(blocked, { name: 'RefBlocked' })
    t.equal(await count(), before)
    t.same(await runJobs(), [])
  })

  t.test('moves nothing when the objects cannot be written', async t => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
    const write = () => Promise.reject(full)
    const before = { changes: await changes(project), told: await told(project) }
    await t.rejects(
      moveRefs(stored, [{ ref: 'refs/heads/full', old: ZERO, new: tip }], originBy(project.owner), { write }),
      full
    )
    t.same({ changes: await changes(project), told: await told(project) }, before)
    t.equal(await refValue(repository, 'refs/heads/full'), null)
  })

  t.test('does not call git when the policy refuses', async t => {
    for (const ref of ['refs/internal/x', 'refs/heads/-x', 'refs/heads/a..b']) {
      await t.rejects(moveRefs(stored, [{ ref, old: ZERO, new: tip }], originBy(project.owner)), {
        name: 'BadRequest'
      })
    }
    const deletion = moveRefs(stored, [{ ref: 'refs/heads/master', old: tip, new: ZERO }], originBy(project.owner))
    await t.rejects(deletion, { name: 'BadRequest' })
  })
})

t.test('a change has its effects once, also when listeners receive it repeatedly', async t => {
  await createHook({ url: 'http://127.0.0.1:1/', tag_push_events: true }, someOrigin)
  const project = await factory.project()
  await factory.file(project, '.gitstead-ci.yml', 'test: { script: x }\n')
  const change = await row<{ id: number }>('select id from ref_changes where project_id = ?', [project.id])
  const told = toldOf(change?.id ?? 0)
  await Promise.all([1, 2, 3].map(() => handleEvent(told)))
  t.equal((await rows('select id from hook_deliveries where event_key = ?', [told.id])).length, 1)
  t.equal((await rows('select id from activity_events where happening_id = ?', [told.id])).length, 1)
  t.equal((await rows('select id from pipelines where project_id = ?', [project.id])).length, 1)
  t.equal(
    (
      await rows("select id from jobs where name = 'repository.optimise' and payload = ?", [
        JSON.stringify({ projectId: project.id })
      ])
    ).length,
    1
  )
  await t.resolves(handleEvent(toldOf(999_999)))
})

t.test('old changes are removed, but never open ones', async t => {
  const project = await factory.project()
  const moves = [created('refs/heads/a'), created('refs/heads/b')]
  const [first] = await openChanges(project, null, 'push', moves)
  if (!first) return t.fail('no change')
  await settle(project.id, [first], [])
  await execute('update ref_changes set settled_at = ?, created_at = ? where project_id = ?', [
    new Date(0),
    new Date(0),
    project.id
  ])
  await execute("update ref_changes set settled_at = null where state = 'open'")
  t.match(await runTask('old_ref_changes', {}, someOrigin), { state: 'done', count: 1 })
  t.same(await changes(project), [{ ref: 'refs/heads/b', state: 'open' }])
  await execute("delete from ref_changes where state = 'open'")
})

const toldOf = (refChangeId: number): PublishedEvent => ({
  id: randomUUID(),
  at: new Date().toISOString(),
  event: { kind: 'ref.changed', refChangeId }
})

t.test('a change waits while its project is held, and begins only in the storage of the project', async t => {
  const project = await factory.project()
  for (const moves of [[created('refs/heads/one')], [created('refs/heads/two'), created('refs/heads/three')]]) {
    const hold = await holdProject(project)
    t.ok(hold)
    t.equal(await holdProject(project), null, 'one process holds it')
    let isOpen = false
    const opening = openChanges(project, project.owner, 'api', moves).finally(() => {
      isOpen = true
    })
    await new Promise(resolve => setTimeout(resolve, 300))
    t.equal(isOpen, false)
    t.equal(await changeStorage(project.id, 'elsewhere', new Date(0)), false, 'only its holder moves it')
    if (hold) await releaseProject(project.id, hold)
    await settleChanges(project, await opening, [])
    // The process that held it was killed.
    await holdProject(project)
    await execute('update projects set held_until = now(3) - interval 1 second where id = ?', [project.id])
    await settleChanges(project, await openChanges(project, project.owner, 'api', moves), [])
    const last = await holdProject(project)
    const late = openChanges(project, project.owner, 'api', moves)
    t.equal(last && (await changeStorage(project.id, 'elsewhere', last)), true)
    await t.rejects(late, Moved)
    await t.rejects(openChanges(project, project.owner, 'api', moves), Moved)
    await execute('update projects set storage = ? where id = ?', [project.storage, project.id])
    t.match(await changes(project), [])
    await t.rejects(openChanges({ ...project, id: 999_999 }, project.owner, 'api', moves), NotFound)
  }
  t.match(await rows("select 1 from ref_changes where state = 'open' and project_id = ?", [project.id]), [])
})
