// Objects of git LFS that come from an archive or a backup instead of a client.
import { createHash } from 'node:crypto'
import { execute } from '../../../db/connect/sql.js'
import { batches } from '../../../lib/batches.js'
import { type LfsKey, openLfsObject, putLfsObject } from '../../../storage/lfs.js'
import type { Source } from '../../../storage/put-file.js'
import { claim } from './objects.js'
import { changeLinks } from './sizes.js'

/**
 * Stores an object of an archive, and links it to a project that nobody sees yet. Throws Unprocessable when the content has another hash
 * or size, Unavailable while the object is being removed.
 */
export async function importObject(projectId: number, key: LfsKey, source: Source): Promise<void> {
  await putLfsObject(key, source, () => claim(key))
  await insertLink(projectId, key)
}

/**
 * Stores an object again if it was removed, lost or damaged. Returns whether it was; `dryRun` only looks. Throws as `importObject` does.
 */
export async function putObjectBack(
  key: LfsKey,
  path: string,
  { dryRun }: { readonly dryRun: boolean }
): Promise<boolean> {
  // From here on nobody removes the object.
  if (!dryRun) await claim(key)
  if (await isIntact(key)) return false
  if (!dryRun) await putLfsObject(key, path)
  return true
}

async function isIntact({ oid, size }: LfsKey): Promise<boolean> {
  const found = await openLfsObject(oid)
  if (!found || found.size !== size) {
    found?.stream.destroy()
    return false
  }
  const hash = createHash('sha256')
  for await (const chunk of found.stream as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex') === oid
}

/** Links an object that is stored, or touches its link. */
export async function insertLink(projectId: number, { oid, size }: LfsKey): Promise<void> {
  await insertLinks(projectId, [{ oid, size }])
}

/** Links stored objects, or touches their links. */
export async function insertLinks(projectId: number, keys: readonly LfsKey[]): Promise<void> {
  const now = new Date()
  for (const some of batches(keys, 500))
    await changeLinks(projectId, () =>
      execute(
        `insert into lfs_links (project_id, oid, size, touched_at) values ${some.map(() => '(?, ?, ?, ?)').join(', ')}
         on duplicate key update touched_at = values(touched_at)`,
        some.flatMap(({ oid, size }) => [projectId, oid, size, now])
      )
    )
}
