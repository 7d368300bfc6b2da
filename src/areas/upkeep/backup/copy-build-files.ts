// Copies traces and archives of builds. A finished file never changes. A file that is still growing is copied as it is at that
// time.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { isMissing } from '../../../storage/files.js'
import type { Unit } from './manifest.js'
import { type Draft, UnitWriter } from './unit.js'

export const BUILD_FILE = /^(\d+)-(\d+)\.(zip|log)$/

/** Copies the files of all builds, as one unit for each folder of a thousand builds. */
export async function copyBuildFiles(draft: Draft, signal: AbortSignal): Promise<Unit[]> {
  const units: Unit[] = []
  for (const kind of ['traces', 'artifacts']) {
    for (const folder of names(join(config().home, kind)).filter(name => /^\d+$/.test(name))) {
      signal.throwIfAborted()
      units.push(await copyFolder(draft, `${kind}/${folder}`))
    }
  }
  return units
}

async function copyFolder(draft: Draft, path: string): Promise<Unit> {
  const unit = new UnitWriter(draft, path)
  const folder = join(config().home, path)
  for (const name of names(folder)) if (BUILD_FILE.test(name)) await unit.copy(name, join(folder, name))
  return unit.finish()
}

/** The sorted names in a folder; none if the folder does not exist. */
export function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
