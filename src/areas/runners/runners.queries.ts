import { row } from '../../db/sql.js'

export interface RunnerRow {
  readonly id: number
  readonly description: string
  /** A runner that is not active is paused: it takes no builds. */
  readonly active: number
  /** For every project that has shared runners enabled; other runners serve the projects of `runner_projects`. */
  readonly is_shared: number
  readonly run_untagged: number
  /** A locked runner serves none but the projects of `runner_projects`. */
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
