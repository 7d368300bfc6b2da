// The folder of backups: it contains one folder for each backup, and the drafts of killed runs.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { config } from '../../../config.js'
import { Failure, NoHome, NoSuch, NotFound } from '../../../errors.js'
import { makeFolders, requireFolder } from '../../../home.js'
import { isMissing } from '../../../storage/files.js'
import { hasManifest, type Manifest, readManifest } from './manifest.js'
import type { Previous } from './unit.js'

const ID = /^\d{8}T\d{6}Z-[0-9a-f]{4}$/

/** The record of a backup in the output of commands. */
export interface BackupRecord {
  readonly id: string
  readonly path: string
  readonly created_at: string
  readonly finished_at: string
  readonly version: string
  readonly projects: number
  readonly repositories: number
  readonly files: number
  readonly bytes: number
  readonly new_bytes: number
  readonly secrets: Manifest['secrets']['where']
}

export const defaultStore = () => join(config().home, 'backups')

/** Returns a name for a backup. Names sort by time. */
export function newId(now: Date): string {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${time.replace(/[-:]/g, '')}-${randomBytes(2).toString('hex')}`
}

/** The names of drafts contain a mark of their home and machine, because another appliance may be using its drafts. */
const ownMark = () => createHash('sha256').update(`${hostname()}:${config().home}`).digest('hex').slice(0, 12)

export const draftFolder = (store: string, id: string) => join(store, `${id}.unfinished-${ownMark()}`)

/** Creates the folder of backups. Returns the topmost folder that it created, if any. Throws Failure when this user may not. */
export function openStore(store: string): string | undefined {
  try {
    return makeFolders(store)
  } catch (error) {
    throw new Failure(`${store} cannot be created (${codeOf(error)}): choose another folder with --to`)
  }
}

/** Removes the folders that `openStore` created, if they are empty. */
export function closeStore(store: string, made: string | undefined): void {
  if (made === undefined) return
  for (let folder = store; folder.startsWith(made); folder = dirname(folder)) {
    try {
      rmdirSync(folder)
    } catch {
      return
    }
  }
}

/** Removes the drafts of killed runs of this appliance and returns their number. Call it only under the lock of backups. */
export function removeDrafts(store: string): number {
  const drafts = readdirSync(store).filter(name => name.endsWith(`.unfinished-${ownMark()}`))
  for (const name of drafts) rmSync(join(store, name), { recursive: true, force: true })
  return drafts.length
}

/** A folder with the name of a backup that cannot be restored. */
export interface DamagedBackup {
  readonly id: string
  readonly path: string
  readonly problem: string
}

interface Finished {
  readonly folder: string
  readonly manifest: Manifest
}

/**
 * Throws NotFound when the folder of backups does not exist, and the errors of `requireFolder` when that folder would be in a
 * path that is not a home, such as a typing error. Backups of a damaged or lost home can still be listed.
 */
export function requireStore(store = defaultStore()): void {
  if (existsSync(store)) return
  if (store !== defaultStore()) throw new NotFound(`Folder ${store}`)
  if (!existsSync(config().home)) throw new NoHome(config().home)
  requireFolder()
}

/** The finished backups of a folder, oldest first. */
export const listBackups = (store = defaultStore()): BackupRecord[] =>
  finished(store).whole.map(({ folder, manifest }) => viewBackup(folder, manifest))

/** The damaged backups of a folder, oldest first. All other functions skip them. */
export const damagedBackups = (store = defaultStore()): readonly DamagedBackup[] => finished(store).damaged

/** One damaged backup must not hide the others, nor prevent the next backup. */
function finished(store: string): { whole: Finished[]; damaged: DamagedBackup[] } {
  const whole: Finished[] = []
  const damaged: DamagedBackup[] = []
  for (const id of backupNames(store)) {
    const folder = join(store, id)
    try {
      whole.push({ folder, manifest: readManifest(folder) })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const problem = error instanceof NotFound ? 'manifest.json is missing' : error.message
      damaged.push({ id, path: folder, problem })
    }
  }
  whole.sort((a, b) => (a.manifest.snapshot_at < b.manifest.snapshot_at ? -1 : 1))
  return { whole, damaged }
}

/** Throws Failure when this user may not read the folder: that must not look like a folder without backups. */
function backupNames(store: string): string[] {
  try {
    return readdirSync(store)
      .filter(name => ID.test(name))
      .sort()
  } catch (error) {
    if (isMissing(error)) return []
    throw new Failure(`${store} cannot be read (${codeOf(error)}): run as its owner`)
  }
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

/** The newest backup of this home in a folder. A new backup can share its files. */
export function previousBackup(store: string, fingerprint: string): Previous | null {
  const own = finished(store).whole.filter(
    ({ manifest }) => manifest.home === config().home && manifest.secrets.fingerprint === fingerprint
  )
  const last = own.at(-1)
  return last ? { ...last, units: new Map(last.manifest.units.map(unit => [unit.path, unit])) } : null
}

/** The backups of this home that are older than the newest `keep`. */
export function surplus(store: string, keep: number): BackupRecord[] {
  const own = finished(store).whole.filter(({ manifest }) => manifest.home === config().home)
  return own.slice(0, Math.max(0, own.length - keep)).map(({ folder, manifest }) => viewBackup(folder, manifest))
}

/** Finds a backup by its id, by `latest` (the newest that is not damaged), or by its folder. Throws the errors of `readManifest`. */
export function findBackup(name: string, store = defaultStore()): Finished {
  if (name === 'latest') {
    const last = finished(store).whole.at(-1)
    if (!last) throw new NotFound(`Backup in ${store}`)
    return last
  }
  const folder = folderOf(name, store)
  if (!hasManifest(folder)) throw new NoSuch('backup', name)
  return { folder, manifest: readManifest(folder) }
}

const folderOf = (name: string, store: string): string =>
  ID.test(name) && !existsSync(join(name, 'manifest.json')) ? join(store, name) : resolve(name)

export function viewBackup(folder: string, manifest: Manifest): BackupRecord {
  const { totals, database } = manifest
  return {
    id: manifest.id || basename(folder),
    path: folder,
    created_at: manifest.snapshot_at,
    finished_at: manifest.finished_at,
    version: manifest.gitstead,
    projects: database.tables.find(({ name }) => name === 'projects')?.rows ?? 0,
    repositories: totals.repositories,
    files: totals.files,
    bytes: totals.bytes,
    new_bytes: totals.new_bytes,
    secrets: manifest.secrets.where
  }
}

/**
 * Deletes backups, also damaged ones, each by its id or folder. Other backups stay complete, because each has its own name for
 * every file. Throws NotFound before it deletes anything when one of them does not exist.
 */
export function deleteBackups(names: readonly string[], store = defaultStore()): void {
  const folders = names.map(name => deletable(name, store).path)
  for (const path of folders) {
    // A killed deletion must not leave a backup with half of its files; the next backup removes the rest.
    const doomed = draftFolder(dirname(path), basename(path))
    renameSync(path, doomed)
    rmSync(doomed, { recursive: true, force: true })
  }
}

/** Returns what `deleteBackups` would delete. */
export function deletable(name: string, store = defaultStore()): { id: string; path: string; bytes: number | null } {
  const path = name === 'latest' ? findBackup(name, store).folder : folderOf(name, store)
  if (!ID.test(basename(path)) || !existsSync(path)) throw new NoSuch('backup', name)
  try {
    return { id: basename(path), path, bytes: readManifest(path).totals.bytes }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { id: basename(path), path, bytes: null }
  }
}
