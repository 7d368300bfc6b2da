// Locks of files: git LFS lets people say that they work on a file that cannot be merged. A lock is for a path on all branches, because
// the two versions would meet in a merge sooner or later.
import { createHash } from 'node:crypto'
import { type Origin, requireAsker } from '../../../access/actor.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Forbidden, NotFound, NotFoundAs, Unprocessable } from '../../../errors.js'
import { audit } from '../../ground/audit/audit.js'

export interface LockRow {
  readonly id: number
  readonly path: string
  readonly user_id: number
  readonly username: string
  readonly created_at: Date
}

/** Somebody has the lock already. */
export class AlreadyLocked extends Conflict {
  constructor(readonly lock: LockRow) {
    super(`${lock.path} is locked by ${lock.username} already`)
  }
}

/** Not specified: a push compares its files with all of them. */
const MOST_LOCKS = 10_000
const LONGEST_PATH = 1024

const LOCKS = `select l.id, l.path, l.user_id, u.username, l.created_at from lfs_locks l join users u on u.id = l.user_id`

interface LockedProject {
  readonly id: number
  readonly name: string
}

/** Locks a path for the caller. Throws AlreadyLocked, Unprocessable for a text that is no path of a file. */
export async function createLock(project: LockedProject, path: string, origin: Origin): Promise<LockRow> {
  checkPath(path)
  const user = requireAsker(origin)
  const hash = createHash('sha256').update(path).digest('hex')
  return transact(async () => {
    if (!(await lockRow('projects', project.id))) throw new NotFound('Project')
    const known = await row<LockRow>(`${LOCKS} where l.project_id = ? and l.path_hash = ?`, [project.id, hash])
    if (known) throw new AlreadyLocked(known)
    const all = await row<{ count: number }>('select count(*) as count from lfs_locks where project_id = ?', [
      project.id
    ])
    if ((all?.count ?? 0) >= MOST_LOCKS) throw new Unprocessable(`a project may have at most ${MOST_LOCKS} locks`)
    const now = new Date()
    const { insertId } = await execute(
      'insert into lfs_locks (project_id, path, path_hash, user_id, created_at) values (?, ?, ?, ?, ?)',
      [project.id, path, hash, user.id, now]
    )
    return { id: insertId, path, user_id: user.id, username: user.username, created_at: now }
  })
}

/** A path from the root of the repository, as git writes it. */
function checkPath(path: string): void {
  const parts = path.split('/')
  const isPath = path.length <= LONGEST_PATH && !/[\0\n]/.test(path) && parts.every(part => !/^\.{0,2}$/.test(part))
  if (!isPath) throw new Unprocessable(`path must be that of a file, with at most ${LONGEST_PATH} characters`)
}

interface LockFilter {
  readonly path?: string | undefined
  readonly id?: number | undefined
  /** Locks with a higher id. */
  readonly after?: number | undefined
  readonly limit: number
}

/** Returns locks in the order of their ids, and whether more follow. */
export async function listLocks(
  projectId: number,
  { path, id, after, limit }: LockFilter
): Promise<{ locks: LockRow[]; isMore: boolean }> {
  const conditions: [sql: string, value: Value][] = [['l.project_id = ?', projectId]]
  if (path !== undefined) conditions.push(['l.path_hash = ?', createHash('sha256').update(path).digest('hex')])
  if (id !== undefined) conditions.push(['l.id = ?', id])
  if (after !== undefined) conditions.push(['l.id > ?', after])
  const found = await rows<LockRow>(
    `${LOCKS} where ${conditions.map(([sql]) => sql).join(' and ')} order by l.id limit ${limit + 1}`,
    conditions.map(([, value]) => value)
  )
  return { locks: found.slice(0, limit), isMore: found.length > limit }
}

interface Unlocking {
  readonly id: number
  /** Also the lock of another user. */
  readonly force: boolean
  /** Whether the caller may do that. */
  readonly mayForce: boolean
}

/** Removes a lock. Throws NotFound, and Forbidden for the lock of another user. */
export async function removeLock(
  project: LockedProject,
  { id, force, mayForce }: Unlocking,
  origin: Origin
): Promise<LockRow> {
  const user = requireAsker(origin)
  return transact(async () => {
    const lock = await row<LockRow>(`${LOCKS} where l.project_id = ? and l.id = ? for update`, [project.id, id])
    if (!lock) throw new NotFoundAs('this lock does not exist')
    const isOwn = lock.user_id === user.id
    if (!isOwn && !force) throw new Forbidden(`${lock.path} is locked by ${lock.username}`)
    if (!isOwn && !mayForce) throw new Forbidden('only masters may remove the locks of others')
    await execute('delete from lfs_locks where id = ?', [id])
    if (!isOwn) {
      await audit(origin, {
        action: 'lfs_lock.remove',
        target: { type: 'project', id: project.id, name: project.name },
        changes: { path: { before: lock.path }, user: { before: lock.username } }
      })
    }
    return lock
  })
}
