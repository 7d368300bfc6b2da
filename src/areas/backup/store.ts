// The folder of backups: it holds one folder for each backup, and the drafts that killed runs left behind.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { config } from '../../config.js'
import { Failure, NotFound } from '../../errors.js'
import { type Manifest, readManifest } from './manifest.js'
import type { Previous } from './unit.js'

const ID = /^\d{8}T\d{6}Z-[0-9a-f]{4}$/

/** The record of a backup that commands show. */
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

/** Gives a name for a backup. Names sort by time. */
export function newId(now: Date): string {
  const time = now.toISOString().replace(/\.\d+Z$/, 'Z')
  return `${time.replace(/[-:]/g, '')}-${randomBytes(2).toString('hex')}`
}

/** The names of drafts carry a mark of their home and machine: another appliance may be using its drafts. */
const ownMark = () => createHash('sha256').update(`${hostname()}:${config().home}`).digest('hex').slice(0, 12)

export const draftFolder = (store: string, id: string) => join(store, `${id}.unfinished-${ownMark()}`)

/** Makes the folder of backups. Throws Failure when this user may not. */
export function openStore(store: string): void {
  try {
    mkdirSync(store, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw new Failure(`${store} cannot be made (${(error as NodeJS.ErrnoException).code}): name another folder by --to`)
  }
}

/**
 * Removes the drafts of killed runs of this appliance and gives their number. Call it only under the lock of backups.
 */
export function removeDrafts(store: string): number {
  const drafts = readdirSync(store).filter(name => name.endsWith(`.unfinished-${ownMark()}`))
  for (const name of drafts) rmSync(join(store, name), { recursive: true, force: true })
  return drafts.length
}

/** The finished backups of a folder, oldest first. */
export function listBackups(store = defaultStore()): BackupRecord[] {
  return finished(store).map(({ folder, manifest }) => viewBackup(folder, manifest))
}

function finished(store: string): { folder: string; manifest: Manifest }[] {
  if (!existsSync(store)) return []
  return readdirSync(store)
    .filter(name => ID.test(name))
    .map(name => join(store, name))
    .filter(folder => existsSync(join(folder, 'manifest.json')))
    .map(folder => ({ folder, manifest: readManifest(folder) }))
    .sort((a, b) => (a.manifest.snapshot_at < b.manifest.snapshot_at ? -1 : 1))
}

/** The newest backup of this home in a folder. A new backup can share its files. */
export function previousBackup(store: string, fingerprint: string): Previous | null {
  const own = finished(store).filter(
    ({ manifest }) => manifest.home === config().home && manifest.secrets.fingerprint === fingerprint
  )
  const last = own.at(-1)
  return last ? { ...last, units: new Map(last.manifest.units.map(unit => [unit.path, unit])) } : null
}

/** The backups of this home that are older than the newest `keep`. */
export function surplus(store: string, keep: number): BackupRecord[] {
  const own = finished(store).filter(({ manifest }) => manifest.home === config().home)
  return own.slice(0, Math.max(0, own.length - keep)).map(({ folder, manifest }) => viewBackup(folder, manifest))
}

/** Finds a backup by its id, by `latest`, or by its folder. Throws the errors of `readManifest`. */
export function findBackup(name: string, store = defaultStore()): { folder: string; manifest: Manifest } {
  if (name === 'latest') {
    const last = finished(store).at(-1)
    if (!last) throw new NotFound('Backup')
    return last
  }
  const folder = ID.test(name) && !existsSync(join(name, 'manifest.json')) ? join(store, name) : resolve(name)
  return { folder, manifest: readManifest(folder) }
}

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
