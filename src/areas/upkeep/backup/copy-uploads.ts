// Copies the files that users attached to projects, objects of LFS, and files of old records. A file never changes.
import { join } from 'node:path'
import { config } from '../../../config.js'
import { LFS_NAME } from '../../../storage/lfs.js'
import { bucketSettings, placeOf } from '../../../storage/places.js'
import { RECORDS_NAME } from '../../../storage/records.js'
import { names } from './copy-build-files.js'
import type { Unit } from './manifest.js'
import { type Draft, UnitWriter } from './unit.js'

/** Copies the uploads of all projects, as one unit for each project. */
export async function copyUploads(draft: Draft, signal: AbortSignal): Promise<Unit[]> {
  const units: Unit[] = []
  const root = join(config().home, 'uploads')
  for (const project of names(root).filter(name => /^\d{1,10}$/.test(name))) {
    signal.throwIfAborted()
    const unit = new UnitWriter(draft, `uploads/${project}`)
    for (const secret of names(join(root, project)).filter(name => /^[0-9a-f]{32}$/.test(name))) {
      for (const file of names(join(root, project, secret))) {
        await unit.copy(`${secret}/${file}`, join(root, project, secret, file), true)
      }
    }
    units.push(unit.finish())
  }
  return units
}

/** Copies the files of old records, as one unit for each project. */
export async function copyRecords(draft: Draft, signal: AbortSignal): Promise<Unit[]> {
  const units: Unit[] = []
  const root = join(config().home, 'records')
  for (const project of names(root).filter(name => /^\d{1,10}$/.test(name))) {
    signal.throwIfAborted()
    const unit = new UnitWriter(draft, `records/${project}`)
    for (const file of names(join(root, project))) {
      if (RECORDS_NAME.test(`records/${project}/${file}`)) await unit.copy(file, join(root, project, file), true)
    }
    units.push(unit.finish())
  }
  return units
}

/** Copies the objects of LFS, as one unit for each folder with the same first two digits. */
export async function copyLfs(draft: Draft, signal: AbortSignal): Promise<Unit[]> {
  const units: Unit[] = []
  const root = join(config().home, 'lfs')
  for (const first of names(root).filter(name => LFS_FOLDER.test(name))) {
    const unit = new UnitWriter(draft, `lfs/${first}`)
    for (const second of names(join(root, first)).filter(name => LFS_FOLDER.test(name))) {
      for (const oid of names(join(root, first, second))) {
        signal.throwIfAborted()
        const path = `${second}/${oid}`
        if (LFS_NAME.test(`lfs/${first}/${path}`)) await unit.copy(path, join(root, first, path), true)
      }
    }
    units.push(unit.finish())
  }
  return units
}

const LFS_FOLDER = /^[0-9a-f]{2}$/

/** Says what a backup does not contain because it is in a bucket; null without a bucket. */
export function leftInBucket(): string | null {
  const { bucket } = bucketSettings()
  const kinds = (['artifacts', 'traces', 'uploads', 'lfs', 'records'] as const).filter(kind => placeOf(kind) === 's3')
  return bucket === null || kinds.length === 0 ? null : `not in it: ${kinds.join(', ')} in the bucket ${bucket}`
}
