// Restores a whole backup into an empty home. It works in a folder inside the home (new-home.ts), and moves the content up when
// all of it is on the disk. So an interrupted restore leaves nothing that could start as an appliance.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config, loadConfig } from '../../../config.js'
import { closeDatabase } from '../../../db/connect/connection.js'
import { transact } from '../../../db/connect/transact.js'
import { startEmbedded } from '../../../db/embedded/embedded.js'
import { BadParameters, Conflict, Failure } from '../../../errors.js'
import { makeFolders, prepareHome } from '../../../home.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { audit } from '../../ground/audit/audit.js'
import { type Backup, checkUnit, copyBack, type OnDamage, refuseDamage } from './copy-back.js'
import { refuseWrongPlaces } from './destinations.js'
import { finishFilling, loadRows, requireEmptyDatabase, settleRows } from './load-rows.js'
import { draftFolder, moveUp, requireEmptyHome, withDatabaseLog } from './new-home.js'
import {
  fingerprintOf,
  readHomeSecrets,
  readSecretsFile,
  SECRETS_UNIT,
  type SecretFiles,
  withHostKeys
} from './secrets-file.js'

export interface RestoreOptions {
  readonly into: string
  /** The secrets, when the backup has none: a file from `backup create --secrets-to`, or a secrets.json. */
  readonly secretsFile?: string
  /** Pauses all queues: the copy sends no mail and calls no hooks until a sysadmin resumes them. */
  readonly pauseJobs?: boolean
  /** Ends the restore; the home is then empty again. */
  readonly signal?: AbortSignal
  readonly progress?: (done: number, total: number) => void
}

export interface RestoredHome {
  readonly backup: string
  readonly home: string
  readonly snapshot_at: string
  readonly projects: number
  readonly repositories: number
  readonly files: number
  /** Columns that somebody had added to the schema by hand, as `TABLE.COLUMN`: the new database does not have them. */
  readonly left_out: readonly string[]
  readonly paused: boolean
}

/** Checks whether a restore is possible, and returns the secrets to use. Throws Conflict, BadParameters, Damaged. */
export async function checkRestore(backup: Backup, options: RestoreOptions): Promise<SecretFiles> {
  refuseWrongPlaces({ to: options.into })
  requireEmptyHome(resolve(options.into))
  return secretsFor(backup, options.secretsFile)
}

/** Restores a backup into a home. Throws the errors of `checkRestore`, and Failure when it cannot write. */
export async function restoreHome(backup: Backup, options: RestoreOptions, origin: Origin): Promise<RestoredHome> {
  const secrets = await checkRestore(backup, options)
  const home = resolve(options.into)
  let draft: string | undefined
  try {
    draft = draftFolder(home)
    const restored = await inRestored(backup, { ...options, home: draft, secrets }, async copied => {
      await transact(() => audit(origin, entry(backup, home)))
      // Most data is written before the database counts as complete. The second sync is for the last files of the database.
      await syncFileSystem(config().home)
      return copied
    })
    await syncFileSystem(draft)
    options.signal?.throwIfAborted()
    await moveUp(draft, home)
    return view(backup, home, restored, options.pauseJobs ?? false)
  } catch (error) {
    throw withDatabaseLog(plain(error, home), draft, home)
  }
}

interface HomeOptions {
  readonly home: string
  readonly secrets: SecretFiles
  readonly pauseJobs?: boolean
  readonly onDamage?: OnDamage
  readonly progress?: RestoreOptions['progress']
  readonly signal?: AbortSignal
  /** Use an embedded database, even when the configuration names another database. */
  readonly embedded?: boolean
}

interface Restored {
  readonly files: number
  readonly leftOut: readonly string[]
}

/** Fills a new home from a backup, and calls `work` while its database runs. Afterwards, this process keeps using that home. */
export async function inRestored<T>(
  backup: Backup,
  options: HomeOptions,
  work: (restored: Restored) => Promise<T>
): Promise<T> {
  const { home, secrets, onDamage = refuseDamage, progress, signal } = options
  await closeDatabase()
  makeFolders(home)
  for (const [name, text] of Object.entries(secrets)) {
    if (text) writeFileSync(join(home, name), text, { mode: 0o600, flag: 'wx' })
  }
  loadConfig(options.embedded ? { home, database: { url: null } } : { home })
  prepareHome()
  const database = config().database.url === null ? await startEmbedded({ transient: true }) : undefined
  try {
    await requireEmptyDatabase()
    const leftOut = await loadRows(backup, signal)
    await settleRows(backup.manifest.removed_projects, { pauseJobs: options.pauseJobs ?? false })
    const copied = await copyBack(backup, { onDamage, ...(progress && { progress }), ...(signal && { signal }) })
    const done = await work({ ...copied, leftOut })
    await finishFilling()
    return done
  } finally {
    await closeDatabase()
    await database?.stop()
  }
}

/**
 * Returns the secrets of the backup itself, or those of a file. Throws Conflict when they do not belong to the appliance that
 * wrote the backup, and BadParameters when there are no secrets.
 */
export async function secretsFor(backup: Backup, file: string | undefined): Promise<SecretFiles> {
  const { secrets, units } = backup.manifest
  const unit = units.find(({ path }) => path === SECRETS_UNIT)
  if (file === undefined && !unit) {
    const text =
      'the backup contains no secrets: pass them with --secrets FILE (what --secrets-to wrote, or a secrets.json)'
    throw new BadParameters(text, text)
  }
  if (file === undefined && unit) await checkUnit(backup, unit, refuseDamage)
  const files = file === undefined ? readIncluded(backup) : readSecretsFile(file)
  if (fingerprintOf(files['secrets.json']) !== secrets.fingerprint) {
    throw new Conflict(`the secrets do not belong to the backup ${backup.manifest.id}`)
  }
  return files
}

function readIncluded({ folder }: Backup): SecretFiles {
  const unit = join(folder, SECRETS_UNIT)
  return withHostKeys(readHomeSecrets(unit), unit)
}

const entry = ({ folder, manifest }: Backup, home: string) => ({
  action: 'backup.restore',
  target: { type: 'backup', id: manifest.id, name: folder },
  changes: { home: { before: manifest.home, after: home } }
})

function view({ manifest }: Backup, home: string, { files, leftOut }: Restored, paused: boolean): RestoredHome {
  return {
    backup: manifest.id,
    home,
    snapshot_at: manifest.snapshot_at,
    projects: manifest.database.tables.find(({ name }) => name === 'projects')?.rows ?? 0,
    repositories: manifest.totals.repositories,
    files,
    left_out: leftOut,
    paused
  }
}

function plain(error: unknown, home: string): unknown {
  const { code, path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof Failure || code === undefined || syscall === undefined) return error
  return new Failure(`${path ?? home}: ${code}: nothing was restored`)
}
