import { row } from '../../db/sql.js'

export interface RunnerRow {
  readonly id: number
  readonly description: string
  /** 0 for a paused runner, which takes no builds. */
  readonly active: number
  /** A shared runner serves all projects that enable shared runners. Others serve the projects in `runner_projects`. */
  readonly is_shared: number
  readonly run_untagged: number
  /** A locked runner serves only the projects in `runner_projects`. */
  readonly locked: number
  readonly built_in: number | null
  /** A JSON array. */
  readonly tag_list: string
}

export function findBuiltInRunner(): Promise<RunnerRow | undefined> {
  return row<RunnerRow>(
    `select id, description, active, is_shared, run_untagged, locked, built_in, tag_list from runners where built_in = 1`
  )
}
