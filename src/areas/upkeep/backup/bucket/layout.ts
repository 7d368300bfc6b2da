// Backups in the bucket. `backups/ID/` has the manifest and its checksum. Every other file of every backup is an object named by the
// SHA-256 of its bytes, so backups share what has not changed, and each of them is complete:
//   backups/ID/manifest.json, backups/ID/manifest.json.sha256     written last
//   backups/files/AB/ABCDEF...                                    files, and the lists of files of units
import { text } from 'node:stream/consumers'
import { config } from '../../../../config.js'
import { Failure } from '../../../../errors.js'
import { bucketSettings, hasBucket } from '../../../../storage/places.js'
import { listObjects, openObject } from '../../../../storage/s3.js'
import { Damaged, type FileEntry, type Manifest, parseFileList, parseManifest, sha256, type Unit } from '../manifest.js'
import { type BackupRecord, type DamagedBackup, viewBackup } from '../store.js'

const ROOT = 'backups/'
export const FILES = `${ROOT}files/`
const MANIFEST = /^backups\/(\d{8}T\d{6}Z-[0-9a-f]{4})\/manifest\.json$/
const HASH = /^[0-9a-f]{64}$/
/** Bytes: the longest manifest or list of files that is read into memory. */
const LONGEST = 536_870_912

export const objectOfHash = (hash: string): string => {
  if (!HASH.test(hash)) throw new Damaged(`${hash} is not a hash`)
  return `${FILES}${hash.slice(0, 2)}/${hash}`
}
export const manifestOf = (id: string): string => `${ROOT}${id}/manifest.json`

/** What people see as the place of a backup. */
export const shownPath = (id: string): string =>
  `s3://${bucketSettings().bucket}/${bucketSettings().prefix}${ROOT}${id}`

/** Whether backups may be in the bucket: new ones are, or some have moved. */
export const mayHaveBackups = (): boolean => hasBucket() && config().storage.backups !== null

export interface BucketBackup {
  readonly id: string
  readonly manifest: Manifest
}

/** Reads an object as text. Throws Damaged when there is none. */
async function read(name: string): Promise<string> {
  const found = await openObject(name)
  if (!found) throw new Damaged(`${name} is missing in the bucket`)
  if (found.size > LONGEST) {
    found.stream.destroy()
    throw new Damaged(`${name} in the bucket is too long`)
  }
  return text(found.stream)
}

/** Returns the backups in the bucket, oldest first, and those whose manifest is damaged. */
export async function bucketBackups(): Promise<{ whole: BucketBackup[]; damaged: DamagedBackup[] }> {
  const whole: BucketBackup[] = []
  const damaged: DamagedBackup[] = []
  for (const id of await idsInBucket()) {
    try {
      whole.push({ id, manifest: await readBucketManifest(id) })
    } catch (error) {
      if (!(error instanceof Damaged)) throw error
      damaged.push({ id, path: shownPath(id), problem: error.message })
    }
  }
  whole.sort((a, b) => (a.manifest.snapshot_at < b.manifest.snapshot_at ? -1 : 1))
  return { whole, damaged }
}

export async function idsInBucket(): Promise<string[]> {
  const ids: string[] = []
  // Ids begin with the year, so this list leaves out the files.
  for await (const page of listObjects(`${ROOT}2`)) {
    for (const { name } of page) {
      const [, id] = MANIFEST.exec(name) ?? []
      if (id) ids.push(id)
    }
  }
  return ids.sort()
}

/** Throws Damaged, and Misconfigured for the format of another version. */
async function readBucketManifest(id: string): Promise<Manifest> {
  const content = await read(manifestOf(id))
  if (!(await read(`${manifestOf(id)}.sha256`)).startsWith(sha256(content))) {
    throw new Damaged(`${manifestOf(id)} has changed since it was written`)
  }
  return parseManifest(content, shownPath(id))
}

/** Reads the list of files of a unit. Throws Damaged. */
export async function readBucketList(unit: Unit): Promise<FileEntry[]> {
  const content = await read(objectOfHash(unit.sha256))
  if (sha256(content) !== unit.sha256) throw new Damaged(`the list of ${unit.path} has changed since it was written`)
  return parseFileList(content)
}

export const viewBucketBackup = ({ id, manifest }: BucketBackup): BackupRecord => ({
  ...viewBackup(id, manifest),
  path: shownPath(id)
})

/** Throws Failure unless the bucket may have backups. */
export function requireBucketBackups(): void {
  if (!mayHaveBackups()) throw new Failure('backups are not kept in a bucket: storage.backups is not s3')
}
