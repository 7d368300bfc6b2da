// Inserts runners as rows, because the API cannot register runners yet.
import type { RunnerRow } from '../../../../src/areas/ci/runners/runners.queries.js'
import { execute, row } from '../../../../src/db/connect/sql.js'

export interface RunnerSettings {
  readonly active?: boolean
  readonly is_shared?: boolean
  readonly run_untagged?: boolean
  readonly locked?: boolean
  readonly tags?: readonly string[]
  /** Ids of the projects to which the runner is assigned. */
  readonly projects?: readonly number[]
}

/** Inserts a runner. By default it is a specific runner that takes untagged builds. */
export async function makeRunner(settings: RunnerSettings = {}): Promise<RunnerRow> {
  const { active = true, is_shared = false, run_untagged = true, locked = false, tags = [], projects = [] } = settings
  const now = new Date()
  const { insertId } = await execute(
    `insert into runners (description, active, is_shared, run_untagged, locked, tag_list, created_at, updated_at)
     values ('a runner', ?, ?, ?, ?, ?, ?, ?)`,
    [active, is_shared, run_untagged, locked, JSON.stringify(tags), now, now]
  )
  for (const project of projects) {
    await execute('insert into runner_projects (runner_id, project_id) values (?, ?)', [insertId, project])
  }
  const made = await row<RunnerRow>('select * from runners where id = ?', [insertId])
  if (!made) throw new Error('no runner')
  return made
}
