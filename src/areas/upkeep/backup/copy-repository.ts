// Copies one repository while users push to it. It reads the refs before it copies objects, so every object that these refs need
// already exists. When git moves objects into another pack during the copy, the next round finds them there.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Unavailable } from '../../../errors.js'
import { formatPackedRefs } from '../../../git/refs/files.js'
import { faultOfFile } from '../../../git/repository/object-files.js'
import type { Original } from '../../../git/repository/original.js'
import type { DamagedFile } from './manifest.js'
import type { UnitWriter } from './unit.js'

const ROUNDS = 10
/** Files whose name is the hash of their content. Other names may get new content from git. */
const NAMED = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(?:pack|idx|rev))$/

export const PACKED_REFS = 'packed-refs'

/**
 * Copies a repository into a unit. HEAD points to the branch `head`, if one is given. Returns false when the repository does not
 * exist. The copy omits half-written files (quarantines of pushes, temporary objects, locks), and all its refs are packed. Throws
 * Unavailable when git repacks the repository again and again.
 */
export async function copyRepository(source: Original, unit: UnitWriter, head: string | null): Promise<boolean> {
  const own = await source.text('HEAD')
  const settings = await source.text('config')
  if (own === undefined || settings === undefined) return false
  const refs = await source.refs()
  makeRepositoryFolders(unit.place('.'))
  unit.write('HEAD', head === null ? own : Buffer.from(`ref: refs/heads/${head}\n`))
  unit.write('config', settings)
  unit.write(PACKED_REFS, formatPackedRefs(refs))
  for (let round = 1; !(await copyObjects(source, unit)); round++) {
    if ((await source.text('HEAD')) === undefined) return false
    if (round === ROUNDS) throw new Unavailable(`${source.name} is repacked again and again: try later`)
  }
  dropHalves(unit)
  return true
}

/** Creates the folders without which git rejects a repository. They may be empty, so no file list contains them. */
export function makeRepositoryFolders(path: string): void {
  for (const name of ['refs', 'objects']) mkdirSync(join(path, name), { recursive: true, mode: 0o700 })
}

/** Copies the files that exist. Returns false when a file disappeared during the copy: then there may be new files in its place. */
async function copyObjects(source: Original, unit: UnitWriter): Promise<boolean> {
  let whole = true
  for (const file of await source.objects()) {
    const { path } = file
    const isNamed = NAMED.test(path)
    if (unit.has(path) && isNamed) continue
    unit.drop(path)
    const isCopied =
      source.folder === undefined
        ? await unit.fetch(file, place => source.copy(path, place), isNamed)
        : await unit.copy(path, join(source.folder, path), isNamed)
    if (!isCopied) whole = false
  }
  return whole
}

/** Drops the copied files of a pack that disappeared before all its files were copied: they are useless on their own. */
function dropHalves(unit: UnitWriter): void {
  for (const path of unit.paths()) {
    const stem = /^(objects\/pack\/pack-[0-9a-f]{40})\./.exec(path)?.[1]
    if (stem && !(unit.has(`${stem}.pack`) && unit.has(`${stem}.idx`))) unit.drop(path)
  }
}

/**
 * Compares the files of objects in a copy with their checksums, except those that an earlier backup has compared. The original has
 * the same faults: the copy has all its bytes.
 */
export async function damagedObjects(folder: string, unit: UnitWriter): Promise<DamagedFile[]> {
  const damaged: DamagedFile[] = []
  for (const path of unit.unchecked()) {
    const fault = path.startsWith('objects/') ? await faultOfFile(join(folder, unit.path), path) : null
    if (fault !== null) damaged.push({ unit: unit.path, path, fault })
  }
  return damaged
}
