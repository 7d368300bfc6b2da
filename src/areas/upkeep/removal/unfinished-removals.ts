import { rows } from '../../../db/connect/sql.js'
import { enqueue } from '../../../queue/enqueue.js'
import { enqueuedPayloads } from '../../../queue/metrics.js'
import type { Task } from '../../../queue/task.js'

/** Longer than a removal waits for its builds. */
const LATE_MS = 3_600_000

export const unfinishedRemovals: Task = {
  name: 'unfinished_removals',
  schedule: '53 * * * *',
  about: 'queues a new job for the removal of a project, or of leftovers of a killed import, when it has none',
  run: async ({ dryRun, count, note }) => {
    for (const { project_id: projectId, path_with_namespace: path } of await findLostRemovals()) {
      if (!dryRun) await enqueue('project.remove', { projectId })
      count()
      note(path)
    }
    return undefined
  }
}

/** Returns removed projects that still have remains, but no job that removes them. */
export async function findLostRemovals(): Promise<{ project_id: number; path_with_namespace: string }[]> {
  const late = await rows<{ project_id: number; path_with_namespace: string }>(
    'select project_id, path_with_namespace from project_removals where created_at < ? order by project_id',
    [new Date(Date.now() - LATE_MS)]
  )
  // Read after the rows: a removal that ended in between has no job, and a new job then finds nothing to do.
  const waiting = await enqueuedPayloads('project.remove')
  return late.filter(({ project_id: projectId }) => !waiting.has(JSON.stringify({ projectId })))
}
