// Brings back files of a project that exists: traces and archives that its builds name, and uploads. A file counts as lost when it is
// missing, or when its bytes differ from its row. With a bucket, it is looked for there as well, and an archive returns to it.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { TooLarge } from '../../../../errors.js'
import { putArtifact } from '../../../../storage/artifacts.js'
import { type LfsKey, sizeOfLfsObject } from '../../../../storage/lfs.js'
import { hashOf, sizeOf } from '../../../../storage/measure.js'
import { putRecordsFile, sizeOfRecords } from '../../../../storage/records.js'
import { putTrace } from '../../../../storage/traces.js'
import { openUpload, putUpload, UPLOAD_NAME, type UploadKey } from '../../../../storage/uploads.js'
import { type FilesRow, findFiles } from '../../../ci/builds/files/damaged-files.js'
import { insertLink, putObjectBack } from '../../../projects/lfs/kept-objects.js'
import { hashFile } from '../copy.js'
import { type Backup, countedIn } from '../copy-back.js'
import { BUILD_FILE } from '../copy-build-files.js'
import { Damaged, type FileEntry, readFileList, type Unit } from '../manifest.js'
import { linksInBackup } from '../project-rows.js'

/** How many files were lost, and are now back. */
export interface FilesPutBack {
  readonly traces: number
  readonly artifacts: number
  readonly uploads: number
  /** Files of old records. */
  readonly records: number
  readonly lfs: number
}

type Kind = 'traces' | 'artifacts'
const SECRET = /^[0-9a-f]{32}$/

/** Puts back the lost files of a project that the backup has. Throws Damaged for a file of the backup that has changed. */
export async function putFilesBack(backup: Backup, project: number, { dryRun }: { readonly dryRun: boolean }) {
  const done = { traces: 0, artifacts: 0, uploads: 0, records: 0, lfs: 0 }
  for (const unit of backup.manifest.units) {
    const [, kind] = /^(traces|artifacts)\/\d+$/.exec(unit.path) ?? []
    if (kind) done[kind as Kind] += await putBuildFiles(backup, unit, { kind: kind as Kind, project, dryRun })
    if (unit.path === `uploads/${project}`) done.uploads += await putUploads(backup, unit, { project, dryRun })
    if (unit.path === `records/${project}`) done.records += await putRecordsBack(backup, unit, dryRun)
  }
  done.lfs = await putLfsBack(backup, await linksInBackup(backup, project), { project, dryRun })
  return done satisfies FilesPutBack
}

/**
 * Puts back objects of LFS, and their links to a project that exists: its refs may need them again. Returns how many objects were lost or
 * removed.
 */
export async function putLfsBack(
  backup: Backup,
  links: readonly LfsKey[],
  { project, dryRun }: { readonly project: number | null; readonly dryRun: boolean }
): Promise<number> {
  const units = new Map(backup.manifest.units.map(unit => [unit.path, unit]))
  const byUnit = Map.groupBy(links, ({ oid }) => `lfs/${oid.slice(0, 2)}`)
  let count = 0
  for (const [path, keys] of byUnit) {
    const unit = units.get(path)
    // The bucket has the objects that a backup does not have.
    const files = new Map((unit ? readFileList(backup.folder, unit) : []).map(file => [file.path, file]))
    for (const key of keys) {
      const file = files.get(`${key.oid.slice(2, 4)}/${key.oid}`)
      if (!file && (await sizeOfLfsObject(key.oid)) !== key.size) continue
      if (file && (await putObjectBack(key, join(backup.folder, path, file.path), { dryRun }))) count += 1
      if (project !== null && !dryRun) await insertLink(project, key)
    }
  }
  return count
}

interface BuildFiles {
  readonly kind: Kind
  readonly project: number
  readonly dryRun: boolean
}

