import { hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder } from '../../../cluster/marker.js'
import { holds, knownStorages, storagePath } from '../../../cluster/storages.js'
import { type Fragment, marks, row } from '../../../db/connect/sql.js'
import { Unavailable } from '../../../errors.js'
import { DamagedRepository } from '../../../git/objects/objects.js'
import { createRepository, type PreparedRepository, prepareRepository } from '../../../git/repository/repository.js'

/** Seconds after which a client may retry while a job fills the repository. */
const FILLING_S = 5

export interface StoredProject {
  readonly id: number
  readonly storage: string
}

/**
 * The path of a project's repository. It uses the hash of the project's id, so renames and transfers move no files. Throws NotHere
 * when the repository belongs to another machine.
 */
export function repositoryPath({ id, storage }: StoredProject): string {
  return pathOf(hash('sha256', String(id)), storage)
}

const pathOf = (hash: string, storage: string): string => join(storagePath(storage), below(hash))

const below = (hash: string): string => join(hash.slice(0, 2), hash.slice(2, 4), `${hash}.git`)

/** The path of a repository in a home, whichever machine or folder the storage has: so a backup has the places of a home. */
export const repositoryInHome = ({ id, storage }: StoredProject): string =>
  join('repositories', storage, below(hash('sha256', String(id))))

/** Returns the condition for projects whose repositories this machine may use. `column` is the storage in the statement. */
export function ofThisMachine(column: 'storage' | 'p.storage'): Fragment {
  const others = knownStorages().flatMap(({ name }) => (holds(name) ? [] : [name]))
  return others.length === 0
    ? { sql: 'true', values: [] }
    : { sql: `${column} not in (${marks(others)})`, values: others }
}

/** Returns the storage of a project by its id or current path; undefined when there is none. */
export async function storageOf(name: string): Promise<string | undefined> {
  const [namespace = '', path, ...more] = name.split('/')
  if (more.length > 0) return undefined
  const found =
    path === undefined
      ? /^\d{1,10}$/.test(name) &&
        (await row<{ storage: string }>('select storage from projects where id = ?', [Number(name)]))
      : await row<{ storage: string }>(
          `select p.storage from projects p join namespaces n on n.id = p.namespace_id
           where n.path_key = lower(?) and p.path_key = lower(?)`,
          [namespace, path]
        )
  return found ? found.storage : undefined
}

/**
 * Creates the repository of a project that has no id yet, next to a place that no project uses: after a crash it looks
 * like any other unfinished repository. Throws StorageAway.
 */
export function prepareProject(storage: string, branch?: string): Promise<PreparedRepository> {
  const path = pathOf(randomBytes(32).toString('hex'), storage)
  return inFolder(storage, storagePath(storage), () => prepareRepository(path, branch))
}

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
  await inFolder(project.storage, storagePath(project.storage), () => createRepository(path))
  return path
}
