// Nobody may change files that somebody else has locked: neither by a push nor by a commit of the API or a merge.
import { marks, rows } from '../../../db/connect/sql.js'
import { treePaths } from '../../../git/history/diffs.js'
import { GitFailure } from '../../../git/process/run.js'
import { type ArrivedPush, arrivedPaths } from '../../../git/transport/arrived-paths.js'
import { repositoryPath, type StoredProject } from '../projects/repositories.js'

interface ForeignLock {
  readonly path: string
  readonly username: string
}

/** Returns the locks in a project that other users have; none while LFS is off, because nobody could remove them. A deploy key is no user. */
export const locksOfOthers = (projectId: number, ...userIds: readonly (number | undefined)[]): Promise<ForeignLock[]> =>
  rows<ForeignLock>(
    `select l.path, u.username from lfs_locks l join users u on u.id = l.user_id
       join projects p on p.id = l.project_id and p.lfs_enabled
       join namespaces n on n.id = p.namespace_id and (n.kind <> 'group' or n.lfs_enabled)
     where l.project_id = ? and l.user_id not in (${marks(userIds)}) order by l.id`,
    [projectId, ...userIds.map(id => id ?? 0)]
  )

/** Returns why a change of these paths is refused; null when none of them is locked. */
export function whyLocked(paths: Iterable<string>, locks: readonly ForeignLock[]): string | null {
  const changed = new Set(paths)
  const [first, ...more] = locks.filter(({ path }) => changed.has(path))
  if (first === undefined) return null
  const others = more.length === 0 ? '' : `, and ${more.length} more of the changed files are locked`
  return `${first.path} is locked by ${first.username}${others}`
}

/** Returns why a change from one tree to another is refused. `userIds` may have locks on its files. */
export async function lockRefusalOfTrees(
  project: StoredProject,
  [before, after]: readonly [before: string, after: string],
  ...userIds: readonly number[]
): Promise<string | null> {
  const locks = await locksOfOthers(project.id, ...userIds)
  return locks.length === 0 ? null : whyLocked(await treePaths(repositoryPath(project), before, after), locks)
}

/** Returns why a push is refused; null when it changes none of the locked files. */
export async function lockRefusal(
  repository: string,
  push: ArrivedPush,
  locks: readonly ForeignLock[]
): Promise<string | null> {
  try {
    const paths = locks.map(({ path }) => path)
    return whyLocked(await arrivedPaths(repository, push, paths), locks)
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    // It is unknown what the push changes.
    return 'files of this project are locked, and the push cannot be compared with them'
  }
}
