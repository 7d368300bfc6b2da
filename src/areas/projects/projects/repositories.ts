import { hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { config } from '../../../config.js'
import { Unavailable } from '../../../errors.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { createRepository, type PreparedRepository, prepareRepository } from '../../../git/repository/repository.js'

/** Seconds after which a client may retry while a job fills the repository. */
const FILLING_S = 5

export interface StoredProject {
  readonly id: number
  readonly storage: string
}

/** The path of a project's repository. It uses the hash of the project's id, so renames and transfers move no files. */
export function repositoryPath({ id, storage }: StoredProject): string {
  return pathOf(hash('sha256', String(id)), storage)
}

function pathOf(hash: string, storage: string): string {
  return join(config().home, 'repositories', storage, hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)
}

/**
 * Creates the repository of a project that has no id yet, next to a place that no project uses: after a crash it looks
 * like any other unfinished repository.
 */
export const prepareProject = (storage: string, branch?: string): Promise<PreparedRepository> =>
  prepareRepository(pathOf(randomBytes(32).toString('hex'), storage), branch)

/**
 * Returns the path of a project's repository, and creates a missing one: a crash between the row and the repository
 * leaves a project without one, which works as an empty project. Throws DamagedRepository when the project has a
 * default branch: its repository is lost, and an empty one in its place would hide that. Throws Unavailable while a job
 * fills the repository of a fork or an import.
 */
export async function ensureRepository(
  project: StoredProject & { readonly default_branch?: string | null; readonly import_state?: string | null }
): Promise<string> {
  if (project.import_state === 'waiting') throw new Unavailable('the repository is still being copied', FILLING_S)
  const path = repositoryPath(project)
  if (existsSync(path)) return path
  if (project.default_branch) throw new DamagedRepository(path, 'it does not exist')
  await createRepository(path)
  return path
}
