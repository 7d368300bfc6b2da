// Restores one project from a backup: the rows of every table that belongs to projects in src/db/ownership/ownership.ts.
import { projectSnapshot } from '../../../../src/areas/ground/activity/project-snapshots.js'
import { restoreProject } from '../../../../src/areas/upkeep/backup/restore-project.js'
import { findBackup } from '../../../../src/areas/upkeep/backup/store.js'
import { removeProjects } from '../../../../src/areas/upkeep/removal/project-removal.js'
import { deleteUser } from '../../../../src/areas/upkeep/removal/user-deletion.js'
import { execute, rows } from '../../../../src/db/connect/sql.js'
import { goesWith, ownersOf, restoringOf } from '../../../../src/db/ownership/owned-tables.js'
import type { TableName } from '../../../../src/db/ownership/ownership.js'
import { factory, someOrigin } from '../../../helpers/factory.js'
import { runJobs } from '../../../helpers/jobs.js'
import { fill, type Place, type Row, type RowsByTable, rowsGoingWith } from '../../../helpers/owned-rows.js'
import t, { type Test } from '../../../helpers/tap.js'
import { create } from './subject.js'

async function filledPlace(): Promise<Place> {
  const place = { project: await factory.project(), user: await factory.user() }
  await fill(place)
  await runJobs()
  return place
}

/** Removes a project and restores it from a backup. Calls the second argument while the project is removed. */
async function removeAndRestore(
  id: number,
  whileRemoved: () => Promise<unknown> = async () => undefined
): Promise<void> {
  const backup = findBackup((await create()).path)
  const project = await projectSnapshot(id)
  if (!project) throw new Error('the project does not exist')
  await removeProjects([project], someOrigin)
  await whileRemoved()
  await runJobs({ until: new Date(Date.now() + 60_000) })
  await restoreProject(backup, String(id), { overwrite: false, dryRun: false }, someOrigin)
}

/** The rows of a table that are restored; `gone` is a user who no longer exists. */
function expected(table: TableName, earlier: readonly Row[], gone?: number): Row[] {
  const restoring = restoringOf(table)
  if (!restoring) return []
  const { only, empty = [] } = restoring
  const ofGone = (row: Row) => ownersOf(table).filter(({ to, column }) => to === 'users' && row[column] === gone)
  const back = earlier.filter(row => (!only || row[only[0]] === only[1]) && !ofGone(row).some(goesWith))
  return back.map(row => {
    const columns = [...empty, ...ofGone(row).map(({ column }) => column)]
    return { ...row, ...Object.fromEntries(columns.map(column => [column, null])) }
  })
}

/** The restore makes these rows from the restored texts. */
const DERIVED: ReadonlySet<TableName> = new Set(['project_trigrams'])

function compare(t: Test, before: RowsByTable, after: RowsByTable, gone?: number): void {
  for (const [table, earlier] of before) {
    if (DERIVED.has(table)) t.same(after.get(table), earlier, table)
    else t.same(after.get(table), expected(table, earlier, gone), table)
  }
}

t.test('a project is restored with the same rows', async t => {
  const { project } = await filledPlace()
  // An open change, like that of a running push: nothing would settle it after the restore.
  await execute(
    `insert into ref_changes (project_id, ref, old_id, new_id, source, process, created_at)
     select project_id, 'refs/heads/open', old_id, new_id, source, 'x', now() from ref_changes where project_id = ? limit 1`,
    [project.id]
  )
  const before = await rowsGoingWith('projects', project.id)
  for (const [table, list] of before) t.ok(list.length > 0, `${table} has a row to restore`)
  await removeAndRestore(project.id)
  compare(t, before, await rowsGoingWith('projects', project.id))
})

t.test('rows of a deleted user are not restored, or name no user', async t => {
  const { project, user } = await filledPlace()
  const before = await rowsGoingWith('projects', project.id)
  await removeAndRestore(project.id, () => deleteUser(user.id, someOrigin))
  const after = await rowsGoingWith('projects', project.id)
  compare(t, before, after, user.id)
  t.equal(after.get('members')?.length, (before.get('members')?.length ?? 0) - 1)
})

t.test('running builds and pipelines are restored as canceled', async t => {
  const { project } = await filledPlace()
  await execute("update builds set status = 'running', process_id = 1, finished_at = null where project_id = ?", [
    project.id
  ])
  await execute("update pipelines set status = 'running', finished_at = null where project_id = ?", [project.id])
  await removeAndRestore(project.id, () =>
    execute('update builds set started_at = null where project_id = ?', [project.id])
  )
  for (const table of ['pipelines', 'builds']) {
    t.match(await rows(`select status, finished_at from ${table} where project_id = ?`, [project.id]), [
      { status: 'canceled', finished_at: Date }
    ])
  }
})
