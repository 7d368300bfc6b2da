// A migration brings merge requests before the forks that they come from, or without them. Their source is then the number of a project
// that does not exist, until the fork has come.
import { execute, marks, rows, type Value } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { batches } from '../../../../lib/batches.js'
import { enqueueAll } from '../../../../queue/enqueue.js'
import { requestChecks } from './mergeability.js'

const AT_ONCE = 500

/** Makes a fork the source of merge requests of a project, by their iids. One whose source exists stays as it is. */
export async function takeSource(targetId: number, iids: readonly number[], sourceId: number): Promise<void> {
  for (const some of batches(iids, AT_ONCE)) await transact(() => takeSome(targetId, some, sourceId))
}

async function takeSome(targetId: number, iids: readonly number[], sourceId: number): Promise<void> {
  const found = await rows<{ id: number; is_open: number | null }>(
    `select m.id, m.is_open from merge_requests m left join projects p on p.id = m.source_project_id
     where m.target_project_id = ? and m.iid in (${marks(iids)}) and p.id is null for update`,
    [targetId, ...iids]
  )
  if (found.length === 0) return
  const values: Value[] = [sourceId, ...found.map(({ id }) => id)]
  // A branch of a fork has one open merge request into each branch: a source that shows more keeps the others as they came.
  await execute(
    `update ignore merge_requests set source_project_id = ?, merge_status = if(is_open, 'unchecked', merge_status)
     where id in (${marks(found)})`,
    values,
    targetId
  )
  await requestChecks(found.flatMap(({ id, is_open: isOpen }) => (isOpen === 1 ? [id] : [])))
  await enqueueAll(
    'merge_request.link_objects',
    found.map(({ id }) => ({ id }))
  )
}
