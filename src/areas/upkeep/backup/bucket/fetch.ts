// Brings a backup from the bucket to a folder, where all other commands find it.
import { createHash } from 'node:crypto'
import { createWriteStream, existsSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Conflict, NoSuch } from '../../../../errors.js'
import { mapBounded } from '../../../../lib/bounded.js'
import { openObject } from '../../../../storage/s3.js'
import { syncFileSystem } from '../../../../storage/sync.js'
import { folderMaker } from '../copy.js'
import { Damaged, type FileEntry, readManifest, type Unit } from '../manifest.js'
import { type BackupRecord, defaultStore, draftFolder, openStore, viewBackup } from '../store.js'
import { bucketBackups, manifestOf, objectOfHash, readBucketList, requireBucketBackups } from './layout.js'

const AT_ONCE = 4

export interface FetchOptions {
  /** The folder of backups. */
  readonly to?: string
  readonly signal: AbortSignal
  readonly progress?: (done: number, total: number) => void
}

/**
 * Fetches a backup by its id, or `latest`, and compares every file with its hash. Throws NoSuch, Conflict when the folder has it already,
 * and Damaged. Nothing is left of a backup that could not be fetched.
 */
export async function fetchBackup(name: string, options: FetchOptions): Promise<BackupRecord> {
  requireBucketBackups()
  const { whole } = await bucketBackups()
  const found = name === 'latest' ? whole.at(-1) : whole.find(({ id }) => id === name)
  if (!found) throw new NoSuch('backup', name)
  const store = resolve(options.to ?? defaultStore())
  const place = join(store, found.id)
  if (existsSync(place)) throw new Conflict(`${place} exists already`)
  openStore(store)
  const draft = draftFolder(store, found.id)
  rmSync(draft, { recursive: true, force: true })
  try {
    const { units } = found.manifest
    for (const [index, unit] of units.entries()) {
      options.progress?.(index, units.length)
      await fetchUnit(draft, unit, options.signal)
    }
    for (const ending of ['.sha256', ''])
      await fetchTo(`${manifestOf(found.id)}${ending}`, join(draft, `manifest.json${ending}`))
    readManifest(draft)
    await syncFileSystem(draft)
    renameSync(draft, place)
    return viewBackup(place, found.manifest)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

async function fetchUnit(draft: string, unit: Unit, signal: AbortSignal): Promise<void> {
  const makeFolder = folderMaker()
  const files = await readBucketList(unit)
  makeFolder(join(draft, dirname(checked(unit.path))))
  await fetchHashed(unit.sha256, join(draft, `${unit.path}.files`))
  await mapBounded(files, AT_ONCE, async file => {
    signal.throwIfAborted()
    const path = join(draft, unit.path, checked(file.path))
    makeFolder(dirname(path))
    await fetchHashed(file.sha256, path, file)
  })
}

async function fetchHashed(hash: string, path: string, file?: FileEntry): Promise<void> {
  if ((await fetchTo(objectOfHash(hash), path)) === hash) return
  throw new Damaged(`${file?.path ?? path} has changed in the bucket since it was written: use another backup`)
}

/** Returns the hash of what it wrote. */
async function fetchTo(name: string, path: string): Promise<string> {
  const found = await openObject(name)
  if (!found) throw new Damaged(`${name} is missing in the bucket: use another backup`)
  const hash = createHash('sha256')
  await pipeline(
    found.stream,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk)
        yield chunk
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600 })
  )
  return hash.digest('hex')
}

/** Rejects a path outside of the backup: anyone who can write to the bucket could choose it. */
function checked(path: string): string {
  if (path.startsWith('/') || path.split('/').includes('..')) throw new Damaged(`the manifest names ${path}`)
  return path
}