async function putBuildFiles(backup: Backup, unit: Unit, { kind, project, dryRun }: BuildFiles): Promise<number> {
  const builds = await buildsOf(project, Number(unit.path.slice(kind.length + 1)) * 1000)
  if (builds.size === 0) return 0
  let count = 0
  for (const file of readFileList(backup.folder, unit)) {
    const [, id, attempt] = BUILD_FILE.exec(file.path) ?? []
    const build = builds.get(Number(id))
    const wanted = build && wantedOf(kind, build)
    if (!wanted || wanted.attempt !== Number(attempt)) continue
    const key = { build: build.id, attempt: wanted.attempt }
    const from = join(backup.folder, unit.path, file.path)
    if ((await isThere(kind, key, wanted)) || !(await isTheSame(from, file, wanted))) continue
    count += 1
    if (dryRun) continue
    await requireWhole(from, file)
    await (kind === 'traces' ? putTrace(key, from) : putArtifact(key, from, file.size))
  }
  return count
}

/** The finished builds among a thousand. */
async function buildsOf(project: number, first: number): Promise<ReadonlyMap<number, FilesRow>> {
  const found = await findFiles('project_id = ? and id >= ? and id < ?', [project, first, first + 1000])
  return new Map(found.map(build => [build.id, build]))
}

interface Wanted {
  readonly attempt: number
  readonly size: number
  /** A late runner may send its last lines of a trace after the end: these do not count. */
  readonly sha256: Buffer | null
}

function wantedOf(kind: Kind, build: FilesRow): Wanted | undefined {
  const { attempt, trace_size, artifacts_attempt, artifacts_size } = build
  if (kind === 'traces') return trace_size > 0 ? { attempt, size: trace_size, sha256: build.trace_sha256 } : undefined
  if (artifacts_attempt === null || artifacts_size === null) return undefined
  return { attempt: artifacts_attempt, size: artifacts_size, sha256: build.artifacts_sha256 }
}

async function isThere(
  kind: Kind,
  key: { build: number; attempt: number },
  { size, sha256 }: Wanted
): Promise<boolean> {
  const found = await sizeOf(kind, key)
  if (found === null || found < size || (kind === 'artifacts' && found !== size)) return false
  return sha256 === null || sha256.equals(await hashOf(kind, key, size))
}

/** Returns whether a file of the backup is that of the row: a build that was created after the backup may have its number. */
async function isTheSame(from: string, file: FileEntry, { size, sha256 }: Wanted): Promise<boolean> {
  if (file.size < size) return false
  if (sha256 === null) return true
  return file.size === size
    ? sha256.toString('hex') === file.sha256
    : (await hashFile(from, size)).sha256 === sha256.toString('hex')
}

/** No row names an upload, but users cannot delete one either: each that the backup has must exist. */
async function putUploads(backup: Backup, unit: Unit, { project, dryRun }: Omit<BuildFiles, 'kind'>): Promise<number> {
  let count = 0
  for (const file of readFileList(backup.folder, unit)) {
    const [secret = '', name = ''] = file.path.split('/')
    if (!SECRET.test(secret) || !UPLOAD_NAME.test(name)) continue
    const key = { project, secret, name }
    if (await isUploaded(key, file)) continue
    count += 1
    if (dryRun) continue
    const from = join(backup.folder, unit.path, file.path)
    await requireWhole(from, file)
    await putUpload(key, createReadStream(from), { limit: file.size, excess: new TooLarge() })
  }
  return count
}

/** A file of old records never changes. */
async function putRecordsBack(backup: Backup, unit: Unit, dryRun: boolean): Promise<number> {
  const wanted = await countedIn(unit)
  let count = 0
  for (const file of readFileList(backup.folder, unit)) {
    const name = `${unit.path}/${file.path}`
    if (!wanted(file.path) || (await sizeOfRecords(name)) === file.size) continue
    count += 1
    if (dryRun) continue
    const from = join(backup.folder, name)
    await requireWhole(from, file)
    await putRecordsFile(name, from)
  }
  return count
}

async function isUploaded(key: UploadKey, { size, sha256 }: FileEntry): Promise<boolean> {
  const found = await openUpload(key)
  if (!found) return false
  if (found.size !== size) {
    found.stream.destroy()
    return false
  }
  const hash = createHash('sha256')
  for await (const chunk of found.stream as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex') === sha256
}

async function requireWhole(from: string, { sha256 }: FileEntry): Promise<void> {
  if ((await hashFile(from)).sha256 !== sha256) throw new Damaged(`${from} has changed since it was written`)
}
