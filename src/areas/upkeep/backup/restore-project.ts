// Restores one project in its running appliance. If the row of the project still exists, the restore moves refs like a push, with
// hooks and pipelines. If the row no longer exists, it restores rows, repository and files of builds.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Origin } from '../../../access/actor.js'
import { config } from '../../../config.js'
import { row, rows } from '../../../db/connect/sql.js'
import { transact } from '../../../db/connect/transact.js'
import { addTrigrams, PROJECT_TEXTS } from '../../../db/lists/trigrams.js'
import { AlreadyRunning, Conflict, NoSuch } from '../../../errors.js'
import { GitFailure } from '../../../git/process/run.js'
import { type RefFiles, readRefFiles, textRefName } from '../../../git/refs/files.js'
import { HIDDEN_PREFIXES, isRefName, RefMoved, ZERO } from '../../../git/refs/refs.js'
import { findFaults, rewriteObjects } from '../../../git/repository/repair.js'
import { mendHead } from '../../../git/repository/repository.js'
import { MASTER } from '../../../lib/levels.js'
import { enqueue } from '../../../queue/enqueue.js'
import { syncFileSystem } from '../../../storage/sync.js'
import { putRefsBack } from '../../code/refs/move-refs.js'
import type { RefMove } from '../../code/refs/ref-changes.js'
import { publish } from '../../ground/activity/events.js'
import { projectSnapshot } from '../../ground/activity/project-snapshots.js'
import { audit } from '../../ground/audit/audit.js'
import { insertMember } from '../../people/members/members.js'
import { ensureRepository, repositoryPath } from '../../projects/projects/repositories.js'
import { takeLock } from '../maintenance/maintenance-lock.js'
import { folderMaker } from './copy.js'
import { type Backup, copyUnitBack, refuseDamage } from './copy-back.js'
import { BUILD_FILE } from './copy-build-files.js'
import { makeRepositoryFolders } from './copy-repository.js'
import type { ProjectRows } from './fit-rows.js'
import type { Unit } from './manifest.js'
import { type FilesPutBack, putFilesBack, putLfsBack } from './project/put-files.js'
import { addObjects } from './project/put-objects.js'
import {
  findProjectRow,
  insertProjectRows,
  lfsKeyOf,
  movedTo,
  type ProjectInBackup,
  placeOf,
  readProjectRows
} from './project-rows.js'
import { fingerprintOf, readHomeSecrets } from './secrets-file.js'

export interface ProjectRestoreOptions {
  /** Also moves refs that have another value now. */
  readonly overwrite: boolean
  readonly dryRun: boolean
  /** The path of the namespace in which a removed project is restored; its own by default. */
  readonly into?: string
}

export interface RestoredProject {
  readonly id: number
  readonly path_with_namespace: string
  /** Its path at the time of the backup. */
  readonly path_in_backup: string
  /** Whether the row of the project did not exist. */
  readonly recreated: boolean
  /** Refs that got the value of the backup. */
  readonly moved: readonly { readonly ref: string; readonly before: string | null; readonly after: string }[]
  /** Files of objects that the backup has and that were missing or damaged in the repository. */
  readonly put_back: number
  /** Files of builds and uploads that were lost. A removed project has all its files back, and does not count them. */
  readonly files: FilesPutBack
  /** Faults that this backup cannot repair: another one may have the objects. */
  readonly left: readonly string[]
  /** Refs that differ from the backup and keep their value, because `overwrite` is off. */
  readonly kept: readonly string[]
  readonly dry_run: boolean
}

interface LiveProject {
  readonly id: number
  readonly storage: string
  readonly default_branch: string | null
  readonly path: string
}

/** A repository has this file while a restore fills it. It identifies the remains of a killed restore. */
const MARK = 'restoring'

/**
 * Restores a project, by its NAMESPACE/PROJECT or id in the backup. Throws NotFound, Conflict, Damaged, and AlreadyRunning
 * while another process restores the same project, or, for a damaged repository, while `repository_upkeep` runs.
 */
export async function restoreProject(
  backup: Backup,
  name: string,
  options: ProjectRestoreOptions,
  origin: Origin
): Promise<RestoredProject> {
  if (fingerprintOf(readHomeSecrets()['secrets.json']) !== backup.manifest.secrets.fingerprint) {
    throw new Conflict(`the backup ${backup.manifest.id} is from another appliance`)
  }
  const unit = backup.manifest.units.find(({ project }) => project?.path === name || String(project?.id) === name)
  const found = unit?.project ?? (await findProjectRow(backup, name))
  if (!found) throw new NoSuch('project', name)
  if (options.dryRun) return restoreFound(backup, unit, found, options, origin)
  const lock = await takeOwn(found.id)
  try {
    return await restoreFound(backup, unit, found, options, origin)
  } finally {
    await lock.release()
  }
}

