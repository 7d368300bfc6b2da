// Reads the changes of a commit ("Diff entry").

import { type Patch, patchesOf } from '../../../git/history/patches.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import type { ProjectRow } from '../../projects/projects/projects.queries.js'
import { repositoryPath } from '../../projects/projects/repositories.js'

export interface CommitDiff {
  readonly patches: readonly Patch[]
  /** Whether files or texts are omitted. */
  readonly isCut: boolean
}

/** Reads the changes of an existing commit, compared with its first parent. Throws GitLimit for a commit that is too large. */
export async function readDiff(project: ProjectRow, id: string): Promise<CommitDiff> {
  const repository = repositoryPath(project)
  const found = await patchesOf(repository, id)
  if (!found) throw new DamagedRepository(repository, `the commit ${id} is missing`)
  const { patches, isCut } = found
  return { patches, isCut: isCut || patches.some(({ isTooLarge }) => isTooLarge) }
}
