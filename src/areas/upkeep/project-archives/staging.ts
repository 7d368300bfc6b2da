// A project that is being imported. Its rows, repository and files are stored under an id that no row of `projects` has, so
// nobody sees them: all readers start from the project. For the removal of projects it counts as removed: its row in
// project_removals lets the task unfinished_removals erase the remains of a killed import.
import { execute } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict } from '../../../errors.js'
import { log } from '../../../log.js'
import { enqueue } from '../../../queue/enqueue.js'
import { takeProjectId } from '../../projects/projects/new-projects.js'
import { eraseProject } from '../removal/erase-project.js'

/** Half of the time that this task waits: after a longer silence, an import may be in the middle of its removal. */
const AWAY_MS = 1_800_000

/** Reserves an id for a project, and records that it is to be removed. */
export function reserveProject(storage: string, path: string): Promise<number> {
  return transact(async () => {
    const id = await takeProjectId(storage)
    await execute(
      'insert into project_removals (project_id, storage, path_with_namespace, created_at) values (?, ?, ?, ?)',
      [id, storage, path.slice(0, 512), new Date()]
    )
    return id
  })
}

/** Records that the import continues. Throws Conflict after a pause so long that its rows may have been removed. */
export async function stayReserved(id: number): Promise<void> {
  const now = Date.now()
  const { affectedRows } = await execute(
    'update project_removals set created_at = ? where project_id = ? and created_at > ?',
    [new Date(now), id, new Date(now - AWAY_MS)]
  )
  if (affectedRows === 0) throw lost()
}

/** Ends the reservation. Call it in the transaction that creates the project. */
export async function keepProject(id: number): Promise<void> {
  const { affectedRows } = await execute('delete from project_removals where project_id = ? and created_at > ?', [
    id,
    new Date(Date.now() - AWAY_MS)
  ])
  if (affectedRows === 0) throw lost()
}

const lost = () => new Conflict('the import stood still for too long, and its first part was removed: run it again')

/** Erases what a failed import has stored. A job erases the rest if this fails. */
export async function eraseReserved(id: number): Promise<void> {
  try {
    await eraseProject(id, new AbortController().signal)
  } catch (error) {
    log().warn({ error: String(error), project: id }, 'the remains of an import are erased later')
    await enqueue('project.remove', { projectId: id }).catch(() => undefined)
  }
}
