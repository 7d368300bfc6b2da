// Creates an online backup, in these steps:
//   1. lock       a lease in the database: only one backup runs at a time, and nothing is pruned while it runs
//   2. snapshot   one transaction dumps all rows; the backup shows the state at the start of this transaction. Reading in parts, each
//                 in a transaction of its own, would tear a job from the change that caused it: they are in different tables.
//   3. copies     repositories (refs first, then objects), traces and archives; an unchanged file becomes a second name
//                 (hard link) of the previous backup's file, and no backup changes a file, so every backup is complete
//   4. rewind     refs that moved since the snapshot are reset in the copy, by the rows of their changes
//   5. seal       the lists of files with hashes, and the manifest with the hashes of the lists, are flushed to the disk;
//                 then the backup gets its final name
//   6. bucket     with storage.backups: s3, it is sent to the bucket, and removed from the disk
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { transact } from '../../../db/connect/transact.js'
import { withSnapshot } from '../../../db/snapshot/snapshot.js'
import { Failure } from '../../../errors.js'
import { isDiskFull } from '../../../lib/disk-full.js'
import { syncFolder } from '../../../storage/files.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { revision, version } from '../../../version.js'
import { audit, auditAll } from '../../ground/audit/audit.js'
import { finishInBucket, goesToBucket, surplusInBucket } from './bucket/keep.js'
import { shownPath } from './bucket/layout.js'
import { copyBuildFiles } from './copy-build-files.js'
import { copyRepositories, listProjectsToCopy } from './copy-repositories.js'
import { copyLfs, copyRecords, copyUploads } from './copy-uploads.js'
import { refuseWrongPlaces } from './destinations.js'
import { DATABASE_UNIT, dumpDatabase } from './dump.js'
import { asOnlyBackup } from './lock.js'
import { FORMAT, type Manifest, writeManifest } from './manifest.js'
import { readKnownChanges } from './reset-refs.js'
import { fingerprintOf, readHomeSecrets, SECRETS_UNIT, withHostKeys, writeSecretsFile } from './secrets-file.js'
import * as store from './store.js'
import { type Draft, type Previous, UnitWriter } from './unit.js'

interface Progress {
  readonly phase: 'database' | 'repositories' | 'builds' | 'disk' | 'bucket'
  readonly done: number
  readonly total: number
  readonly bytes: number
}

export interface CreateOptions {
  /** The folder of backups; HOME/backups by default. */
  readonly to?: string
  /** How many finished backups of this home to keep, including this one. */
  readonly keep?: number
  readonly withSecrets?: boolean
  readonly secretsTo?: string
  /** Shares no files with the previous backup. */
  readonly full?: boolean
  readonly progress?: (progress: Progress) => void
  /** Ends the backup, which then leaves no files behind. */
  readonly signal?: AbortSignal
}

export interface CreatedBackup extends store.BackupRecord {
  readonly previous: string | null
  readonly rewound_refs: number
  /** How long the snapshot of the database was open. */
  readonly snapshot_seconds: number
  /** The ids of the older backups that were deleted because of `keep`. */
  readonly deleted: readonly string[]
  /** The projects whose repositories are damaged, with the first fault of each. */
  readonly damaged: readonly { readonly project: string; readonly fault: string }[]
}

/**
 * Writes a backup while the appliance runs. Throws AlreadyRunning while another backup runs, Failure if it cannot write, Unavailable when
 * a machine that owns repositories does not answer, and the errors of `refuseWrongPlaces`.
 */
