// Counts what a project stores, for the `statistics` of lists. Jobs do it after pushes, so that no list starts git.
import { countCommits } from '../../../git/repository/maintenance.js'
import { repositorySize } from '../../../git/repository/size.js'
import { storeAllCounts, storeRepositoryCounts } from '../../projects/projects/project-statistics.js'
import { repositoryPath, type StoredProject } from '../../projects/projects/repositories.js'

interface Measured extends StoredProject {
  readonly default_branch: string | null
}

/** Stores the counts after a push. It writes nothing when the project no longer exists. */
export const measureRepository = async (project: Measured): Promise<void> =>
  storeRepositoryCounts(project.id, await countsOf(project))

/** Does the same, and counts the artifacts again. */
export const measureProject = async (project: Measured, signal: AbortSignal): Promise<void> =>
  storeAllCounts(project.id, await countsOf(project, signal))

async function countsOf(project: Measured, signal?: AbortSignal): Promise<{ commits: number; size: number }> {
  const path = repositoryPath(project)
  const { default_branch: branch } = project
  const size = await repositorySize(path)
  return { size, commits: branch === null ? 0 : await countCommits(path, branch, signal) }
}
