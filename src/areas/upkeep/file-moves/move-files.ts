// Copies all files of a kind between the folder and the bucket while the appliance runs. New files already go to the new place, and reads
// look in both. A file counts as copied when its bytes were read back from the new place. A second run continues where the first ended,
// because it skips the files that are there.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Origin } from '../../../access/actor.js'
import { transact } from '../../../db/connect/transact.js'
import { Conflict, Misconfigured } from '../../../errors.js'
import { mapBounded } from '../../../lib/bounded.js'
import { pathOfBlob } from '../../../storage/blobs.js'
import { hasBucket, type Place, placeOf } from '../../../storage/places.js'
import { type DraftFolder, putFile } from '../../../storage/put-file.js'
import { headObject, openObject, putObject, removeObject } from '../../../storage/s3.js'
import { bucketUploads } from '../../ci/builds/files/bucket-uploads.js'
import { audit } from '../../ground/audit/audit.js'
import { underLock } from '../maintenance/maintenance-lock.js'
import { type MovableFile, type MovableKind, movableFiles } from './movable-files.js'

export interface MoveOptions {
  readonly kind: MovableKind
  readonly to: Place
  readonly deleteSource: boolean
  readonly dryRun: boolean
  /** How many files are copied at once. */
  readonly atOnce: number
  readonly signal: AbortSignal
  readonly progress?: (moved: Moved) => void
}

export interface Moved {
  /** Files that were copied, or would be. */
  readonly copied: number
  readonly bytes: number
  /** Files that were in the new place already. */
  readonly present: number
  /** Files that were deleted from the old place. */
  readonly deleted: number
  /** Files whose bytes differ after the copy. They stay in the old place. */
  readonly failed: readonly string[]
}

/**
 * Copies the files of a kind. Throws Conflict unless new files go to the new place already, AlreadyRunning while another run or the
 * task that moves files runs, and BucketUnavailable: then the next run continues.
 */
export async function moveFiles(options: MoveOptions, origin: Origin): Promise<Moved> {
  const { kind, to, dryRun, signal } = options
  if (!hasBucket())
    throw new Misconfigured('no bucket is configured: set storage.s3.bucket, and keep it until all files have moved')
  if (dryRun) return moveAll(options, signal)
  if (placeOf(kind) !== to) {
    throw new Conflict(`new ${kind} still go to the other place: set storage.${kind} to ${to}, restart, then migrate`)
  }
  const moved = await underLock(bucketUploads.name, signal, lost => moveAll(options, lost))
  const after = { to, copied: moved.copied, bytes: moved.bytes, deleted: moved.deleted }
  const changes = Object.fromEntries(Object.entries(after).map(([name, value]) => [name, { after: value }]))
  await transact(() =>
    audit(origin, { action: 'storage.migrate', target: { type: 'storage', id: kind, name: kind }, changes })
  )
  return moved
}

async function moveAll(options: MoveOptions, signal: AbortSignal): Promise<Moved> {
  const moved = { copied: 0, bytes: 0, present: 0, deleted: 0, failed: [] as string[] }
  const from = options.to === 's3' ? 'folder' : 's3'
  for await (const batch of movableFiles(options.kind, from)) {
    await mapBounded(batch, options.atOnce, async file => {
      signal.throwIfAborted()
      const outcome = await moveOne(file, options)
      if (outcome === 'failed') moved.failed.push(file.name)
      if (outcome === 'copied') moved.bytes += file.size
      if (outcome === 'copied' || outcome === 'present') moved[outcome] += 1
      if (outcome === 'copied' || outcome === 'present') moved.deleted += Number(await dropSource(file, options))
      options.progress?.(moved)
    })
  }
  return moved
}

async function moveOne(
  file: MovableFile,
  { kind, to, dryRun }: MoveOptions
): Promise<'copied' | 'present' | 'failed' | 'gone'> {
  const { name, size } = file
  if ((await sizeIn(to, name)) === size) return 'present'
  if (dryRun) return 'copied'
  const hash = to === 's3' ? await copyToBucket(file) : await copyToFolder(file, kind)
  if (hash === undefined) return 'gone'
  return hash === (await hashIn(to, name)) ? 'copied' : 'failed'
}

/** Returns the hash of what was sent; undefined when somebody has removed the file. */
async function copyToBucket({ name }: MovableFile): Promise<string | undefined> {
  const path = pathOfBlob(name)
  const found = await stat(path).catch(() => undefined)
  if (!found) return undefined
  await putObject(name, path, found.size)
  const hash = await hashIn('folder', name)
  // Somebody has erased the file while it was copied: its object must not outlive it.
  if (hash === undefined) await removeObject(name)
  return hash
}

const FOLDERS: { readonly [kind in MovableKind]: DraftFolder } = {
  artifacts: 'artifacts',
  traces: 'traces',
  uploads: 'uploads',
  lfs: 'lfs',
  records: 'records',
  caches: 'cache',
  archives: 'cache'
}

async function copyToFolder({ name }: MovableFile, kind: MovableKind): Promise<string | undefined> {
  const found = await openObject(name)
  if (!found) return undefined
  const { sha256, size } = await putFile(pathOfBlob(name), found.stream, {
    folder: FOLDERS[kind],
    limit: Number.POSITIVE_INFINITY
  })
  const still = await headObject(name)
  if (still) return still.size === size ? sha256 : 'another size'
  await rm(pathOfBlob(name), { force: true })
  return undefined
}

/** Deletes a file from the old place, after both have the same bytes. */
async function dropSource({ name }: MovableFile, { to, deleteSource, dryRun }: MoveOptions): Promise<boolean> {
  if (!deleteSource || dryRun) return false
  const [old, made] = [await hashIn(to === 's3' ? 'folder' : 's3', name), await hashIn(to, name)]
  if (old === undefined || old !== made) return false
  if (to === 's3') await rm(pathOfBlob(name), { force: true })
  else await removeObject(name)
  return true
}

async function sizeIn(place: Place, name: string): Promise<number | undefined> {
  if (place === 's3') return (await headObject(name))?.size
  return (await stat(pathOfBlob(name)).catch(() => undefined))?.size
}

async function hashIn(place: Place, name: string): Promise<string | undefined> {
  const stream = place === 's3' ? (await openObject(name))?.stream : createReadStream(pathOfBlob(name))
  return stream && hashOf(stream)
}

async function hashOf(stream: Readable): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) hash.update(chunk)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  return hash.digest('hex')
}
