import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../config.js'
import { createRepository } from '../../git/repository.js'

export interface StoredProject {
  readonly id: number
  readonly storage: string
}

/** Where a project's repository lies: by the hash of its number, so that renames and transfers move no files. */
export function repositoryPath({ id, storage }: StoredProject): string {
  const hash = createHash('sha256').update(String(id)).digest('hex')
  return join(config().home, 'repositories', storage, hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

/**
 * The same, made when it is not there: a crash between a project's row and its repository leaves a project that works
 * as an empty one.
 */
export async function ensureRepository(project: StoredProject): Promise<string> {
  const path = repositoryPath(project)
  if (!existsSync(path)) await createRepository(path)
  return path
}
