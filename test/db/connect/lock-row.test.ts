// Locks of rows. In a cluster, the servers do not see each other's locks: a lock must write the row, so that the cluster refuses
// one of two transactions.

import { createTrigger } from '../../../src/areas/ci/pipelines/triggers.js'
import { requireOtherAdmin } from '../../../src/areas/people/users/last-admin.js'
import { createProject } from '../../../src/areas/projects/projects/projects.js'
import { requireProject } from '../../../src/areas/projects/projects/projects.queries.js'
import { lockRow } from '../../../src/db/connect/lock-row.js'
import { row } from '../../../src/db/connect/sql.js'
import { transact } from '../../../src/db/connect/transact.js'
import { testDatabase } from '../../helpers/database.js'
import { factory, originBy, someOrigin } from '../../helpers/factory.js'
import t from '../../helpers/tap.js'

await testDatabase()

const heldOf = async (table: string, id: number) =>
  (await row<{ held: number }>(`select held from ${table} where id = ?`, [id]))?.held

t.test('a lock changes the row each time, and finds out whether it exists', async t => {
  const { id } = await factory.user()
  const found: unknown[] = []
  for (let times = 0; times < 3; times++) {
    t.equal(await transact(() => lockRow('users', id)), true)
    found.push(await heldOf('users', id))
  }
  t.same(found, [1, 0, 1])
  t.equal(await transact(() => lockRow('users', 999_999)), false)
})

t.test('limits write the row of the owner, so that only one of two servers can take the last place', async t => {
  const project = await factory.project()
  const record = await requireProject(String(project.id))
  const { owner } = project
  await factory.admin()
  const admin = await factory.admin()
  const cases: [string, number, () => Promise<unknown>][] = [
    ['users', owner.id, () => createProject({ name: 'another' }, originBy(owner))],
    ['users', admin.id, () => transact(() => requireOtherAdmin(admin.id, 'blocked'))],
    ['projects', project.id, () => createTrigger(record, someOrigin)]
  ]
  for (const [table, id, work] of cases) {
    const before = await heldOf(table, id)
    await work()
    t.not(await heldOf(table, id), before, `${table}: ${work}`)
  }
})
