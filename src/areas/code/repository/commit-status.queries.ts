import { aggregateStatus, type BuildStatus } from '../../../ci/status.js'
import { rows } from '../../../db/connect/sql.js'

/** Returns the combined status of a commit's newest pipelines, one for each branch or tag; null when it has no pipeline. */
export async function latestStatusOf(projectId: number, sha: string): Promise<string | null> {
  const latest = await rows<{ status: BuildStatus }>(
    `select status from pipelines where id in
       (select max(id) from pipelines where project_id = ? and sha = ? and is_child = false group by ref, tag)`,
    [projectId, sha]
  )
  return latest.length === 0 ? null : aggregateStatus(latest.map(({ status }) => ({ status, allowFailure: false })))
}