export async function createBackup(options: CreateOptions, origin: Origin): Promise<CreatedBackup> {
  refuseWrongPlaces(options)
  return asOnlyBackup(async signal => {
    const folder = resolve(options.to ?? store.defaultStore())
    const made = store.openStore(folder)
    const id = store.newId(new Date())
    const path = store.draftFolder(folder, id)
    const secrets = secretsPlace(options)
    try {
      store.removeDrafts(folder)
      const { manifest, rewound } = await writeDraft({ id, path, folder, signal, options })
      signal.throwIfAborted()
      renameSync(path, join(folder, id))
      await syncFolder(folder)
      const { record, deleted } = await finish(join(folder, id), manifest, { ...options, signal })
      await note(origin, record, deleted)
      return {
        ...record,
        previous: manifest.previous,
        rewound_refs: rewound,
        snapshot_seconds: manifest.snapshot_seconds ?? 0,
        deleted,
        damaged: damagedProjects(manifest)
      }
    } catch (error) {
      rmSync(path, { recursive: true, force: true })
      if (secrets?.isNew) rmSync(secrets.path, { force: true })
      store.closeStore(folder, made)
      throw plain(error, folder)
    }
  }, options.signal)
}

async function finish(path: string, manifest: Manifest, options: CreateOptions & { readonly signal: AbortSignal }) {
  const { to, keep, full = false, signal, progress } = options
  if (!goesToBucket(to)) {
    // An older backup may have the only intact copy.
    const deleted = manifest.damaged?.length ? [] : removeSurplus(dirname(path), keep)
    return { record: store.viewBackup(path, manifest), deleted }
  }
  const bytes = manifest.totals.bytes
  const show = (done: number, total: number) => progress?.({ phase: 'bucket', done, total, bytes })
  return finishInBucket({ folder: path, manifest, keep }, { signal, full, progress: show })
}

function damagedProjects({ units, damaged = [] }: Manifest): CreatedBackup['damaged'] {
  return units.flatMap(({ path, project }) => {
    const first = damaged.find(({ unit }) => unit === path)
    return first && project ? [{ project: project.path, fault: first.fault }] : []
  })
}

function secretsPlace({ secretsTo }: CreateOptions): { path: string; isNew: boolean } | undefined {
  if (secretsTo === undefined) return undefined
  const path = resolve(secretsTo)
  return { path, isNew: !existsSync(path) }
}

/** Returns what a backup would write and delete. It changes nothing. */
export async function planBackup(options: CreateOptions) {
  const { to, keep, full } = options
  refuseWrongPlaces(options)
  const folder = resolve(to ?? store.defaultStore())
  const fingerprint = fingerprintOf(readHomeSecrets()['secrets.json'])
  const projects = await withSnapshot(listProjectsToCopy)
  if (goesToBucket(to)) {
    const older = keep === undefined ? [] : await surplusInBucket(config().home, keep - 1)
    return {
      would_create: { folder: shownPath(''), projects: projects.length, previous: null },
      would_delete: older.map(({ id }) => id)
    }
  }
  const previous = full ? null : (store.previousBackup(folder, fingerprint)?.manifest.id ?? null)
  return {
    would_create: { folder, projects: projects.length, previous },
    // The new backup is one of those that are kept.
    would_delete: keep === undefined ? [] : store.surplus(folder, keep - 1).map(({ id }) => id)
  }
}

interface DraftPlan {
  readonly id: string
  readonly path: string
  readonly folder: string
  readonly signal: AbortSignal
  readonly options: CreateOptions
}

