// The objects of git LFS that a project has. An object is stored once for all projects, under the hash of its content; a link says that
// a project may read it. A project gets a link only when a client sends the whole content: the hash of an object of another project is not
// enough to read or link it.
//
// Storing is safe against the removal of unused objects at the same time:
//   1. receive  all bytes, which must have the hash and the size
//   2. claim    the row of the object exists, is touched now, and is not being removed; otherwise the client tries again later
//   3. store    the file gets its name
//   4. link     in one transaction: the row still exists and is not being removed, the project has room, the link is inserted
// A removal marks only rows without links that nobody has touched for long, in a transaction, before it removes the file.
import { config } from '../../../config.js'
import { lockRow } from '../../../db/connect/lock-row.js'
import { execute, marks, row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { NotFound, NotFoundAs, TooLarge, Unavailable } from '../../../errors.js'
import type { ChooseRange } from '../../../lib/byte-range.js'
import type { OpenFile } from '../../../storage/files.js'
import {
  isOid,
  type LfsKey,
  openLfsObject,
  putLfsObject,
  removeLfsObject,
  sendLfsFromBucket
} from '../../../storage/lfs.js'
import { findLfsUpload } from '../../../storage/lfs-uploads.js'
import type { Source } from '../../../storage/put-file.js'
import { keepLfsSize, lfsSizeOf } from './sizes.js'

/** Returns a text that may be the name of an object; empty for any other: to the database, upper and lower case are the same. */
export const oidOf = (text: string): string => (isOid(text) ? text : '')

/** Returns the objects that a project has, of those asked for, with their sizes. */
export async function findLinks(projectId: number, oids: readonly string[]): Promise<Map<string, number>> {
  if (oids.length === 0) return new Map()
  const found = await rows<LfsKey>(`select oid, size from lfs_links where project_id = ? and oid in (${marks(oids)})`, [
    projectId,
    ...oids
  ])
  return new Map(found.map(({ oid, size }) => [oid, Number(size)]))
}

/** Links that a client was promised must not be removed before its push arrives. Milliseconds: promises closer together count as one. */
const TOUCH_MS = 600_000

/** Notes that a client was promised that the project has these objects: it will push files that need them. */
export async function touchLinks(projectId: number, oids: readonly string[]): Promise<void> {
  if (oids.length === 0) return
  const now = new Date()
  await execute(
    `update lfs_links set touched_at = ? where project_id = ? and touched_at < ? and oid in (${marks(oids)})`,
    [now, projectId, new Date(now.getTime() - TOUCH_MS), ...oids]
  )
}

/** Returns why an object is too large; null when it is not. */
export function excessOfObject(size: number): string | null {
  const { max_object_size: most } = config().lfs
  return size > most ? `a file in LFS may have at most ${most} bytes (lfs.max_object_size)` : null
}

/** Returns why there is no room for so many more bytes in a project; null when there is. */
export function excessOfProject(bytes: number): string | null {
  const { max_project_size: most } = config().lfs
  return bytes > most ? `the LFS files of a project may have at most ${most} bytes (lfs.max_project_size)` : null
}

/**
 * Stores an object and links it to a project. Throws TooLarge without reading when it is too large or the project has no room,
 * Unprocessable when the content has another hash or size, NotFound for a text that is no hash and when the project was removed,
 * Unavailable while the object is being removed. Then nothing is linked.
 */
export async function storeObject(projectId: number, key: LfsKey, source: () => Source): Promise<void> {
  if (!isOid(key.oid)) throw new MissingObject()
  await settle(projectId, key, claimIt => putLfsObject(key, source(), claimIt))
}

/**
 * Links an object that a client has put into the bucket for this project. Returns false when it has not. Throws what `storeObject` throws.
 * Afterwards, the bucket has the upload no longer, unless the caller may try again.
 */
export async function acceptUpload(projectId: number, key: LfsKey): Promise<boolean> {
  const upload = isOid(key.oid) ? await findLfsUpload(projectId, key) : undefined
  if (!upload) return false
  try {
    await settle(projectId, key, claimIt => upload.store(claimIt))
  } catch (error) {
    if (!(error instanceof Unavailable)) await upload.drop()
    throw error
  }
  await upload.drop()
  return true
}

/** `store` calls its argument when the content is right, before it stores it. */
async function settle(
  projectId: number,
  key: LfsKey,
  store: (claimIt: () => Promise<unknown>) => Promise<void>
): Promise<void> {
  const excess = excessOfObject(key.size) ?? excessOfProject((await lfsSizeOf(projectId)) + key.size)
  if (excess !== null) throw new TooLarge(excess)
  const claimed: Claimed[] = []
  await store(async () => claimed.push(await claim(key)))
  try {
    await link(projectId, key)
  } catch (error) {
    for (const each of claimed) await removeOwn(each)
    throw error
  }
}

export interface OpenObject {
  readonly choose?: ChooseRange
  /** Whether the client may get it from the bucket. */
  readonly direct: boolean
}

export class MissingObject extends NotFoundAs {
  constructor() {
    super('the project has no such object')
  }
}

/** Opens an object of a project, or a part of it. Throws MissingObject, FoundElsewhere if `direct` is true, and what `choose` throws. */
export async function openObject(projectId: number, oid: string, how: OpenObject): Promise<OpenFile> {
  if (!(await findLinks(projectId, [oid])).has(oid)) throw new MissingObject()
  return openLinkedObject(oid, how)
}

/** Does the same for an object that the project is known to have. */
export async function openLinkedObject(oid: string, { choose, direct }: OpenObject): Promise<OpenFile> {
  if (direct) await sendLfsFromBucket(oid, { type: 'application/octet-stream', disposition: 'attachment' })
  const found = await openLfsObject(oid, choose)
  if (!found) throw new MissingObject()
  return found
}

interface Claimed {
  readonly oid: string
  /** When this claim made the row; null when the row existed. */
  readonly madeAt: Date | null
}

/** Makes the row of an object, and notes that somebody needs it now. */
export async function claim({ oid, size }: LfsKey): Promise<Claimed> {
  const now = new Date()
  const { affectedRows } = await execute(
    'insert ignore into lfs_objects (oid, size, created_at, touched_at) values (?, ?, ?, ?)',
    [oid, size, now, now]
  )
  if (affectedRows > 0) return { oid, madeAt: now }
  await touchObject(oid)
  return { oid, madeAt: null }
}

/** Removes an object that was stored but not linked, unless somebody else has needed it: then it waits for the daily upkeep. */
async function removeOwn({ oid, madeAt }: Claimed): Promise<void> {
  if (madeAt === null) return
  const { affectedRows } = await execute(
    `update lfs_objects set removing_at = ? where oid = ? and created_at = ? and touched_at = ? and removing_at is null
       and not exists (select 1 from lfs_links l where l.oid = lfs_objects.oid)`,
    [new Date(), oid, madeAt, madeAt]
  )
  if (affectedRows === 0) return
  await removeLfsObject(oid)
  await execute('delete from lfs_objects where oid = ? and removing_at is not null', [oid])
}

/** Notes that an object is needed. It writes the row, because the servers of a cluster do not see each other's locks. */
async function touchObject(oid: string): Promise<void> {
  // A row that keeps its values does not count as affected, so two in one millisecond must write different ones.
  const later = 'greatest(?, touched_at + interval 1000 microsecond)'
  const sql = `update lfs_objects set touched_at = ${later} where oid = ? and removing_at is null`
  if ((await execute(sql, [new Date(), oid])).affectedRows > 0) return
  throw new Unavailable('this object is being removed, because nothing needed it: try again', 10)
}

async function link(projectId: number, { oid, size }: LfsKey): Promise<void> {
  await transact(async () => {
    // Links of one project are counted one after another, so that together they do not exceed the limit.
    if (!(await lockRow('projects', projectId))) throw new NotFound('Project')
    await touchObject(oid)
    const counted = 'select 1 from lfs_links where project_id = ? and oid = ? and not held'
    if (!(await row(counted, [projectId, oid]))) {
      const sum = (await lfsSizeOf(projectId)) + size
      const excess = excessOfProject(sum)
      if (excess !== null) throw new TooLarge(excess)
      await keepLfsSize(projectId, sum)
    }
    await execute(
      `insert into lfs_links (project_id, oid, size, touched_at) values (?, ?, ?, ?)
       on duplicate key update touched_at = values(touched_at), held = false`,
      [projectId, oid, size, new Date()]
    )
  })
}
