// Copies the files that users attached to projects. A file never changes.
import { join } from 'node:path'
import { config } from '../../../config.js'
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

/** Says what a backup does not contain because it is in a bucket; null without a bucket. */
export function leftInBucket(): string | null {
  const { bucket } = config().artifacts.s3
  if (bucket === null) return null
  const kinds = config().uploads.bucket ? 'archives, traces and uploads' : 'archives and traces'
  return `not in it: the ${kinds} in the bucket ${bucket}`
}
