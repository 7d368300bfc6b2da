// Reads commits, trees and tags. The cache keeps the parsed objects.

import { GitFailure } from '../process/run.js'
import { isKept, keep, ownMemory, remember } from './cache.js'
import type { LooseObject } from './loose-writer.js'
import { type Commit, parseCommit, parseTag, type Tag } from './parse.js'
import { type ObjectType, readObject, readObjectStart } from './reader.js'
import { openTree, type Tree } from './tree-object.js'

export type { Commit, Tag } from './parse.js'
export type { Tree, TreeEntry } from './tree-object.js'

/** An object is missing that another object or a ref refers to: the repository has lost data. */
export class DamagedRepository extends GitFailure {
  override name = 'DamagedRepository'

  constructor(repository: string, what: string) {
    super(`the repository ${repository} is damaged: ${what}`)
  }
}

/**
 * Reads and parses an object through the cache; of a large object, only the beginning. Returns null when no object has
 * this id and type.
 */
function readParsed<T>(repository: string, id: string, type: ObjectType, parse: (start: Buffer, size: number) => T) {
  return remember(repository, `${type} ${id}`, async () => {
    const object = await readObjectStart(repository, id)
    if (object?.type !== type) return null
    return { value: parse(object.content, object.size), size: object.content.length * PARSED }
  })
}

/** Strings and objects take about this many times the raw bytes. */
const PARSED = 4

/** Returns the commit with a full id, or null. */
export function readCommit(repository: string, id: string): Promise<Commit | null> {
  return readParsed(repository, id, 'commit', (start, size) => parseCommit(id, start, size))
}

/** Returns whether the cache has the commit with a full id. */
export const isCommitKnown = (repository: string, id: string): boolean => isKept(repository, `commit ${id}`)

/** Returns the annotated tag with a full id, or null. */
export function readTag(repository: string, id: string): Promise<Tag | null> {
  return readParsed(repository, id, 'tag', (start, size) => parseTag(id, start, size))
}

/** Returns the tree with a full id, or null. Throws TooLarge for a tree larger than `git.max_file_size`. */
export function readTree(repository: string, id: string): Promise<Tree | null> {
  return remember(repository, `tree ${id}`, async () => {
    const object = await readObject(repository, id)
    if (object?.type !== 'tree') return null
    const tree = await openTree(ownMemory(object.content))
    return { value: tree, size: tree.bytes }
  })
}

/** Keeps the commits and trees that were just written: the next commit builds on them. */
export async function keepWritten(repository: string, objects: readonly LooseObject[]): Promise<void> {
  for (const { id, type, content } of objects) {
    const size = content.length * PARSED
    if (type === 'commit') keep(repository, `commit ${id}`, { value: parseCommit(id, content), size })
    if (type !== 'tree') continue
    const tree = await openTree(ownMemory(content))
    keep(repository, `tree ${id}`, { value: tree, size: tree.bytes })
  }
}

/** Returns a tree that another object refers to. Throws DamagedRepository when it is missing. */
export async function mustReadTree(repository: string, id: string): Promise<Tree> {
  const tree = await readTree(repository, id)
  if (!tree) throw new DamagedRepository(repository, `the tree ${id} is missing`)
  return tree
}
