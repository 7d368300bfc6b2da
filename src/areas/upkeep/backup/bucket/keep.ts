// What createBackup and the commands do with backups whose place is the bucket.
import { rmSync } from 'node:fs'
import type { Origin } from '../../../../access/actor.js'
import { transact } from '../../../../db/connect/transact.js'
import { Conflict, NoSuch } from '../../../../errors.js'
import { placeOf } from '../../../../storage/places.js'
import { auditAll } from '../../../ground/audit/audit.js'
import { asOnlyBackup } from '../lock.js'
import { type Manifest, readManifest } from '../manifest.js'
import { type BackupRecord, listBackups, viewBackup } from '../store.js'
import { fetchBackup } from './fetch.js'
import {
  type BucketBackup,
  bucketBackups,
  idsInBucket,
  mayHaveBackups,
  requireBucketBackups,
  shownPath,
  viewBucketBackup
} from './layout.js'
import { removeFromBucket } from './remove.js'
import { type SendOptions, sendBackup } from './upload.js'

/** Whether a new backup goes to the bucket; a folder that somebody names comes first. */
export const goesToBucket = (to?: string): boolean => to === undefined && placeOf('backups') === 's3'

/** The backups of a home in the bucket that are older than the newest `keep`. */
export async function surplusInBucket(home: string, keep: number | undefined): Promise<BucketBackup[]> {
  if (keep === undefined) return []
  const own = (await bucketBackups()).whole.filter(({ manifest }) => manifest.home === home)
  return own.slice(0, Math.max(0, own.length - keep))
}

interface Finished {
  readonly folder: string
  readonly manifest: Manifest
  readonly keep: number | undefined
}

/**
 * Sends a finished backup, and removes it from the disk; then deletes the older ones beyond `keep`. Throws BucketUnavailable: the backup
 * is complete, and stays on the disk.
 */
export async function finishInBucket(
  { folder, manifest, keep }: Finished,
  options: SendOptions
): Promise<{ record: BackupRecord; deleted: string[] }> {
  const sent = await sendBackup(folder, manifest, options)
  rmSync(folder, { recursive: true, force: true })
  // An older backup may have the only intact copy.
  const surplus = manifest.damaged?.length ? [] : await surplusInBucket(manifest.home, keep)
  const deleted = surplus.map(({ id }) => id)
  if (deleted.length > 0) await removeFromBucket(deleted, options.signal)
  return { record: { ...viewBackup(folder, manifest), path: shownPath(manifest.id), new_bytes: sent.bytes }, deleted }
}

/** The backups in the bucket, oldest first, and the damaged ones; none if backups are not kept there. */
export async function listInBucket() {
  if (!mayHaveBackups()) return { backups: [], damaged: [] }
  const { whole, damaged } = await bucketBackups()
  return { backups: whole.map(viewBucketBackup), damaged }
}

/** Returns what `deleteFromBucket` would delete. Throws NoSuch. */
export async function deletableInBucket(name: string): Promise<{ id: string; path: string; bytes: number | null }> {
  if (!mayHaveBackups()) throw new NoSuch('backup', name)
  const { whole, damaged } = await bucketBackups()
  const found = name === 'latest' ? whole.at(-1) : whole.find(({ id }) => id === name)
  if (found) return { id: found.id, path: shownPath(found.id), bytes: found.manifest.totals.bytes }
  if (!damaged.some(({ id }) => id === name)) throw new NoSuch('backup', name)
  return { id: name, path: shownPath(name), bytes: null }
}

/** Deletes backups from the bucket. Throws AlreadyRunning while a backup is written. */
export async function deleteFromBucket(ids: readonly string[], origin: Origin): Promise<void> {
  await asOnlyBackup(signal => removeFromBucket(ids, signal))
  await transact(() =>
    auditAll(
      origin,
      ids.map(id => ({ action: 'backup.delete', target: { type: 'backup', id, name: shownPath(id) } }))
    )
  )
}

export interface MoveBackups {
  readonly to: 's3' | 'folder'
  readonly deleteSource: boolean
  readonly dryRun: boolean
  readonly signal: AbortSignal
  readonly progress?: (done: number, total: number) => void
}

/** Copies the backups of HOME/backups to the bucket, or back. A fetched backup is compared with its hashes before its source is deleted. */
export async function moveBackups({ to, deleteSource, dryRun, signal, progress }: MoveBackups, origin: Origin) {
  requireBucketBackups()
  if (!dryRun && placeOf('backups') !== to) {
    throw new Conflict(`new backups still go to the other place: set storage.backups to ${to}, then migrate`)
  }
  const local = listBackups().map(({ id, path, bytes }) => ({ id, path, bytes }))
  const kept = new Set(await idsInBucket())
  const wanted = to === 's3' ? local : (await bucketBackups()).whole.map(viewBucketBackup)
  const isThere = (id: string) => (to === 's3' ? kept.has(id) : local.some(backup => backup.id === id))
  const moved = { copied: 0, bytes: 0, present: 0, deleted: 0, failed: [] as string[] }
  const copy = async ({ id, path }: { id: string; path: string }, within: AbortSignal) => {
    if (to === 'folder') await fetchBackup(id, { signal: within })
    else await sendBackup(path, readManifest(path), { signal: within })
  }
  await asOnlyBackup(async within => {
    for (const [index, backup] of wanted.entries()) {
      progress?.(index, wanted.length)
      const known = isThere(backup.id)
      if (!known && !dryRun) await copy(backup, within)
      moved[known ? 'present' : 'copied'] += 1
      if (!known) moved.bytes += backup.bytes
      if (!deleteSource || dryRun) continue
      if (to === 's3') rmSync(backup.path, { recursive: true, force: true })
      else await removeFromBucket([backup.id], within)
      moved.deleted += 1
    }
  }, signal)
  if (moved.deleted > 0) {
    await transact(() =>
      auditAll(origin, [
        {
          action: 'storage.migrate',
          target: { type: 'storage', id: 'backups', name: 'backups' },
          changes: { to: { after: to } }
        }
      ])
    )
  }
  return moved
}
