// Counts of what a project stores, for the `statistics` of lists. Uploads are counted where they are stored.
import { execute } from '../../../db/connect/sql.js'

interface Counts {
  readonly commits: number
  readonly size: number
}

/**
 * Stores the counts of the repository. It counts the artifacts only when they were never counted: that reads all builds
 * of the project. It writes nothing when the project is gone.
 */
export async function storeRepositoryCounts(projectId: number, counts: Counts): Promise<void> {
  const { affectedRows } = await execute(
    'update project_statistics set commit_count = ?, repository_size = ?, updated_at = ? where project_id = ?',
    [counts.commits, counts.size, new Date(), projectId]
  )
  if (affectedRows === 0) await storeAllCounts(projectId, counts)
}

/** Stores the counts of the repository, and counts the artifacts again. It writes nothing when the project is gone. */
export async function storeAllCounts(projectId: number, { commits, size }: Counts): Promise<void> {
  await execute(
    `insert into project_statistics (project_id, commit_count, repository_size, build_artifacts_size, updated_at)
     select p.id, ?, ?, (select coalesce(sum(b.artifacts_size), 0) from builds b where b.project_id = p.id), ?
     from projects p where p.id = ?
     on duplicate key update commit_count = values(commit_count), repository_size = values(repository_size),
       build_artifacts_size = values(build_artifacts_size), updated_at = values(updated_at)`,
    [commits, size, new Date(), projectId]
  )
}

/**
 * Adds bytes to the statistics of the build's project, or subtracts them. The next check of the repository counts them
 * again, so a crash before this call does no lasting harm.
 */
export async function countArtifacts(buildId: number, bytes: number): Promise<void> {
  await execute(
    `update project_statistics s join builds b on b.project_id = s.project_id
     set s.build_artifacts_size = greatest(cast(s.build_artifacts_size as signed) + ?, 0) where b.id = ?`,
    [bytes, buildId]
  )
}