async function writeDraft({ id, path, folder, signal, options }: DraftPlan) {
  mkdirSync(path, { mode: 0o700 })
  const secrets = readHomeSecrets()
  const fingerprint = fingerprintOf(secrets['secrets.json'])
  const previous = options.full ? null : store.previousBackup(folder, fingerprint)
  const { draft, show } = startDraft(path, previous, options)
  const rows = await dump(draft, signal)
  show('repositories', 0, rows.projects.length)
  let count = 0
  const done = () => show('repositories', ++count, rows.projects.length)
  const repositories = await copyRepositories(draft, rows.projects, rows.known, { signal, done })
  show('builds', 0, 0)
  const files = [
    ...(await copyBuildFiles(draft, signal)),
    ...(await copyUploads(draft, signal)),
    ...(await copyLfs(draft, signal)),
    ...(await copyRecords(draft, signal))
  ]
  const units = [rows.unit, ...repositories.units, ...files]
  if (options.withSecrets) units.push(copySecrets(draft, withHostKeys(secrets)))
  if (options.secretsTo !== undefined) writeSecretsFile(resolve(options.secretsTo), withHostKeys(secrets))
  const where = options.withSecrets ? 'included' : options.secretsTo === undefined ? 'left_out' : 'apart'
  show('disk', 0, 0)
  const manifest: Manifest = {
    format: FORMAT,
    id,
    gitstead: version,
    revision,
    home: config().home,
    host: hostname(),
    snapshot_at: rows.takenAt.toISOString(),
    snapshot_seconds: rows.seconds,
    finished_at: new Date().toISOString(),
    previous: previous?.manifest.id ?? null,
    database: rows.database,
    removed_projects: repositories.removed,
    secrets: { where, fingerprint },
    units,
    damaged: repositories.damaged,
    totals: { repositories: repositories.units.length, ...draft.totals }
  }
  writeManifest(path, manifest)
  await syncFileSystem(path)
  return { manifest, rewound: repositories.rewound }
}

function startDraft(folder: string, previous: Previous | null, { progress }: CreateOptions) {
  const totals = { files: 0, bytes: 0, new_files: 0, new_bytes: 0 }
  let now = { phase: 'database' as Progress['phase'], done: 0, total: 0 }
  const report = () => progress?.({ ...now, bytes: totals.bytes })
  const show = (phase: Progress['phase'], done: number, total: number) => {
    now = { phase, done, total }
    report()
  }
  const draft: Draft = { folder, previous, totals, tick: report }
  return { draft, show }
}

/** Dumps the rows. From the same snapshot, it also reads what the copies need. */
async function dump(draft: Draft, signal: AbortSignal) {
  const unit = new UnitWriter(draft, DATABASE_UNIT)
  return withSnapshot(async snapshot => {
    const projects = await listProjectsToCopy(snapshot)
    const known = await readKnownChanges(snapshot)
    const database = await dumpDatabase(snapshot, unit, signal)
    const seconds = Math.round((Date.now() - snapshot.takenAt.getTime()) / 100) / 10
    return { takenAt: snapshot.takenAt, seconds, projects, known, database, unit: unit.finish() }
  })
}

function copySecrets(draft: Draft, files: ReturnType<typeof readHomeSecrets>) {
  const unit = new UnitWriter(draft, SECRETS_UNIT)
  for (const [name, text] of Object.entries(files)) if (text) unit.write(name, Buffer.from(text))
  return unit.finish()
}

function removeSurplus(folder: string, keep: number | undefined): string[] {
  if (keep === undefined) return []
  return store.surplus(folder, keep).map(({ id, path }) => {
    rmSync(path, { recursive: true, force: true })
    return id
  })
}

function note(origin: Origin, record: store.BackupRecord, deleted: readonly string[]): Promise<void> {
  const { id, path, repositories, bytes, secrets } = record
  const after = { repositories, bytes, secrets, deleted }
  const changes = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, { after: value }]))
  return transact(() => audit(origin, { action: 'backup.create', target: { type: 'backup', id, name: path }, changes }))
}

/** Records deleted backups in the audit log. */
export function noteDeleted(backups: readonly { id: string; path: string }[], origin: Origin): Promise<void> {
  return transact(() =>
    auditAll(
      origin,
      backups.map(({ id, path }) => ({ action: 'backup.delete', target: { type: 'backup', id, name: path } }))
    )
  )
}

/** Turns an error of the file system, such as a full disk or a folder of another user, into one clear line. */
function plain(error: unknown, folder: string): unknown {
  const { code, path, syscall } = error as NodeJS.ErrnoException
  if (error instanceof Failure || code === undefined || syscall === undefined) return error
  if (isDiskFull(error)) return new Failure(`the disk of ${folder} is full (${code}): earlier backups are untouched`)
  return new Failure(`the backup cannot be written: ${path ?? folder}: ${code}; earlier backups are untouched`)
}
