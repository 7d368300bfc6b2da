// One repository while others push into it. Refs are read before objects are copied: all that they need is there by then.
// Objects that git moves into another pack meanwhile are found there by looking again.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Unavailable } from '../../errors.js'
import { formatPackedRefs, readRefFiles } from '../../git/ref-files.js'
import { isMissing } from '../../storage/files.js'
import type { UnitWriter } from './unit.js'

const ROUNDS = 10
const LOOSE = /^[0-9a-f]{38}$/
const PACK = /^(pack-[0-9a-f]{40})\.(pack|idx|rev|bitmap|mtimes)$/
/** Files whose name is the hash of what they hold; the others may be written anew under the same name. */
const NAMED = /^objects\/(?:[0-9a-f]{2}\/[0-9a-f]{38}|pack\/pack-[0-9a-f]{40}\.(?:pack|idx|rev))$/

export const PACKED_REFS = 'packed-refs'

/**
 * Copies a repository into a unit, with HEAD at a branch (`head`) where one is given; false when there is none. What is
 * half-written (quarantines of pushes, temporary objects, locks) is left out, and all refs become packed ones.
 */
export async function copyRepository(source: string, unit: UnitWriter, head: string | null): Promise<boolean> {
  const own = small(join(source, 'HEAD'))
  const settings = small(join(source, 'config'))
  if (own === undefined || settings === undefined) return false
  const refs = readRefFiles(source)
  makeRepositoryFolders(unit.place('.'))
  unit.write('HEAD', head === null ? own : Buffer.from(`ref: refs/heads/${head}\n`))
  unit.write('config', settings)
  unit.write(PACKED_REFS, formatPackedRefs(refs))
  for (let round = 1; !(await copyObjects(source, unit)); round++) {
    if (small(join(source, 'HEAD')) === undefined) return false
    if (round === ROUNDS) throw new Unavailable(`${source} is repacked again and again: try later`)
  }
  dropHalves(unit)
  return true
}

/** Without these git takes no folder for a repository, and they may be empty. */
export function makeRepositoryFolders(path: string): void {
  for (const name of ['refs', 'objects']) mkdirSync(join(path, name), { recursive: true, mode: 0o700 })
}

/** Copies what is there; false when something vanished in between, and there may be something new for it. */
async function copyObjects(source: string, unit: UnitWriter): Promise<boolean> {
  let whole = true
  for (const path of objectFiles(source)) {
    if (unit.has(path) && NAMED.test(path)) continue
    unit.drop(path)
    if (!(await unit.copy(path, join(source, path), NAMED.test(path)))) whole = false
  }
  return whole
}

/** Graphs first, as they speak of objects; packs last, as loose objects go into them. */
function* objectFiles(source: string): Generator<string> {
  const list = (folder: string) => names(join(source, folder)).map(name => `${folder}/${name}`)
  if (names(join(source, 'objects/info')).includes('commit-graph')) yield 'objects/info/commit-graph'
  const graphs = list('objects/info/commit-graphs').filter(path =>
    /\/(commit-graph-chain|graph-\w+\.graph)$/.test(path)
  )
  yield* graphs.sort()
  for (const folder of names(join(source, 'objects')).filter(name => /^[0-9a-f]{2}$/.test(name))) {
    for (const name of names(join(source, 'objects', folder))) if (LOOSE.test(name)) yield `objects/${folder}/${name}`
  }
  const packs = names(join(source, 'objects/pack'))
  // git writes the index last: a pack without one is not finished.
  const finished = new Set(packs.filter(name => name.endsWith('.idx')).map(name => name.slice(0, -4)))
  for (const name of packs) if (finished.has(PACK.exec(name)?.[1] ?? '')) yield `objects/pack/${name}`
}

/** Of a pack that vanished while it was copied, what came before is of no use. */
function dropHalves(unit: UnitWriter): void {
  for (const path of unit.paths()) {
    const stem = /^(objects\/pack\/pack-[0-9a-f]{40})\./.exec(path)?.[1]
    if (stem && !(unit.has(`${stem}.pack`) && unit.has(`${stem}.idx`))) unit.drop(path)
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function small(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
