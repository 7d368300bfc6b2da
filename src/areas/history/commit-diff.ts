// Reads what a commit changed ("Diff entry").
import { DamagedRepository } from '../../git/objects.js'
import { type Patch, patchesOf } from '../../git/patches.js'
import type { ProjectRow } from '../projects/projects.queries.js'
import { repositoryPath } from '../projects/repositories.js'

export interface CommitDiff {
  readonly patches: readonly Patch[]
  /** Whether files or texts are left out. */
  readonly isCut: boolean
}

/** Reads the changes of a commit that exists, compared with its first parent. Throws GitLimit for one that is too large. */
export async function readDiff(project: ProjectRow, id: string): Promise<CommitDiff> {
  const repository = repositoryPath(project)
  const found = await patchesOf(repository, id)
  if (!found) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  const { patches, isCut } = found
  return { patches, isCut: isCut || patches.some(({ isTooLarge }) => isTooLarge) }
}
