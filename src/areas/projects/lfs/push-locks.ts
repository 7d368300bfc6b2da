// A push may not change files that somebody else has locked.
import { rows } from '../../../db/connect/sql.js'
import { GitFailure } from '../../../git/process/run.js'
import { type ArrivedPush, arrivedPaths } from '../../../git/transport/arrived-paths.js'

interface ForeignLock {
  readonly path: string
  readonly username: string
}

/** Returns the locks in a project that other users have; none while LFS is off, because nobody could remove them. A deploy key is no user. */
export const locksOfOthers = (projectId: number, userId: number | undefined): Promise<ForeignLock[]> =>
  rows<ForeignLock>(
    `select l.path, u.username from lfs_locks l join users u on u.id = l.user_id
       join projects p on p.id = l.project_id and p.lfs_enabled
       join namespaces n on n.id = p.namespace_id and (n.kind <> 'group' or n.lfs_enabled)
     where l.project_id = ? and l.user_id <> ? order by l.id`,
    [projectId, userId ?? 0]
  )

/** Returns why a push is refused; null when it changes none of the locked files. */
export async function lockRefusal(
  repository: string,
  push: ArrivedPush,
  locks: readonly ForeignLock[]
): Promise<string | null> {
  const owners = new Map(locks.map(({ path, username }) => [path, username]))
  try {
    const [first, ...more] = await arrivedPaths(repository, push, [...owners.keys()])
    if (first === undefined) return null
    const others = more.length === 0 ? '' : `, and ${more.length} more of its files are locked`
    return `${first} is locked by ${owners.get(first)}${others}`
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error
    // It is unknown what the push changes.
    return 'files of this project are locked, and the push cannot be compared with them'
  }
}
