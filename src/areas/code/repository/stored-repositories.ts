// Lists the repositories of the home, to compare them with the rows of projects.
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
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

/** Yields all repositories of the home, by storage and folder. Follows no links and skips other names. */
export async function* listRepositories(): AsyncGenerator<FoundRepository> {
  const root = join(config().home, 'repositories')
  for (const storage of await foldersOf(root)) {
    for (const first of await foldersOf(join(root, storage))) {
      for (const second of await foldersOf(join(root, storage, first))) {
        const folder = join(root, storage, first, second)
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

/** Returns the hashes of all existing projects and of those that are being removed. 100,000 take 0.3 s. */
export async function knownHashes(): Promise<Set<string>> {
  const found = await rows<{ id: number }>(
    'select id from projects union select project_id as id from project_removals'
  )
  return new Set(found.map(({ id }) => createHash('sha256').update(String(id)).digest('hex')))
}
