import { rows } from '../../../db/connect/sql.js'
import { enqueuedPayloads } from '../../../queue/metrics.js'
import type { Task } from '../../../queue/task.js'
import { finishFilling } from '../projects/pending-imports.js'

/** Longer than an import takes with all its attempts. */
const LATE_MS = 86_400_000

export const unfinishedImports: Task = {
  name: 'unfinished_imports',
  schedule: '23 * * * *',
  about: 'opens forks and imports whose job is dead or missing, and records the error',
  run: async ({ dryRun, count, note }) => {
    const late = await rows<{ id: number }>(
      `select p.id from project_imports i join projects p on p.id = i.project_id
       where p.import_state = 'waiting' and i.created_at < ? order by p.id`,
      [new Date(Date.now() - LATE_MS)]
    )
    // Read after the rows: an import that ended in the meantime is no longer waiting and stays as it is.
    const working = late.length > 0 ? await enqueuedPayloads('project.fill') : new Set()
    for (const { id } of late) {
      if (working.has(JSON.stringify({ projectId: id }))) continue
      if (!dryRun) await finishFilling(id, { error: 'the job that copies the repository failed: see the log' })
      count()
      note(`project ${id}`)
    }
    return undefined
  }
}
