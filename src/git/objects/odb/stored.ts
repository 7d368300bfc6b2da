// Reads objects from the files of a repository without a git process. With 200 busy repositories and room for 32
// readers, most reads started a process, and each start blocks the server for some milliseconds.
//
// 1. The packs of a repository are known by their indexes. The pack that contained the last object is searched first.
// 2. An object that is in no pack is looked up among the loose objects.
// 3. When it is not there either, this code looks for new packs, as git does.
// 4. An object that is still not found, that is large, that has a long chain of deltas, or that is not valid, is left
//    to git: only git decides which objects are missing or damaged.
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { mapBounded } from '../../../lib/bounded.js'
import { aboutFile } from '../stat.js'
import { Damaged, LeaveToGit } from './leave-to-git.js'
import { readLoose } from './loose-object.js'
import { closeFiles } from './open-files.js'
import { type IndexedPack, readPacked, type StoredObject } from './pack.js'
import { openPackIndex } from './pack-index.js'

export type { StoredObject } from './pack.js'

/** The maximum number of packs of one repository that are searched. Maintenance joins packs long before there are so many. */
const MOST_PACKS = 200
/** The number of indexes that are read at the same time. */
const AT_ONCE = 8
/** The coarsest timestamps of a file system in use, in milliseconds: two changes within this time may have the same timestamp. */
const SETTLED_AFTER = 2000

interface StampedPack extends IndexedPack {
  /** Differs when the index was replaced. */
  readonly stamp: string
  readonly bytes: number
}

interface Packs {
  /** The time of the last change of the folder, or undefined when a later change may have the same time. */
  readonly stamp: bigint | undefined
  /** The pack that contained the last object comes first. Null when only git may read one of the packs: then git reads all objects. */
  readonly files: readonly StampedPack[] | null
  readonly bytes: number
}

interface Asked {
  readonly id: Buffer
  readonly most: number
}

const known = new LRUCache<string, Packs>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: ({ bytes }) => bytes,
  ttl: 600_000
})
const listing = new Map<string, Promise<Packs>>()

/**
 * Returns the object with a full id; its content is null when it is larger than `most` bytes. Returns undefined when
 * the caller must ask git.
 */
export async function readStored(repository: string, id: string, most: number): Promise<StoredObject | undefined> {
  const asked = { id: Buffer.from(id, 'hex'), most }
  try {
    const packs = known.get(repository) ?? (await listPacks(repository))
    const found =
      (await fromPacks(repository, packs, asked)) ??
      (await readLoose(repository, id)) ??
      (await fromNewPacks(repository, packs, asked))
    // Git trusts its files. Computing the id takes 3 us, and rules out that another object is returned.
    if (found?.content && idOf(found.type, found.content) !== id) throw new Damaged('an object has another id')
    return found
  } catch (error) {
    if (!isLeft(error)) throw error
    // Git has removed a pack and written a new one, or somebody has repaired a file.
    if (isMissing(error) || error instanceof Damaged) forgetStored(repository)
    return undefined
  }
}

/**
 * Returns whether an object is certainly on the disk now: caches still have objects that another process has pruned, and the
 * bytes of packs that are gone. Returns false when the caller must ask git. A loose object takes 3 us.
 */
export async function isStoredNow(repository: string, id: string): Promise<boolean> {
  if (aboutFile(join(repository, 'objects', id.slice(0, 2), id.slice(2)))) return true
  const before = known.get(repository)
  const isCurrent = before?.stamp !== undefined && aboutFile(folderOf(repository))?.mtimeNs === before.stamp
  try {
    const { files } = isCurrent ? before : await listPacks(repository)
    const wanted = Buffer.from(id, 'hex')
    return files?.some(pack => pack.find(wanted) !== null) ?? false
  } catch (error) {
    if (!isLeft(error)) throw error
    return false
  }
}

/** Returns whether git certainly reads all objects of a repository, because the repository is large. */
export const isForGit = (repository: string): boolean => known.get(repository)?.files === null

/** Drops everything that is known about the files of one repository, or of all repositories. */
export function forgetStored(repository?: string): void {
  if (repository === undefined) known.clear()
  else known.delete(repository)
  closeFiles(repository === undefined ? '' : `${repository}/`)
}

async function fromPacks(repository: string, packs: Packs, { id, most }: Asked): Promise<StoredObject | undefined> {
  const { files } = packs
  if (!files) throw new LeaveToGit('a large pack')
  for (const [at, pack] of files.entries()) {
    const place = pack.find(id)
    if (place === null) continue
    if (at > 0) known.set(repository, { ...packs, files: [pack, ...files.filter(other => other !== pack)] })
    return await readPacked(pack, place, most)
  }
  return undefined
}

async function fromNewPacks(repository: string, { stamp }: Packs, asked: Asked) {
  if (stamp !== undefined && (await changeOf(folderOf(repository))) === stamp) return undefined
  return await fromPacks(repository, await listPacks(repository), asked)
}

function listPacks(repository: string): Promise<Packs> {
  const already = listing.get(repository)
  if (already) return already
  const promise = list(repository).finally(() => listing.delete(repository))
  listing.set(repository, promise)
  return promise
}

async function list(repository: string): Promise<Packs> {
  const folder = folderOf(repository)
  const change = await changeOf(folder)
  const settled = BigInt(Date.now() - SETTLED_AFTER) * 1_000_000n > change
  const names = (await readdir(folder)).filter(name => /^pack-[0-9a-f]{40}\.idx$/.test(name)).slice(0, MOST_PACKS)
  const before = new Map(known.get(repository)?.files?.map(pack => [pack.path, pack]))
  const packs = await mapBounded(names, AT_ONCE, name => openPack(join(folder, name), before))
  const files = packs.filter(pack => pack !== null)
  const found = {
    stamp: settled ? change : undefined,
    files: files.length === packs.length ? files : null,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 1000)
  }
  known.set(repository, found)
  return found
}

/** The numbers begin again long after their packs have left the caches. */
const NUMBERS = 2 ** 20
let last = 0

/** Most packs are the same as before: then they keep their number, and so what the caches have of them. */
async function openPack(indexPath: string, before: ReadonlyMap<string, StampedPack>): Promise<StampedPack | null> {
  const path = indexPath.replace(/idx$/, 'pack')
  const { ino, size, mtimeMs } = await stat(indexPath)
  const stamp = `${ino} ${size} ${mtimeMs}`
  const same = before.get(path)
  if (same?.stamp === stamp) return same
  const index = await openPackIndex(indexPath, size)
  if (!index) return null
  last = (last + 1) % NUMBERS
  return { path, stamp, number: last, find: index.find, bytes: index.bytes }
}

const idOf = (type: string, content: Buffer) =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

const folderOf = (repository: string) => join(repository, 'objects/pack')
const changeOf = async (path: string) => (await stat(path, { bigint: true })).mtimeNs

/** Errors of node:fs and node:zlib have a code. */
const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : undefined)
const isLeft = (error: unknown) => error instanceof LeaveToGit || codeOf(error) !== undefined
/** ESTALE: another machine has removed the pack of a shared file system that is open here. */
const isMissing = (error: unknown) => ['ENOENT', 'ESTALE'].includes(codeOf(error) ?? '')
