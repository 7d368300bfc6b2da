// Restores a whole backup into an empty home. It works in a folder inside the home, and moves the content up when all
// of it is on the disk. So a restore that breaks off leaves nothing on which an appliance could start.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Origin } from '../../access/actor.js'
import { config, loadConfig } from '../../config.js'
import { closeDatabase } from '../../db/connection.js'
import { startEmbedded } from '../../db/embedded.js'
import { transact } from '../../db/transact.js'
import { BadParameters, Conflict, Failure } from '../../errors.js'
import { prepareHome } from '../../home.js'
import { syncFolder } from '../../storage/files.js'
import { syncFileSystem } from '../../storage/sync.js'
import { audit } from '../audit/audit.js'
import { type Backup, checkUnit, copyBack, type OnDamage, refuseDamage } from './copy-back.js'
import { loadRows, requireEmptyDatabase, settleRows } from './load-rows.js'
import { fingerprintOf, readSecretsFile, SECRETS_UNIT, type SecretFiles } from './secrets-file.js'

export interface RestoreOptions {
  readonly into: string
  /** The secrets, when the backup has none: a file of `backup create --secrets-to`, or a secrets.json. */
  readonly secretsFile?: string
  /** Pause all queues: the copy sends no mail and calls no hook until somebody resumes them. */
  readonly pauseJobs?: boolean
  readonly progress?: (done: number, total: number) => void
}

export interface RestoredHome {
  readonly backup: string
  readonly home: string
  readonly snapshot_at: string
  readonly projects: number
  readonly repositories: number
  readonly files: number
  readonly paused: boolean
}

const DRAFT = '.restoring-'

/** Checks whether a restore is possible, and gives the secrets to use. Throws Conflict, BadParameters, Damaged. */
export async function checkRestore(backup: Backup, options: RestoreOptions): Promise<SecretFiles> {
  requireEmptyHome(resolve(options.into))
  return secretsFor(backup, options.secretsFile)
}

/** Restores a backup into a home. Throws the errors of `checkRestore`, and Failure when it cannot write. */
export async function restoreHome(backup: Backup, options: RestoreOptions, origin: Origin): Promise<RestoredHome> {
  const secrets = await checkRestore(backup, options)
  const home = resolve(options.into)
  mkdirSync(home, { recursive: true, mode: 0o700 })
  removeDrafts(home)
  const draft = join(home, `${DRAFT}${randomBytes(4).toString('hex')}`)
  try {
    const { files } = await inRestored(backup, { ...options, home: draft, secrets }, async restored => {
      await transact(() => audit(origin, entry(backup, home)))
      return restored
    })
    await syncFileSystem(draft)
    for (const name of readdirSync(draft)) renameSync(join(draft, name), join(home, name))
    rmSync(draft, { recursive: true })
    await syncFolder(home)
    return view(backup, home, files, options.pauseJobs ?? false)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw plain(error, home)
  }
}

interface HomeOptions {
  readonly home: string
  readonly secrets: SecretFiles
  readonly pauseJobs?: boolean
  readonly onDamage?: OnDamage
  readonly progress?: RestoreOptions['progress']
  /** Use an embedded database, even when the configuration names another one. */
  readonly embedded?: boolean
}

/** Fills a new home from a backup, and calls `work` while its database runs. Then this process stays with that home. */
export async function inRestored<T>(
  backup: Backup,
  options: HomeOptions,
  work: (restored: { files: number }) => Promise<T>
): Promise<T> {
  const { home, secrets, onDamage = refuseDamage, progress } = options
  await closeDatabase()
  mkdirSync(home, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(secrets)) {
    if (text !== null) writeFileSync(join(home, name), text, { mode: 0o600, flag: 'wx' })
  }
  loadConfig(options.embedded ? { home, database: { url: null } } : { home })
  prepareHome()
  const database = config().database.url === null ? await startEmbedded({ transient: true }) : undefined
  try {
    await requireEmptyDatabase()
    await loadRows(backup)
    await settleRows(backup.manifest.removed_projects, { pauseJobs: options.pauseJobs ?? false })
    return await work(await copyBack(backup, { onDamage, ...(progress ? { progress } : {}) }))
  } finally {
    await closeDatabase()
    await database?.stop()
  }
}

/**
 * Gives the secrets of the backup itself, or those of a file. Throws Conflict when they are not of the appliance that
 * wrote the backup, BadParameters when there are no secrets.
 */
export async function secretsFor(backup: Backup, file: string | undefined): Promise<SecretFiles> {
  const { secrets, units } = backup.manifest
  const unit = units.find(({ path }) => path === SECRETS_UNIT)
  if (file === undefined && !unit) {
    const text = 'the backup holds no secrets: name them by --secrets FILE (what --secrets-to wrote, or a secrets.json)'
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
  const configuration = join(folder, SECRETS_UNIT, 'config.yaml')
  return {
    'secrets.json': readFileSync(join(folder, SECRETS_UNIT, 'secrets.json'), 'utf8'),
    'config.yaml': existsSync(configuration) ? readFileSync(configuration, 'utf8') : null
  }
}

function requireEmptyHome(home: string): void {
  if (!existsSync(home)) return
  let names: string[]
  try {
    names = readdirSync(home)
  } catch (error) {
    throw new Failure(`${home} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const found = names.filter(name => !name.startsWith(DRAFT) && name !== 'lost+found')
  if (found.length > 0) throw new Conflict(`${home} is not empty: restore into a new folder`)
}

/** Removes what a killed restore left behind. */
function removeDrafts(home: string): void {
  for (const name of readdirSync(home)) {
    if (name.startsWith(DRAFT)) rmSync(join(home, name), { recursive: true, force: true })
  }
}

const entry = ({ folder, manifest }: Backup, home: string) => ({
  action: 'backup.restore',
  target: { type: 'backup', id: manifest.id, name: folder },
  changes: { home: { before: manifest.home, after: home } }
})

function view({ manifest }: Backup, home: string, files: number, paused: boolean): RestoredHome {
  return {
    backup: manifest.id,
    home,
    snapshot_at: manifest.snapshot_at,
    projects: manifest.database.tables.find(({ name }) => name === 'projects')?.rows ?? 0,
    repositories: manifest.totals.repositories,
    files,
    paused
  }
}

function plain(error: unknown, home: string): unknown {
  const { code, path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof Failure || code === undefined || syscall === undefined) return error
  return new Failure(`${path ?? home}: ${code}: nothing was restored`)
}
