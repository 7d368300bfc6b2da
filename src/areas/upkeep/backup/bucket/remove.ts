// Deletes backups from the bucket, and the files that no other backup needs.
import { listObjects, removeObject } from '../../../../storage/s3.js'
import { bucketBackups, FILES, manifestOf, readBucketList } from './layout.js'

/**
 * Deletes backups. Then it removes each file that no manifest names, unless a manifest or list cannot be read: then nobody knows which
 * files it needs. Call it only under the lock of backups: a backup that is being sent has no manifest yet. Returns whether it removed files.
 */
export async function removeFromBucket(ids: readonly string[], signal: AbortSignal): Promise<boolean> {
  // Without its manifest, a backup does not count, also if this is killed.
  for (const id of ids) {
    await removeObject(manifestOf(id))
    await removeObject(`${manifestOf(id)}.sha256`)
  }
  const { whole, damaged } = await bucketBackups()
  if (damaged.length > 0) return false
  const needed = new Set<string>()
  for (const { manifest } of whole) {
    for (const unit of manifest.units) {
      if (needed.has(unit.sha256)) continue
      for (const file of await readBucketList(unit)) needed.add(file.sha256)
      needed.add(unit.sha256)
    }
  }
  for await (const page of listObjects(FILES)) {
    for (const { name } of page) {
      signal.throwIfAborted()
      if (!needed.has(name.slice(FILES.length + 3))) await removeObject(name)
    }
  }
  return true
}
