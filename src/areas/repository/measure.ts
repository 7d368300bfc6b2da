// Counts what a project stores, for the `statistics` of lists: jobs do it after pushes, so that no list starts git.
import { execute } from '../../db/sql.js'
import { countCommits } from '../../git/maintenance.js'
import { repositorySize } from '../../git/repository.js'
import { repositoryPath, type StoredProject } from '../projects/repositories.js'

/** Writes the counts of a project. It writes nothing when the project is gone. */
export async function measureRepository(
  project: StoredProject & { readonly default_branch: string | null },
  signal?: AbortSignal
): Promise<void> {
  const path = repositoryPath(project)
  const { id, default_branch: branch } = project
  const size = await repositorySize(path)
  const commits = branch === null ? 0 : await countCommits(path, branch, signal)
  await execute(
    `insert into project_statistics (project_id, commit_count, repository_size, build_artifacts_size, updated_at)
     select p.id, ?, ?, (select coalesce(sum(b.artifacts_size), 0) from builds b where b.project_id = p.id), ?
     from projects p where p.id = ?
     on duplicate key update commit_count = values(commit_count), repository_size = values(repository_size),
       build_artifacts_size = values(build_artifacts_size), updated_at = values(updated_at)`,
    [commits, size, new Date(), id]
  )
}