async function takeOwn(id: number) {
  try {
    return await takeLock(`restore_project_${id}`)
  } catch (error) {
    if (!(error instanceof AlreadyRunning)) throw error
    throw new AlreadyRunning(`another process restores project ${id}: wait until it ends`)
  }
}

async function restoreFound(
  backup: Backup,
  unit: Unit | undefined,
  found: ProjectInBackup,
  options: ProjectRestoreOptions,
  origin: Origin
): Promise<RestoredProject> {
  const known = { id: found.id, path_in_backup: found.path, dry_run: options.dryRun }
  const live = await row<LiveProject>(
    `select p.id, p.storage, p.default_branch, concat(n.path, '/', p.path) as path
     from projects p join namespaces n on n.id = p.namespace_id where p.id = ?`,
    [found.id]
  )
  if (live && options.into !== undefined) {
    throw new Conflict(`the project still exists as ${live.path}: --into is for a removed project`)
  }
  const done = live
    ? await restoreRefs(backup, unit, live, options, origin)
    : await recreate(backup, unit, found.id, options)
  const restored = { ...known, recreated: !live, ...done }
  if (!options.dryRun) await transact(() => note(backup, restored, origin))
  return restored
}

/** A project without a repository has no unit. */
const refsOf = (backup: Backup, unit: Unit | undefined): RefFiles =>
  unit ? readRefFiles(join(backup.folder, unit.path)) : new Map()

type Outcome = Pick<RestoredProject, 'path_with_namespace' | 'moved' | 'kept' | 'put_back' | 'files' | 'left'>

async function restoreRefs(
  backup: Backup,
  unit: Unit | undefined,
  project: LiveProject,
  { overwrite, dryRun }: ProjectRestoreOptions,
  origin: Origin
): Promise<Outcome> {
  const path = repositoryPath(project)
  const now = readRefFiles(path)
  const moves: RefMove[] = []
  const kept: string[] = []
  for (const [name, id] of refsOf(backup, unit)) {
    const ref = textRefName(name)
    const old = now.get(name) ?? ZERO
    if (old === id || !isRefName(ref) || HIDDEN_PREFIXES.some(prefix => ref.startsWith(prefix))) continue
    if (old === ZERO || overwrite) moves.push({ ref, old, new: id })
    else kept.push(ref)
  }
  const damaged = existsSync(path) && (await findFaults(path)).length > 0
  let putBack = 0
  let left: string[] = []
  if (unit && (damaged || moves.length > 0)) {
    // A repair may need new packs. The lock comes before any change, so that the restore does not stop half-way.
    const lock = damaged && !dryRun ? await takeLock('repository_upkeep') : undefined
    try {
      // A lost repository is created again here, to be filled.
      if (!dryRun) await ensureRepository({ id: project.id, storage: project.storage })
      if (lock && project.default_branch !== null) mendHead(path, project.default_branch)
      putBack = await addObjects(backup, unit, path, { damaged, dryRun })
      if (lock) left = await repairRest(path)
    } finally {
      await lock?.release()
    }
    if (!dryRun && moves.length > 0) await move(project, moves, origin)
  }
  const moved = moves.map(({ ref, old, new: after }) => ({ ref, before: old === ZERO ? null : old, after }))
  const files = await putFilesBack(backup, project.id, { dryRun })
  return { path_with_namespace: project.path, moved, kept, put_back: damaged ? putBack : 0, files, left }
}

/** Repairs what the files of the backup have not repaired, by new packs, under the lock of the upkeep. Returns the faults that even these have. */
async function repairRest(path: string): Promise<string[]> {
  const faults = await findFaults(path)
  if (faults.length === 0) return []
  try {
    await rewriteObjects(path)
  } catch (error) {
    // An object without an intact copy is among the faults.
    if (!(error instanceof GitFailure)) throw error
  }
  return findFaults(path)
}

async function move(project: LiveProject, moves: readonly RefMove[], origin: Origin): Promise<void> {
  try {
    await putRefsBack(project, moves, origin)
  } catch (error) {
    if (error instanceof RefMoved) throw new Conflict(`${error.ref} moved during the restore: run it again`)
    throw error
  }
}

