// Looks up one ref in the files of a repository. Most reads name a branch whose commit, trees and files are in the cache. With
// 200 busy repositories and room for a few readers, asking git only for the branch took two fifths of the server's time.
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { aboutFile, readNow } from '../objects/stat.js'
import { fileRefName, parsePackedRefs, type RefFiles } from './files.js'

const VALUE = /^([0-9a-f]{40})\n?$/
/** The maximum size in bytes of packed-refs that is read here: for larger files, git answers faster. */
const MOST_PACKED = 1024 * 1024
/** The coarsest timestamps of a file system in use, in nanoseconds: a later change within this time may have the same timestamp. */
const SETTLED_AFTER = 2_000_000_000n

interface Packed {
  readonly stamp: string
  readonly refs: RefFiles
  readonly size: number
}

/** The packed refs of repositories, limited by the size of their files in bytes. */
const packed = new LRUCache<string, Packed>({ maxSize: 16 * MOST_PACKED, sizeCalculation: ({ size }) => size + 200 })

/**
 * Returns the object id of a full ref name, and null when no file names the ref. Returns undefined when the caller must
 * ask git, because a file has an unusual form.
 */
export const lookUpRef = async (repository: string, ref: string): Promise<string | null | undefined> =>
  valueInFiles(repository, ref)

/** Does the same at once. */
export function valueInFiles(repository: string, ref: string): string | null | undefined {
  // Git writes packed-refs before it removes the file of the ref, so that the ref is always in one of the two.
  const path = join(repository, ref)
  // Throwing an error takes longer than this check. There is a folder at the path of the branch `a` when there is a branch `a/b`.
  const loose = aboutFile(path)?.isFile() ? readNow(path, 'utf8') : undefined
  if (loose !== undefined) return VALUE.exec(loose)?.[1]
  const refs = packedRefs(repository)
  return refs && (refs.get(fileRefName(ref)) ?? null)
}

/** Returns the packed refs of a repository, or undefined when the file is large. */
export function packedRefs(repository: string): RefFiles | undefined {
  const path = join(repository, 'packed-refs')
  const about = aboutFile(path)
  if (!about) return new Map()
  const stamp = `${about.ino} ${about.size} ${about.mtimeNs} ${about.ctimeNs}`
  const known = packed.get(repository)
  if (known?.stamp === stamp) return known.refs
  if (about.size > MOST_PACKED) return undefined
  const refs = parsePackedRefs(readNow(path, 'latin1') ?? '')
  // The file may have been replaced since the stamp was taken.
  const after = aboutFile(path)
  const settled = BigInt(Date.now()) * 1_000_000n - about.mtimeNs > SETTLED_AFTER
  if (settled && after?.ino === about.ino && after.ctimeNs === about.ctimeNs) {
    packed.set(repository, { stamp, refs, size: Number(about.size) * 4 })
  }
  return refs
}
