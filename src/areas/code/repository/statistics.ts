// Counts what a project stores, for the `statistics` of lists. Jobs do it after pushes, so that no list starts git.
import { countCommits } from '../../../git/repository/maintenance.js'
import { repositorySize } from '../../../git/repository/repository.js'
import { storeRepositoryCounts } from '../../projects/projects/project-statistics.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'

/** Writes the counts of a project. It writes nothing when the project no longer exists. */
export async function measureRepository(
  project: StoredProject & { readonly default_branch: string | null },
  signal?: AbortSignal
): Promise<void> {
  const path = repositoryPath(project)
  const { id, default_branch: branch } = project
  const size = await repositorySize(path)
  const commits = branch === null ? 0 : await countCommits(path, branch, signal)
  await storeRepositoryCounts(id, { commits, size })
}
