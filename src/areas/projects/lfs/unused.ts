// The end of the objects of git LFS. First a project loses its link to an object that no ref of its repository has needed for
// `lfs.keep_days`; an object without any link for as long is then removed. Both are safe against a client that needs the object again:
//   - A client that asks whether the project has an object touches the link before it gets the answer (batch.ts). A link that was touched
//     after the search began is not removed, so a push may arrive `lfs.keep_days` after its files.
//   - A link is removed in a transaction that sees no change of a ref after the search has read the refs. A push that comes later finds
//     the link removed: it asks, and sends the object again.
//   - Removing a link touches the object. An object is marked only in a statement that sees no link to it; from then on uploads of it are
//     refused for a moment (objects.ts), and the file and the row go.
import { execute, marks, row, rows, type Value } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { batches } from '../../../lib/batches.js'
import { removeLfsObject } from '../../../storage/lfs.js'
import { forgetLfsSize } from './sizes.js'

const AT_ONCE = 500
/** Milliseconds. No removal of one object takes as long. */
const ABANDONED_MS = 3_600_000

export interface IdleLink {
  readonly oid: string
  /** Bytes. */
  readonly size: number
}

/** Yields the links of a project that nobody has touched since `before`, in pages. */
export async function* idleLinks(projectId: number, before: Date): AsyncGenerator<IdleLink[]> {
  for (let last = ''; ; ) {
    const found = await rows<IdleLink>(
      `select oid, size from lfs_links where project_id = ? and oid > ? and touched_at < ? order by oid limit 5000`,
      [projectId, last, before]
    )
    const end = found.at(-1)
    if (!end) return
    yield found.map(({ oid, size }) => ({ oid, size: Number(size) }))
    last = end.oid
  }
}

/** Returns the number of the latest change of a ref of a project. */
export async function lastRefChange(projectId: number): Promise<number> {
  const found = await row<{ last: number | null }>('select max(id) as last from ref_changes where project_id = ?', [
    projectId
  ])
  return found?.last ?? 0
}

interface Unlinking {
  readonly oids: readonly string[]
  readonly before: Date
  /** The latest change of a ref when the refs were read. */
  readonly lastChange: number
}

/**
 * Removes links that nobody has touched since `before`, and touches their objects. Returns how many; null when a ref has changed after
 * `lastChange`, or is changing now: then read the refs again.
 */
export function unlinkIdle(projectId: number, { oids, before, lastChange }: Unlinking): Promise<number | null> {
  return transact(async () => {
    // Changes of refs take a shared lock on this row before they begin.
    if (!(await row('select id from projects where id = ? for update', [projectId]))) return 0
    const changed = await row(`select 1 from ref_changes where project_id = ? and (id > ? or state = 'open') limit 1`, [
      projectId,
      lastChange
    ])
    if (changed) return null
    const values: Value[] = [projectId, before, ...oids]
    const { affectedRows } = await execute(
      `delete from lfs_links where project_id = ? and touched_at < ? and oid in (${marks(oids)})`,
      values
    )
    await forgetLfsSize(projectId)
    await touchObjects(oids)
    return affectedRows
  })
}

/** Lets the time begin again after which objects without a link are removed. */
async function touchObjects(oids: readonly string[]): Promise<void> {
  await execute(`update lfs_objects set touched_at = ? where oid in (${marks(oids)})`, [new Date(), ...oids])
}

/** Touches the objects of a project that is being removed. Its links are removed with its other rows. */
export async function touchObjectsOf(projectId: number): Promise<void> {
  for await (const page of idleLinks(projectId, new Date(8_640_000_000_000))) {
    for (const some of batches(page, AT_ONCE)) await touchObjects(some.map(({ oid }) => oid))
  }
}

export interface ScannedProject {
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
}

/** Records when the refs of a project were last searched for its objects. */
export async function noteScan(projectId: number): Promise<void> {
  const now = new Date()
  await execute(
    `insert into lfs_scans (project_id, scanned_at) select id, ? from projects where id = ?
     on duplicate key update scanned_at = ?`,
    [now, projectId, now]
  )
}

const UNUSED = `touched_at < ? and removing_at is null and not exists (select 1 from lfs_links l where l.oid = lfs_objects.oid)`

/** Counts the objects without a link that nobody has touched since `before`. */
export async function countUnused(before: Date): Promise<{ objects: number; bytes: number }> {
  const found = await row<{ objects: number; bytes: number | string }>(
    `select count(*) as objects, coalesce(sum(size), 0) as bytes from lfs_objects where ${UNUSED}`,
    [before]
  )
  return { objects: Number(found?.objects ?? 0), bytes: Number(found?.bytes ?? 0) }
}

/** Removes objects without a link that nobody has touched since `before`. Calls `done` for each. Only one run at a time may do this. */
export async function removeUnused(before: Date, signal: AbortSignal, done: (object: IdleLink) => void): Promise<void> {
  // Their processes were killed. Those that still run remove theirs: otherwise they might remove a file that has arrived again.
  const marked = await rows<IdleLink>('select oid, size from lfs_objects where removing_at < ?', [
    new Date(Date.now() - ABANDONED_MS)
  ])
  for (const object of marked) await remove(object, signal, done)
  for (;;) {
    const found = await rows<IdleLink>(`select oid, size from lfs_objects where ${UNUSED} limit ${AT_ONCE}`, [before])
    if (found.length === 0) return
    let removed = 0
    for (const object of found) {
      const { affectedRows } = await execute(`update lfs_objects set removing_at = ? where oid = ? and ${UNUSED}`, [
        new Date(),
        object.oid,
        before
      ])
      if (affectedRows === 0) continue
      await remove(object, signal, done)
      removed++
    }
    // Somebody needs all of them again.
    if (removed === 0) return
  }
}

/** Uploads of a marked object are refused, so nobody stores the file between the two steps. */
async function remove(object: IdleLink, signal: AbortSignal, done: (object: IdleLink) => void): Promise<void> {
  signal.throwIfAborted()
  await removeLfsObject(object.oid)
  await execute('delete from lfs_objects where oid = ? and removing_at is not null', [object.oid])
  done({ ...object, size: Number(object.size) })
}
