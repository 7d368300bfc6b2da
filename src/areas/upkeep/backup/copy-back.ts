// Copies files of a backup into a home and compares each with its hash at the same time.
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'
import { mapBounded } from '../../../lib/bounded.js'
import { copyHashed, folderMaker, hashFile } from './copy.js'
import { BUILD_FILE } from './copy-build-files.js'
import { makeRepositoryFolders } from './copy-repository.js'
import { Damaged, type FileEntry, type Manifest, readFileList, type Unit } from './manifest.js'

export interface Backup {
  readonly folder: string
  readonly manifest: Manifest
}

/** Called for each file that has changed since it was written. If it throws, the restore ends. */
export type OnDamage = (problem: string) => void

export const refuseDamage: OnDamage = problem => {
  throw new Damaged(problem)
}

const AT_ONCE = 3
const isRepository = (unit: Unit): boolean => unit.path.startsWith('repositories/')
const isBuildFiles = (unit: Unit): boolean => /^(traces|artifacts)\//.test(unit.path)

const isUploads = (unit: Unit): boolean => unit.path.startsWith('uploads/')
const isLfs = (unit: Unit): boolean => /^lfs\/[0-9a-f]{2}$/.test(unit.path)
const isRecords = (unit: Unit): boolean => unit.path.startsWith('records/')

export interface CopyBackOptions {
  readonly onDamage: OnDamage
  readonly progress?: (done: number, total: number) => void
  readonly signal?: AbortSignal
}

/** Copies repositories, uploads, and the objects of LFS and the files of builds and of old records that have rows. The database must already be running. */
export async function copyBack(backup: Backup, options: CopyBackOptions): Promise<{ files: number }> {
  const { onDamage, progress, signal } = options
  const units = backup.manifest.units.filter(
    unit => isRepository(unit) || isBuildFiles(unit) || isUploads(unit) || isLfs(unit) || isRecords(unit)
  )
  let [done, files] = [0, 0]
  await mapBounded(units, AT_ONCE, async unit => {
    signal?.throwIfAborted()
    if (!isUploads(unit) || (await hasProject(unit))) {
      const wanted = await wantedIn(unit)
      const copied = await copyUnitBack(backup, unit, join(config().home, unit.path), { onDamage, wanted })
      files += copied
      if (isRepository(unit)) makeRepositoryFolders(join(config().home, unit.path))
    }
    progress?.(++done, units.length)
    await new Promise(resolve => setImmediate(resolve))
  })
  return { files }
}

function wantedIn(unit: Unit): Promise<(name: string) => boolean> | ((name: string) => boolean) {
  if (isBuildFiles(unit)) return spokenOf(unit)
  if (isLfs(unit)) return objectsIn(unit)
  return isRecords(unit) ? countedIn(unit) : () => true
}

/** Returns whether an object of LFS has a row. One that was stored after the snapshot has none. */
async function objectsIn({ path }: Unit): Promise<(name: string) => boolean> {
  const prefix = path.slice('lfs/'.length)
  const found = await rows<{ oid: string }>('select oid from lfs_objects where oid like ?', [`${prefix}%`])
  const known = new Set(found.map(({ oid }) => oid))
  return name => known.has(name.slice(name.indexOf('/') + 1))
}

/** A project that was created after the snapshot gets the same id again, and must not get files of the earlier one. */
const hasProject = async ({ path }: Unit): Promise<boolean> =>
  (await rows('select 1 from projects where id = ?', [path.slice(path.indexOf('/') + 1)])).length > 0

/**
 * Returns whether a file belongs to a build and an attempt that have rows. A build that was created or restarted after the
 * snapshot gets the same id again, and must not get files of the earlier run.
 */
async function spokenOf({ path }: Unit): Promise<(name: string) => boolean> {
  const first = Number(path.slice(path.indexOf('/') + 1)) * 1000
  const found = await rows<{ id: number; attempt: number }>('select id, attempt from builds where id >= ? and id < ?', [
    first,
    first + 1000
  ])
  const attempts = new Map(found.map(({ id, attempt }) => [id, attempt]))
  return name => {
    const [, build, attempt] = BUILD_FILE.exec(name) ?? []
    return Number(attempt) <= (attempts.get(Number(build)) ?? -1)
  }
}

/** Returns whether a file of old records has a row. The rows of one that was written after the snapshot are still in their table. */
export async function countedIn({ path }: Unit): Promise<(name: string) => boolean> {
  const found = await rows<{ name: string }>('select name from archived_files where name like ?', [`${path}/%`])
  const known = new Set(found.map(({ name }) => name))
  return name => known.has(`${path}/${name}`)
}

interface UnitOptions {
  readonly onDamage: OnDamage
  readonly wanted?: (path: string) => boolean
  /** Also replaces existing files, which an unfinished restore may have left. */
  readonly replace?: boolean
}

/** Copies the files of a unit to `target`. Returns their number. */
export async function copyUnitBack(backup: Backup, unit: Unit, target: string, options: UnitOptions): Promise<number> {
  const makeFolder = folderMaker()
  let count = 0
  makeFolder(target)
  for (const file of listOf(backup, unit, options.onDamage)) {
    if (options.wanted && !options.wanted(file.path)) continue
    const to = join(target, checked(file.path))
    makeFolder(dirname(to))
    const name = join(backup.folder, unit.path, file.path)
    if (options.replace) rmSync(to, { force: true })
    const copied = await copyHashed(name, to)
    const problem = problemOf(name, file, copied)
    if (problem) {
      rmSync(to, { force: true })
      options.onDamage(problem)
    } else count += 1
  }
  return count
}

function listOf(backup: Backup, unit: Unit, onDamage: OnDamage): FileEntry[] {
  try {
    return readFileList(backup.folder, unit)
  } catch (error) {
    if (!(error instanceof Damaged)) throw error
    onDamage(error.message)
    return []
  }
}

/** Compares the files of a unit in the folder of the backup with their hashes. */
export async function checkUnit(backup: Backup, unit: Unit, onDamage: OnDamage): Promise<void> {
  for (const file of listOf(backup, unit, onDamage)) {
    const name = join(backup.folder, unit.path, checked(file.path))
    const found = await hashFile(name).catch(() => undefined)
    const problem = problemOf(name, file, found)
    if (problem) onDamage(problem)
  }
}

type Found = { readonly size: number; readonly sha256: string } | undefined

function problemOf(name: string, file: FileEntry, found: Found): string | null {
  if (!found) return `${name} is missing`
  if (found.size === file.size && found.sha256 === file.sha256) return null
  return `${name} has changed since it was written`
}

/** Rejects a path outside of the unit: the manifest may come from an untrusted person. */
function checked(path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) throw new Damaged(`the manifest names ${path}`)
  return path
}
