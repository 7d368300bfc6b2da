import { judge, refusals } from '../../../../src/areas/code/refs/push-policy.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { ZERO } from '../../../../src/git/refs/refs.js'
import { DEVELOPER, MASTER, REPORTER } from '../../../../src/lib/levels.js'
import { testDatabase } from '../../../helpers/database.js'
import { actorOf, factory, projectRow } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'

const ID = 'a'.repeat(40)
const project = { default_branch: 'master' }
const reasonOf = (ref: string, old: string, next: string) =>
  refusals(project, [{ ref, old, new: next }]).get(ref) ?? null

t.test('names that mislead git cannot be pushed, but removed', async t => {
  for (const ref of ['refs/heads/HEAD', 'refs/tags/HEAD', `refs/replace/${ID}`]) {
    t.equal(reasonOf(ref, ZERO, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ZERO), null)
  }
})

t.test('refs of the appliance cannot be pushed nor removed', async t => {
  for (const ref of ['refs/merge-requests/1/head', 'refs/internal/x', 'refs/pipelines/1']) {
    t.equal(reasonOf(ref, ZERO, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ZERO), 'the name is reserved')
  }
})

t.test('other names can be pushed', async t => {
  for (const ref of ['refs/heads/HEAD/x', 'refs/heads/HEADS', 'refs/heads/replace/x', 'refs/notes/commits']) {
    t.equal(reasonOf(ref, ZERO, ID), null)
  }
  t.equal(reasonOf('refs/heads/master', ID, ZERO), 'the default branch cannot be deleted')
})

t.test('ids of objects are no names of branches and tags', async t => {
  for (const ref of [`refs/heads/${ID}`, `refs/tags/${ID.toUpperCase()}`]) {
    t.equal(reasonOf(ref, ZERO, ID), 'the name is reserved')
    t.equal(reasonOf(ref, ID, ZERO), null)
  }
  t.equal(reasonOf(`refs/heads/${ID.slice(1)}`, ZERO, ID), null)
})

t.test('judge: who moves a protected branch, by a push and by a merge', async t => {
  await testDatabase()
  const stored = await factory.project()
  const project = { ...(await projectRow(stored)), namespace_owner_id: null }
  const actor = actorOf(await factory.user())
  const rule = (name: string, push: boolean, merge: boolean) =>
    execute(
      `insert into protected_branches (project_id, name, developers_can_push, developers_can_merge, created_at, updated_at)
       values (?, ?, ?, ?, now(), now())`,
      [stored.id, name, push, merge]
    )
  await rule('closed', false, false)
  await rule('push', true, false)
  await rule('merge', false, true)
  const allowed = async (level: number, how: 'push' | 'merge') => {
    const moves = ['closed', 'push', 'merge', 'open'].map(name => ({ ref: `refs/heads/${name}`, old: ID, new: ID }))
    const { reasons } = await judge({ ...project, access_level: level }, moves, { actor, how })
    return moves.map(({ ref }) => ref.slice('refs/heads/'.length)).filter(name => !reasons.has(`refs/heads/${name}`))
  }
  t.same(await allowed(MASTER, 'push'), ['closed', 'push', 'merge', 'open'])
  t.same(await allowed(DEVELOPER, 'push'), ['push', 'open'])
  t.same(await allowed(DEVELOPER, 'merge'), ['push', 'merge', 'open'])
  t.same(await allowed(REPORTER, 'merge'), ['open'], 'others are refused before')
  const moves = [{ ref: 'refs/heads/closed', old: ID, new: ID }]
  t.same((await judge({ ...project, access_level: MASTER }, moves, { actor })).kept, ['refs/heads/closed'])
  t.same((await judge({ ...project, access_level: MASTER }, moves, { actor, forward: true })).kept, [])
})