async function recreate(
  backup: Backup,
  unit: Unit | undefined,
  id: number,
  { dryRun, into }: ProjectRestoreOptions
): Promise<Outcome> {
  const dumped = await readProjectRows(backup, id)
  const place = await placeOf(dumped, id, into)
  const found = movedTo(place, dumped)
  const [project] = found.get('projects') ?? []
  const path = unit ? join(config().home, unit.path) : null
  if (path && existsSync(path) && !isUnfinished(path)) throw new Conflict(`${path} already exists: move it away first`)
  const moved = [...refsOf(backup, unit)].map(([name, after]) => ({ ref: textRefName(name), before: null, after }))
  const outcome = {
    path_with_namespace: `${place.path}/${project?.get('path')}`,
    moved,
    kept: [],
    put_back: 0,
    files: { traces: 0, artifacts: 0, uploads: 0, records: 0, lfs: 0 },
    left: []
  }
  if (dryRun) return outcome
  try {
    if (unit && path) await fill(backup, unit, path)
    await copyBuildFilesBack(backup, found)
    const uploads = backup.manifest.units.find(each => each.path === `uploads/${id}`)
    if (uploads)
      await copyUnitBack(backup, uploads, join(config().home, uploads.path), { onDamage: refuseDamage, replace: true })
    await copyRecordsBack(backup, id, found)
    await putLfsBack(backup, (found.get('lfs_links') ?? []).map(lfsKeyOf), { project: null, dryRun: false })
    await syncFileSystem(config().home)
    const owner = into === undefined ? null : place.owner_id
    await transact(() => putBack(found, id, owner))
  } catch (error) {
    if (path) rmSync(path, { recursive: true, force: true })
    throw error
  }
  if (path) rmSync(join(path, MARK), { force: true })
  return outcome
}

/** Returns whether a killed restore left this repository. Call it under the lock, for a project without a row. */
function isUnfinished(path: string): boolean {
  const names = readdirSync(path)
  return names.length === 0 || names.includes(MARK)
}

async function fill(backup: Backup, unit: Unit, path: string): Promise<void> {
  rmSync(path, { recursive: true, force: true })
  folderMaker()(path)
  writeFileSync(join(path, MARK), '')
  await copyUnitBack(backup, unit, path, { onDamage: refuseDamage })
  makeRepositoryFolders(path)
}

/** Inserts the rows and publishes that the project is restored. `owner` is the user of a new namespace. */
async function putBack(found: ProjectRows, id: number, owner: number | null): Promise<void> {
  await insertProjectRows(found)
  const texts = await row<{ name: string; path: string; description: string | null }>(
    'select name, path, description from projects where id = ?',
    [id]
  )
  if (texts) await addTrigrams(PROJECT_TEXTS, [{ id, texts: [texts.name, texts.path, texts.description] }])
  // The owner of a namespace is a member of the projects in it, as for new projects.
  const members = await rows<{ user_id: number }>(
    "select user_id from members where source_type = 'project' and source_id = ?",
    [id]
  )
  if (owner !== null && members.every(({ user_id }) => user_id !== owner)) {
    await insertMember({ type: 'project', id }, owner, MASTER)
  }
  await publish({ kind: 'project.restored', project: await projectSnapshot(id) })
  // The job also counts the storage of the project.
  await enqueue('repository.optimise', { projectId: id })
}

/** Copies the traces and archives of the project's builds. Existing files have no rows: a killed restore left them. */
async function copyBuildFilesBack(backup: Backup, found: ProjectRows): Promise<void> {
  const builds = new Set((found.get('builds') ?? []).map(fields => String(fields.get('id'))))
  if (builds.size === 0) return
  for (const unit of backup.manifest.units.filter(({ path }) => /^(traces|artifacts)\//.test(path))) {
    const wanted = (name: string) => builds.has(BUILD_FILE.exec(name)?.[1] ?? '')
    await copyUnitBack(backup, unit, join(config().home, unit.path), { onDamage: refuseDamage, wanted, replace: true })
  }
}

async function copyRecordsBack(backup: Backup, id: number, found: ProjectRows): Promise<void> {
  const unit = backup.manifest.units.find(({ path }) => path === `records/${id}`)
  if (!unit) return
  const known = new Set((found.get('archived_files') ?? []).map(fields => String(fields.get('name'))))
  const wanted = (name: string) => known.has(`${unit.path}/${name}`)
  await copyUnitBack(backup, unit, join(config().home, unit.path), { onDamage: refuseDamage, wanted, replace: true })
}

function note(backup: Backup, { id, path_with_namespace: name, moved, recreated }: RestoredProject, origin: Origin) {
  const changes = {
    backup: { after: backup.manifest.id },
    folder: { after: backup.folder },
    recreated: { after: recreated },
    refs: { after: moved.length }
  }
  return audit(origin, { action: 'project.restore', target: { type: 'project', id, name }, changes })
}
