import { row } from '../../../db/connect/sql.js'
import { tokenHash } from '../../../secrets.js'

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
  /** 1 for a runner that only takes builds of protected branches. */
  readonly ref_protected: number
  readonly built_in: number | null
  /** A JSON array. */
  readonly tag_list: string
  /** The time limit of a build on this runner in seconds; null when it sets none. */
  readonly maximum_timeout: number | null
}

const COLUMNS =
  'r.id, r.description, r.active, r.is_shared, r.run_untagged, r.locked, r.ref_protected, r.built_in, r.tag_list, r.maximum_timeout'

export function findBuiltInRunner(): Promise<RunnerRow | undefined> {
  return row<RunnerRow>(`select ${COLUMNS} from runners r where r.built_in = 1`)
}

/** An external runner, with its latest report about itself. */
export interface OutsideRunner extends RunnerRow {
  readonly name: string | null
  readonly version: string | null
  readonly revision: string | null
  readonly platform: string | null
  readonly architecture: string | null
  readonly contacted_at: Date | null
}

/** Returns the runner with this authentication token. The built-in runner has no token. */
export function findRunnerByToken(token: string): Promise<OutsideRunner | undefined> {
  return row<OutsideRunner>(
    `select ${COLUMNS}, r.name, r.version, r.revision, r.platform, r.architecture, r.contacted_at
     from runners r where r.token_hash = ?`,
    [tokenHash(token)]
  )
}
