// Sends a finished backup to the bucket. Files that the newest backup there has already are not sent again. A killed run leaves files
// that no manifest names; the next deletion removes them.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { mapBounded } from '../../../../lib/bounded.js'
import { putObject } from '../../../../storage/s3.js'
import { Damaged, type FileEntry, type Manifest, readFileList, type Unit } from '../manifest.js'
import { bucketBackups, manifestOf, objectOfHash, readBucketList } from './layout.js'

const AT_ONCE = 4

export interface SendOptions {
  readonly signal: AbortSignal
  readonly progress?: (done: number, total: number) => void
  /** Sends every file again, also those that the bucket should have. */
  readonly full?: boolean
}

/** Returns how much was sent. Throws BucketUnavailable. Call it only under the lock of backups. */
export async function sendBackup(
  folder: string,
  manifest: Manifest,
  { signal, progress, full = false }: SendOptions
): Promise<{ files: number; bytes: number }> {
  const last = full ? undefined : (await bucketBackups()).whole.at(-1)?.manifest
  const earlier = new Map(last?.units.map(unit => [unit.path, unit]))
  const sent = new Set<string>()
  const totals = { files: 0, bytes: 0 }
  const send = async (hash: string, path: string, size: number) => {
    if (sent.has(hash)) return
    sent.add(hash)
    await putObject(objectOfHash(hash), path, size)
    totals.files += 1
    totals.bytes += size
  }
  for (const [index, unit] of manifest.units.entries()) {
    progress?.(index, manifest.units.length)
    const before = earlier.get(unit.path)
    // The same list means the same files.
    if (before?.sha256 === unit.sha256) continue
    const known = new Set(before ? (await listOf(before)).map(file => file.sha256) : [])
    const files = readFileList(folder, unit).filter(file => !known.has(file.sha256))
    await mapBounded(files, AT_ONCE, async file => {
      signal.throwIfAborted()
      await send(file.sha256, join(folder, unit.path, file.path), file.size)
    })
    await send(unit.sha256, join(folder, `${unit.path}.files`), await sizeOf(join(folder, `${unit.path}.files`)))
  }
  for (const ending of ['.sha256', '']) {
    const path = join(folder, `manifest.json${ending}`)
    await putObject(`${manifestOf(manifest.id)}${ending}`, path, await sizeOf(path))
  }
  return totals
}

/** A damaged list of an earlier backup does not make this one fail: its files are sent again. */
async function listOf(unit: Unit): Promise<FileEntry[]> {
  try {
    return await readBucketList(unit)
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    return []
  }
}

const sizeOf = async (path: string): Promise<number> => (await stat(path)).size
