// The two branches of a merge request, as git has them now. A fork may be in a storage of another machine: the owner of the target does
// all work, and asks the other machine for the branch and its commits.
import { existsSync } from 'node:fs'
import { rows } from '../../../../db/connect/sql.js'
import { refOf } from '../../../projects/projects/elsewhere/commits.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'

export interface Branches {
  /** The repository of the target; null when its project no longer exists. */
  readonly target: string | null
  /** The project of the source; null when the fork no longer exists. */
  readonly source: StoredProject | null
  /** The newest commit of the source branch; null when the branch no longer exists. */
  readonly head: string | null
  /** The newest commit of the target branch; null when the branch no longer exists. */
  readonly start: string | null
}

interface BranchNames {
  readonly target_project_id: number
  readonly source_project_id: number
  readonly target_branch: string
  readonly source_branch: string
}

/** Reads the commits to which the branches point. Throws NotHere when the target belongs to another machine. */
export async function readBranches(names: BranchNames): Promise<Branches> {
  const { target_project_id: targetId, source_project_id: sourceId } = names
  const found = await rows<StoredProject>('select id, storage from projects where id in (?, ?)', [targetId, sourceId])
  const [target, source] = [targetId, sourceId].map(wanted => found.find(({ id }) => id === wanted))
  const path = target && repositoryPath(target)
  const heads = await readHeads({ target, source }, names)
  return { target: path !== undefined && existsSync(path) ? path : null, source: source ?? null, ...heads }
}

/** Reads them wherever the repositories are. */
export async function readHeads(
  { target, source }: { readonly target: StoredProject | undefined; readonly source: StoredProject | undefined },
  names: Pick<BranchNames, 'target_branch' | 'source_branch'>
): Promise<Pick<Branches, 'head' | 'start'>> {
  const [head, start] = await Promise.all([
    source ? refOf(source, `refs/heads/${names.source_branch}`) : null,
    target ? refOf(target, `refs/heads/${names.target_branch}`) : null
  ])
  return { head, start }
}
