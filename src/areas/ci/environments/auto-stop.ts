// Stops environments whose `auto_stop_in` of the CI file has passed.
import { scheduleOrigin } from '../../../access/actor.js'
import { rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import type { Task } from '../../../queue/task.js'
import { audit } from '../../ground/audit/audit.js'
import { stop } from './stop.js'

/** The next run stops the others. */
const MOST = 500

interface DueEnvironment {
  readonly id: number
  readonly project_id: number
  readonly name: string
}

export const dueEnvironments: Task = {
  name: 'due_environments',
  schedule: '*/5 * * * *',
  about: 'stops environments whose `auto_stop_in` has passed, with their `on_stop` job if they have one',
  run: async ({ dryRun, signal, count, note }) => {
    const due = await rows<DueEnvironment>(
      `select e.id, e.project_id, concat(n.path, '/', p.path, ' ', e.name) as name
       from environments e join projects p on p.id = e.project_id join namespaces n on n.id = p.namespace_id
       where e.auto_stop_at <= ? and e.state = 'available' and p.builds_enabled and not p.archived
       order by e.auto_stop_at, e.id limit ${MOST}`,
      [new Date()]
    )
    for (const { id, project_id: projectId, name } of due) {
      signal.throwIfAborted()
      const stopped =
        dryRun ||
        (await transact(async () => {
          if (!(await stop(id, null))) return false
          await audit(scheduleOrigin(), {
            action: 'environment.stop',
            target: { type: 'project', id: projectId, name }
          })
          return true
        }))
      if (!stopped) continue
      count()
      note(name)
    }
    return undefined
  }
}
