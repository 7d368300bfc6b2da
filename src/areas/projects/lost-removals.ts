// Removals of projects whose job was discarded, or died.
import { rows } from '../../db/sql.js'
import { transact } from '../../db/transact.js'
import { enqueueAll } from '../../queue/enqueue.js'
import { enqueuedPayloads } from '../../queue/metrics.js'

/** The numbers of removed projects of which something is left, while no job removes it. */
export async function findLostRemovals(): Promise<number[]> {
  const removals = await rows<{ project_id: number }>('select project_id from project_removals order by project_id')
  if (removals.length === 0) return []
  const waiting = await enqueuedPayloads('project.remove')
  return removals.map(({ project_id }) => project_id).filter(id => !waiting.has(JSON.stringify({ projectId: id })))
}

/** Gives each of them a job; gives how many. One more than is needed would be harmless. */
export function resumeRemovals(): Promise<number> {
  return transact(async () => {
    const lost = await findLostRemovals()
    await enqueueAll(
      'project.remove',
      lost.map(projectId => ({ projectId }))
    )
    return lost.length
  })
}
