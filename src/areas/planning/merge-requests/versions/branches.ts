// The two branches of a merge request, as git has them now.
import { existsSync } from 'node:fs'
import { rows } from '../../../../db/connect/sql.js'
import { refValue } from '../../../../git/refs/refs.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'

export interface Branches {
  /** The repository of the target; null when its project no longer exists. */
  readonly target: string | null
  /** The repository of the source; null when the fork no longer exists. */
  readonly source: string | null
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

/** Reads the commits to which the branches point. */
export async function readBranches(names: BranchNames): Promise<Branches> {
  const { target_project_id: targetId, source_project_id: sourceId } = names
  const found = await rows<StoredProject>('select id, storage from projects where id in (?, ?)', [targetId, sourceId])
  const pathOf = (wanted: number) => {
    const project = found.find(({ id }) => id === wanted)
    const path = project && repositoryPath(project)
    return path !== undefined && existsSync(path) ? path : null
  }
  const [target, source] = [pathOf(targetId), pathOf(sourceId)]
  const [head, start] = await Promise.all([
    source === null ? null : refValue(source, `refs/heads/${names.source_branch}`),
    target === null ? null : refValue(target, `refs/heads/${names.target_branch}`)
  ])
  return { target, source, head, start }
}
