import { aggregateStatus, type BuildStatus } from '../../../ci/status.js'
import { marks, padded, rows } from '../../../db/connect/sql.js'

/** Returns the combined status of a commit's newest pipelines, one for each branch or tag; null when it has no pipeline. */
export async function latestStatusOf(projectId: number, sha: string): Promise<string | null> {
  const latest = await rows<{ status: BuildStatus }>(
    `select status from pipelines where id in
       (select max(id) from pipelines where project_id = ? and sha = ? and is_child = false group by ref, tag)`,
    [projectId, sha]
  )
  return latest.length === 0 ? null : aggregateStatus(latest.map(({ status }) => ({ status, allowFailure: false })))
}

export interface CommitState {
  readonly status: string
  /** The newest pipeline with this status, or the newest one when they differ. */
  readonly pipelineId: number
}

/** Returns the combined statuses of some commits by their ids; commits without a pipeline are missing. */
export async function latestStatusesOf(
  projectId: number,
  shas: readonly string[]
): Promise<ReadonlyMap<string, CommitState>> {
  if (shas.length === 0) return new Map()
  const listed = padded(shas)
  const latest = await rows<{ id: number; sha: string; status: BuildStatus }>(
    `select id, sha, status from pipelines where id in
       (select max(id) from pipelines where project_id = ? and sha in (${marks(listed)}) and is_child = false
        group by sha, ref, tag) order by id`,
    [projectId, ...listed]
  )
  const all = Map.groupBy(latest, ({ sha }) => sha)
  return new Map([...all].map(([sha, some]) => [sha, stateOf(some)]))
}

function stateOf(pipelines: readonly { readonly id: number; readonly status: BuildStatus }[]): CommitState {
  const status = aggregateStatus(pipelines.map(({ status }) => ({ status, allowFailure: false })))
  const { id } = pipelines.findLast(pipeline => pipeline.status === status) ?? pipelines.at(-1) ?? { id: 0 }
  return { status, pipelineId: id }
}
