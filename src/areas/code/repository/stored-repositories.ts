// Lists the repositories of the home, to compare them with the rows of projects.
import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { holds, storageNames, storagePath } from '../../../cluster/storages.js'
import { config } from '../../../config.js'
import { rows } from '../../../db/connect/sql.js'

export interface FoundRepository {
  readonly path: string
  /** The hash of the project's id. */
  readonly hash: string
  /** Whether the repository is being created or removed, next to its place. */
  readonly draft: boolean
}

const NAME = /^([0-9a-f]{64})\.git(\.(?:new|removed)-[0-9a-f]{12})?$/

/** Yields all repositories that belong to this machine, by storage and folder. Follows no links and skips other names. */
export async function* listRepositories(): AsyncGenerator<FoundRepository> {
  const names = new Set([...(await foldersOf(join(config().home, 'repositories'))), ...storageNames()])
  for (const storage of [...names].filter(holds)) {
    const root = storagePath(storage)
    for (const first of await foldersOf(root)) {
      for (const second of await foldersOf(join(root, first))) {
        const folder = join(root, first, second)
        for (const name of await foldersOf(folder)) {
          const [, hash, draft] = NAME.exec(name) ?? []
          if (hash) yield { path: join(folder, name), hash, draft: draft !== undefined }
        }
      }
    }
  }
}

async function foldersOf(path: string): Promise<string[]> {
  try {
    const found = await readdir(path, { withFileTypes: true })
    return found.filter(entry => entry.isDirectory()).map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Returns the end of a statement that selects `sample` random rows, or all. */
export const sampled = (sample: number | undefined): string =>
  sample === undefined ? '' : `order by rand() limit ${Math.trunc(sample)}`

const PART = 10_000
/** Bytes of a hash that are compared. Two of a million projects have the same with a probability of one to ten million. */
const COMPARED = 8

/** Returns whether a hash is that of a project. */
export type KnownHashes = (hash: string) => boolean

/**
 * Returns a function that knows the hashes of all existing projects and of those that are being removed. A million take 2 s, with
 * rests for other work, and 8 MB.
 */
export async function knownHashes(): Promise<KnownHashes> {
  const parts: BigUint64Array[] = []
  for (const [table, column] of [
    ['projects', 'id'],
    ['project_removals', 'project_id']
  ]) {
    for (let after = 0; ; ) {
      const found = await rows<{ id: number }>(
        `select ${column} as id from ${table} where ${column} > ? order by ${column} limit ${PART}`,
        [after]
      )
      parts.push(BigUint64Array.from(found, ({ id }) => beginningOf(hash('sha256', String(id), 'buffer'))))
      const last = found.at(-1)
      if (!last || found.length < PART) break
      after = last.id
    }
  }
  const known = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    known.set(part, at)
    at += part.length
  }
  known.sort()
  return text => isIn(known, beginningOf(Buffer.from(text.slice(0, COMPARED * 2), 'hex')))
}

const beginningOf = (bytes: Buffer) => bytes.readBigUInt64BE(0)

function isIn(sorted: BigUint64Array, wanted: bigint): boolean {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0n) < wanted) low = middle + 1
    else high = middle
  }
  return sorted[low] === wanted
}
