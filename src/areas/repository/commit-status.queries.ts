import { row } from '../../db/sql.js'

/** The status of the newest pipeline of a commit; null when it has no pipeline. */
export async function latestStatusOf(projectId: number, sha: string): Promise<string | null> {
  const found = await row<{ status: string }>(
    `select status from pipelines where project_id = ? and sha = ? and is_child = false
     order by id desc limit 1`,
    [projectId, sha]
  )
  return found?.status ?? null
}
