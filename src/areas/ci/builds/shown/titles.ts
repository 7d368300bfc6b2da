import { readCommit } from '../../../../git/history/commits.js'
import { GitFailure } from '../../../../git/process/run.js'
import { titleOf } from '../../../code/repository/repository.view.js'
import type { ProjectRow } from '../../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../../projects/projects/repositories.js'

/** Returns the first lines of the messages of commits, by their ids. It has none for a commit that is no longer there. */
export async function titlesOf(project: ProjectRow, shas: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const repository = repositoryPath(project)
  const found = await Promise.all(
    [...new Set(shas)].map(async sha => {
      const commit = await readCommit(repository, sha).catch(error => {
        // A damaged repository must not hide the pipelines. The API logs it.
        if (error instanceof GitFailure) return null
        throw error
      })
      return [sha, commit ? titleOf(commit.message) : ''] as const
    })
  )
  return new Map(found)
}
