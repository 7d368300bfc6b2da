// Adds objects of a backup to a repository that is in use.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncFileSystem } from '../../../../storage/sync.js'
import { copyHashed, folderMaker, hashFile } from '../copy.js'
import type { Backup } from '../copy-back.js'
import { Damaged, readFileList, type Unit } from '../manifest.js'

/**
 * Adds objects that the repository lacks. In a damaged one, also replaces objects whose bytes differ from the backup: names of
 * objects determine their content. Each file appears as a whole, and an index appears after its pack. Returns the number of
 * files.
 */
export async function addObjects(
  backup: Backup,
  unit: Unit,
  path: string,
  { damaged, dryRun }: { readonly damaged: boolean; readonly dryRun: boolean }
): Promise<number> {
  let count = 0
  const makeFolder = folderMaker()
  const last = (name: string) => Number(name.endsWith('.idx'))
  const files = readFileList(backup.folder, unit)
    .filter(file => /^objects\/([0-9a-f]{2}|pack)\//.test(file.path))
    .sort((a, b) => last(a.path) - last(b.path))
  for (const file of files) {
    const to = join(path, file.path)
    if (existsSync(to) && !(damaged && (await hashFile(to)).sha256 !== file.sha256)) continue
    count += 1
    if (dryRun) continue
    makeFolder(dirname(to))
    const draft = join(dirname(to), `tmp_obj_restore_${process.pid}`)
    rmSync(draft, { force: true })
    const from = join(backup.folder, unit.path, file.path)
    const copied = await copyHashed(from, draft)
    if (copied?.sha256 !== file.sha256) {
      rmSync(draft, { force: true })
      throw new Damaged(`${from} has changed since it was written`)
    }
    renameSync(draft, to)
  }
  if (!dryRun) await syncFileSystem(path)
  return count
}
